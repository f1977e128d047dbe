//! Views: reversible ways to take the bytes of a tensor apart into planes of symbols, words and
//! bytes.
//!
//! A [`View`] says how; a [`Layout`] is a view that was found to fit a tensor, and does it. The
//! matrix that a layout speaks of is that of the logical weights, after unpacking; its rows are cut
//! into *units* of one row (of several where words pack rows), which are contiguous in the tensor.
//! Every part is linear in the rows, so the parts of a run of whole units are those of a smaller
//! tensor: they can be split, joined and read on their own.
//!
//! Every view is a bijection between bytes and parts: whatever the bytes hold, they come back.

mod block32;
mod blocks;
mod choice;
mod float_bytes;
mod k_scales;
mod matrix;
mod nibbles;
mod packed;
mod parts;
mod pieces;
mod q4_k;
mod q5_k;
mod q6_k;
mod q8_0;
mod stream;
#[cfg(test)]
mod tests;
mod wire;
mod words;

pub use blocks::BlockKind;
pub use choice::PackingChoice;
pub(crate) use float_bytes::plane as float_plane;
pub use packed::{Axis, BitOrder, Packing};
pub use parts::{Form, Meaning, PartLayout, Sign, Values};
pub(crate) use pieces::InPlace;
pub use words::WordOrder;

use super::dtype::{Dtype, elements};
use super::plane::{Content, Part, Role};
use crate::error::{Error, Result};

/// How the bytes of a tensor are taken apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum View {
    /// Not at all: one part of bytes.
    #[default]
    Raw,
    /// One symbol of 8 bits a byte.
    Bytes(Sign),
    /// Several symbols in each word.
    Packed(Packing),
    /// Little-endian words of 1, 2, 4 or 8 bytes, for Pco; those of one byte as symbols.
    Words {
        /// Bytes a word.
        width: u8,
        /// What is done to a word so that its order is that of the numbers.
        order: WordOrder,
    },
    /// Floats of 2, 4 or 8 bytes as planes of bytes: the exponent first, then the mantissa from its
    /// upper end, the sign lowest.
    FloatBytes {
        /// Bytes a float.
        width: u8,
    },
    /// Blocks of GGUF, field by field.
    Blocks(BlockKind),
}

/// A view that fits a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// The view.
    pub view: View,
    /// Rows of logical weights.
    pub rows: u64,
    /// Logical weights a row.
    pub cols: u64,
    /// Symbols that fill the last word of a row and are no weights. None in the layout of a view by itself.
    pub spare_cols: u64,
    /// Rows in a unit, which is what can be split and joined on its own: 1, but for words that
    /// pack rows.
    pub unit_rows: u64,
    /// Bytes of a unit.
    pub unit_bytes: u64,
}

impl View {
    /// The layout of a tensor of `len` bytes under this view, if the view fits it: the elements are
    /// as wide as the view takes them, and the shape accounts for all the bytes.
    pub fn layout(self, dtype: Dtype, shape: &[u64], len: u64) -> Option<Layout> {
        self.is_valid().then_some(())?;
        if len == 0 {
            return Some(Layout {
                view: self,
                rows: 0,
                cols: 0,
                spare_cols: 0,
                unit_rows: 1,
                unit_bytes: 0,
            });
        }
        let (rows, cols, unit_rows) = match self {
            View::Raw => raw_matrix(dtype, shape, len),
            View::Bytes(_) => {
                let (rows, cols) = matrix::of_words(dtype, shape, len, 1)?;
                (rows, cols, 1)
            }
            View::Words { width, .. } | View::FloatBytes { width } => {
                let (rows, cols) = matrix::of_words(dtype, shape, len, u64::from(width))?;
                (rows, cols, 1)
            }
            View::Packed(packing) => packing.matrix(dtype, shape, len)?,
            View::Blocks(kind) => {
                let (rows, cols) = kind.matrix(dtype, shape, len)?;
                (rows, cols, 1)
            }
        };
        let units = rows.checked_div(unit_rows)?;
        (units > 0 && rows.is_multiple_of(unit_rows) && len.is_multiple_of(units)).then_some(())?;
        // Symbols must be countable in memory, eight to a byte at most.
        usize::try_from(rows.checked_mul(cols)?).ok()?;
        let unit_bytes = len / units;
        Some(Layout { view: self, rows, cols, spare_cols: 0, unit_rows, unit_bytes })
    }

    /// Whether its parameters go together.
    pub fn is_valid(self) -> bool {
        match self {
            View::Raw | View::Bytes(_) | View::Blocks(_) => true,
            View::Packed(packing) => packing.is_valid(),
            View::Words { width, order } => order.fits(width),
            View::FloatBytes { width } => matches!(width, 2 | 4 | 8),
        }
    }

    /// The parts of a whole tensor; `None` where the view does not fit it.
    pub fn split(self, bytes: &[u8], dtype: Dtype, shape: &[u64]) -> Option<Vec<Part>> {
        self.layout(dtype, shape, u64::try_from(bytes.len()).ok()?)?.split(bytes)
    }

    /// How weights of a tensor are packed that this is the view of, for people: numbers that are not packed have the name
    /// of their type, which is `dtype`.
    pub fn packing(self, dtype: &str) -> String {
        match self {
            View::Raw | View::Words { .. } | View::FloatBytes { .. } if !dtype.is_empty() => {
                dtype.to_lowercase()
            }
            // Bytes that are no numbers of eight bits.
            View::Bytes(_) if matches!(dtype, "BOOL" | "F6_E2M3" | "F6_E3M2") => {
                dtype.to_lowercase()
            }
            _ => self.name(),
        }
    }

    /// A word for the view, for people.
    pub fn name(self) -> String {
        match self {
            View::Raw => "raw".to_owned(),
            View::Bytes(Sign::Signed) => "int8".to_owned(),
            View::Bytes(_) => "uint8".to_owned(),
            View::Packed(packing) => packing.name(),
            View::Words { width, order } => order.name(width),
            View::FloatBytes { width } => format!("float{} bytes", u32::from(width) * 8),
            View::Blocks(kind) => kind.name().to_owned(),
        }
    }
}

/// Raw bytes have rows too where the shape tells of them.
fn raw_matrix(dtype: Dtype, shape: &[u64], len: u64) -> (u64, u64, u64) {
    let whole = (1, len, 1);
    if elements(shape).and_then(|n| dtype.bytes(n)) != Some(len) {
        return whole;
    }
    match matrix::of(shape) {
        Some((rows, _)) if rows > 0 && len.is_multiple_of(rows) => (rows, len / rows, 1),
        _ => whole,
    }
}

impl Layout {
    /// With what fills words, as its parts have it.
    pub(crate) fn filled(self) -> Self {
        Self { cols: self.cols + self.spare_cols, spare_cols: 0, ..self }
    }

    /// The same of which the first `cols` of each row alone are weights, where these end in its last word.
    pub(crate) fn with_weights(self, cols: u64) -> Self {
        let filled = self.filled();
        match (self.view, filled.cols.checked_sub(cols)) {
            (View::Packed(packing), Some(spare))
                if packing.axis == Axis::Columns && spare < packing.each() =>
            {
                Self { cols, spare_cols: spare, ..filled }
            }
            _ => filled,
        }
    }

    /// What the tensor is split into, part by part.
    pub fn parts(&self) -> Vec<PartLayout> {
        let cols = self.cols + self.spare_cols;
        let symbols = |bits| PartLayout { role: Role::Weights, form: Form::Symbols { bits, cols } };
        match self.view {
            View::Raw => vec![PartLayout { role: Role::Rest, form: Form::Raw { a_row: cols } }],
            View::Bytes(_) | View::Words { width: 1, .. } => vec![symbols(8)],
            View::Packed(packing) => vec![symbols(u32::from(packing.bits))],
            View::Words { width, order } => {
                let form = Form::Words { width, float: order.is_float(), a_row: cols };
                vec![PartLayout { role: Role::Weights, form }]
            }
            View::FloatBytes { width } => float_bytes::parts(width, cols),
            View::Blocks(kind) => kind.parts(cols),
        }
    }

    /// Bytes of so many rows and columns of numbers as [`Reader::slice`](crate::wcodec::Reader::slice) gives them: one for
    /// each packed integer, else those of the numbers.
    pub fn bytes_of(&self, rows: u64, cols: u64) -> u64 {
        let width = match self.meaning() {
            Some(_) => 1,
            None => {
                let a_unit = self.unit_rows.saturating_mul(self.cols);
                self.unit_bytes.checked_div(a_unit).unwrap_or(0).max(1)
            }
        };
        rows.saturating_mul(cols).saturating_mul(width)
    }

    /// Weights of a tensor of this shape: its elements, or what is packed in them.
    pub fn weights(&self, shape: &[u64]) -> u64 {
        let all = self.rows.saturating_mul(self.cols);
        match self.view {
            View::Packed(_) | View::Blocks(_) => all,
            _ => elements(shape).unwrap_or(all),
        }
    }

    /// What the symbols of the weights stand for; `None` where the weights are not symbols.
    pub fn meaning(&self) -> Option<Meaning> {
        let (bits, sign) = match self.view {
            View::Bytes(sign) => (8, sign),
            View::Packed(packing) => (u32::from(packing.bits), packing.sign),
            View::Blocks(kind) => (kind.bits(), kind.sign()),
            View::Raw | View::Words { .. } | View::FloatBytes { .. } => return None,
        };
        Some(Meaning { bits, sign })
    }

    /// Which symbol of `bits` stands for the least number.
    pub(crate) fn least(&self, bits: u32) -> u8 {
        let signed = self.meaning().is_some_and(|meaning| meaning.sign == Sign::Signed);
        if signed { 1 << (bits.clamp(1, 8) - 1) } else { 0 }
    }

    /// The parts of `bytes`, which are one or more whole units; `None` if they are not.
    pub fn split(&self, bytes: &[u8]) -> Option<Vec<Part>> {
        let unit = usize::try_from(self.unit_bytes).ok()?;
        let units = if bytes.is_empty() { 0 } else { bytes.len().checked_div(unit)? };
        (units * unit == bytes.len()).then_some(())?;
        let rows = units.checked_mul(usize::try_from(self.unit_rows).ok()?)?;
        let cols = usize::try_from(self.filled().cols).ok()?;
        rows.checked_mul(cols)?;
        Some(match self.view {
            View::Raw => vec![Part { role: Role::Rest, content: Content::Raw(bytes.to_vec()) }],
            View::Bytes(_) => vec![parts::weights(rows, cols, 8, bytes.to_vec())],
            View::Packed(packing) => {
                let data = packing.unpack(bytes, cols);
                vec![parts::weights(rows, cols, u32::from(packing.bits), data)]
            }
            View::Words { width, order } => vec![order.split(bytes, width, rows, cols)],
            View::FloatBytes { width } => float_bytes::split(bytes, width, rows, cols),
            View::Blocks(kind) => kind.split(bytes, rows, cols),
        })
    }

    /// The bytes that were split into `parts`: a whole tensor's, or those of some units of it.
    ///
    /// # Errors
    /// Invalid argument when these are not parts of this layout.
    pub fn join(&self, parts: Vec<Part>) -> Result<Vec<u8>> {
        let rows = self.check_whole(&parts)?;
        let cols = self.filled().cols;
        let cols = usize::try_from(cols).map_err(|_| Error::invalid("too many columns"))?;
        Ok(match self.view {
            View::Raw | View::Bytes(_) => parts::into_first(parts),
            View::Packed(packing) => packing.pack(&parts::into_first(parts), cols),
            View::Words { width, order } => order.join(parts::into_first(parts), width),
            View::FloatBytes { .. } | View::Blocks(_) => {
                let length = (rows / self.unit_rows.max(1)).checked_mul(self.unit_bytes);
                let length = length.and_then(|length| usize::try_from(length).ok());
                let mut out = vec![0; length.ok_or_else(|| Error::invalid("too many rows"))?];
                let parts: Vec<&[u8]> = parts.iter().map(Part::bytes).collect();
                self.join_some(&parts, &mut out);
                out
            }
        })
    }

    /// Joins some units of a layout of several parts, whose bytes these are, to where there is room for them.
    pub(crate) fn join_some(&self, parts: &[&[u8]], out: &mut [u8]) {
        match self.view {
            View::FloatBytes { .. } => float_bytes::join(parts, out),
            View::Blocks(kind) => kind.join(parts, out),
            View::Raw | View::Bytes(_) | View::Packed(_) | View::Words { .. } => {}
        }
    }

    /// The rows of parts, if they are those of this layout, and of whole units.
    fn check_whole(&self, parts: &[Part]) -> Result<u64> {
        let rows = parts::rows(&self.parts(), parts)?;
        if rows.is_multiple_of(self.unit_rows.max(1)) {
            return Ok(rows);
        }
        let what = format!("{rows} rows are not whole units of {} rows", self.unit_rows);
        Err(Error::invalid(what))
    }

    /// Whether `parts` join to `bytes`.
    ///
    /// # Errors
    /// Those of [`Layout::join`].
    pub(crate) fn gives_back(&self, parts: Vec<Part>, bytes: &[u8]) -> Result<bool> {
        Ok(self.join(parts)? == bytes)
    }

    /// The numbers that `parts` stand for: small integers as the packing means them (without their
    /// scales), or words of the tensor's own type. Any run of rows will do, whole units or not,
    /// but floats in planes and blocks need what [`Layout::join`] needs.
    ///
    /// # Errors
    /// Invalid argument when these are not parts of this layout.
    pub fn logical(&self, parts: Vec<Part>) -> Result<Values> {
        let Some(meaning) = self.meaning() else {
            return Ok(Values::Words(self.join(parts)?));
        };
        parts::rows(&self.parts(), &parts)?;
        let weights = parts.into_iter().find(|p| p.role == Role::Weights);
        match weights.map(|p| p.content) {
            Some(Content::Symbols(mut plane)) => {
                self.keep_weights(&mut plane.data);
                Ok(meaning.values(plane.data))
            }
            _ => Err(Error::invalid("the weights are not symbols")),
        }
    }

    /// Leaves out of rows of symbols what fills their last word.
    pub(crate) fn keep_weights(&self, symbols: &mut Vec<u8>) {
        let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (cols, row) = (of(self.cols), of(self.filled().cols));
        if self.spare_cols == 0 || row == 0 {
            return;
        }
        let rows = symbols.len() / row;
        for r in 0..rows {
            symbols.copy_within(r * row..r * row + cols, r * cols);
        }
        symbols.truncate(rows * cols);
    }
}
