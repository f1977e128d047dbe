//! Whether numbers come back after so many others, exactly or nearly: a table written again and again,
//! a season, channels side by side. What stretches of a chunk are too short to show, and what a search
//! for lookbacks is too slow to try on all chunks.

use crate::number::Latent;
use crate::pco::delta::lookback_search::{MOST_WINDOW_LOG, magnitude};
use latens_kernels::dispatch::Present;

/// Largest period that is looked for: what the search for lookbacks reaches.
const MOST: usize = 1 << MOST_WINDOW_LOG;
/// Shorter chunks are searched for lookbacks well enough by stretches.
const LEAST: usize = 1 << 12;
/// Latents that must all be near the one a period before.
const ANCHORS: usize = 12;
/// Sets of them that are tried.
const ATTEMPTS: usize = 2;
/// Periods of a set that are looked at closely.
const CLOSELY: usize = 4;
/// Latents that a period is measured on.
const MEASURED: usize = 256;
/// Bits that a near latent must save, and that all of them must save on average.
const SAVED: f64 = 3.0;
const SAVED_ON_AVERAGE: f64 = 1.5;

/// Whether there is a period after which latents are nearer than `bits` a latent can say.
pub(crate) fn exists<L: Latent>(latents: &[L], bits: f64) -> bool {
    let n = latents.len();
    if n < LEAST || bits < SAVED {
        return false;
    }
    let most = MOST.min(n / 2);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 64")]
    let near = L::truncate(1u64 << ((bits - SAVED) as u32).min(L::BITS - 2));
    let after =
        |latent: usize, period: usize| magnitude(latents[latent].sub(latents[latent - period]));
    for attempt in 0..ATTEMPTS {
        let anchor =
            |k: usize| most + (n - 1 - most) * (k * ATTEMPTS + attempt) / (ANCHORS * ATTEMPTS);
        let anchors: [usize; ANCHORS] = std::array::from_fn(anchor);
        let periods = Present::in_use().call(
            #[inline(always)]
            || near_all(latents, anchors, most, near),
        );
        let saves = |&period: &usize| {
            let measured = (0..MEASURED).map(|i| most + (n - 1 - most) * i / MEASURED);
            let sum: u32 = measured.map(|latent| after(latent, period).bit_length()).sum();
            f64::from(sum) / MEASURED as f64 + SAVED_ON_AVERAGE < bits
        };
        if periods.iter().take(CLOSELY).any(saves) {
            return true;
        }
    }
    false
}

/// Periods up to `most` after which all of some latents are near.
#[inline(always)]
fn near_all<L: Latent>(
    latents: &[L],
    places: [usize; ANCHORS],
    most: usize,
    near: L,
) -> Vec<usize> {
    const BLOCK: usize = 128;
    let mut periods = Vec::new();
    'blocks: for at in (0..most).step_by(BLOCK) {
        let mut farthest = [L::ZERO; BLOCK];
        let len = BLOCK.min(most - at);
        for place in places {
            let (x, before) = (latents[place], &latents[place - most + at..][..len]);
            for (farthest, &y) in farthest.iter_mut().zip(before) {
                *farthest = magnitude(x.sub(y)).max(*farthest);
            }
            if farthest[..len].iter().fold(L::MAX, |a, &b| a.min(b)) > near {
                continue 'blocks;
            }
        }
        periods.extend((0..len).filter(|&i| farthest[i] <= near).map(|i| most - at - i));
    }
    periods
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize) -> Vec<u32> {
        let mut x = 7u32;
        let next = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            x >> 8
        };
        std::iter::repeat_with(next).take(n).collect()
    }

    #[test]
    fn long_and_noisy_periods_are_seen_and_noise_is_not() {
        let table = noise(30_000);
        let again: Vec<u32> = table.iter().copied().cycle().take(200_000).collect();
        assert!(exists(&again, 24.0));
        let season: Vec<u32> = again.iter().zip(noise(200_000)).map(|(x, e)| x + e % 8).collect();
        assert!(exists(&season, 24.0));
        assert!(!exists(&noise(200_000), 24.0));
        assert!(!exists(&[5u32; 5000], 0.0));
    }
}
