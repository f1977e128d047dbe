//! How parts are put together: the records of the joining kernel.

use crate::record::{JOIN_FIELDS, word};
use latens::wcodec::view::{Axis, BitOrder, BlockKind, Sign, View, WordOrder};

/// What a byte of a tensor is made of; the numbers are those of `kernels/join.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    kind: u64,
    /// A to D.
    with: [u64; 4],
}

/// A part in `planes`: place and bytes.
pub(crate) type Place = (usize, usize);

impl Join {
    /// One part's bytes as they are.
    pub(crate) const COPY: Join = Join { kind: 0, with: [0; 4] };

    /// Symbols of `bits` bits as integers.
    pub(crate) fn values(bits: u32, sign: Sign) -> Self {
        let sign = match sign {
            Sign::Signed => 0,
            Sign::Unsigned => 1,
            Sign::Offset => 2,
        };
        Join { kind: 1, with: [u64::from(bits), sign, 0, 0] }
    }

    /// The tensor's bytes from its parts; `None` for views whose parts are never symbols, and
    /// for those that there may be one day: the processor joins them.
    pub(crate) fn of(view: View, cols: u64) -> Option<Self> {
        let join = |kind, with: [u64; 4]| Some(Join { kind, with });
        match view {
            View::Raw | View::Bytes(_) => Some(Join::COPY),
            View::Words { width: 1, order } => match order {
                WordOrder::Unsigned | WordOrder::Float => Some(Join::COPY),
                WordOrder::Signed => join(2, [0x80, 0x80, 0, 0]),
                WordOrder::SignMagnitude => join(2, [0x80, 0xff, 0, 0]),
            },
            View::Words { .. } => None,
            View::Packed(p) => {
                let order = match p.order {
                    BitOrder::LowFirst => 0,
                    BitOrder::HighFirst => 1,
                    BitOrder::Awq => 2,
                };
                let kind = if p.axis == Axis::Rows { 4 } else { 3 };
                join(kind, [u64::from(p.bits), u64::from(p.word), order, cols])
            }
            View::FloatBytes { .. } => join(5, [0; 4]),
            View::Blocks(kind) => match kind {
                BlockKind::Q4_0 | BlockKind::IQ4_NL => join(6, [18, 2, 0, 0]),
                BlockKind::Q4_1 => join(6, [20, 2, 1, 0]),
                BlockKind::Q5_0 => join(6, [22, 2, 2, 0]),
                BlockKind::Q5_1 => join(6, [24, 2, 3, 0]),
                BlockKind::MXFP4 => join(6, [17, 1, 0, 0]),
                BlockKind::Q8_0 => join(7, [0; 4]),
                BlockKind::Q4_K => join(8, [144, 0, 0, 0]),
                BlockKind::Q5_K => join(8, [176, 0, 0, 0]),
                BlockKind::Q6_K => join(9, [0; 4]),
                _ => None,
            },
            _ => None,
        }
    }

    /// Appends the record of a tensor of `len` bytes at `out`.
    pub(crate) fn write(self, out: usize, len: usize, parts: &[Place], to: &mut Vec<u64>) {
        let start = to.len();
        to.push(self.kind);
        to.extend(self.with);
        to.extend([out, len, parts.len()].map(word));
        parts.iter().for_each(|&(at, len)| to.extend([at, len].map(word)));
        to.resize(start + JOIN_FIELDS, 0);
    }
}
