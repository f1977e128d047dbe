//! A file that the checkpoint came from, as a sequence of entries and zeros.
//!
//! | field | form |
//! |---|---|
//! | name | string |
//! | length | varint |
//! | segments | how many, varint; each a varint: 2k is entry k, 2n + 1 is n ≤ 4096 zero bytes, 2(4097 + k) + 1 and a count is so many bytes [woven](super::super::woven) of entry k; 1, k, a place and a count is a part of these |

use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::entry::Lengths;
use crate::wcodec::layout::fields::{Fields, write_string};
use crate::wcodec::layout::source::MAX_NAME;
use std::ops::Range;

/// Zero bytes that a segment stands for, at most: else three bytes could ask for a disk full of them.
pub(crate) const MAX_ZEROS: u64 = 4096;

/// Bytes of an entry of which a segment is woven, and of that segment, at most.
const MAX_WOVEN: u64 = 1 << 24;
/// Bytes of an entry of which parts are woven, and of what is woven of it, at most: each part asks for all of that.
pub(crate) const MAX_WOVEN_IN_PARTS: u64 = 1 << 14;

/// The code of a part.
const PART: u64 = 1;

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceFileRecord {
    pub(crate) name: String,
    pub(crate) length: u64,
    pub(crate) segments: Vec<SegmentRecord>,
}

/// A stretch of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentRecord {
    /// All bytes of an entry.
    Entry(usize),
    /// So many zero bytes.
    Zeros(u64),
    /// Bytes of an entry and names.
    Woven(Woven),
}

/// What is woven of an entry and of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Woven {
    pub(crate) of: usize,
    /// The byte with which it begins, where it is a part of that.
    pub(crate) part: Option<u64>,
    /// How many bytes it is.
    pub(crate) length: u64,
}

impl Woven {
    /// The bytes it is of all that is woven.
    pub(crate) fn bytes(&self) -> Range<u64> {
        let start = self.part.unwrap_or(0);
        start..start.saturating_add(self.length)
    }
}

/// Whether `name` can be a file's in a folder that it cannot leave.
pub(crate) fn is_bare_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0', ':'])
}

/// The same, and no longer than the format has room for.
pub(crate) fn may_name_a_file(name: &str) -> Result<()> {
    if is_bare_name(name) && name.len() as u64 <= MAX_NAME {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "a .wcodec cannot hold a file that is called {name:?}: no / \\ : or NUL, and {MAX_NAME} bytes at most; rename it"
    )))
}

impl SourceFileRecord {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_string(&self.name, &mut out);
        varint::write(self.length, &mut out);
        varint::write(self.segments.len() as u64, &mut out);
        for segment in &self.segments {
            match *segment {
                SegmentRecord::Entry(k) => varint::write(2 * k as u64, &mut out),
                SegmentRecord::Zeros(n) => varint::write(2 * n + 1, &mut out),
                SegmentRecord::Woven(Woven { of, part, length }) => {
                    let of = of as u64;
                    match part {
                        None => varint::write(2 * (MAX_ZEROS + 1 + of) + 1, &mut out),
                        Some(start) => {
                            [PART, of, start].into_iter().for_each(|n| varint::write(n, &mut out));
                        }
                    }
                    varint::write(length, &mut out);
                }
            }
        }
        out
    }
}

/// A source file, as it lies in the index.
#[derive(Clone, Debug)]
pub(crate) struct FileRecord<'a> {
    pub(crate) name: &'a str,
    pub(crate) length: u64,
    segments: Fields<'a>,
}

impl<'a> FileRecord<'a> {
    /// Reads a file of entries of such lengths; without them the record is known to be sound.
    pub(crate) fn read(fields: &mut Fields<'a>, entries: Option<&Lengths>) -> Result<Self> {
        let at = fields.at();
        let name = fields.string(MAX_NAME, "a file's name")?;
        if !is_bare_name(name) {
            return Err(Error::corrupt(
                at,
                format!("`{}` is no bare file name", name.escape_debug()),
            ));
        }
        let length = fields.size("a file's length")? as u64;
        let count = fields.count(1, "the number of segments")?;
        let segments = fields.clone();
        if let Some(entries) = entries {
            let sum = sum(fields, count, entries)?;
            if sum != length {
                let what = format!("segments of {sum} bytes in a file of {length}");
                return Err(Error::corrupt(at, what));
            }
        }
        Ok(Self { name, length, segments })
    }

    /// What it is made of.
    pub(crate) fn segments(&self) -> impl Iterator<Item = SegmentRecord> + use<'a> {
        let mut fields = self.segments.clone();
        std::iter::from_fn(move || match fields.left() {
            0 => None,
            _ => segment(&mut fields).ok(),
        })
    }
}

/// The next segment.
fn segment(fields: &mut Fields<'_>) -> Result<SegmentRecord> {
    let at = fields.at();
    let code = fields.varint("a segment")?;
    let entry = |number: u64| {
        usize::try_from(number)
            .map_err(|_| Error::corrupt(at, format!("there is no entry {number}")))
    };
    let (of, part) = match (code % 2, code / 2) {
        (0, k) => return Ok(SegmentRecord::Entry(entry(k)?)),
        _ if code == PART => {
            let of = entry(fields.varint("the entry of a part")?)?;
            (of, Some(fields.varint("the place of a part")?))
        }
        (_, n @ ..=MAX_ZEROS) => return Ok(SegmentRecord::Zeros(n)),
        (_, k) => (entry(k - MAX_ZEROS - 1)?, None),
    };
    let length = fields.varint("how many bytes are woven")?;
    Ok(SegmentRecord::Woven(Woven { of, part, length }))
}

/// Reads and checks `count` segments; their bytes.
fn sum(fields: &mut Fields<'_>, count: usize, entries: &Lengths) -> Result<u64> {
    let mut sum = 0u64;
    for _ in 0..count {
        let at = fields.at();
        let length = |k| {
            let length = entries.get(k).map(|length| length as u64);
            length.ok_or_else(|| Error::corrupt(at, format!("there is no entry {k}")))
        };
        let bytes = match segment(fields)? {
            SegmentRecord::Zeros(n) => n,
            SegmentRecord::Entry(k) => length(k)?,
            SegmentRecord::Woven(woven) => {
                let (of, end) = (length(woven.of)?, woven.bytes().end);
                let most = woven.part.map_or(MAX_WOVEN, |_| MAX_WOVEN_IN_PARTS);
                if of == 0 || of.max(end) > most {
                    let what = format!("bytes up to {end} woven of the {of} of entry {}", woven.of);
                    return Err(Error::corrupt(at, what));
                }
                woven.length
            }
        };
        let longer = sum.checked_add(bytes);
        sum = longer.ok_or_else(|| Error::corrupt(at, "a file without end"))?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        for bad in ["", "..", "a/b", "/x", "a\\b", "c:x", "a\0"] {
            assert!(!is_bare_name(bad), "{bad:?}");
        }
        assert!(is_bare_name("model-00001-of-00003.safetensors"));
    }
}
