//! Numbers that look random and are the same in every run, and a hash to compare outputs by.

pub use crate::common::numbers::Random;

/// So many bytes.
pub fn noise(random: &mut Random, n: usize) -> Vec<u8> {
    (0..n).map(|_| random.word() as u8).collect()
}

/// A hash of `bytes` that goes on from `seed`. Not against strangers: only to see whether two
/// outputs are the same.
pub fn digest(seed: u64, bytes: &[u8]) -> u64 {
    let mix = |h: u64, w: u64| (h ^ w).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(29);
    let mut chunks = bytes.chunks_exact(8);
    let mut hash = seed ^ bytes.len() as u64;
    for chunk in &mut chunks {
        hash = mix(hash, u64::from_le_bytes(chunk.try_into().unwrap()));
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    Random(mix(hash, u64::from_le_bytes(last))).word()
}
