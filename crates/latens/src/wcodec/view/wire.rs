//! A view as eight bytes.
//!
//! | byte | all | `Bytes` | `Packed` | `Words` | `FloatBytes` | `Blocks` |
//! |---|---|---|---|---|---|---|
//! | 0 | kind: 0 `Raw`, 1 to 5 as the columns | | | | | |
//! | 1 | | sign | bits | bytes a word | bytes a float | GGUF's number of the type |
//! | 2 | | 0 | bytes a word | order | 0 | 0 |
//! | 3 | | 0 | order + 4 × axis + 8 × sign | 0 | 0 | 0 |
//! | 4 to 7 | | 0 | columns, 0 as the shape has them | 0 | 0 | 0 |
//!
//! Signs: 0 signed, 1 unsigned, 2 offset. Orders of packings: 0 low first, 1 high first, 2 AWQ's.
//! Axes: 0 columns, 1 rows. Orders of words: 0 unsigned, 1 float, 2 signed, 3 sign and magnitude.

use super::super::dtype::Dtype;
use super::{Axis, BitOrder, BlockKind, Packing, Sign, View, WordOrder};
use crate::error::{Error, Result};

fn sign_id(sign: Sign) -> u8 {
    match sign {
        Sign::Signed => 0,
        Sign::Unsigned => 1,
        Sign::Offset => 2,
    }
}

fn sign(id: u8) -> Option<Sign> {
    [Sign::Signed, Sign::Unsigned, Sign::Offset].get(usize::from(id)).copied()
}

fn packing(bits: u8, word: u8, rest: u8, cols: u32) -> Option<Packing> {
    let orders = [BitOrder::LowFirst, BitOrder::HighFirst, BitOrder::Awq];
    Some(Packing {
        bits,
        word,
        order: orders.get(usize::from(rest & 3)).copied()?,
        axis: if rest & 4 == 0 { Axis::Columns } else { Axis::Rows },
        sign: sign(rest >> 3)?,
        cols,
    })
}

fn word_order(id: u8) -> Option<WordOrder> {
    use WordOrder::{Float, SignMagnitude, Signed, Unsigned};
    [Unsigned, Float, Signed, SignMagnitude].get(usize::from(id)).copied()
}

impl View {
    /// The view as it is stored.
    pub fn to_bytes(self) -> [u8; 8] {
        let [a, b, c, cols] = match self {
            View::Raw => return [0; 8],
            View::Bytes(sign) => return [1, sign_id(sign), 0, 0, 0, 0, 0, 0],
            View::Packed(p) => {
                let order = match p.order {
                    BitOrder::LowFirst => 0,
                    BitOrder::HighFirst => 1,
                    BitOrder::Awq => 2,
                };
                let axis = if p.axis == Axis::Rows { 4 } else { 0 };
                let rest = order + axis + 8 * sign_id(p.sign);
                [u32::from(p.bits), u32::from(p.word), rest.into(), p.cols]
            }
            View::Words { width, order } => {
                let order = match order {
                    WordOrder::Unsigned => 0,
                    WordOrder::Float => 1,
                    WordOrder::Signed => 2,
                    WordOrder::SignMagnitude => 3,
                };
                return [3, width, order, 0, 0, 0, 0, 0];
            }
            View::FloatBytes { width } => return [4, width, 0, 0, 0, 0, 0, 0],
            View::Blocks(kind) => {
                let [low, _] = kind.dtype().id().to_le_bytes();
                return [5, low, 0, 0, 0, 0, 0, 0];
            }
        };
        let [low, ..] = a.to_le_bytes();
        let ([word, ..], [rest, ..]) = (b.to_le_bytes(), c.to_le_bytes());
        let cols = cols.to_le_bytes();
        [2, low, word, rest, cols[0], cols[1], cols[2], cols[3]]
    }

    /// The view that was stored as `bytes`.
    ///
    /// # Errors
    /// Corrupt, at the byte from the start of `bytes`, when there is no such view.
    pub fn from_bytes(bytes: [u8; 8]) -> Result<Self> {
        let [kind, a, b, c, cols @ ..] = bytes;
        let view = match kind {
            0 => Some(View::Raw),
            1 => sign(a).map(View::Bytes),
            2 => packing(a, b, c, u32::from_le_bytes(cols)).map(View::Packed),
            3 => word_order(b).map(|order| View::Words { width: a, order }),
            4 => Some(View::FloatBytes { width: a }),
            5 => Dtype::from_id(256 + u16::from(a)).and_then(BlockKind::of).map(View::Blocks),
            _ => return Err(Error::corrupt(0, format!("view {kind} is not known"))),
        };
        // One way to write each: what is not used is zero.
        view.filter(|v| v.is_valid() && v.to_bytes() == bytes)
            .ok_or_else(|| Error::corrupt(1, format!("view {kind} has unknown parameters")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_to_write_each() {
        let mut known = 0;
        for kind in 0..7 {
            for a in 0..48 {
                for b in 0..10 {
                    for c in 0..32 {
                        let bytes = [kind, a, b, c, 0, 0, 0, 0];
                        if let Ok(view) = View::from_bytes(bytes) {
                            assert_eq!(view.to_bytes(), bytes);
                            known += 1;
                        }
                    }
                }
            }
        }
        // Raw; 3 signs; 3 widths × 4 words × 2 orders × 2 axes × 3 signs, 3 widths of one order, and AWQ's 6; 4 orders
        // of words of 4 widths but for floats of one byte; 3 widths; 10 blocks.
        let packed = 3 * 4 * 2 * 2 * 3 + 3 * 4 * 2 * 3 + 6;
        assert_eq!(known, 1 + 3 + packed + 15 + 3 + 10);
        let cols = View::Packed(Packing {
            cols: 4096,
            ..Packing::nibbles(BitOrder::HighFirst, Sign::Unsigned)
        });
        assert_eq!(View::from_bytes(cols.to_bytes()).unwrap(), cols);
    }
}
