//! What a file is made of, without a byte left out.

use super::source::{self, ReadAt};
use super::{TensorInfo, quoted};
use crate::error::{Error, Result};

/// Longest run of zeros that is looked for between tensors.
pub(crate) const LONGEST_PADDING: u64 = 4096;

/// A run of bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Bytes that are no tensor's: a header, or a gap.
    Bytes {
        /// Where they begin in the file.
        offset: u64,
        /// How many.
        len: u64,
    },
    /// Bytes that are no tensor's and all zero.
    Zeros {
        /// How many.
        len: u64,
    },
    /// The bytes of a tensor, by its place in the checkpoint's list.
    Tensor(usize),
}

/// A tensor as a header lists it.
pub(super) struct Listed {
    /// The tensor; its `len` is not known yet where `open_end` is set.
    pub(super) info: TensorInfo,
    /// Byte of the file where the header speaks of it.
    pub(super) at: u64,
    /// The header does not tell its length: it goes on to the next one.
    pub(super) open_end: bool,
}

/// Sorts the tensors of a file by their place and finds what lies between them. Segments name them
/// by their place in the result, counted from `first`.
///
/// `data` is where the header ends, `len` the file's length.
pub(super) fn build(
    source: &dyn ReadAt,
    mut listed: Vec<Listed>,
    (data, len): (u64, u64),
    first: usize,
) -> Result<(Vec<Segment>, Vec<TensorInfo>)> {
    // Stable: the header's order decides between tensors at one place. Empty ones go first.
    listed.sort_by_key(|t| (t.info.offset, t.open_end, t.info.len));
    let mut end = len;
    for t in listed.iter_mut().rev() {
        if t.open_end {
            t.info.len = end.saturating_sub(t.info.offset);
        }
        end = t.info.offset;
    }
    let mut segments = vec![Segment::Bytes { offset: 0, len: data }];
    let mut tensors: Vec<TensorInfo> = Vec::with_capacity(listed.len());
    let (mut at, mut last) = (data, None);
    for Listed { info, at: place, .. } in listed {
        let end = info.offset.checked_add(info.len).filter(|&end| end <= len);
        let Some(end) = end else {
            let what = format!(
                "its bytes {} to {} are beyond the end of the file at {len}; the file may be cut short",
                info.offset,
                info.offset.saturating_add(info.len)
            );
            return Err(Error::truncated(place, what).within(quoted(&info.name)));
        };
        if info.len > 0 {
            if info.offset < at {
                let other = last.and_then(|i: usize| tensors.get(i)).map(|t| quoted(&t.name));
                let other = other.unwrap_or_else(|| "the header".to_owned());
                let what = format!("its bytes from {} on overlap {other}", info.offset);
                return Err(Error::corrupt(place, what).within(quoted(&info.name)));
            }
            gap(source, at, info.offset, &mut segments)?;
            at = end;
            last = Some(tensors.len());
        }
        segments.push(Segment::Tensor(first + tensors.len()));
        tensors.push(info);
    }
    gap(source, at, len, &mut segments)?;
    Ok((segments, tensors))
}

fn gap(source: &dyn ReadAt, from: u64, to: u64, segments: &mut Vec<Segment>) -> Result<()> {
    let len = to - from;
    if len == 0 {
        return Ok(());
    }
    let zeros = len <= LONGEST_PADDING && source::read(source, from, len)?.iter().all(|&b| b == 0);
    segments.push(if zeros {
        Segment::Zeros { len }
    } else {
        Segment::Bytes { offset: from, len }
    });
    Ok(())
}
