//! Few numbers: whether their values say that a search for lookbacks is worth its time, which is half as
//! long as all else that they take.

use crate::number::Latent;
use crate::pco::logarithm::log2;
use crate::pco::mode::dict;

/// Chunks of at most so many numbers are few.
pub(crate) const MOST: usize = 1 << 12;
/// Of fewer than so many all are glanced at, and the same at quick levels.
pub(crate) const LEAST: usize = 1 << 9;
pub(crate) const QUICK_LEAST: usize = 1 << 8;
/// Numbers that are glanced at where values do not come again often enough: some periods, if there are any.
pub(crate) const GLANCE: usize = 192;
/// Part of all bits that lookbacks to the last place of each value take at most where all are glanced at.
const PROMISING: f64 = 0.98;

/// log2 of the places for hashes.
const LOG: u32 = 13;
/// Distances by their logarithms, and values that were not there before.
const CLASSES: usize = MOST.ilog2() as usize + 2;
const NEW: usize = CLASSES - 1;
/// Bits of a value that was not there before, beside those that tell all numbers apart.
const BESIDE: f64 = 2.0;

/// Whether lookbacks are unlikely for up to [`MOST`] numbers with at least so many values, all of which take `bits`
/// with the best that was found.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn is_unlikely<L: Latent>(latents: &[L], distinct: usize, bits: f64) -> bool {
    let n = latents.len();
    // What is new alone takes no less.
    let of_new = || distinct as f64 * (bits / n as f64).min(f64::from(L::BITS));
    of_new() > bits * PROMISING || last_places(latents, bits) > bits * PROMISING
}

/// Bits of lookbacks to the last place of each value, where the others take as many as they do now on average.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn last_places<L: Latent>(latents: &[L], bits: f64) -> f64 {
    let mut last = [0u16; 1 << LOG];
    let mut counts = [0u32; CLASSES];
    for (i, &x) in (0u16..).zip(latents) {
        let before = &mut last[dict::hash(x, LOG)];
        let is_same = *before < i && latents[usize::from(*before)] == x;
        counts[if is_same { (i - *before).ilog2() as usize } else { NEW }] += 1;
        *before = i;
    }
    let n = latents.len() as f64;
    let new = (bits / n).max(n.log2() + BESIDE).min(f64::from(L::BITS));
    let of_class = |(class, &count): (usize, &u32)| {
        let beside = if class == NEW { new } else { class as f64 };
        let count = f64::from(count);
        count * (beside + log2(n) - log2(count))
    };
    counts.iter().enumerate().filter(|(_, count)| **count > 0).map(of_class).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::noise::mix;

    #[test]
    fn lookbacks_are_told_from_values_that_come_anywhere() {
        let bits = |latent: &dyn Fn(u64) -> u64, each: f64| {
            let latents: Vec<u64> = (0..1000).map(latent).collect();
            let found = last_places(&latents, each * 1000.0) / 1000.0;
            (found, is_unlikely(&latents, 1, each * 1000.0))
        };
        // Nothing comes again.
        let (each, short) = bits(&mix, 60.0);
        assert!((59.9..60.1).contains(&each) && short, "{each}");
        // A table of 40 rows over and over: one distance.
        let (each, short) = bits(&|i| mix(i % 40), 30.0);
        assert!(each < 8.0 && !short, "{each}");
        // One of 40 values each: any distance.
        let (each, short) = bits(&|i| mix(mix(i) % 40), 5.4);
        assert!((5.4..9.0).contains(&each) && short, "{each}");
        // All the same: none but the first is new.
        let (each, _) = bits(&|_| 7, 0.1);
        assert!(each < 0.1, "{each}");
    }
}
