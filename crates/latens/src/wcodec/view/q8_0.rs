//! Blocks Q8_0: an F16 scale and 32 signed bytes.

use super::super::plane::{Part, Role};
use super::parts;
use super::pieces::InPlace;
use latens_kernels::rans::Spacing;

/// Where weights are.
pub(super) const WEIGHTS: InPlace =
    InPlace { part: 1, first: 2, spacing: Spacing(2), join_others: put_scales };

pub(super) fn split(bytes: &[u8], rows: usize, cols: usize) -> Vec<Part> {
    let blocks = bytes.as_chunks::<34>().0;
    let mut scales = Vec::with_capacity(blocks.len() * 2);
    let mut weights = Vec::with_capacity(blocks.len() * 32);
    for block in blocks {
        scales.extend_from_slice(&block[..2]);
        weights.extend_from_slice(&block[2..]);
    }
    vec![parts::halves(Role::Scale, scales), parts::weights(rows, cols, 8, weights)]
}

pub(super) fn join(parts: &[&[u8]], out: &mut [u8]) {
    let scales = parts::at(parts, 0).as_chunks::<2>().0;
    let weights = parts::at(parts, 1).as_chunks::<32>().0;
    for ((block, scale), weights) in out.as_chunks_mut::<34>().0.iter_mut().zip(scales).zip(weights)
    {
        block[..2].copy_from_slice(scale);
        block[2..].copy_from_slice(weights);
    }
}

/// Puts scales beside weights that are there.
fn put_scales(parts: &[&[u8]], out: &mut [u8]) {
    let scales = parts::at(parts, 0).as_chunks::<2>().0;
    for (block, scale) in out.as_chunks_mut::<34>().0.iter_mut().zip(scales) {
        block[..2].copy_from_slice(scale);
    }
}
