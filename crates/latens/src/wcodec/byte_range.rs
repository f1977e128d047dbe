//! Bytes of a tensor as its source had them, all or some, to memory of the caller.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use crate::wcodec::view::Layout;
use std::ops::Range;

/// Bytes that are decoded at a time, about.
const PIECE: u64 = if cfg!(test) { 500 } else { 1 << 25 };

/// Decoded bytes, and which of them were asked for.
type Piece = (Vec<u8>, Range<usize>);

impl<S: ReadAt> Reader<S> {
    /// Bytes of tensor `number` when decoded.
    ///
    /// # Errors
    /// Invalid argument where there is no such entry.
    pub fn byte_length(&self, number: usize) -> Result<usize> {
        let entry = self.open.index.entry(number).map(|entry| entry.record.length);
        entry.ok_or_else(|| Error::invalid(format!("there is no entry {number}")))
    }

    /// Bytes of a tensor, and those that it takes in the file by itself.
    pub(crate) fn lengths(&self, number: usize) -> Option<(usize, usize)> {
        let entry = self.open.index.entry(number)?.record;
        let holder = match entry.stored().1 {
            Some(of) => self.open.index.entry(of)?.record,
            None => entry,
        };
        Some((entry.length, holder.stored().0))
    }

    /// Bytes `range` of tensor `number` as they were in the source. Only the groups that hold its rows of
    /// these bytes are decoded.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; invalid argument where there are no such bytes.
    pub fn byte_range(&self, number: usize, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_range(number, &range)?;
        self.checked_range(number, range)
    }

    /// The same of bytes that are known to be within the limits.
    pub(crate) fn checked_range(&self, number: usize, range: Range<u64>) -> Result<Vec<u8>> {
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
    /// in pieces of some megabytes.
    ///
    /// # Errors
    /// As [`Reader::byte_range`]. Only the first [`Error::values_before`] bytes of `out` have then
    /// changed, of which the first [`Error::values_right`] are right, as by [`Reader::tensor_into`].
    pub fn byte_range_into(&self, number: usize, from: u64, out: &mut [u8]) -> Result<()> {
        if from == 0 && self.byte_length(number)? == out.len() {
            return self.tensor_into(number, out);
        }
        let end = from.saturating_add(out.len() as u64);
        self.check_range(number, &(from..end))?;
        let mut done = 0;
        let result = self.pieces(number, from..end, &mut |(bytes, range)| {
            let next = done + range.len();
            out[done..next].copy_from_slice(&bytes[range]);
            done = next;
        });
        result.map_err(|e| e.after_some(done as u64, done as u64))
    }

    /// Whether a tensor has such bytes, and they are within the limits.
    fn check_range(&self, number: usize, range: &Range<u64>) -> Result<()> {
        let checked = match range.end.checked_sub(range.start) {
            Some(asked) if range.end <= self.byte_length(number)? as u64 => {
                self.open.limits.check_output(asked)
            }
            _ => {
                let what = format!("the tensor has no bytes {} to {}", range.start, range.end);
                Err(Error::invalid(what))
            }
        };
        checked.map_err(|e| e.within(self.place(number)))
    }

    /// Decodes what is needed for bytes `range`, which the tensor has, and hands it over in order.
    fn pieces(&self, number: usize, range: Range<u64>, put: &mut dyn FnMut(Piece)) -> Result<()> {
        let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        // An empty tensor is opened, too: its descriptor may be wrong.
        let open = OpenTensor::open(self, number)?;
        let Layout { rows, unit_rows, unit_bytes: unit, .. } = open.layout;
        let units = rows.checked_div(unit_rows).unwrap_or(0);
        if unit == 0 || range.end.div_ceil(unit) > units {
            put((self.tensor(number)?, of(range.start)..of(range.end)));
            return Ok(());
        }
        let step = (PIECE / unit).max(1);
        let (mut next, end) = (range.start / unit, range.end.div_ceil(unit));
        while next < end {
            let now = next..end.min(next.saturating_add(step));
            let bytes = open.units(now.clone()).map_err(|e| e.within(self.place(number)))?;
            let first = now.start * unit;
            let wanted = of(range.start.saturating_sub(first))
                ..of((range.end - first).min(bytes.len() as u64));
            put((bytes, wanted));
            next = now.end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::wcodec::{Config, compress_checkpoint, made};

    /// Tensors of many pieces, some of them packed.
    #[test]
    fn pieces_join() {
        let tensors = [
            ("a", "I8", "[60,48]", 60 * 48),
            ("b", "F32", "[300,8]", 9600),
            ("c", "I32", "[9]", 36),
            ("d.weight_packed", "I32", "[40,12]", 1920),
            ("e.qweight", "I32", "[10,64]", 2560),
        ];
        let source = made::safetensors(&tensors, |_, _, i| (i * 7 + i / 48 * 13) % 23);
        let checkpoint = made::checkpoint(source);
        let config = Config::default().level(2).threads(1).group_symbols(512);
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap().threads(2);
        let (numbers, mut found) = (reader.tensors().map(|(number, _)| number), Vec::new());
        let mut numbers: Vec<usize> = numbers.collect();
        numbers.reverse();
        let mut keep = |number: usize, bytes: Vec<u8>| {
            found.push((number, bytes.clone()));
            Ok(number.is_multiple_of(2).then_some(bytes))
        };
        reader.for_each(&numbers, &mut keep).unwrap();
        let expected = numbers.iter().map(|&number| (number, reader.tensor(number).unwrap()));
        assert!(found == expected.collect::<Vec<_>>());
        assert!(reader.for_each(&[99], |_, _| Ok(None)).is_err());
        for (number, _) in reader.tensors() {
            let whole = reader.tensor(number).unwrap();
            let mut out = vec![0x5a; whole.len()];
            reader.tensor_into(number, &mut out).unwrap();
            assert!(out == whole);
            for from in (0..whole.len()).step_by(37) {
                for to in (from..=whole.len()).step_by(411) {
                    let range = from as u64..to as u64;
                    assert!(reader.byte_range(number, range).unwrap() == whole[from..to]);
                    let mut out = vec![0x5a; to - from];
                    reader.byte_range_into(number, from as u64, &mut out).unwrap();
                    assert!(out == whole[from..to], "tensor {number}, bytes {from} to {to}");
                }
            }
        }
    }
}
