//! Which bases of integers are worth measuring for given latents.
//!
//! Only candidates: the encoder measures each on a sample and takes what is smallest.

use crate::number::Latent;

/// Candidates of a kind, at most.
pub(crate) const MOST: usize = 3;
/// With fewer uneven steps than this, even ones count.
const MOST_STEPS: u32 = 16;
/// Triples that are looked at, of samples of this length at least and of shorter ones.
const LONG: usize = 1 << 11;
const TRIPLES: usize = 1 << 11;
const FEW_TRIPLES: usize = 128;
/// First, one of so many of them, but so many at least: where these have nothing in common, neither have the others.
const FIRST: usize = 16;
const LEAST_FIRST: usize = 32;

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Bases that many differences of the sample have in common.
pub(crate) fn int_mult_bases<L: Latent>(sample: &[L]) -> Vec<L> {
    // Repeats say nothing.
    let mut values = sample.to_vec();
    values.dedup();
    // As many as tell.
    let most = if values.len() < LONG { FEW_TRIPLES } else { TRIPLES };
    let step = (values.len() / most).max(3);
    let rounds = (values.len() / step / LEAST_FIRST).clamp(1, FIRST);
    let mut seen = Seen::default();
    for round in 0..rounds {
        let windows = values.windows(3).skip(round * step).step_by(step * rounds);
        windows.for_each(|window| seen.see(window));
        if round == 0 && rounds > 1 && seen.is_hopeless() {
            return Vec::new();
        }
    }
    let Seen { mut divisors, mut triples, steps } = seen;
    // Even steps are a base only where there is hardly anything else.
    if triples < MOST_STEPS {
        triples += u32::try_from(steps.len()).unwrap_or(u32::MAX);
        divisors.extend(steps);
    }
    // Multiples of a base hide it: give each frequent divisor the votes of its multiples.
    let seen = counted(divisors);
    let frequent = seen.iter().filter(|&&(_, n)| n > 1);
    let heard: Vec<(u64, u32)> = frequent.map(|&(d, _)| (d, votes(&seen, d))).collect();
    // Of random triples 1 − 6/π² = 39 % share a divisor, and 1 / d² of them the divisor d. So it is with
    // the multiples of a base: 30 is no base where it divides a ninth of what 10 divides.
    let is_more = |n: u32, of: u32, d: u64| f64::from(n) > 4.0 + by_chance(of, d);
    let is_own = |d: u64, n: u32| {
        let mut within = heard.iter().filter(|&&(e, _)| e < d && d.is_multiple_of(e));
        is_more(n, triples, d) && within.all(|&(e, of)| is_more(n, of, d / e))
    };
    let mut weighted: Vec<(u64, f64)> = heard
        .iter()
        .filter(|&&(d, n)| is_own(d, n))
        .map(|&(d, n)| (d, f64::from(n) * (d as f64).log2()))
        .collect();
    weighted.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weighted.into_iter().take(MOST).map(|(d, _)| L::truncate(d)).filter(|&d| d > L::ONE).collect()
}

/// So many votes at most has a divisor by chance, of so many triples.
fn by_chance(triples: u32, divisor: u64) -> f64 {
    2.5 * f64::from(triples) / (divisor as f64 * divisor as f64)
}

/// How often each comes.
#[expect(clippy::cast_possible_truncation, reason = "of a sample")]
fn counted(mut divisors: Vec<u64>) -> Vec<(u64, u32)> {
    divisors.sort_unstable();
    divisors.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}

/// How often a divisor and its multiples come.
fn votes(seen: &[(u64, u32)], divisor: u64) -> u32 {
    seen.iter().filter(|(m, _)| m.is_multiple_of(divisor)).map(|(_, n)| n).sum()
}

/// What triples of neighbours have in common.
#[derive(Default)]
struct Seen {
    /// Above 1, of those whose differences differ.
    divisors: Vec<u64>,
    triples: u32,
    /// Of the others.
    steps: Vec<u64>,
}

impl Seen {
    fn see<L: Latent>(&mut self, window: &[L]) {
        let ordered = [window[0].to_u64(), window[1].to_u64(), window[2].to_u64()];
        let (a, b) = (ordered[0].abs_diff(ordered[1]), ordered[1].abs_diff(ordered[2]));
        if a == 0 || b == 0 {
            return;
        }
        if a == b {
            self.steps.push(a);
            return;
        }
        self.triples += 1;
        let divisor = gcd(a, b);
        if divisor > 1 {
            self.divisors.push(divisor);
        }
    }

    /// Whether enough was seen to say that there is no base.
    fn is_hopeless(&self) -> bool {
        let seen = counted(self.divisors.clone());
        let is_promising =
            |&(d, _): &(u64, u32)| f64::from(votes(&seen, d)) > 1.0 + by_chance(self.triples, d);
        self.triples >= MOST_STEPS && !seen.iter().any(is_promising)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_factor_is_found() {
        let sample: Vec<u64> =
            (1..600u64).map(|i| 1_700_000_000_000_000 + i * i % 997 * 60_000_000).collect();
        assert!(int_mult_bases(&sample).contains(&60_000_000));
        let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = |i: u64| mix(mix(mix(i + 1))) >> 24;
        let random: Vec<u64> = (0..999).map(hash).collect();
        assert!(int_mult_bases(&random).is_empty());
    }

    #[test]
    fn multiples_of_a_base_are_no_bases() {
        let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = |i: u64| mix(mix(i + 1)) >> 32;
        let tens = |i: u64| if i.is_multiple_of(16) { number(i) } else { number(i) / 10 * 10 };
        let bases = int_mult_bases(&(0..4000).map(tens).collect::<Vec<u64>>());
        assert!(bases.contains(&10), "{bases:?}");
        assert!(bases.iter().all(|base| *base <= 10), "{bases:?}");
    }
}
