//! Between the values of the `parquet` crate's column readers and writers, and ours.

use crate::message::{Failure, Result};
use crate::table::model::{Field, Storage};
use crate::table::piece::{ByteValues, Pairs, Piece, Values, any_numbers};
use crate::table::source::PIECE_BYTES;
use bytes::Bytes;
use half::f16;
use latens::{AnyNumbers, NumberType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::Result as ParquetResult;

/// Rows gathered from one or more column chunks.
pub(super) struct Gathered {
    /// Definition levels, empty where the column is required.
    levels: Vec<i16>,
    /// The definition level of a value that is there; 0 where all are.
    deepest: i16,
    rows: usize,
    values: Raw,
}

/// Values as the crate hands them out.
enum Raw {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(ByteValues),
    Fixed(ByteValues),
}

impl Gathered {
    /// None yet, of a column whose values have the definition level `deepest`.
    pub(super) fn new(field: &Field, deepest: i16) -> Self {
        let values = match field.storage {
            Storage::Boolean => Raw::Bool(Vec::new()),
            Storage::Number(NumberType::I64 | NumberType::U64) => Raw::Int64(Vec::new()),
            Storage::Number(NumberType::F32) => Raw::Float(Vec::new()),
            Storage::Number(NumberType::F64) => Raw::Double(Vec::new()),
            Storage::Number(NumberType::F16) => Raw::Fixed(ByteValues::default()),
            Storage::Number(_) => Raw::Int32(Vec::new()),
            Storage::Int96 => Raw::Int96(Vec::new()),
            Storage::Bytes => Raw::Bytes(ByteValues::default()),
            Storage::Wide(_) | Storage::Fixed(_) => Raw::Fixed(ByteValues::default()),
        };
        Gathered { levels: Vec::new(), deepest, rows: 0, values }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Rows to ask for at a time: values of unknown length come in small steps.
    pub(super) fn step(&self) -> usize {
        match self.values {
            Raw::Bytes(_) => 256,
            _ => usize::MAX,
        }
    }

    /// Whether a piece should grow no further.
    pub(super) fn is_large(&self) -> bool {
        match &self.values {
            Raw::Bytes(values) | Raw::Fixed(values) => values.data.len() as u64 >= PIECE_BYTES,
            _ => false,
        }
    }

    /// Read up to `rows` rows; returns how many came.
    pub(super) fn read(&mut self, reader: &mut ColumnReader, rows: usize) -> ParquetResult<usize> {
        fn read<T: DataType>(
            reader: &mut ColumnReaderImpl<T>,
            rows: usize,
            levels: Option<&mut Vec<i16>>,
            out: &mut Vec<T::T>,
        ) -> ParquetResult<usize> {
            reader.read_records(rows, levels, None, out).map(|(records, _, _)| records)
        }
        let levels = (self.deepest > 0).then_some(&mut self.levels);
        let got = match (reader, &mut self.values) {
            (ColumnReader::BoolColumnReader(r), Raw::Bool(out)) => read(r, rows, levels, out)?,
            (ColumnReader::Int32ColumnReader(r), Raw::Int32(out)) => read(r, rows, levels, out)?,
            (ColumnReader::Int64ColumnReader(r), Raw::Int64(out)) => read(r, rows, levels, out)?,
            (ColumnReader::Int96ColumnReader(r), Raw::Int96(out)) => read(r, rows, levels, out)?,
            (ColumnReader::FloatColumnReader(r), Raw::Float(out)) => read(r, rows, levels, out)?,
            (ColumnReader::DoubleColumnReader(r), Raw::Double(out)) => read(r, rows, levels, out)?,
            (ColumnReader::ByteArrayColumnReader(r), Raw::Bytes(out)) => {
                let mut values = Vec::new();
                let got = read(r, rows, levels, &mut values)?;
                values.iter().for_each(|value: &ByteArray| out.push(value.data()));
                got
            }
            (ColumnReader::FixedLenByteArrayColumnReader(r), Raw::Fixed(out)) => {
                let mut values = Vec::new();
                let got = read(r, rows, levels, &mut values)?;
                values.iter().for_each(|value: &FixedLenByteArray| out.push(value.data()));
                got
            }
            _ => 0,
        };
        self.rows += got;
        Ok(got)
    }

    /// What was gathered, as a piece of the field's storage.
    pub(super) fn into_piece(self, field: &Field) -> Result<Piece> {
        let values = match (self.values, field.storage) {
            (Raw::Bool(values), _) => {
                Values::Numbers(any_numbers(values.into_iter().map(u8::from).collect()))
            }
            (Raw::Int32(values), Storage::Number(NumberType::U32)) => {
                Values::Numbers(any_numbers(values.into_iter().map(i32::cast_unsigned).collect()))
            }
            (Raw::Int64(values), Storage::Number(NumberType::U64)) => {
                Values::Numbers(any_numbers(values.into_iter().map(i64::cast_unsigned).collect()))
            }
            (Raw::Int32(values), _) => Values::Numbers(any_numbers(values)),
            (Raw::Int64(values), _) => Values::Numbers(any_numbers(values)),
            (Raw::Float(values), _) => Values::Numbers(any_numbers(values)),
            (Raw::Double(values), _) => Values::Numbers(any_numbers(values)),
            (Raw::Int96(values), _) => Values::Pairs(pairs_of_int96(&values)),
            (Raw::Bytes(values), _) => Values::Bytes(values),
            (Raw::Fixed(values), Storage::Number(_)) => {
                let halves = values.iter().map(|v| fixed::<2>(v).map(f16::from_le_bytes));
                Values::Numbers(any_numbers(halves.collect::<Result<Vec<f16>>>()?))
            }
            (Raw::Fixed(values), Storage::Wide(n)) => Values::Pairs(pairs_of_wide(&values, n)?),
            (Raw::Fixed(values), Storage::Fixed(n)) => {
                if values.iter().any(|value| value.len() as u64 != u64::from(n)) {
                    return Err(wrong_length());
                }
                Values::Bytes(values)
            }
            (Raw::Fixed(values), _) => Values::Bytes(values),
        };
        if self.deepest == 0 {
            return Ok(Piece { rows: self.rows, valid: None, values });
        }
        let valid = self.levels.into_iter().map(|level| level == self.deepest).collect();
        Ok(Piece::with_validity(valid, values))
    }
}

#[cold]
fn wrong_length() -> Failure {
    Failure::new("corrupt: a value is not of the length that the schema states")
}

fn fixed<const N: usize>(value: &[u8]) -> Result<[u8; N]> {
    value.try_into().map_err(|_| wrong_length())
}

fn pairs_of_int96(values: &[Int96]) -> Pairs {
    let mut pairs = Pairs::default();
    for value in values {
        if let &[low, high, day] = value.data() {
            pairs.low.push(u64::from(low) | u64::from(high) << 32);
            pairs.high.push(i64::from(day));
        }
    }
    pairs
}

fn pairs_of_wide(values: &ByteValues, length: u8) -> Result<Pairs> {
    let mut pairs = Pairs::default();
    for value in values.iter() {
        if value.len() != usize::from(length) {
            return Err(wrong_length());
        }
        let fill = if value.first().is_some_and(|&byte| byte >= 0x80) { 0xff } else { 0 };
        let mut wide = [fill; 16];
        if let Some(tail) = wide.get_mut(16 - value.len()..) {
            tail.copy_from_slice(value);
        }
        let (high, low) = split(i128::from_be_bytes(wide));
        pairs.high.push(high);
        pairs.low.push(low);
    }
    Ok(pairs)
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves of 128 bits")]
fn split(wide: i128) -> (i64, u64) {
    ((wide >> 64) as i64, wide.cast_unsigned() as u64)
}

/// The 128-bit integer of two words.
pub(crate) fn join(high: i64, low: u64) -> i128 {
    i128::from(high) << 64 | i128::from(low)
}

/// Values as the crate takes them.
pub(super) enum Cooked {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

/// Values of a piece for the crate's column writer.
pub(super) fn cook(values: Values, storage: Storage) -> Cooked {
    match values {
        Values::Numbers(AnyNumbers::U8(v)) if storage == Storage::Boolean => {
            Cooked::Bool(v.into_iter().map(|x| x != 0).collect())
        }
        Values::Numbers(numbers) => match numbers {
            AnyNumbers::U8(v) => Cooked::Int32(v.into_iter().map(i32::from).collect()),
            AnyNumbers::U16(v) => Cooked::Int32(v.into_iter().map(i32::from).collect()),
            AnyNumbers::U32(v) => Cooked::Int32(v.into_iter().map(u32::cast_signed).collect()),
            AnyNumbers::U64(v) => Cooked::Int64(v.into_iter().map(u64::cast_signed).collect()),
            AnyNumbers::I8(v) => Cooked::Int32(v.into_iter().map(i32::from).collect()),
            AnyNumbers::I16(v) => Cooked::Int32(v.into_iter().map(i32::from).collect()),
            AnyNumbers::I32(v) => Cooked::Int32(v),
            AnyNumbers::I64(v) => Cooked::Int64(v),
            AnyNumbers::F32(v) => Cooked::Float(v),
            AnyNumbers::F64(v) => Cooked::Double(v),
            AnyNumbers::F16(v) => {
                Cooked::Fixed(v.into_iter().map(|x| x.to_le_bytes().to_vec().into()).collect())
            }
        },
        Values::Pairs(Pairs { high, low }) => match storage {
            Storage::Int96 => Cooked::Int96(
                high.into_iter().zip(low).map(|(day, nanos)| int96(day, nanos)).collect(),
            ),
            Storage::Wide(n) => Cooked::Fixed(
                high.into_iter().zip(low).map(|(high, low)| wide_bytes(high, low, n)).collect(),
            ),
            _ => Cooked::Fixed(
                high.into_iter().zip(low).map(|(high, low)| wide_bytes(high, low, 16)).collect(),
            ),
        },
        Values::Bytes(values) => {
            let bounds: Vec<usize> = std::iter::once(0).chain(values.ends).collect();
            let data = Bytes::from(values.data);
            let slices = bounds.windows(2).map(|w| match *w {
                [start, end] => ByteArray::from(data.slice(start..end)),
                _ => ByteArray::from(Bytes::new()),
            });
            match storage {
                Storage::Fixed(_) => Cooked::Fixed(slices.map(FixedLenByteArray::from).collect()),
                _ => Cooked::Bytes(slices.collect()),
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "words of 32 bits")]
fn int96(day: i64, nanos: u64) -> Int96 {
    let mut value = Int96::new();
    value.set_data(nanos as u32, (nanos >> 32) as u32, day as u32);
    value
}

fn wide_bytes(high: i64, low: u64, length: u8) -> FixedLenByteArray {
    let bytes = join(high, low).to_be_bytes();
    bytes.get(16 - usize::from(length.min(16))..).unwrap_or_default().to_vec().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_integers_come_back_at_every_length() {
        for n in 1..=16u8 {
            let bits = u32::from(n) * 8;
            let max = (u128::MAX >> (129 - bits)).cast_signed();
            for wide in [0, 1, -1, max, -max - 1] {
                let (high, low) = split(wide);
                let bytes = wide_bytes(high, low, n);
                let mut values = ByteValues::default();
                values.push(bytes.data());
                let pairs = pairs_of_wide(&values, n).unwrap();
                assert_eq!(join(pairs.high[0], pairs.low[0]), wide, "{n}");
            }
        }
    }

    #[test]
    fn int96_keeps_all_its_bits() {
        let value = int96(i64::from(u32::MAX), u64::MAX - 1);
        let pairs = pairs_of_int96(&[value]);
        assert_eq!((pairs.high[0], pairs.low[0]), (i64::from(u32::MAX), u64::MAX - 1));
    }
}
