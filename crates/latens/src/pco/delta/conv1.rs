//! Conv1: the distance to a linear prediction from up to 32 latents before.
//!
//! `x_i = residual + (max(0, bias + Σ_j weight_j · x_{i − order + j}) >> quantization)`, the
//! sum over latents as non-negative integers, the prediction truncated to the latents' width.

use crate::number::Latent;
use crate::pco::layout::delta::Conv1;
use latens_kernels::conv1::Predictor;
use latens_kernels::dispatch::Present;

impl Conv1 {
    /// The prediction for the latent after `before`, which holds as many as there are weights.
    #[inline]
    fn predict<L: Latent>(&self, before: &[L]) -> L {
        let mut sum = self.bias;
        for (&weight, &x) in self.weights.iter().zip(before) {
            // `Conv1::check` has made sure that nothing overflows; x has 32 bits at most.
            sum = sum.wrapping_add(i64::from(weight).wrapping_mul(x.to_u64().cast_signed()));
        }
        L::truncate((sum.max(0) >> self.quantization).cast_unsigned())
    }
}

/// Replaces a page's latents by residuals offset by `MID` and returns the state: the first
/// `order` latents, zeros where the page has fewer.
pub(crate) fn encode<L: Latent>(conv: &Conv1, latents: &mut Vec<L>) -> Vec<L> {
    let order = conv.weights.len();
    let mut state: Vec<L> = latents.iter().copied().take(order).collect();
    state.resize(order, L::ZERO);
    let residual = |w: &[L]| w[order].sub(conv.predict(w)).add(L::MID);
    *latents = latents.windows(order + 1).map(residual).collect();
    state
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
    fn predictions_are_clamped_before_the_shift() {
        let conv = Conv1 { quantization: 1, bias: 0, weights: vec![-3] };
        assert_eq!(conv.predict(&[5u16]), 0);
    }
}
