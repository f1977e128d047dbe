//! Lookback: the distance to an earlier latent; how much earlier is a latent variable of its own.
//!
//! `x_{s+t} = residual_t + x_{s+t−lookback_t}`; the state holds `x_0` to `x_{s−1}`, and positions
//! before the page read as 0.

use crate::number::Latent;
use latens_kernels::dispatch::Present;
use latens_kernels::lookback::{self as kernel, Lookbacks};
use latens_kernels::sums;

/// So many latents are worth a vector or two.
const AT_ONCE: usize = 16;

/// Residuals offset by `MID` for the latents after the first `state_n`, given their lookbacks;
/// returns the state, filled up with zeros.
pub(crate) fn encode<L: Latent>(state_n: usize, lookbacks: &[u32], latents: &mut Vec<L>) -> Vec<L> {
    let mut state: Vec<L> = latents.iter().copied().take(state_n).collect();
    state.resize(state_n, L::ZERO);
    // The last one first, so that all before it are latents still.
    for (t, &lookback) in lookbacks.iter().enumerate().rev() {
        let i = state_n + t;
        let earlier = i.checked_sub(lookback as usize).map_or(L::ZERO, |j| latents[j]);
        latents[i] = latents[i].sub(earlier).add(L::MID);
    }
    latents.drain(..state_n.min(latents.len()));
    state
}

/// The latent behind those of a page so far, by its stored residual.
pub(crate) fn latent_behind<L: Latent>(before: &[L], residual: L, lookback: u32) -> L {
    let earlier = before.len().checked_sub(lookback as usize).map_or(L::ZERO, |i| before[i]);
    residual.sub(L::MID).add(earlier)
}

/// The window of one variable of a page. It grows with what is decoded, up to twice the window.
#[derive(Clone, Debug)]
pub(crate) struct Decoder<L> {
    window: usize,
    /// Latents from position `dropped` of the page on.
    history: Vec<L>,
    /// Latents no longer in `history`, all of them further back than the window.
    dropped: usize,
    /// Position in the page of the next latent to give out.
    next: usize,
}

impl<L: Latent> Decoder<L> {
    /// Starts from a page's state.
    pub(crate) fn new(window_log: u32, state: Vec<L>) -> Self {
        Self { window: 1 << window_log, history: state, dropped: 0, next: 0 }
    }

    /// Residuals (without `MID`) to latents, in place; `lookbacks` covers those that are stored, at a
    /// page's end fewer than `latents`.
    ///
    /// # Errors
    /// The first lookback that is 0 or reaches beyond the window.
    pub(crate) fn decode(&mut self, lookbacks: &[u32], latents: &mut [L]) -> Result<(), u32> {
        let begin = self.history.len();
        let known = self.check(lookbacks)?;
        let (least, most) = (known.least(), known.most());
        self.history.resize(begin + lookbacks.len(), L::ZERO);
        let history = &mut self.history[..];
        if least == 1 && most == 1 && begin > 0 {
            run_of_latest(&latents[..lookbacks.len()], &mut history[begin - 1..]);
        } else if least == most && (AT_ONCE..=begin).contains(&(most as usize)) {
            run_of_one(most as usize, &latents[..lookbacks.len()], history);
        } else if most as usize <= begin {
            kernel::undo(Present::in_use(), &known, &latents[..lookbacks.len()], history);
        } else {
            for (i, (&residual, &lookback)) in (begin..).zip(latents.iter().zip(lookbacks)) {
                let earlier = i.checked_sub(lookback as usize).map_or(L::ZERO, |i| history[i]);
                history[i] = residual.add(earlier);
            }
        }
        let from = self.next - self.dropped;
        latents.copy_from_slice(&self.history[from..from + latents.len()]);
        self.next += latents.len();
        self.forget();
        Ok(())
    }

    /// Looks at a batch's lookbacks.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub(crate) fn check<'a>(&self, lookbacks: &'a [u32]) -> Result<Lookbacks<'a>, u32> {
        let known = Lookbacks::new(Present::in_use(), lookbacks);
        if known.least() == 0 || known.most() as usize > self.window {
            let wrong = |&&x: &&u32| x == 0 || x as usize > self.window;
            return Err(lookbacks.iter().find(wrong).copied().unwrap_or(0));
        }
        Ok(known)
    }

    /// Drops what lies before the window and has been given out, once that is worth the copy.
    fn forget(&mut self) {
        let needed = self.window.max(self.history.len() - (self.next - self.dropped));
        let superfluous = self.history.len().saturating_sub(needed);
        if superfluous > self.window.max(4096) {
            self.history.drain(..superfluous);
            self.dropped += superfluous;
        }
    }
}

/// Each latent leans on the one before: running sums. `history` begins with that of the first.
fn run_of_latest<L: Latent>(residuals: &[L], history: &mut [L]) {
    let (Some((&first, rest)), Some((latest, new))) =
        (residuals.split_first(), history.split_first_mut())
    else {
        return;
    };
    // Sums are given out before a residual is added, and these after it.
    new[..rest.len()].copy_from_slice(rest);
    sums::undo(Present::in_use(), &mut [latest.add(first)], new);
}

/// Each latent leans on the one `lookback` before; they go behind the history, which ends with as
/// much room.
fn run_of_one<L: Latent>(lookback: usize, residuals: &[L], history: &mut [L]) {
    let mut at = history.len() - residuals.len();
    Present::in_use().call(
        #[inline(always)]
        || {
            // None of so many leans on another.
            for residuals in residuals.chunks(lookback) {
                let (old, new) = history.split_at_mut(at);
                let earlier = &old[at - lookback..];
                for ((new, &residual), &earlier) in new.iter_mut().zip(residuals).zip(earlier) {
                    *new = residual.add(earlier);
                }
                at += residuals.len();
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encode_is_undone_batch_by_batch() {
        let numbers: Vec<u32> = (0..9000u32).map(|i| i % 37 * 1000 + i / 37).collect();
        for (state_n, window_log) in [(1, 6), (64, 6), (1024, 13), (16384, 14)] {
            // Batches of all kinds of lookbacks, and of one: near ones, the latest, long ones.
            let lookback = |i: u32| match i / 300 % 6 {
                0 => 1,
                1 => 2 + i / 1800 % 14,
                2 => 17 + i / 1800,
                3 => 1 << window_log,
                _ if i.is_multiple_of(3) => 37,
                _ => 1 + i % (1 << window_log),
            };
            let lookbacks: Vec<u32> = (0..9000u32).skip(state_n).map(lookback).collect();
            let mut residuals = numbers.clone();
            let state = encode(state_n, &lookbacks, &mut residuals);
            let mut decoder = Decoder::new(window_log, state);
            let mut out = Vec::new();
            for start in (0..numbers.len()).step_by(256) {
                let n = 256.min(numbers.len() - start);
                let stored = start.min(residuals.len())..(start + n).min(residuals.len());
                let mut batch = residuals[stored.clone()].to_vec();
                batch.resize(n, 99);
                batch.iter_mut().for_each(|x| *x = x.sub(u32::MID));
                decoder.decode(&lookbacks[stored], &mut batch).unwrap();
                out.extend(batch);
            }
            assert_eq!(out, numbers);
        }
    }

    #[test]
    fn lookbacks_outside_of_the_window_are_refused() {
        let mut decoder = Decoder::new(2, vec![7u8]);
        assert_eq!(decoder.decode(&[5], &mut [0]), Err(5));
        assert_eq!(decoder.decode(&[0], &mut [0]), Err(0));
    }
}
