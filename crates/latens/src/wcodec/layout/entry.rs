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
//!
//! An entry without a descriptor is plain: its bytes as they are, of which the CRC is then.

use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::{Fields, write_string};
use crate::wcodec::layout::source::MAX_NAME;

/// Most dimensions of a tensor.
pub(crate) const MAX_DIMENSIONS: u64 = 32;
/// Most bytes of a dtype's name.
pub(crate) const MAX_DTYPE: u64 = 16;

/// One entry, as it is written.
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

/// Where an entry's bytes are; those in the index are `Bytes`, its own or borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage<Bytes = Vec<u8>> {
    /// In the data.
    Stored {
        /// Bytes of the groups, padded.
        groups: usize,
        /// Bytes of the descriptor behind them; 0 of a plain entry.
        descriptor: usize,
        /// Of the descriptor, or of the bytes of a plain entry.
        crc: u32,
    },
    /// In the index; a plain entry has no bytes of a descriptor.
    Inline { groups: Bytes, descriptor: Bytes },
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

    pub(crate) fn push(&mut self, entry: &EntryRecord<'_>) {
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
}

/// One entry, as it lies in the index. Its name is not among it: part of that stands in the records
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryRecord<'a> {
    /// Empty for a blob.
    dtype: &'a str,
    /// Varints.
    shape: &'a [u8],
    /// Bytes when decoded.
    pub(crate) length: usize,
    pub(crate) storage: Storage<&'a [u8]>,
}

impl<'a> EntryRecord<'a> {
    /// As the source spells it; `None` for a blob.
    pub(crate) fn dtype(&self) -> Option<&'a str> {
        (!self.dtype.is_empty()).then_some(self.dtype)
    }

    pub(crate) fn shape(&self) -> Vec<u64> {
        let mut fields = Fields::new(self.shape);
        let mut next = || if fields.left() > 0 { fields.varint("").ok() } else { None };
        std::iter::from_fn(&mut next).collect()
    }

    /// Bytes in the file, and the entry whose bytes they are where it has none of its own.
    pub(crate) fn stored(&self) -> (usize, Option<usize>) {
        match self.storage {
            Storage::Stored { groups, descriptor, .. } => (groups.saturating_add(descriptor), None),
            Storage::Inline { groups, descriptor } => (groups.len() + descriptor.len(), None),
            Storage::Copy(of) => (0, Some(of)),
        }
    }

    /// Reads an entry. `name` is that of the one before, and then its own. `earlier` are the
    /// lengths of all before; without them the entry is known to be sound.
    pub(crate) fn read(
        fields: &mut Fields<'a>,
        name: &mut String,
        earlier: Option<&Lengths>,
    ) -> Result<Self> {
        let kind = fields.u8("an entry's kind")?;
        let at = fields.at();
        let bad = |what: String| Err(Error::corrupt(at, what));
        let shared = fields.size("the shared part of a name")?;
        let rest = fields.string(MAX_NAME, "a name")?;
        if !name.is_char_boundary(shared) {
            return bad(format!("a name shares {shared} bytes with `{name}`"));
        }
        name.truncate(shared);
        name.push_str(rest);
        let dtype = fields.string(MAX_DTYPE, "a dtype")?;
        let dimensions = fields.varint_up_to(MAX_DIMENSIONS, "the number of dimensions")?;
        let shape = fields.varints(dimensions, "a dimension")?;
        if name.len() as u64 > MAX_NAME {
            return bad(format!("a name of {} bytes", name.len()));
        }
        let fits = match kind {
            0 => !dtype.is_empty(),
            1 => name.is_empty() && dtype.is_empty() && dimensions == 0,
            _ => false,
        };
        if !fits {
            return bad(format!("an entry of kind {kind} with name `{name}`, dtype `{dtype}`"));
        }
        let length = fields.size("a tensor's length")?;
        let storage = Self::read_storage(fields, length, earlier)?;
        Ok(Self { dtype, shape, length, storage })
    }

    fn read_storage(
        fields: &mut Fields<'a>,
        length: usize,
        earlier: Option<&Lengths>,
    ) -> Result<Storage<&'a [u8]>> {
        let at = fields.at();
        Ok(match fields.u8("an entry's storage")? {
            0 => Storage::Stored {
                groups: fields.size("the length of groups")?,
                descriptor: fields.size("a descriptor's length")?,
                crc: fields.u32("a descriptor's checksum")?,
            },
            1 => {
                let groups = fields.varint("the length of groups")?;
                let descriptor = fields.varint("a descriptor's length")?;
                Storage::Inline {
                    groups: fields.bytes(groups, "groups")?,
                    descriptor: fields.bytes(descriptor, "a descriptor")?,
                }
            }
            2 => {
                let of = fields.size("the entry that this one copies")?;
                if earlier.is_some_and(|earlier| earlier.of_original(of) != Some(length)) {
                    return Err(Error::corrupt(at, format!("entry {of} cannot be copied here")));
                }
                Storage::Copy(of)
            }
            id => return Err(Error::corrupt(at, format!("{id} is not a way to store an entry"))),
        })
    }
}
