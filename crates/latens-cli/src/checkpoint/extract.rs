//! One tensor of a `.wcodec`, or a slice of one, as a `.npy` array or as bare numbers.

use latens::NumberType;
use latens::wcodec::dtype::{Dtype, elements};
use latens::wcodec::view::{Axis, BitOrder, BlockKind, Layout, Packing, Sign, Values, View};
use latens::wcodec::{Reader, TensorEntry};
use std::ops::Range;

use crate::array::npy::NpyHeader;
use crate::io::section::SharedFile;
use crate::message::{Failure, Result};

/// Numbers that are decoded at a time.
const AT_ONCE: u64 = 1 << 22;

/// A slice of a tensor: its type and shape are known, its numbers are decoded as they are written.
pub struct Slice<'r> {
    /// Of the numbers.
    pub ty: NumberType,
    /// Of the slice.
    pub shape: Vec<u64>,
    /// What NumPy's type does not say, in words.
    pub note: String,
    /// How the tensor is packed.
    pub packing: String,
    /// Bytes of all numbers.
    pub len: u64,
    source: Source<'r>,
    /// The first numbers, in row order, and which ones come next.
    first: Vec<u8>,
    rest: Range<u64>,
}

/// Where the numbers come from.
struct Source<'r> {
    reader: &'r Reader<SharedFile>,
    number: usize,
    dtype: &'r str,
    layout: Layout,
    /// Numbers behind the first dimension.
    row: u64,
    /// Those of them that are wanted.
    cols: Range<u64>,
    /// Numbers that are read together.
    unit: u64,
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

/// Rows and columns of a tensor, which keep the dimensions behind the first; of a tensor of one
/// dimension its elements are the rows. With `cols`, what lies behind the first dimension is one. Both
/// count elements; of what is not taken apart, columns are bytes.
///
/// # Errors
/// Bad input, I/O, no such rows or columns.
pub fn slice<'r>(
    reader: &'r Reader<SharedFile>,
    number: usize,
    entry: &'r TensorEntry<'_>,
    rows: Option<&str>,
    cols: Option<&str>,
) -> Result<Slice<'r>> {
    let layout = reader.layout(number)?;
    let whole = rows.is_none() && cols.is_none();
    let (mut all, each) = logical_shape(entry, &layout);
    let (&count, behind) = all.split_first().unwrap_or((&1, &[]));
    if cols.is_some() && behind.is_empty() {
        return Err(Failure::usage("the tensor has no columns: it is one row of numbers")
            .hint("--rows A:B gives numbers A to B of it"));
    }
    let dtype = entry.dtype;
    let beside = |suffix: &str| reader.find(&format!("{}{suffix}", entry.name)).is_some();
    let note = note(dtype, &layout, &beside);
    let row = behind.iter().fold(1u64, |n, &extent| n.saturating_mul(extent));
    let rows = range(rows, count, "rows")?;
    let given = cols.is_some();
    let cols = range(cols, row, if note == BYTES { "columns of bytes" } else { "columns" })?;
    let mut shape = match (whole, given) {
        (true, _) => std::mem::take(&mut all),
        (false, true) => vec![rows.end - rows.start, cols.end - cols.start],
        (false, false) => [&[rows.end - rows.start], behind].concat(),
    };
    shape.extend((each > 1).then_some(each));
    // From elements to numbers.
    let row = row.saturating_mul(each);
    let cols = cols.start.saturating_mul(each)..cols.end.saturating_mul(each);
    // Columns are cut out of whole rows; all else may be cut where the weights' rows end.
    let unit = if given { row } else { layout.cols };
    let packing = layout.view.packing(dtype);
    let source = Source { reader, number, dtype, layout, row, cols, unit };
    let mut rest = rows.start.saturating_mul(row)..rows.end.saturating_mul(row);
    let all = rest.end - rest.start;
    let (ty, first) = source.next(&mut rest)?;
    let read = all - (rest.end - rest.start);
    let width = ty.bytes() as u64;
    let wanted = |n: u64| match given {
        true => n.checked_div(row).unwrap_or(0).saturating_mul(source.cols.end - source.cols.start),
        false => n,
    };
    // What is not one word a weight (elements of six bits) is bytes.
    let whole = wanted(read).checked_mul(width) == Some(first.len() as u64);
    let len = match whole {
        true => wanted(all).saturating_mul(width),
        false => (first.len() as u64).saturating_mul(all).checked_div(read).unwrap_or(0),
    };
    Ok(match whole {
        true => Slice { ty, shape, note, packing, len, source, first, rest },
        false => {
            let (ty, shape, note) = (NumberType::U8, vec![len], BYTES.to_string());
            Slice { ty, shape, note, packing, len, source, first, rest }
        }
    })
}

impl Source<'_> {
    /// The next of the numbers in `rest`, which then begins behind them: a type, little-endian numbers.
    fn next(&self, rest: &mut Range<u64>) -> Result<(NumberType, Vec<u8>)> {
        let unit = self.unit.max(1);
        // Up to where a unit ends.
        let end = rest.start.saturating_add(AT_ONCE.max(unit)) / unit * unit;
        let numbers = rest.start..end.min(rest.end);
        rest.start = numbers.end;
        let rows = (numbers.end - numbers.start).checked_div(self.row).unwrap_or(0);
        let cut = |bytes| cut(bytes, self.row, &self.cols, rows);
        let layout = &self.layout;
        Ok(match read(self.reader, self.number, layout, numbers)? {
            Values::Words(bytes) => words(self.dtype, cut(bytes)),
            Values::Unsigned(values) => {
                // Two's complement of eight bits has room for all integers of fewer.
                let small = layout.meaning().is_some_and(|meaning| meaning.bits < 8);
                (if small { NumberType::I8 } else { NumberType::U8 }, cut(values))
            }
            Values::Signed(values) => {
                let bytes = values.into_iter().map(i8::cast_unsigned).collect();
                (NumberType::I8, cut(bytes))
            }
        })
    }
}

/// The shape of what comes out of a whole tensor: its own, or of what is packed the matrix of its weights; and how many
/// numbers an element is: complex ones are two, a real and an imaginary part.
fn logical_shape(entry: &TensorEntry<'_>, layout: &Layout) -> (Vec<u64>, u64) {
    let numbers = layout.rows.saturating_mul(layout.cols);
    let each = if entry.dtype == "C64" { 2 } else { 1 };
    match elements(&entry.shape) {
        Some(n) if n.checked_mul(each) == Some(numbers) => (entry.shape.clone(), each),
        _ => (packed_shape(entry, layout).unwrap_or(vec![layout.rows, layout.cols]), 1),
    }
}

/// Of packed tensors of three and more dimensions those of their weights, which words have along the last dimension or along
/// the one before.
fn packed_shape(entry: &TensorEntry<'_>, layout: &Layout) -> Option<Vec<u64>> {
    let View::Packed(packing) = layout.view else { return None };
    let (mut shape, words) = (entry.shape.clone(), elements(&entry.shape)?);
    let numbers = layout.rows.checked_mul(layout.cols)?;
    let back = match packing.axis {
        Axis::Columns => 1,
        Axis::Rows if shape.last() == Some(&layout.cols) => 2,
        Axis::Rows => return None,
    };
    // Columns may be named that are the shape's own.
    let unnamed = View::Packed(Packing { cols: 0, ..packing });
    let of_shape = unnamed.layout(Dtype::named(entry.dtype), &shape, entry.length as u64)?;
    let is_of_shape = (of_shape.rows, of_shape.cols) == (layout.rows, layout.cols);
    let along = shape.len().checked_sub(back).filter(|_| shape.len() > 2 && is_of_shape)?;
    let extent = shape.get_mut(along)?;
    let all = extent.checked_mul(numbers)?;
    *extent = all.checked_div(words)?;
    (extent.checked_mul(words) == Some(all)).then_some(shape)
}

/// What is said of numbers that are bytes of what is not taken apart.
const BYTES: &str = " (its bytes)";

/// What numbers are, where their type does not say it; `beside` says whether a tensor has a sibling of this ending.
fn note(dtype: &str, layout: &Layout, beside: &dyn Fn(&str) -> bool) -> String {
    let known = Dtype::named(dtype);
    let bare = "without scale and zero point";
    match layout.view {
        View::Blocks(BlockKind::IQ4_NL) => {
            format!(" (indices of {dtype}'s code book, without scale)")
        }
        View::Blocks(BlockKind::MXFP4) => format!(" ({dtype} codes of floats, without scale)"),
        View::Blocks(_) => format!(" ({dtype} codes, {bare})"),
        View::Packed(_) if known == Dtype::F4 => format!(" ({dtype} codes as i8)"),
        // Plain bytes that names take for packed ones.
        View::Packed(p) if p.bits == 8 && matches!(known, Dtype::I8 | Dtype::U8) => String::new(),
        // What bitsandbytes packs has that order, and what was said to have it.
        View::Packed(p) if (p.order, p.sign) == (BitOrder::HighFirst, Sign::Unsigned) => {
            let state = |kind| beside(&format!(".quant_state.bitsandbytes__{kind}"));
            match (state("fp4"), state("nf4") || beside(".absmax")) {
                (true, _) => " (FP4 codes of floats, without scale)".into(),
                (false, true) => " (indices of a code book, without scale)".into(),
                (false, false) => format!(" (codes, {bare})"),
            }
        }
        View::Packed(_) => format!(" (codes, {bare})"),
        View::Bytes(_) if matches!(known, Dtype::I8 | Dtype::U8) => String::new(),
        _ => match (dtype, known.width()) {
            ("BF16", _) => " (BF16 as f32)".into(),
            ("C64", _) => " (real and imaginary parts)".into(),
            _ if number_type(dtype).is_some() => String::new(),
            (_, Some(1)) => format!(" ({dtype} as u8)"),
            _ => BYTES.into(),
        },
    }
}

/// A run of the numbers of a tensor, in row order.
fn read(
    reader: &Reader<SharedFile>,
    number: usize,
    layout: &Layout,
    numbers: Range<u64>,
) -> Result<Values> {
    let cols = layout.cols.max(1);
    let rows = numbers.start / cols..numbers.end.div_ceil(cols);
    let held = (rows.end - rows.start).saturating_mul(layout.cols);
    let wanted = numbers.start - rows.start * cols..numbers.end - rows.start * cols;
    Ok(match reader.rows(number, rows)? {
        Values::Unsigned(bytes) => Values::Unsigned(cut(bytes, held, &wanted, 1)),
        Values::Words(bytes) => Values::Words(cut(bytes, held, &wanted, 1)),
        Values::Signed(values) => {
            let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            let values = values.get(at(wanted.start)..at(wanted.end)).unwrap_or_default();
            Values::Signed(values.to_vec())
        }
    })
}

/// Columns `cols` of the numbers of `rows` rows, each of which has `row` of them.
fn cut(bytes: Vec<u8>, row: u64, cols: &Range<u64>, rows: u64) -> Vec<u8> {
    let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    if cols.start == 0 && cols.end == row {
        return bytes;
    }
    let all = of(row).saturating_mul(of(rows)).max(1);
    let width = bytes.len() / all;
    let each = bytes.chunks((of(row) * width).max(1));
    each.flat_map(|r| r.get(of(cols.start) * width..of(cols.end) * width).unwrap_or_default())
        .copied()
        .collect()
}

/// NumPy's type for words of a checkpoint's type: bytes for those that it does not have.
fn words(dtype: &str, bytes: Vec<u8>) -> (NumberType, Vec<u8>) {
    match dtype {
        "BF16" => {
            let wide = bytes.as_chunks::<2>().0.iter().flat_map(|&[a, b]| [0, 0, a, b]);
            (NumberType::F32, wide.collect())
        }
        "C64" => (NumberType::F32, bytes),
        other => (number_type(other).unwrap_or(NumberType::U8), bytes),
    }
}

/// The type that NumPy has as well.
fn number_type(dtype: &str) -> Option<NumberType> {
    NumberType::from_name(&dtype.to_ascii_lowercase())
}

impl Slice<'_> {
    /// The header of a `.npy` file of it.
    pub fn npy_header(&self) -> Vec<u8> {
        let (ty, shape) = (self.ty, self.shape.clone());
        NpyHeader { ty, big_endian: false, fortran: false, shape }.to_bytes()
    }

    /// Hands over all numbers, in row order, little-endian, some megabytes at a time.
    ///
    /// # Errors
    /// Bad input, I/O, those of `out`.
    pub fn each(mut self, out: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        out(&std::mem::take(&mut self.first))?;
        while !self.rest.is_empty() {
            out(&self.source.next(&mut self.rest)?.1)?;
        }
        Ok(())
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
        let (ty, bytes) = words("BF16", vec![0x80, 0x3f]);
        assert_eq!(ty, NumberType::F32);
        assert_eq!(words("F16", Vec::new()).0, NumberType::F16);
        assert_eq!(words("F8_E4M3", Vec::new()).0, NumberType::U8);
        assert_eq!(f32::from_le_bytes(bytes.try_into().unwrap()), 1.0);
    }
}
