//! GGUF's blocks, taken apart field by field.
//!
//! | type | a block | weights | parts (each for all blocks in turn) |
//! |---|---|---|---|
//! | Q4_0, IQ4_NL | 18 bytes | 32 | scale F16; weights 4 bits |
//! | Q4_1 | 20 | 32 | scale, minimum F16; weights 4 bits |
//! | Q5_0, Q5_1 | 22, 24 | 32 | scale (minimum) F16; weights 5 bits |
//! | MXFP4 | 17 | 32 | scale 8 bits (a power of two); weights 4 bits |
//! | Q8_0 | 34 | 32 | scale F16; weights 8 bits |
//! | Q4_K, Q5_K | 144, 176 | 256 | super scale, super minimum F16; scales, minima 6 bits, one for 32 weights; weights 4 or 5 bits |
//! | Q6_K | 210 | 256 | super scale F16; scales 8 bits, one for 16 weights; weights 6 bits |
//!
//! Weights are whole symbols in the order of the tensor, upper bits in their place, so that a
//! block's scale stands beside its weights. Source: the description of the types in GGUF's
//! documentation.

use super::super::dtype::{Dtype, elements};
use super::super::plane::{Part, Role};
use super::parts::{Form, PartLayout, Sign};
use super::pieces::InPlace;
use super::{block32, k_scales, q4_k, q5_k, q6_k, q8_0};
use latens_kernels::dispatch::Present;
use std::ops::Range;

/// Which blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(non_camel_case_types, reason = "the names that GGUF gives them")]
#[non_exhaustive]
pub enum BlockKind {
    /// 4 bits around 8, scale.
    Q4_0,
    /// 4 bits from a minimum.
    Q4_1,
    /// 5 bits around 16, scale.
    Q5_0,
    /// 5 bits from a minimum.
    Q5_1,
    /// 8 bits, scale.
    Q8_0,
    /// 4 bits, 6-bit scales and minima.
    Q4_K,
    /// 5 bits, 6-bit scales and minima.
    Q5_K,
    /// 6 bits around 32, 8-bit scales.
    Q6_K,
    /// 4-bit indices of a code book, scale.
    IQ4_NL,
    /// 4-bit floats, a power of two as scale.
    MXFP4,
}

impl BlockKind {
    /// All kinds.
    pub const ALL: [BlockKind; 10] = [
        BlockKind::Q4_0,
        BlockKind::Q4_1,
        BlockKind::Q5_0,
        BlockKind::Q5_1,
        BlockKind::Q8_0,
        BlockKind::Q4_K,
        BlockKind::Q5_K,
        BlockKind::Q6_K,
        BlockKind::IQ4_NL,
        BlockKind::MXFP4,
    ];

    /// The type whose blocks these are.
    pub fn dtype(self) -> Dtype {
        match self {
            BlockKind::Q4_0 => Dtype::Q4_0,
            BlockKind::Q4_1 => Dtype::Q4_1,
            BlockKind::Q5_0 => Dtype::Q5_0,
            BlockKind::Q5_1 => Dtype::Q5_1,
            BlockKind::Q8_0 => Dtype::Q8_0,
            BlockKind::Q4_K => Dtype::Q4_K,
            BlockKind::Q5_K => Dtype::Q5_K,
            BlockKind::Q6_K => Dtype::Q6_K,
            BlockKind::IQ4_NL => Dtype::IQ4_NL,
            BlockKind::MXFP4 => Dtype::MXFP4,
        }
    }

    /// The blocks of a type, where they can be taken apart.
    pub fn of(dtype: Dtype) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.dtype() == dtype)
    }

    /// GGUF's name.
    pub fn name(self) -> &'static str {
        self.dtype().name()
    }

    /// Weights that share a scale.
    pub fn scale_block(self) -> u64 {
        if self == BlockKind::Q6_K { 16 } else { 32 }
    }

    /// Bits a weight.
    pub(super) fn bits(self) -> u32 {
        match self {
            BlockKind::Q8_0 => 8,
            BlockKind::Q6_K => 6,
            BlockKind::Q5_0 | BlockKind::Q5_1 | BlockKind::Q5_K => 5,
            BlockKind::Q4_0
            | BlockKind::Q4_1
            | BlockKind::Q4_K
            | BlockKind::IQ4_NL
            | BlockKind::MXFP4 => 4,
        }
    }

    pub(super) fn sign(self) -> Sign {
        match self {
            BlockKind::Q8_0 => Sign::Signed,
            BlockKind::Q4_0 | BlockKind::Q5_0 | BlockKind::Q6_K => Sign::Offset,
            BlockKind::Q4_1
            | BlockKind::Q5_1
            | BlockKind::Q4_K
            | BlockKind::Q5_K
            | BlockKind::IQ4_NL
            | BlockKind::MXFP4 => Sign::Unsigned,
        }
    }

    /// Rows and columns: blocks lie along the last dimension.
    pub(super) fn matrix(self, dtype: Dtype, shape: &[u64], len: u64) -> Option<(u64, u64)> {
        (dtype == self.dtype()).then_some(())?;
        let (block, _) = dtype.block()?;
        let n = elements(shape)?;
        let &cols = shape.last()?;
        (dtype.bytes(n)? == len && cols > 0 && cols.is_multiple_of(block)).then(|| (n / cols, cols))
    }

    /// The parts of a matrix with `cols` weights a row.
    pub(super) fn parts(self, cols: u64) -> Vec<PartLayout> {
        let halves =
            |role, a_row| PartLayout { role, form: Form::Words { width: 2, float: true, a_row } };
        let symbols = |role, bits, cols| PartLayout { role, form: Form::Symbols { bits, cols } };
        let weights = symbols(Role::Weights, self.bits(), cols);
        match self {
            BlockKind::Q4_0 | BlockKind::Q5_0 | BlockKind::Q8_0 | BlockKind::IQ4_NL => {
                vec![halves(Role::Scale, cols / 32), weights]
            }
            BlockKind::Q4_1 | BlockKind::Q5_1 => {
                vec![halves(Role::Scale, cols / 32), halves(Role::Min, cols / 32), weights]
            }
            BlockKind::MXFP4 => vec![symbols(Role::Scale, 8, cols / 32), weights],
            BlockKind::Q4_K | BlockKind::Q5_K => vec![
                halves(Role::SuperScale, cols / 256),
                halves(Role::SuperMin, cols / 256),
                symbols(Role::Scale, 6, cols / 32),
                symbols(Role::Min, 6, cols / 32),
                weights,
            ],
            BlockKind::Q6_K => vec![
                halves(Role::SuperScale, cols / 256),
                symbols(Role::Scale, 8, cols / 16),
                weights,
            ],
        }
    }

    pub(super) fn split(self, bytes: &[u8], rows: usize, cols: usize) -> Vec<Part> {
        match self {
            BlockKind::Q4_0 | BlockKind::IQ4_NL => {
                block32::split::<18>(bytes, rows, cols, block32::Q4_0)
            }
            BlockKind::Q4_1 => block32::split::<20>(bytes, rows, cols, block32::Q4_1),
            BlockKind::Q5_0 => block32::split::<22>(bytes, rows, cols, block32::Q5_0),
            BlockKind::Q5_1 => block32::split::<24>(bytes, rows, cols, block32::Q5_1),
            BlockKind::MXFP4 => block32::split::<17>(bytes, rows, cols, block32::MXFP4),
            BlockKind::Q8_0 => q8_0::split(bytes, rows, cols),
            BlockKind::Q4_K => q4_k::split(bytes, rows, cols),
            BlockKind::Q5_K => q5_k::split(bytes, rows, cols),
            BlockKind::Q6_K => q6_k::split(bytes, rows, cols),
        }
    }

    /// The bytes of one part of whole blocks, as [`BlockKind::split`] has them.
    pub(super) fn split_part(self, bytes: &[u8], index: usize) -> Option<Vec<u8>> {
        let (weights, size) = self.dtype().block()?;
        let size = usize::try_from(size).ok()?;
        let blocks = || bytes.chunks_exact(size);
        if let Some(place) = self.place(index) {
            let mut out = Vec::with_capacity(bytes.len() / size * place.len());
            blocks().for_each(|block| out.extend_from_slice(&block[place.clone()]));
            return Some(out);
        }
        if let (BlockKind::Q4_K | BlockKind::Q5_K, 2 | 3) = (self, index) {
            let mut out = Vec::with_capacity(bytes.len() / size * 8);
            for block in blocks() {
                let (scales, mins) = k_scales::unpack(block[4..].first_chunk()?);
                out.extend_from_slice(if index == 2 { &scales } else { &mins });
            }
            return Some(out);
        }
        let mut parts = self.split(bytes, bytes.len() / size, usize::try_from(weights).ok()?);
        (index < parts.len()).then(|| parts.swap_remove(index).into_bytes())
    }

    /// Where a block has the bytes of a part, if they stand there as they are.
    fn place(self, index: usize) -> Option<Range<usize>> {
        Some(match (self, index) {
            (BlockKind::MXFP4, 0) => 0..1,
            (BlockKind::Q6_K, 0) => 208..210,
            (BlockKind::Q6_K, 1) => 192..208,
            (BlockKind::Q8_0, 1) => 2..34,
            (_, 0) => 0..2,
            (BlockKind::Q4_1 | BlockKind::Q5_1 | BlockKind::Q4_K | BlockKind::Q5_K, 1) => 2..4,
            _ => return None,
        })
    }

    /// The part that has a row of 32 symbols in each block, as they are.
    pub(super) fn in_place(self) -> Option<InPlace> {
        match self {
            BlockKind::Q8_0 => Some(q8_0::WEIGHTS),
            // Weights share bytes.
            BlockKind::Q4_0
            | BlockKind::Q4_1
            | BlockKind::Q5_0
            | BlockKind::Q5_1
            | BlockKind::Q4_K
            | BlockKind::Q5_K
            | BlockKind::Q6_K
            | BlockKind::IQ4_NL
            | BlockKind::MXFP4 => None,
        }
    }

    /// The inverse of [`BlockKind::split`], of the bytes of parts that were checked, to where there is room for them.
    pub(super) fn join(self, parts: &[&[u8]], out: &mut [u8]) {
        Present::in_use().call(
            #[inline(always)]
            || match self {
                BlockKind::Q4_0 | BlockKind::IQ4_NL => {
                    block32::join::<18>(parts, block32::Q4_0, out);
                }
                BlockKind::Q4_1 => block32::join::<20>(parts, block32::Q4_1, out),
                BlockKind::Q5_0 => block32::join::<22>(parts, block32::Q5_0, out),
                BlockKind::Q5_1 => block32::join::<24>(parts, block32::Q5_1, out),
                BlockKind::MXFP4 => block32::join::<17>(parts, block32::MXFP4, out),
                BlockKind::Q8_0 => q8_0::join(parts, out),
                BlockKind::Q4_K => q4_k::join(parts, out),
                BlockKind::Q5_K => q5_k::join(parts, out),
                BlockKind::Q6_K => q6_k::join(parts, out),
            },
        );
    }
}
