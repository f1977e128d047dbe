//! Consecutive: differences of neighbours, up to seven times over.

use crate::number::Latent;
use crate::pco::layout::delta::MAX_CONSECUTIVE_ORDER;
use latens_kernels::dispatch::Present;
use latens_kernels::sums;

/// Replaces a page's latents by their differences of that order, offset by `MID`, and returns
/// the state (first value, first difference, …). `order` latents fewer are left; missing ones
/// of the state are 0.
pub(crate) fn encode<L: Latent>(order: u32, latents: &mut Vec<L>) -> Vec<L> {
    Present::in_use().call(
        #[inline(always)]
        || {
            let mut moments = Vec::with_capacity(order as usize);
            for done in 1..=order {
                moments.push(latents.first().copied().unwrap_or(L::ZERO));
                let offset = if done == order { L::MID } else { L::ZERO };
                differences(latents, offset);
            }
            moments
        },
    )
}

/// Replaces latents by the differences of neighbours, one fewer, and adds `offset`.
#[inline(always)]
pub(crate) fn differences<L: Latent>(latents: &mut Vec<L>, offset: L) {
    for i in 1..latents.len() {
        latents[i - 1] = latents[i].sub(latents[i - 1]).add(offset);
    }
    latents.pop();
}

/// The running sums of one variable of a page.
#[derive(Clone, Debug)]
pub(crate) struct Decoder<L> {
    moments: [L; MAX_CONSECUTIVE_ORDER as usize],
    order: usize,
}

impl<L: Latent> Decoder<L> {
    /// Starts from zeros, in place of which a page's state is to be put: 1 to 7 latents.
    pub(crate) fn new(order: usize) -> Self {
        Self { moments: [L::ZERO; MAX_CONSECUTIVE_ORDER as usize], order }
    }

    /// The next latent, the difference behind it, and so on: what [`sums::undo`] moves on.
    #[inline]
    pub(crate) fn moments(&mut self) -> &mut [L] {
        &mut self.moments[..self.order]
    }

    /// Residuals (without `MID`) to latents, in place. At a page's end the last `order` may be
    /// anything.
    #[inline]
    pub(crate) fn decode(&mut self, latents: &mut [L]) {
        sums::undo(Present::in_use(), self.moments(), latents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_of_the_specification() {
        let mut latents = [0u32, 10, 0, 7, 7];
        let mut decoder = Decoder::new(2);
        decoder.moments().copy_from_slice(&[1, 2]);
        decoder.decode(&mut latents);
        assert_eq!(latents, [1, 3, 5, 17, 29]);
    }

    #[test]
    fn encode_is_undone_batch_by_batch() {
        let numbers: Vec<u16> = (0..700u32).map(|i| (i * i * 31 % 65521) as u16).collect();
        for order in 1..=7 {
            let mut residuals = numbers.clone();
            let state = encode(order, &mut residuals);
            assert_eq!(residuals.len(), numbers.len() - order as usize);
            residuals.resize(numbers.len(), 12345);
            residuals.iter_mut().for_each(|x| *x = x.sub(u16::MID));
            let mut decoder = Decoder::new(state.len());
            decoder.moments().copy_from_slice(&state);
            residuals.chunks_mut(256).for_each(|batch| decoder.decode(batch));
            assert_eq!(residuals, numbers);
        }
    }
}
