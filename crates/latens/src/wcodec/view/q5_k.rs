//! Blocks Q5_K: those of Q4_K with 32 bytes of fifth bits between scales and nibbles.
//!
//! Bit *j* of byte *i* is that of weight 32*j* + *i*.

use super::super::plane::Part;
use super::q4_k::{Fields, gather, spread, write_head};
use super::{nibbles, parts};

pub(super) fn split(bytes: &[u8], rows: usize, cols: usize) -> Vec<Part> {
    let blocks = bytes.as_chunks::<176>().0;
    let mut fields = Fields::with_capacity(blocks.len());
    for (block, weights) in blocks.iter().zip(fields.weights.as_chunks_mut::<256>().0) {
        fields.heads.push(block);
        spread(&block[48..], weights);
        for (j, weights) in weights.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            for (weight, bits) in weights.iter_mut().zip(&block[16..48]) {
                *weight |= ((bits >> j) & 1) << 4;
            }
        }
    }
    fields.into_parts(rows, cols, 5)
}

#[inline(always)]
pub(super) fn join(parts: &[&[u8]], out: &mut [u8]) {
    let weights = parts::at(parts, 4).as_chunks::<256>().0;
    for (i, (block, weights)) in out.as_chunks_mut::<176>().0.iter_mut().zip(weights).enumerate() {
        write_head(parts, i, block);
        gather(weights, &mut block[48..]);
        block[16..48].copy_from_slice(&nibbles::upper_bits(weights.as_chunks().0, 1));
    }
}
