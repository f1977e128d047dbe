//! Blocks Q6_K.
//!
//! | bytes | field |
//! |---|---|
//! | 128 | lower four bits |
//! | 64 | upper two bits |
//! | 16 | scales, signed, one for 16 weights |
//! | 2 | scale of the scales, F16 |
//!
//! Each half of a block has 128 weights in four runs of 32, from 64 lower bytes L and 32 upper
//! bytes H: weight *i* of run *r* has the low (*r* < 2) or high nibble of L\[32(*r* mod 2) + *i*\]
//! and bits 2*r*, 2*r* + 1 of H\[*i*\].

use super::super::plane::{Part, Role};
use super::{nibbles, parts};

pub(super) fn split(bytes: &[u8], rows: usize, cols: usize) -> Vec<Part> {
    let blocks = bytes.as_chunks::<210>().0;
    let mut super_scales = Vec::with_capacity(blocks.len() * 2);
    let mut scales = Vec::with_capacity(blocks.len() * 16);
    let mut weights = vec![0; blocks.len() * 256];
    for (block, weights) in blocks.iter().zip(weights.as_chunks_mut::<256>().0) {
        let (lower, upper) =
            (block[..128].as_chunks::<64>().0, block[128..192].as_chunks::<32>().0);
        scales.extend_from_slice(&block[192..208]);
        super_scales.extend_from_slice(&block[208..]);
        let halves = weights.as_chunks_mut::<128>().0.iter_mut();
        for ((lower, upper), weights) in lower.iter().zip(upper).zip(halves) {
            for (r, run) in weights.as_chunks_mut::<32>().0.iter_mut().enumerate() {
                let lower = &lower[32 * (r % 2)..];
                for ((weight, low), high) in run.iter_mut().zip(lower).zip(upper) {
                    *weight = ((low >> (4 * (r / 2))) & 15) | (((high >> (2 * r)) & 3) << 4);
                }
            }
        }
    }
    vec![
        parts::halves(Role::SuperScale, super_scales),
        parts::plane(Role::Scale, rows, cols / 16, 8, scales),
        parts::weights(rows, cols, 6, weights),
    ]
}

#[inline(always)]
pub(super) fn join(parts: &[&[u8]], out: &mut [u8]) {
    let super_scales = parts::at(parts, 0).as_chunks::<2>().0;
    let scales = parts::at(parts, 1).as_chunks::<16>().0;
    let weights = parts::at(parts, 2).as_chunks::<256>().0;
    let blocks = out.as_chunks_mut::<210>().0.iter_mut();
    for (((block, weights), scales), scale) in blocks.zip(weights).zip(scales).zip(super_scales) {
        block[192..208].copy_from_slice(scales);
        block[208..].copy_from_slice(scale);
        let (lower, upper) = block[..192].split_at_mut(128);
        let bytes = lower.as_chunks_mut::<64>().0.iter_mut().zip(upper.as_chunks_mut::<32>().0);
        for ((lower, upper), weights) in bytes.zip(weights.as_chunks::<128>().0) {
            if let [low, high] = weights.as_chunks::<64>().0 {
                *lower = nibbles::of_two(low, high);
            }
            *upper = nibbles::upper_bits(weights.as_chunks().0, 2);
        }
    }
}
