//! Undoing linear predictions: each latent is its residual plus a weighted sum of those before.
//!
//! A sum waits for the latent just before it, and is to wait for little else. With few weights the
//! rest of it is computed while that latent is. With many, `blocks` begins some together.

mod blocks;
mod chain;
mod few;
pub(crate) mod row;

#[cfg(target_arch = "aarch64")]
use crate::aarch64::neon_conv1;
use crate::dispatch::Present;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::dispatch::Simd;
use crate::latent::Latent;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_conv1, avx512_conv1};
use blocks::Blocks;
use few::Few;
use row::Plain;

/// Most weights.
pub const MAX_ORDER: usize = 32;
/// Most weights that are gone through for one latent after the other.
const FEW: usize = 4;
/// Latents of a call, at most.
const MOST: usize = 256;
/// A prediction `max(0, bias + Σ weight · latent) >> shift` and the latents that it is made of.
#[derive(Clone, Debug)]
pub struct Predictor {
    shift: u32,
    bias: i64,
    /// By distance, from 1 on.
    newest: [i64; FEW],
    order: usize,
    /// The next latents to hand out, of [`FEW`] weights at most; from the newest on.
    before: [i64; FEW],
    /// Next latents whose sums may well be negative.
    wary: usize,
    /// Of more weights.
    blocks: Option<Blocks>,
}

impl Predictor {
    /// `weights` from the oldest latent to the newest, `before` the latents that they belong to.
    /// No sum may leave 64 bits.
    ///
    /// # Panics
    /// Where there are no weights, more than [`MAX_ORDER`], or not as many latents; where `shift`
    /// is above 31.
    pub fn new<L: Latent>(shift: u32, bias: i64, weights: &[i32], before: &[L]) -> Self {
        let order = weights.len();
        assert!((1..=MAX_ORDER).contains(&order) && before.len() == order && shift < 32);
        let of_newest = |i: usize| order.checked_sub(i + 1);
        Self {
            shift,
            bias,
            newest: std::array::from_fn(|i| of_newest(i).map_or(0, |i| weights[i].into())),
            order,
            before: std::array::from_fn(|i| {
                of_newest(i).map_or(0, |i| before[i].widen().cast_signed())
            }),
            wary: 0,
            blocks: (order > FEW).then(|| Blocks::new(shift, bias, weights, before)),
        }
    }

    /// Residuals to latents: the first ones handed out are those that came `before`, and the
    /// residuals make the latents that follow, handed out by the next call.
    ///
    /// # Panics
    /// Where there are more than 256 or latents have more than 32 bits.
    pub fn undo<L: Latent>(&mut self, present: Present, latents: &mut [L]) {
        assert!(latents.len() <= MOST && L::WIDTH <= 32);
        match &mut self.blocks {
            None => present.run(Few { predictor: self, latents }),
            Some(blocks) => match present.simd() {
                #[cfg(target_arch = "x86_64")]
                Simd::Avx2 => present.run(blocks.undo::<L, avx2_conv1::Sums>(latents)),
                #[cfg(target_arch = "x86_64")]
                Simd::Avx512 => present.run(blocks.undo::<L, avx512_conv1::Sums>(latents)),
                #[cfg(target_arch = "aarch64")]
                Simd::Neon => present.run(blocks.undo::<L, neon_conv1::Sums>(latents)),
                _ => present.run(blocks.undo::<L, Plain>(latents)),
            },
        }
    }
}

#[cfg(test)]
mod tests;
