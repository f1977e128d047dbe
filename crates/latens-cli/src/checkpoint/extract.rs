//! One tensor of a `.wcodec`, or a slice of one, as a `.npy` array.

use latens::NumberType;
use latens::wcodec::view::Values;
use latens::wcodec::{Reader, TensorEntry};
use std::ops::Range;

use crate::array::npy::NpyHeader;
use crate::io::section::SharedFile;
use crate::message::{Failure, Result};

/// A slice: a type, a shape, little-endian numbers.
pub struct Slice {
    /// Of the numbers.
    pub ty: NumberType,
    /// Of the slice.
    pub shape: Vec<u64>,
    /// In row order.
    pub bytes: Vec<u8>,
    /// Whether BF16 was widened to f32, which NumPy has.
    pub widened: bool,
}

/// `A:B`, either end optional, within `all`.
///
/// # Errors
/// Wrong usage: no such range.
pub fn range(text: Option<&str>, all: u64, what: &str) -> Result<Range<u64>> {
    let Some(text) = text else { return Ok(0..all) };
    let bad = || {
        Failure::usage(format!("there are no {what} {text:?}: the tensor has {all}"))
            .hint(format!("give them as A:B, from 0 to {all}"))
    };
    let (from, to) = text.split_once(':').ok_or_else(bad)?;
    let end = |text: &str, default: u64| match text.trim() {
        "" => Ok(default),
        text => text.parse::<u64>().map_err(|_| bad()),
    };
    let (from, to) = (end(from, 0)?, end(to, all)?);
    if from > to || to > all { Err(bad()) } else { Ok(from..to) }
}

/// Rows and columns of a tensor; all of it comes in its own shape.
///
/// # Errors
/// Bad input, I/O, no such rows or columns.
pub fn slice(
    reader: &Reader<SharedFile>,
    number: usize,
    entry: &TensorEntry<'_>,
    rows: Option<&str>,
    cols: Option<&str>,
) -> Result<Slice> {
    let layout = reader.layout(number)?;
    let whole = rows.is_none() && cols.is_none();
    let (rows, cols) = (range(rows, layout.rows, "rows")?, range(cols, layout.cols, "columns")?);
    let values = reader.slice(number, rows.clone(), cols.clone())?;
    let product = entry.shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
    let own = whole && product == layout.rows.checked_mul(layout.cols);
    let shape = match own {
        true => entry.shape.to_vec(),
        false => vec![rows.end - rows.start, cols.end - cols.start],
    };
    let (ty, bytes, widened) = match values {
        Values::Signed(values) => {
            (NumberType::I8, values.into_iter().map(i8::cast_unsigned).collect(), false)
        }
        Values::Unsigned(values) => (NumberType::U8, values, false),
        Values::Words(bytes) => words(entry.dtype, bytes),
    };
    let width = ty.bytes() as u64;
    let count = shape.iter().try_fold(width, |n, &extent| n.checked_mul(extent));
    // What is not one word a weight (blocks of a packing without a view) is bytes.
    match count == Some(bytes.len() as u64) {
        true => Ok(Slice { ty, shape, bytes, widened }),
        false => {
            let shape = vec![bytes.len() as u64];
            Ok(Slice { ty: NumberType::U8, shape, bytes, widened: false })
        }
    }
}

/// NumPy's type for words of a checkpoint's type: bytes for those that it does not have.
fn words(dtype: &str, bytes: Vec<u8>) -> (NumberType, Vec<u8>, bool) {
    let ty = match dtype {
        "BF16" => {
            let wide = bytes.as_chunks::<2>().0.iter().flat_map(|&[a, b]| [0, 0, a, b]);
            return (NumberType::F32, wide.collect(), true);
        }
        other => NumberType::from_name(&other.to_ascii_lowercase()).unwrap_or(NumberType::U8),
    };
    (ty, bytes, false)
}

impl Slice {
    /// The array as a `.npy` file.
    pub fn to_npy(&self) -> Vec<u8> {
        let header =
            NpyHeader { ty: self.ty, big_endian: false, fortran: false, shape: self.shape.clone() };
        let mut file = header.to_bytes();
        file.extend_from_slice(&self.bytes);
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(range(None, 5, "rows").unwrap(), 0..5);
        assert_eq!(range(Some("1:3"), 5, "rows").unwrap(), 1..3);
        assert_eq!(range(Some(":3"), 5, "rows").unwrap(), 0..3);
        assert_eq!(range(Some("2:"), 5, "rows").unwrap(), 2..5);
        for bad in ["", "3", "3:2", "0:6", "a:b", "-1:2", "1:2:3"] {
            assert!(range(Some(bad), 5, "rows").is_err(), "{bad}");
        }
    }

    #[test]
    fn brain_floats_are_widened() {
        let (ty, bytes, widened) = words("BF16", vec![0x80, 0x3f]);
        assert_eq!((ty, widened), (NumberType::F32, true));
        assert_eq!(words("F16", Vec::new()).0, NumberType::F16);
        assert_eq!(words("F8_E4M3", Vec::new()).0, NumberType::U8);
        assert_eq!(f32::from_le_bytes(bytes.try_into().unwrap()), 1.0);
    }
}
