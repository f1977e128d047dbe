//! Blocks Q4_K.
//!
//! | bytes | field |
//! |---|---|
//! | 2 | scale of the scales, F16 |
//! | 2 | scale of the minima, F16 |
//! | 12 | scales and minima, see `k_scales` |
//! | 128 | nibbles: byte 32*j* + *i* holds weight 64*j* + *i* low, 64*j* + 32 + *i* high |

use super::super::plane::{Part, Role};
use super::{k_scales, nibbles, parts};

pub(super) fn split(bytes: &[u8], rows: usize, cols: usize) -> Vec<Part> {
    let blocks = bytes.as_chunks::<144>().0;
    let mut fields = Fields::with_capacity(blocks.len());
    for (block, weights) in blocks.iter().zip(fields.weights.as_chunks_mut::<256>().0) {
        fields.heads.push(block);
        spread(&block[16..], weights);
    }
    fields.into_parts(rows, cols, 4)
}

#[inline(always)]
pub(super) fn join(parts: &[&[u8]], out: &mut [u8]) {
    let weights = parts::at(parts, 4).as_chunks::<256>().0;
    for (i, (block, weights)) in out.as_chunks_mut::<144>().0.iter_mut().zip(weights).enumerate() {
        write_head(parts, i, block);
        gather(weights, &mut block[16..]);
    }
}

/// The nibbles of a block as weights.
pub(super) fn spread(nibbles: &[u8], weights: &mut [u8; 256]) {
    for (bytes, weights) in nibbles.as_chunks::<32>().0.iter().zip(weights.as_chunks_mut::<64>().0)
    {
        let (low, high) = weights.split_at_mut(32);
        for ((byte, low), high) in bytes.iter().zip(low).zip(high) {
            (*low, *high) = (byte & 15, byte >> 4);
        }
    }
}

/// The inverse of [`spread`]: the lower four bits of each weight.
#[inline(always)]
pub(super) fn gather(weights: &[u8; 256], nibbles: &mut [u8]) {
    for (bytes, weights) in
        nibbles.as_chunks_mut::<32>().0.iter_mut().zip(weights.as_chunks::<64>().0)
    {
        if let [low, high] = weights.as_chunks::<32>().0 {
            *bytes = nibbles::of_two(low, high);
        }
    }
}

/// What Q4_K and Q5_K have in common, filled block by block.
pub(super) struct Fields {
    pub(super) heads: Heads,
    pub(super) weights: Vec<u8>,
}

/// The fields in front of the weights.
#[derive(Default)]
pub(super) struct Heads {
    scale: Vec<u8>,
    min: Vec<u8>,
    scales: Vec<u8>,
    mins: Vec<u8>,
}

impl Heads {
    /// Takes the first 16 bytes of a block.
    pub(super) fn push(&mut self, block: &[u8]) {
        let Some(head) = block.first_chunk::<16>() else { return };
        self.scale.extend_from_slice(&head[..2]);
        self.min.extend_from_slice(&head[2..4]);
        let mut packed = [0; 12];
        packed.copy_from_slice(&head[4..]);
        let (scales, mins) = k_scales::unpack(&packed);
        self.scales.extend_from_slice(&scales);
        self.mins.extend_from_slice(&mins);
    }
}

impl Fields {
    pub(super) fn with_capacity(blocks: usize) -> Self {
        Fields { heads: Heads::default(), weights: vec![0; blocks * 256] }
    }

    pub(super) fn into_parts(self, rows: usize, cols: usize, bits: u32) -> Vec<Part> {
        vec![
            parts::halves(Role::SuperScale, self.heads.scale),
            parts::halves(Role::SuperMin, self.heads.min),
            parts::plane(Role::Scale, rows, cols / 32, 6, self.heads.scales),
            parts::plane(Role::Min, rows, cols / 32, 6, self.heads.mins),
            parts::weights(rows, cols, bits, self.weights),
        ]
    }
}

/// Writes the first 16 bytes of block `i`.
#[inline(always)]
pub(super) fn write_head(parts: &[&[u8]], i: usize, block: &mut [u8]) {
    let half = |part: usize| parts::at(parts, part).as_chunks::<2>().0.get(i).copied();
    let eight = |part: usize| parts::at(parts, part).as_chunks::<8>().0.get(i).copied();
    let (scale, min) = (half(0).unwrap_or_default(), half(1).unwrap_or_default());
    let (scales, mins) = (eight(2).unwrap_or_default(), eight(3).unwrap_or_default());
    block[..2].copy_from_slice(&scale);
    block[2..4].copy_from_slice(&min);
    block[4..16].copy_from_slice(&k_scales::pack(&scales, &mins));
}
