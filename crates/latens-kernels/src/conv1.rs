//! Undoing linear predictions: each latent is its residual plus a weighted sum of those before.
//!
//! A sum waits for the latent just before it, and is to wait for little else. With few weights the
//! rest of it is computed while that latent is. With many, `BLOCK` sums are begun together, with
//! what comes from latents before the block: products of one latent with as many neighbouring
//! weights, which vectors do at once. The latents of the block itself are added one by one, and so
//! are the last `HELD` before it: vectors are begun while these are not there yet.

pub(crate) mod row;

use crate::dispatch::{Present, Simd, Work};
use crate::latent::Latent;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx2_conv1;
use row::{BLOCK, Row};
use std::hint::select_unpredictable;

/// Most weights.
pub const MAX_ORDER: usize = 32;
/// Latents before a block that vectors leave out.
const HELD: usize = 2;
/// Latents of a call, at most.
const MOST: usize = 256;
/// Taken off each latent of the history, so that the difference is a signed number of 32 bits, which
/// vectors multiply.
const CENTRE: i64 = 1 << 31;

/// A prediction `max(0, bias + Σ weight · latent) >> shift` and the latents that it is made of.
#[derive(Clone, Debug)]
pub struct Predictor {
    shift: u32,
    bias: i64,
    /// The same for each sum of a block, with [`CENTRE`] made up for in the latents that `taps` are
    /// for.
    biases: Row,
    /// `taps[i][t]` is what the i-th of the latents before a block counts in its t-th sum, but for
    /// the last [`HELD`]; weights of 32 bits.
    taps: Vec<Row>,
    /// By distance, from 1 on.
    newest: [i64; BLOCK + HELD - 1],
    order: usize,
    /// The next latents to hand out, less [`CENTRE`]; then room for a call's.
    history: Vec<i32>,
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
        let weight = |distance: usize| match order.checked_sub(distance) {
            Some(i) if distance > 0 => weights[i],
            _ => 0,
        };
        let bias_of = |t: usize| {
            let distances = t + 1 + HELD..=order;
            let sum: i64 = distances.map(|distance| i64::from(weight(distance))).sum();
            bias.wrapping_add(CENTRE.wrapping_mul(sum))
        };
        let mut history: Vec<i32> = before.iter().map(|&x| centred(x)).collect();
        history.resize(order + MOST, 0);
        Self {
            shift,
            bias,
            biases: Row(std::array::from_fn(bias_of)),
            taps: (0..order.saturating_sub(HELD))
                .map(|i| Row(std::array::from_fn(|t| weight(order - i + t).into())))
                .collect(),
            newest: std::array::from_fn(|i| weight(i + 1).into()),
            order,
            history,
        }
    }

    /// Residuals to latents: the first ones handed out are those that came `before`, and the
    /// residuals make the latents that follow, handed out by the next call.
    ///
    /// # Panics
    /// Where there are more than 256 or latents have more than 32 bits.
    pub fn undo<L: Latent>(&mut self, present: Present, latents: &mut [L]) {
        assert!(latents.len() <= MOST && L::WIDTH <= 32);
        match present.simd() {
            Simd::Avx2 | Simd::Avx512 => present.run(Undo::<L, true> { predictor: self, latents }),
            _ => present.run(Undo::<L, false> { predictor: self, latents }),
        }
    }

    /// Writes the latents of a block behind the `order` from `at` on; `held` are the newest of
    /// these, the last one first. Returns those of the block.
    #[inline(always)]
    fn block<L: Latent, const AVX2: bool>(
        &mut self,
        at: usize,
        held: [i64; HELD],
        residuals: &[L; BLOCK],
    ) -> [i64; HELD] {
        let (before, behind) = self.history[at..].split_at_mut(self.order);
        let behind = &mut behind[..BLOCK];
        let sums = sums::<AVX2>(&self.biases, &self.taps, &before[..self.taps.len()]);
        // From the oldest on.
        let mut known = [0; HELD + BLOCK];
        for (x, held) in known.iter_mut().zip(held.iter().rev()) {
            *x = *held;
        }
        let (shift, newest) = (self.shift, self.newest);
        let mut next = of_constants(
            #[inline(always)]
            |t: usize| {
                let mut sum = sums[t];
                let weights = newest[1..HELD + t].iter().rev();
                for (x, weight) in known.iter().zip(weights) {
                    sum = scalar(sum.wrapping_add(weight.wrapping_mul(*x)));
                }
                let product = newest[0].wrapping_mul(known[HELD + t - 1]);
                let new = Self::next(shift, sum, product, residuals[t]);
                known[HELD + t] = scalar(new.widen().cast_signed());
                behind[t] = centred(L::from_low(known[HELD + t].cast_unsigned()));
            },
        );
        // As a loop, latents would go through memory.
        const { assert!(BLOCK == 8) };
        let _ = (next(0), next(1), next(2), next(3), next(4), next(5), next(6), next(7));
        std::array::from_fn(|i| known[HELD + BLOCK - 1 - i])
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
}

/// Lets a closure be marked as inline.
fn of_constants<F: FnMut(usize)>(f: F) -> F {
    f
}

/// A latent less [`CENTRE`].
#[inline(always)]
fn centred<L: Latent>(x: L) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "32 bits at most")]
    let bits = x.widen() as u32;
    (bits ^ 1 << 31).cast_signed()
}

/// `AVX2`: compiled where it is present.
struct Undo<'a, L, const AVX2: bool> {
    predictor: &'a mut Predictor,
    latents: &'a mut [L],
}

impl<L: Latent, const AVX2: bool> Work for Undo<'_, L, AVX2> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.predictor.order {
            1 => self.few::<1>(),
            2 => self.few::<2>(),
            3 => self.few::<3>(),
            4 => self.few::<4>(),
            _ => self.many(),
        }
    }
}

impl<L: Latent, const AVX2: bool> Undo<'_, L, AVX2> {
    /// One after the other.
    #[inline(always)]
    fn few<const ORDER: usize>(self) {
        let Undo { predictor: p, latents } = self;
        let (shift, bias) = (p.shift, p.bias);
        // From the newest on.
        let weights: [i64; ORDER] = std::array::from_fn(|i| p.newest[i]);
        let mut before: [i64; ORDER] =
            std::array::from_fn(|i| i64::from(p.history[ORDER - 1 - i]) + CENTRE);
        for x in latents {
            let mut sum = bias;
            for i in (1..ORDER).rev() {
                sum = scalar(sum.wrapping_add(scalar(weights[i].wrapping_mul(before[i]))));
            }
            let new = Predictor::next(shift, sum, weights[0].wrapping_mul(before[0]), *x);
            *x = L::from_low(before[ORDER - 1].cast_unsigned());
            for i in (1..ORDER).rev() {
                before[i] = scalar(before[i - 1]);
            }
            before[0] = scalar(new.widen().cast_signed());
        }
        for (x, &new) in p.history.iter_mut().zip(before.iter().rev()) {
            *x = centred(L::from_low(new.cast_unsigned()));
        }
    }

    /// [`BLOCK`] after [`BLOCK`].
    #[inline(always)]
    fn many(self) {
        let Undo { predictor: p, latents } = self;
        let order = p.order;
        let held = |i: usize| scalar(i64::from(p.history[order - 1 - i]) + CENTRE);
        let mut held: [i64; HELD] = std::array::from_fn(held);
        let (blocks, rest) = latents.as_chunks();
        for (i, block) in blocks.iter().enumerate() {
            held = p.block::<L, AVX2>(i * BLOCK, held, block);
        }
        if !rest.is_empty() {
            let mut block = [L::default(); BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            p.block::<L, AVX2>(blocks.len() * BLOCK, held, &block);
        }
        for (latent, &x) in latents.iter_mut().zip(&p.history) {
            *latent = L::from_low((i64::from(x) + CENTRE).cast_unsigned());
        }
        p.history.copy_within(latents.len()..latents.len() + order, 0);
    }
}

/// Keeps the vectoriser of superwords away from a chain that nothing can be done for at once.
#[inline(always)]
fn scalar(mut x: i64) -> i64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

/// What latents before a block count in its sums.
#[inline(always)]
fn sums<const AVX2: bool>(biases: &Row, taps: &[Row], before: &[i32]) -> [i64; BLOCK] {
    #[cfg(target_arch = "x86_64")]
    if AVX2 {
        // SAFETY: `AVX2` says that callers are compiled with it.
        return unsafe { avx2_conv1::sums(biases, taps, before) };
    }
    let mut sums = biases.0;
    for (taps, &x) in taps.iter().zip(before) {
        for (sum, &tap) in sums.iter_mut().zip(&taps.0) {
            *sum = sum.wrapping_add(tap.wrapping_mul(x.into()));
        }
    }
    sums
}

#[cfg(test)]
mod tests;
