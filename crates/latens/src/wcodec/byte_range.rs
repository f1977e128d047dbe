//! Bytes of a tensor as its source had them, all or some, to memory of the caller.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::reader::Reader;
use crate::wcodec::view::{Layout, Sign, Values, View};
use std::ops::Range;

/// Bytes that are decoded at a time, about.
const PIECE: u64 = 1 << 25;

/// Decoded bytes, and which of them were asked for.
type Piece = (Vec<u8>, Range<usize>);

impl<S: ReadAt> Reader<S> {
    /// Bytes of tensor `number` when decoded.
    ///
    /// # Errors
    /// Invalid argument where there is no such entry.
    pub fn byte_length(&self, number: usize) -> Result<usize> {
        let entry = self.index.entries.get(number).map(|entry| entry.length);
        entry.ok_or_else(|| Error::invalid(format!("there is no entry {number}")))
    }

    /// Bytes `range` of tensor `number` as they were in the source. Where its rows can be read on
    /// their own, only the groups that hold these bytes are decoded.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; invalid argument where there are no such bytes.
    pub fn byte_range(&self, number: usize, range: Range<u64>) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        self.pieces(number, range, &mut |(mut bytes, range)| {
            if all.is_empty() {
                bytes.truncate(range.end);
                bytes.drain(..range.start);
                all = bytes;
            } else {
                all.extend_from_slice(&bytes[range]);
            }
        })?;
        Ok(all)
    }

    /// Like [`Reader::byte_range`], from byte `from` on to all of `out`. What is decoded goes there
    /// in pieces of some megabytes; packed tensors are held as a whole. After an error `out` holds
    /// anything.
    ///
    /// # Errors
    /// As [`Reader::byte_range`].
    pub fn byte_range_into(&self, number: usize, from: u64, out: &mut [u8]) -> Result<()> {
        if from == 0 && self.byte_length(number)? == out.len() {
            return self.tensor_into(number, out);
        }
        let end = from.saturating_add(out.len() as u64);
        let mut rest = out;
        self.pieces(number, from..end, &mut |(bytes, range)| {
            let (now, behind) = std::mem::take(&mut rest).split_at_mut(range.len());
            now.copy_from_slice(&bytes[range]);
            rest = behind;
        })
    }

    /// Decodes what is needed for bytes `range`, and hands it over in order.
    fn pieces(&self, number: usize, range: Range<u64>, put: &mut dyn FnMut(Piece)) -> Result<()> {
        let length = self.byte_length(number)? as u64;
        if range.start > range.end || range.end > length {
            let what = format!("the tensor has no bytes {} to {}", range.start, range.end);
            return Err(Error::invalid(what).within(self.place(number)));
        }
        let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        // An empty tensor is opened, too: its descriptor may be wrong.
        let Layout { view, rows, unit_rows, unit_bytes: row, .. } = self.layout(number)?;
        // Rows of bytes are rows of the decoded numbers.
        let plain = matches!(
            view,
            View::Raw
                | View::Words { .. }
                | View::FloatBytes { .. }
                | View::Bytes(Sign::Signed | Sign::Unsigned)
        );
        if !plain || unit_rows != 1 || row == 0 || range.end.div_ceil(row) > rows {
            put((self.tensor(number)?, of(range.start)..of(range.end)));
            return Ok(());
        }
        let step = (PIECE / row).max(1);
        let (mut next, end) = (range.start / row, range.end.div_ceil(row));
        while next < end {
            let now = next..end.min(next.saturating_add(step));
            let bytes = match self.rows(number, now.clone())? {
                Values::Unsigned(bytes) | Values::Words(bytes) => bytes,
                Values::Signed(bytes) => bytes.into_iter().map(i8::cast_unsigned).collect(),
            };
            let first = now.start * row;
            if bytes.len() as u64 != (now.end - now.start) * row {
                return Err(Error::corrupt(0, "rows are not of the length that the index states")
                    .within(self.place(number)));
            }
            let wanted = of(range.start.saturating_sub(first))
                ..of((range.end - first).min(bytes.len() as u64));
            put((bytes, wanted));
            next = now.end;
        }
        Ok(())
    }
}
