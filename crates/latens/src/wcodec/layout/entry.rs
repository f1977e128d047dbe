//! An entry of the index: a tensor, or bytes of a source file that belong to none.
//!
//! | field | form |
//! |---|---|
//! | kind | u8: 0 tensor, 1 blob |
//! | name | varint: bytes shared with the name before; string: the rest |
//! | dtype | string |
//! | dimensions | varint; each a varint |
//! | length | varint |
//! | storage | u8: 0 stored (groups, descriptor: varints; CRC of the descriptor), 1 inline (the same lengths, then both), 2 copy (varint) |

use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::{Fields, write_string};
use crate::wcodec::layout::source::MAX_NAME;

/// Most dimensions of a tensor.
pub(crate) const MAX_DIMENSIONS: u64 = 32;
/// Most bytes of a dtype's name.
pub(crate) const MAX_DTYPE: u64 = 16;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Empty for a blob.
    pub(crate) name: String,
    /// As the source spells it; `None` for a blob.
    pub(crate) dtype: Option<String>,
    pub(crate) shape: Vec<u64>,
    /// Bytes when decoded.
    pub(crate) length: usize,
    pub(crate) storage: Storage,
}

/// Where an entry's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// In the data.
    Stored {
        /// Bytes of the groups, padded.
        groups: usize,
        /// Bytes of the descriptor behind them.
        descriptor: usize,
        /// Of the descriptor.
        crc: u32,
    },
    /// In the index.
    Inline { groups: Vec<u8>, descriptor: Vec<u8> },
    /// The same as an earlier entry's.
    Copy(usize),
}

/// The lengths of entries, for those that copy them and for files that hold them: what is kept of
/// entries while an index is checked.
#[derive(Debug, Default)]
pub(crate) struct Lengths(Vec<usize>);

impl Lengths {
    /// With room for so many.
    pub(crate) fn with_capacity(n: usize) -> Self {
        Self(Vec::with_capacity(n))
    }

    pub(crate) fn push(&mut self, entry: &Entry) {
        // Lengths stay far below half of all numbers.
        self.0.push(entry.length << 1 | usize::from(matches!(entry.storage, Storage::Copy(_))));
    }

    /// Of entry `k`.
    pub(crate) fn get(&self, k: usize) -> Option<usize> {
        self.0.get(k).map(|length| length >> 1)
    }

    /// Of entry `k`, which is no copy itself.
    fn of_original(&self, k: usize) -> Option<usize> {
        self.0.get(k).filter(|&length| length & 1 == 0).map(|length| length >> 1)
    }

    /// Of all entries together.
    pub(crate) fn total(&self) -> Option<usize> {
        self.0.iter().try_fold(0usize, |sum, length| sum.checked_add(length >> 1))
    }
}

impl Entry {
    pub(crate) fn is_blob(&self) -> bool {
        self.dtype.is_none()
    }

    /// The content of the record; `before` is the name of the entry before.
    pub(crate) fn bytes(&self, before: &str) -> Vec<u8> {
        let mut out = vec![u8::from(self.is_blob())];
        let same = |(a, b): &(u8, u8)| a == b;
        let mut shared = before.bytes().zip(self.name.bytes()).take_while(same).count();
        while !self.name.is_char_boundary(shared) {
            shared -= 1;
        }
        varint::write(shared as u64, &mut out);
        write_string(&self.name[shared..], &mut out);
        write_string(self.dtype.as_deref().unwrap_or(""), &mut out);
        varint::write(self.shape.len() as u64, &mut out);
        self.shape.iter().for_each(|&d| varint::write(d, &mut out));
        varint::write(self.length as u64, &mut out);
        let mut lengths = |id: u8, groups: usize, descriptor: usize| {
            out.push(id);
            varint::write(groups as u64, &mut out);
            varint::write(descriptor as u64, &mut out);
        };
        match &self.storage {
            Storage::Stored { groups, descriptor, crc } => {
                lengths(0, *groups, *descriptor);
                out.extend_from_slice(&crc.to_le_bytes());
            }
            Storage::Inline { groups, descriptor } => {
                lengths(1, groups.len(), descriptor.len());
                out.extend_from_slice(groups);
                out.extend_from_slice(descriptor);
            }
            Storage::Copy(entry) => {
                out.push(2);
                varint::write(*entry as u64, &mut out);
            }
        }
        out
    }

    /// Reads an entry; `before` is the name of the one before, `earlier` are the lengths of all
    /// before.
    pub(crate) fn read(fields: &mut Fields<'_>, before: &str, earlier: &Lengths) -> Result<Self> {
        let kind = fields.u8("an entry's kind")?;
        let at = fields.at();
        let bad = |what: String| Err(Error::corrupt(at, what));
        let shared = fields.size("the shared part of a name")?;
        let rest = fields.string(MAX_NAME, "a name")?;
        let Some(shared) = before.get(..shared) else {
            return bad(format!("a name shares {shared} bytes with `{before}`"));
        };
        let mut name = String::with_capacity(shared.len() + rest.len());
        name.push_str(shared);
        name.push_str(rest);
        let dtype = fields.string(MAX_DTYPE, "a dtype")?.to_owned();
        let dimensions = fields.varint_up_to(MAX_DIMENSIONS, "the number of dimensions")?;
        let shape =
            (0..dimensions).map(|_| fields.varint("a dimension")).collect::<Result<Vec<_>>>()?;
        if name.len() as u64 > MAX_NAME {
            return bad(format!("a name of {} bytes", name.len()));
        }
        let blob_fits = name.is_empty() && dtype.is_empty() && shape.is_empty();
        let dtype = match kind {
            0 if !dtype.is_empty() => Some(dtype),
            1 if blob_fits => None,
            _ => {
                return bad(format!("an entry of kind {kind} with name `{name}`, dtype `{dtype}`"));
            }
        };
        let length = fields.size("a tensor's length")?;
        let at = fields.at();
        let id = fields.u8("an entry's storage")?;
        let storage = match id {
            0 => Storage::Stored {
                groups: fields.size("the length of groups")?,
                descriptor: fields.size("a descriptor's length")?,
                crc: fields.u32("a descriptor's checksum")?,
            },
            1 => {
                let groups = fields.varint("the length of groups")?;
                let descriptor = fields.varint("a descriptor's length")?;
                Storage::Inline {
                    groups: fields.bytes(groups, "groups")?.to_vec(),
                    descriptor: fields.bytes(descriptor, "a descriptor")?.to_vec(),
                }
            }
            2 => {
                let of = fields.size("the entry that this one copies")?;
                if earlier.of_original(of) != Some(length) {
                    return Err(Error::corrupt(at, format!("entry {of} cannot be copied here")));
                }
                Storage::Copy(of)
            }
            _ => return Err(Error::corrupt(at, format!("{id} is not a way to store an entry"))),
        };
        Ok(Self { name, dtype, shape, length, storage })
    }
}
