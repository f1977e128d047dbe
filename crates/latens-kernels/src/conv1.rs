//! Undoing linear predictions: each latent is its residual plus a weighted sum of those before.
//!
//! A sum waits for the latent just before it, and is to wait for little else. With few weights the
//! rest of it is computed while that latent is. With many, `blocks` begins some together.

mod blocks;
pub(crate) mod row;

#[cfg(target_arch = "aarch64")]
use crate::aarch64::neon_conv1;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::dispatch::Simd;
use crate::dispatch::{Present, Work};
use crate::latent::Latent;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx2_conv1;
use blocks::Blocks;
use row::Plain;
use std::hint::select_unpredictable;

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
                Simd::Avx2 | Simd::Avx512 => {
                    present.run(blocks.undo::<L, avx2_conv1::Sums>(latents));
                }
                #[cfg(target_arch = "aarch64")]
                Simd::Neon => present.run(blocks.undo::<L, neon_conv1::Sums>(latents)),
                _ => present.run(blocks.undo::<L, Plain>(latents)),
            },
        }
    }
}

/// Few weights, one latent after the other.
struct Few<'a, L> {
    predictor: &'a mut Predictor,
    latents: &'a mut [L],
}

impl<L: Latent> Work for Few<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.predictor.order {
            1 => self.of::<1>(),
            2 => self.of::<2>(),
            3 => self.of::<3>(),
            _ => self.of::<FEW>(),
        }
    }
}

impl<L: Latent> Few<'_, L> {
    #[inline(always)]
    fn of<const ORDER: usize>(self) {
        let Few { predictor: p, latents } = self;
        let (shift, bias) = (p.shift, p.bias);
        let weights: [i64; ORDER] = std::array::from_fn(|i| p.newest[i]);
        let mut before: [i64; ORDER] = std::array::from_fn(|i| p.before[i]);
        for x in latents {
            let mut sum = bias;
            for i in (1..ORDER).rev() {
                sum = scalar(sum.wrapping_add(scalar(weights[i].wrapping_mul(before[i]))));
            }
            let new = next(shift, sum, weights[0].wrapping_mul(before[0]), *x);
            *x = L::from_low(before[ORDER - 1].cast_unsigned());
            for i in (1..ORDER).rev() {
                before[i] = scalar(before[i - 1]);
            }
            before[0] = scalar(new.widen().cast_signed());
        }
        p.before[..ORDER].copy_from_slice(&before);
    }
}

/// A latent out of its residual and its sum, which is `sum` and the product of what came last.
///
/// The residual goes in before the shift, beside the sum: what waits for the latent before is a
/// product, an addition, a choice and a shift.
#[inline(always)]
fn next<L: Latent>(shift: u32, sum: i64, product: i64, residual: L) -> L {
    let residual = residual.widen() << shift;
    let both = scalar(sum.wrapping_add(residual.cast_signed())).wrapping_add(product);
    let is_negative = sum.wrapping_add(product) < 0;
    // Signs may be as good as random.
    let scaled = select_unpredictable(is_negative, residual, both.cast_unsigned());
    L::from_low(scaled >> shift)
}

/// Keeps the vectoriser of superwords away from a chain that nothing can be done for at once.
#[inline(always)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unused_mut, reason = "nothing to do")
)]
fn scalar(mut x: i64) -> i64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

#[cfg(test)]
mod tests;
