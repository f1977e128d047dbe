//! Tensors taken apart a stretch at a time.
//!
//! A *piece* is the least that has parts of its own: a byte, a word, those that symbols straddle, a block, or the rows that share
//! words. The parts of a run of pieces are the concatenated parts of these.

use super::packed::Axis;
use super::{Form, Layout, View, float_bytes};
use latens_kernels::rans::Spacing;

/// A part of which each piece has a row of 32 symbols, as they are: decoders can put them in their place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InPlace {
    /// Which part.
    pub(crate) part: usize,
    /// Where a piece has the row, and how far it is from there to the next one.
    pub(crate) first: usize,
    pub(crate) spacing: Spacing,
    /// Puts the bytes of the other parts beside them.
    pub(crate) join_others: fn(parts: &[&[u8]], out: &mut [u8]),
}

impl Layout {
    /// The same view of a matrix whose rows are pieces.
    pub(crate) fn pieces(&self) -> Layout {
        let one = |cols: u64, unit_bytes: u64| {
            let units = (self.unit_bytes.saturating_mul(self.units())).checked_div(unit_bytes);
            Layout {
                rows: units.unwrap_or(0),
                cols,
                spare_cols: 0,
                unit_rows: 1,
                unit_bytes,
                ..*self
            }
        };
        match self.view {
            View::Raw | View::Bytes(_) => one(1, 1),
            View::Words { width, .. } | View::FloatBytes { width } => one(1, width.into()),
            View::Packed(packing) => match packing.axis {
                Axis::Columns => one(packing.each(), packing.run_bytes()),
                Axis::Rows => *self,
            },
            View::Blocks(kind) => match kind.dtype().block() {
                Some((weights, bytes)) => one(weights, bytes),
                None => *self,
            },
        }
    }

    fn units(&self) -> u64 {
        self.rows.checked_div(self.unit_rows).unwrap_or(0)
    }

    /// The part of pieces whose symbols can be put where they belong.
    pub(crate) fn in_place(&self) -> Option<InPlace> {
        match self.view {
            View::Blocks(kind) => kind.in_place(),
            View::Raw
            | View::Bytes(_)
            | View::Packed(_)
            | View::Words { .. }
            | View::FloatBytes { .. } => None,
        }
    }

    /// Bytes of the part `index` of a unit, as [`Layout::split`] gives them.
    pub(crate) fn part_bytes(&self, index: usize) -> Option<usize> {
        let a_row = match self.parts().get(index)?.form {
            Form::Symbols { cols, .. } => cols,
            Form::Words { width, a_row, .. } => a_row.checked_mul(width.into())?,
            Form::Raw { a_row } => a_row,
        };
        usize::try_from(a_row.checked_mul(self.unit_rows)?).ok()
    }

    /// Whether the part at `index` is the tensor's bytes as they are.
    pub(crate) fn is_same(&self) -> bool {
        match self.view {
            View::Raw | View::Bytes(_) => true,
            View::Words { width, order } => width > 1 && order.is_same(),
            _ => false,
        }
    }

    /// Unpacks whole units of packed symbols to where they have room, and says whether they pack to the same bytes.
    pub(crate) fn packs_back(
        &self,
        bytes: &[u8],
        symbols: &mut [u8],
        packed: &mut Vec<u8>,
    ) -> bool {
        let (View::Packed(packing), Ok(cols)) = (self.view, usize::try_from(self.cols)) else {
            return false;
        };
        packed.resize(bytes.len(), 0);
        if symbols.len() * usize::from(packing.bits) != bytes.len() * 8 {
            return false;
        }
        packing.unpack_into(bytes, cols, symbols);
        packing.pack_into(symbols, cols, packed);
        packed == bytes
    }

    /// Puts the bytes of the part `index` of whole units into `out`, which is as long as they are;
    /// whether there is such a part.
    pub(crate) fn split_part(&self, bytes: &[u8], index: usize, out: &mut [u8]) -> bool {
        match self.view {
            View::FloatBytes { width } if index < width.into() => {
                float_bytes::plane(bytes, width, index, out);
            }
            View::Packed(packing) => match usize::try_from(self.cols) {
                Ok(cols) => packing.unpack_into(bytes, cols, out),
                Err(_) => return false,
            },
            View::Words { width, order } if bytes.len() == out.len() => {
                out.copy_from_slice(bytes);
                order.map(out, width, true);
            }
            View::Blocks(kind) => match kind.split_part(bytes, index) {
                Some(part) if part.len() == out.len() => out.copy_from_slice(&part),
                _ => return false,
            },
            View::Raw | View::Bytes(_) if bytes.len() == out.len() => out.copy_from_slice(bytes),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BitOrder, BlockKind, Packing, Sign, WordOrder};
    use super::*;
    use crate::wcodec::dtype::Dtype;
    use crate::wcodec::plane::Part;

    /// Parts of stretches are stretches of parts.
    #[test]
    fn pieces_have_the_parts_of_the_whole() {
        let blocks = |kind| (View::Blocks(kind), BlockKind::dtype(kind), vec![6, 512]);
        let words = |order, axis| View::Packed(Packing::words(order, axis, Sign::Unsigned));
        let word = |width, order| View::Words { width, order };
        let mut all = vec![
            (View::Raw, Dtype::I8, vec![60, 4]),
            (View::Bytes(Sign::Signed), Dtype::I8, vec![6, 40]),
            (words(BitOrder::LowFirst, Axis::Columns), Dtype::I32, vec![6, 30]),
            (words(BitOrder::Awq, Axis::Columns), Dtype::I32, vec![6, 30]),
            (words(BitOrder::LowFirst, Axis::Rows), Dtype::I32, vec![6, 30]),
            (word(1, WordOrder::SignMagnitude), Dtype::F8_E4M3, vec![6, 40]),
            (word(2, WordOrder::SignMagnitude), Dtype::BF16, vec![6, 40]),
            (word(4, WordOrder::Float), Dtype::F32, vec![6, 40]),
            (View::FloatBytes { width: 2 }, Dtype::F16, vec![6, 41]),
            (View::FloatBytes { width: 4 }, Dtype::F32, vec![601]),
            (View::FloatBytes { width: 8 }, Dtype::F64, vec![6, 41]),
        ];
        for bits in [3, 5, 6] {
            for axis in [Axis::Columns, Axis::Rows] {
                let words = Packing::words(BitOrder::LowFirst, axis, Sign::Unsigned);
                let view = View::Packed(Packing { bits, ..words });
                all.push((view, Dtype::I32, vec![15, 30]));
            }
        }
        all.extend(BlockKind::ALL.map(blocks));
        let mut seen = 0;
        for (view, dtype, shape) in all {
            let len = dtype.bytes(shape.iter().product()).unwrap();
            let bytes: Vec<u8> = (0..len)
                .map(|i: u64| (i.wrapping_mul(0x9e37_79b9) >> 13).to_le_bytes()[0])
                .collect();
            let layout = view.layout(dtype, &shape, len).unwrap();
            let pieces = layout.pieces();
            let unit = usize::try_from(pieces.unit_bytes).unwrap();
            assert_eq!(pieces.rows * pieces.unit_bytes, len * pieces.unit_rows, "{view:?}");
            for (i, part) in layout.split(&bytes).unwrap().iter().enumerate() {
                let in_place = pieces.in_place().filter(|in_place| in_place.part == i);
                if let Some(InPlace { part, first, spacing, join_others }) = in_place {
                    // Symbols where they say, then the other parts.
                    let parts = layout.split(&bytes).unwrap();
                    let mut parts: Vec<&[u8]> = parts.iter().map(Part::bytes).collect();
                    let symbols = std::mem::take(&mut parts[part]);
                    let mut out = vec![0; bytes.len()];
                    for (j, &symbol) in symbols.iter().enumerate() {
                        out[first + spacing.place(j)] = symbol;
                    }
                    join_others(&parts, &mut out);
                    assert_eq!(out, bytes, "{view:?}");
                    seen += 1;
                }
                let mut joined = Vec::new();
                let bytes_a_piece = pieces.part_bytes(i).unwrap();
                for some in bytes.chunks(3 * unit) {
                    let mut own = vec![7; some.len() / unit * bytes_a_piece];
                    assert!(pieces.split_part(some, i, &mut own));
                    joined.append(&mut own);
                }
                assert_eq!(joined, part.bytes(), "{view:?} {i}");
                assert_eq!(bytes_a_piece * (bytes.len() / unit), joined.len(), "{view:?}");
                assert!(!pieces.is_same() || joined == bytes, "{view:?}");
            }
            for some in bytes.chunks(3 * unit) {
                assert!(pieces.gives_back(pieces.split(some).unwrap(), some).unwrap());
            }
        }
        assert_eq!(seen, 1);
    }
}
