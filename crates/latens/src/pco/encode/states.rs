//! How many states a page with lookbacks begins with.
//!
//! What comes for the first time has nothing to look back to. As a state it takes the bits of its type and no
//! more; stored as a residual it needs bins for itself and its lookback, which are in the way of all that
//! comes again.

use crate::number::Latent;
use crate::pco::delta::lookback;
use crate::pco::delta::lookback_search::magnitude;
use crate::pco::encode::split::{PageLatents, Stored};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::{DeltaPayload, MAX_STATE_LOG};

/// Bins that only what is new has, as a guess, if that is as many latents.
const BINS: u32 = 4;
const MANY: u32 = 16;
/// Bits that a bin has beside its lower bound.
const OF_BIN: u32 = 16;

/// log2 of the states that may be worth it in place of one, or fewer than those. A guess: the bits of all decide.
pub(crate) fn promising<L: Latent>(page: &PageLatents<L>, delta: &DeltaPayload) -> Option<u32> {
    let most = most(page, delta)?;
    let lookbacks = &page.delta.as_ref()?.latents;
    match &page.primary {
        Primary::Latents(stored) => of_residuals(&stored.latents, lookbacks, most),
        Primary::Indices(stored) => of_residuals(&stored.latents, lookbacks, most),
    }
}

/// States besides the one that the page has now, if it may have 2^`log`.
pub(crate) fn besides<L: Latent>(
    page: &PageLatents<L>,
    delta: &DeltaPayload,
    log: u32,
) -> Option<usize> {
    most(page, delta).filter(|most| log <= *most).map(|_| (1 << log) - 1)
}

/// log2 of the most states that a page with one may have instead.
fn most<L: Latent>(page: &PageLatents<L>, delta: &DeltaPayload) -> Option<u32> {
    let DeltaPayload::Lookback { window_log, state_log: 0, .. } = *delta else { return None };
    let of_page = page.n.checked_ilog2()?;
    Some(window_log.min(MAX_STATE_LOG).min(of_page))
}

/// The same by the residuals and lookbacks of all latents but the first.
#[expect(clippy::cast_precision_loss, reason = "a guess")]
fn of_residuals<V: Latent>(residuals: &[V], lookbacks: &[u32], most: u32) -> Option<u32> {
    let (mut widths, mut new, mut from) = (0.0, 0, 0);
    let mut best = (0.0, None);
    for log in 1..=most {
        let stored = (1 << log) - 1;
        let Some(these) = residuals.get(from..stored) else { break };
        for (residual, lookback) in these.iter().zip(&lookbacks[from..]) {
            let width = magnitude(residual.sub(V::MID)).bit_length();
            if width > 0 {
                widths += f64::from(1 + width + lookback.ilog2());
                new += 1;
            }
        }
        from = stored;
        if new == 0 {
            continue;
        }
        // That it is new is said by a bin of its own, and likewise where it looks back to.
        let each = 2.0 * (residuals.len() as f64 / f64::from(new)).log2();
        let bins = f64::from(BINS * (V::BITS + OF_BIN) * new.min(MANY) / MANY);
        let gain = widths + f64::from(new) * each + bins - (stored * V::BITS as usize) as f64;
        if gain > best.0 {
            best = (gain, Some(log));
        }
    }
    best.1
}

/// Makes states of the first latents of a page that has one.
pub(crate) fn lengthen<L: Latent>(page: &mut PageLatents<L>, delta: &mut DeltaPayload, log: u32) {
    let DeltaPayload::Lookback { state_log, secondary, .. } = delta else { return };
    *state_log = log;
    let covers_secondary = *secondary;
    let Some(Stored { latents: lookbacks, .. }) = &mut page.delta else { return };
    let n = 1 << log;
    match &mut page.primary {
        Primary::Latents(stored) => lengthen_one(n, lookbacks, stored),
        Primary::Indices(stored) => lengthen_one(n, lookbacks, stored),
    }
    if let (true, Some(stored)) = (covers_secondary, &mut page.secondary) {
        lengthen_one(n, lookbacks, stored);
    }
    lookbacks.drain(..n - 1);
}

fn lengthen_one<V: Latent>(n: usize, lookbacks: &[u32], stored: &mut Stored<V>) {
    let residuals = stored.latents.drain(..n - 1);
    for (residual, &lookback) in residuals.zip(lookbacks) {
        stored.state.push(lookback::latent_behind(&stored.state, residual, lookback));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::encode::plan::ModeLatents;
    use crate::pco::encode::split;
    use crate::pco::layout::mode::ModePayload;
    use crate::pco::noise::mix;

    fn page(
        n: u64,
        period: u64,
        state_log: u32,
        secondary: bool,
    ) -> (PageLatents<u64>, DeltaPayload) {
        let latents = ModeLatents {
            mode: ModePayload::IntMult { base: 10 },
            counts: Vec::new(),
            primary: Primary::Latents((0..n).map(|i| mix(i % period)).collect()),
            secondary: Some((0..n).map(|i| mix(i) % 10).collect()),
        };
        let skipped = (1 << state_log) - 1;
        let lookbacks = (1..n).map(|i| 1 + u32::try_from(mix(i) % period.min(i + 9)).unwrap());
        let lookbacks = lookbacks.skip(skipped).collect();
        let delta = DeltaPayload::Lookback { window_log: 12, state_log, secondary };
        (split::with_lookbacks(latents, &delta, lookbacks), delta)
    }

    #[test]
    fn a_page_that_is_lengthened_is_one_that_begins_with_more_states() {
        for (n, period, log) in [(1000, 70, 6), (1000, 1000, 9), (64, 50, 6), (5, 3, 2)] {
            for secondary in [false, true] {
                let (mut lengthened, mut delta) = page(n, period, 0, secondary);
                lengthen(&mut lengthened, &mut delta, log);
                let (expected, expected_delta) = page(n, period, log, secondary);
                assert_eq!(delta, expected_delta);
                assert_eq!(lengthened.delta, expected.delta);
                assert_eq!(lengthened.primary.latents(), expected.primary.latents());
                assert_eq!(lengthened.secondary, expected.secondary);
            }
        }
    }

    #[test]
    fn what_comes_first_is_worth_states() {
        let of = |period: usize, bits: u32| {
            let latents: Vec<u64> =
                (0..20_000).map(|i| mix(i % period as u64) >> (64 - bits)).collect();
            let mut residuals = latents.clone();
            let lookbacks = vec![u32::try_from(period).unwrap(); latents.len() - 1];
            lookback::encode(1, &lookbacks, &mut residuals);
            of_residuals(&residuals, &lookbacks, 15)
        };
        assert_eq!(of(1000, 64), Some(10));
        assert_eq!(of(512, 64), Some(9));
        // More bits as states than in bins.
        assert!(of(1000, 10).is_none_or(|log| log < 4));
    }
}
