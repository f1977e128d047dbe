//! Conv1: the distance to a linear prediction from up to 32 latents before.
//!
//! `x_i = residual + (max(0, bias + Σ_j weight_j · x_{i − order + j}) >> quantization)`, the
//! sum over latents as non-negative integers, the prediction truncated to the latents' width.

use crate::number::Latent;
use crate::pco::layout::delta::{Conv1, MAX_CONV1_ORDER};
use latens_kernels::conv1::Predictor;
use latens_kernels::dispatch::Present;

/// Replaces a page's latents by residuals offset by `MID` and returns the state: the first
/// `order` latents, zeros where the page has fewer.
pub(crate) fn encode<L: Latent>(conv: &Conv1, latents: &mut Vec<L>) -> Vec<L> {
    let order = conv.weights.len();
    let mut state: Vec<L> = latents.iter().copied().take(order).collect();
    state.resize(order, L::ZERO);
    Present::in_use().call(
        #[inline(always)]
        || match L::BITS {
            8 => residuals::<L, i16>(conv, latents),
            16 => residuals::<L, i32>(conv, latents),
            _ => residuals::<L, i64>(conv, latents),
        },
    );
    latents.truncate(latents.len().saturating_sub(order));
    state
}

/// The residuals of the latents from the `order`-th on, in their order from the first place on: each takes
/// that of the oldest latent it is predicted from, which no later one needs.
#[inline(always)]
fn residuals<L: Latent, S: Sum>(conv: &Conv1, latents: &mut [L]) {
    let order = conv.weights.len();
    let mut sums = [0; BLOCK];
    for start in (order..latents.len()).step_by(BLOCK) {
        let block = start..(start + BLOCK).min(latents.len());
        let sums = &mut sums[..block.len()];
        predictions::<L, S>(conv, &latents[start - order..], sums);
        let mut xs = [L::ZERO; BLOCK];
        xs[..sums.len()].copy_from_slice(&latents[block]);
        for ((place, x), sum) in latents[start - order..].iter_mut().zip(xs).zip(sums) {
            *place = x.sub(L::truncate(*sum)).add(L::MID);
        }
    }
}

/// Latents that are predicted together, so that the compiler can do several in one instruction.
const BLOCK: usize = 128;

/// Signed integers of twice the width of some latents, in which no prediction overflows.
trait Sum: Copy + Ord {
    /// Signed integers as wide as the latents.
    type Half: Copy;
    const ZERO: Self;
    const HALF_ZERO: Self::Half;
    fn of_i64(x: i64) -> Self;
    fn to_i64(self) -> i64;
    /// A weight, which `Conv1::check` bounds by what a latent less `MID` may be.
    fn weight(weight: i32) -> Self::Half;
    /// A latent less `MID`.
    fn centred<L: Latent>(x: L) -> Self::Half;
    fn plus_product(self, weight: Self::Half, x: Self::Half) -> Self;
    fn shift(self, bits: u32) -> Self;
}

macro_rules! impl_sum {
    ($t:ident, $half:ident) => {
        impl Sum for $t {
            type Half = $half;
            const ZERO: Self = 0;
            const HALF_ZERO: $half = 0;
            #[expect(clippy::allow_attributes, reason = "i64 is one of the types")]
            #[allow(clippy::cast_possible_truncation, reason = "`Conv1::check` bounds it")]
            #[allow(clippy::unnecessary_cast, reason = "i64 is one of the types")]
            #[inline(always)]
            fn of_i64(x: i64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                i64::from(self)
            }
            #[expect(clippy::allow_attributes, reason = "i32 is one of the types")]
            #[allow(clippy::cast_possible_truncation, reason = "`Conv1::check` bounds it")]
            #[allow(clippy::unnecessary_cast, reason = "i32 is one of the types")]
            #[inline(always)]
            fn weight(weight: i32) -> $half {
                weight as $half
            }
            #[expect(clippy::cast_possible_truncation, reason = "it fits")]
            #[inline(always)]
            fn centred<L: Latent>(x: L) -> $half {
                x.sub(L::MID).to_u64() as $half
            }
            #[inline(always)]
            fn plus_product(self, weight: $half, x: $half) -> Self {
                self.wrapping_add($t::from(weight).wrapping_mul($t::from(x)))
            }
            #[inline(always)]
            fn shift(self, bits: u32) -> Self {
                self >> bits
            }
        }
    };
}
impl_sum!(i16, i8);
impl_sum!(i32, i16);
impl_sum!(i64, i32);

/// The predictions for the latents from the `order`-th on.
///
/// Latents are centred first, so that both factors of a product are signed and of half the width
/// of their sum: there are instructions for that. Sums wrap, and what centring takes is added.
#[inline(always)]
fn predictions<L: Latent, S: Sum>(conv: &Conv1, latents: &[L], found: &mut [u64]) {
    let order = conv.weights.len();
    let mut xs = [S::HALF_ZERO; BLOCK + MAX_CONV1_ORDER];
    for (to, &x) in xs.iter_mut().zip(&latents[..found.len() + order]) {
        *to = S::centred(x);
    }
    let weights: i64 = conv.weights.iter().map(|&w| i64::from(w)).sum();
    let taken = weights.wrapping_mul(L::MID.to_u64().cast_signed());
    let mut sums = [S::of_i64(conv.bias.wrapping_add(taken)); BLOCK];
    for (j, &weight) in conv.weights.iter().enumerate() {
        let weight = S::weight(weight);
        for (sum, &x) in sums.iter_mut().zip(&xs[j..j + BLOCK]) {
            *sum = sum.plus_product(weight, x);
        }
    }
    for (to, sum) in found.iter_mut().zip(sums) {
        *to = sum.max(S::ZERO).shift(conv.quantization).to_i64().cast_unsigned();
    }
}

/// The predictor of one variable of a page.
#[derive(Clone, Debug)]
pub(crate) struct Decoder(Predictor);

impl Decoder {
    /// Starts from a page's state, of as many latents as there are weights.
    pub(crate) fn new<L: Latent>(conv: &Conv1, state: &[L]) -> Self {
        // `Conv1::check` has made sure that no sum overflows and latents have 32 bits at most.
        Self(Predictor::new(conv.quantization, conv.bias, &conv.weights, state))
    }

    /// Residuals (without `MID`) of at most a batch to latents, in place. At a page's end the
    /// last `order` may be anything.
    pub(crate) fn decode<L: Latent>(&mut self, latents: &mut [L]) {
        self.0.undo(Present::in_use(), latents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prediction for the latent after `before`, as the specification says it.
    fn predict<L: Latent>(conv: &Conv1, before: &[L]) -> L {
        let terms = conv.weights.iter().zip(before);
        let sum = terms.fold(conv.bias, |sum, (&weight, &x)| {
            sum.wrapping_add(i64::from(weight).wrapping_mul(x.to_u64().cast_signed()))
        });
        L::truncate((sum.max(0) >> conv.quantization).cast_unsigned())
    }

    #[test]
    fn encode_is_undone_batch_by_batch() {
        let numbers: Vec<u32> = (0..700u32).map(|i| 1_000_000 + i * i * 31 % 65521).collect();
        let conv = Conv1 { quantization: 2, bias: -77, weights: vec![-4, 1, 6] };
        let mut residuals = numbers.clone();
        let state = encode(&conv, &mut residuals);
        residuals.resize(numbers.len(), 12345);
        residuals.iter_mut().for_each(|x| *x = x.sub(u32::MID));
        let mut decoder = Decoder::new(&conv, &state);
        residuals.chunks_mut(256).for_each(|batch| decoder.decode(batch));
        assert_eq!(residuals, numbers);
    }

    #[test]
    fn blocks_predict_as_single_latents_do() {
        fn check<L: Latent>(conv: &Conv1) {
            assert_eq!(conv.check(L::BITS), Ok(()));
            let latents: Vec<L> = (0..500u64)
                .map(|i| L::truncate(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7))
                .collect();
            let mut residuals = latents.clone();
            encode(conv, &mut residuals);
            let order = conv.weights.len();
            for (w, &residual) in latents.windows(order + 1).zip(&residuals) {
                assert_eq!(residual, w[order].sub(predict(conv, w)).add(L::MID));
            }
        }
        check::<u8>(&Conv1 { quantization: 5, bias: -300, weights: vec![-4, 50, 60] });
        check::<u16>(&Conv1 { quantization: 12, bias: 9, weights: vec![20_000, -9, 7000, 5000] });
        check::<u32>(&Conv1 {
            quantization: 29,
            bias: 1 << 60,
            weights: vec![-(1 << 29), 1 << 30],
        });
    }

    #[test]
    fn predictions_are_clamped_before_the_shift() {
        let conv = Conv1 { quantization: 1, bias: 0, weights: vec![-3] };
        assert_eq!(predict(&conv, &[5u16]), 0);
    }
}
