//! Undoing lookbacks: each latent is its residual and the latent so many places before.

use crate::dispatch::{Present, Simd};
use crate::latent::Latent;
use std::hint::select_unpredictable;

/// So much earlier than the latest latent, a latent has reached memory.
const SETTLED: usize = 24;

/// The lookbacks of a batch, and what is known of them.
#[derive(Clone, Copy, Debug)]
pub struct Lookbacks<'a> {
    all: &'a [u32],
    least: u32,
    most: u32,
    /// How many are 1.
    ones: usize,
}

impl<'a> Lookbacks<'a> {
    /// Looks at all of them.
    #[inline]
    pub fn new(present: Present, all: &'a [u32]) -> Self {
        present.call(
            #[inline(always)]
            || {
                let (mut least, mut most, mut ones) = (u32::MAX, 0, 0u32);
                for &x in all {
                    (least, most) = (least.min(x), most.max(x));
                    ones += u32::from(x == 1);
                }
                Self { all, least, most, ones: ones as usize }
            },
        )
    }

    /// The least one; of none, one that all bounds keep.
    #[inline]
    pub fn least(&self) -> u32 {
        self.least
    }

    /// The largest one; of none 0.
    #[inline]
    pub fn most(&self) -> u32 {
        self.most
    }
}

/// Makes latents of residuals at the end of `history`, which has room for them there behind the latents that they
/// lean on.
///
/// # Panics
/// Where there are not as many residuals as lookbacks or too little room, or a lookback is 0 or reaches beyond the
/// history.
#[inline]
pub fn undo<L: Latent>(
    present: Present,
    lookbacks: &Lookbacks<'_>,
    residuals: &[L],
    history: &mut [L],
) {
    let &Lookbacks { all, least, most, ones } = lookbacks;
    assert!(residuals.len() == all.len() && all.len() <= history.len());
    let begin = history.len() - all.len();
    assert!(least > 0 && most as usize <= begin, "a lookback out of the history");
    if present.simd() == Simd::Scalar {
        return scalar(all, residuals, history);
    }
    // SAFETY: as many residuals as lookbacks and places behind `begin`, none of which is 0 or beyond it.
    unsafe {
        if ones > all.len() / 4 * 3 && begin >= SETTLED {
            from_register(all, residuals, history);
        } else {
            from_memory(all, residuals, history);
        }
    }
}

fn scalar<L: Latent>(lookbacks: &[u32], residuals: &[L], history: &mut [L]) {
    let begin = history.len() - residuals.len();
    for (i, (&lookback, &residual)) in (begin..).zip(lookbacks.iter().zip(residuals)) {
        history[i] = residual.plus_low(history[i - lookback as usize].widen());
    }
}

/// # Safety
/// There are as many lookbacks as residuals, and no more than places; none is 0 or larger than the number of
/// places before those.
#[inline]
unsafe fn from_memory<L: Latent>(lookbacks: &[u32], residuals: &[L], history: &mut [L]) {
    let begin = history.len() - residuals.len();
    for (i, (&lookback, &residual)) in (begin..).zip(lookbacks.iter().zip(residuals)) {
        // SAFETY: `i` counts the last places, and the lookback is 1 to `begin`.
        unsafe {
            let earlier = *history.get_unchecked(i - lookback as usize);
            *history.get_unchecked_mut(i) = residual.plus_low(earlier.widen());
        }
    }
}

/// Where nearly all latents lean on the one before, which is on its way to memory still: that one comes from a
/// register, and what is loaded beside it does not wait.
///
/// # Safety
/// As [`from_memory`], and [`SETTLED`] places are before those.
#[inline]
unsafe fn from_register<L: Latent>(lookbacks: &[u32], residuals: &[L], history: &mut [L]) {
    let begin = history.len() - residuals.len();
    let mut latest = history[begin - 1];
    for (i, (&lookback, &residual)) in (begin..).zip(lookbacks.iter().zip(residuals)) {
        let is_latest = lookback == 1;
        let back = if is_latest { SETTLED } else { lookback as usize };
        // SAFETY: `i` counts the last places, and as many as `back` are before them.
        unsafe {
            let loaded = *history.get_unchecked(i - back);
            latest = residual.plus_low(select_unpredictable(is_latest, latest, loaded).widen());
            *history.get_unchecked_mut(i) = latest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;

    fn undone<L: Latent>(simd: Simd, before: usize, lookbacks: &[u32]) -> Vec<L> {
        let mut next = noise(5);
        let mut history: Vec<L> = (0..before).map(|_| L::from_low(next())).collect();
        let residuals: Vec<L> = lookbacks.iter().map(|_| L::from_low(next())).collect();
        history.resize(before + lookbacks.len(), L::from_low(0));
        let present = Present::new(simd);
        undo(present, &Lookbacks::new(present, lookbacks), &residuals, &mut history);
        history
    }

    /// Lengths, what is before, and how many of sixteen lookbacks are 1.
    fn cases() -> Vec<(usize, Vec<u32>)> {
        let mut next = noise(6);
        let mut cases = Vec::new();
        for n in [0, 1, 2, 15, 16, 100, 255, 256] {
            for before in [1, 2, 23, 24, 25, 300] {
                for ones in [0, 8, 13, 16] {
                    let mut lookback = |_| match next() % 16 {
                        x if x < ones => 1,
                        _ => 1 + u32::try_from(next() % before as u64).unwrap(),
                    };
                    cases.push((before, (0..n).map(&mut lookback).collect()));
                }
            }
        }
        cases
    }

    crate::twin_test!(lookbacks_are_undone_alike, cases(), |simd, case| {
        let (before, lookbacks) = case;
        let small =
            (undone::<u8>(simd, *before, lookbacks), undone::<u16>(simd, *before, lookbacks));
        (small, undone::<u32>(simd, *before, lookbacks), undone::<u64>(simd, *before, lookbacks))
    });

    #[test]
    fn by_definition() {
        let mut history = [5u16, 7, 0, 0, 0];
        let present = Present::in_use();
        let lookbacks = Lookbacks::new(present, &[2, 1, 4]);
        assert_eq!((lookbacks.least(), lookbacks.most()), (1, 4));
        let wrong = std::panic::catch_unwind(|| undo(present, &lookbacks, &[1u16; 3], &mut [0; 5]));
        assert!(wrong.is_err());
        let lookbacks = Lookbacks::new(present, &[2, 1, 2]);
        undo(present, &lookbacks, &[1, 2, 3], &mut history);
        assert_eq!(history, [5, 7, 6, 8, 9]);
        let lookbacks = Lookbacks::new(present, &[]);
        undo(present, &lookbacks, &[], &mut history[..0]);
        for (lookbacks, residuals) in [(&[0][..], 1), (&[1], 2)] {
            let lookbacks = Lookbacks::new(present, lookbacks);
            let residuals = vec![1u16; residuals];
            let undone = || undo(present, &lookbacks, &residuals, &mut [0; 5]);
            assert!(std::panic::catch_unwind(undone).is_err());
        }
    }
}
