//! Which bases of floats, and which zeros in their mantissas, are worth measuring for given latents.
//!
//! Only candidates, as those of [`detect`](super::detect).

use crate::number::Latent;
use crate::pco::logarithm::log2;
use crate::pco::mode::detect::MOST;
use latens_kernels::dispatch::Present;

/// Of how many floats bases are tried on all that are left: first, then, in the end.
const LOOK: usize = 40;
const FEW: usize = 1 << 8;
const FLOATS: usize = 1 << 10;
/// What part of the bits that the best base saves others must save.
const CLOSE_MULT: f64 = 0.85;
/// Pairs of them whose common divisor is looked for, at most.
const PAIRS: usize = 200;
/// A base that fits no more than this part of floats more than a greater one fits as many.
const SAME_HITS: usize = 100;
/// A divisor that the values have in common is known no better than this.
const SAME: f64 = 1e-9;
/// Bits a float that zeros in its mantissa must save, what part of the most that any save, and of how many.
const LEAST_OF_QUANT: f64 = 0.5;
const CLOSE_QUANT: f64 = 0.8;
const MOST_QUANT: usize = 2;
/// What part of the floats are all but exceptions.
const ALL_QUANT: f64 = 0.99;

/// Counts of low mantissa bits that are zero in so many latents of the sample that telling these from the
/// others saves `least` bits a float: at most three, the one that saves most first.
pub(crate) fn float_quant_bits<L: Latent>(sample: &[L], least: f64) -> Vec<u32> {
    let mantissa = L::MANTISSA_DIGITS - 1;
    let mut counts = [0u32; 64];
    let mut finite = 0u32;
    for bits in sample.iter().map(|x| x.unorder()).filter(|&bits| bits << 1 != L::ZERO) {
        finite += 1;
        counts[bits.trailing_zeros().min(mantissa) as usize] += 1;
    }
    let mut found: Vec<(f64, u32, f64)> = Vec::new();
    let (mut at_least, mut before) = (0, 0);
    for q in (3..=mantissa).rev() {
        at_least += counts[q as usize];
        // Fewer zeros say nothing where hardly more floats have them.
        if at_least * 100 <= before * 101 {
            continue;
        }
        before = at_least;
        let share = f64::from(at_least) / f64::from(finite.max(1));
        let saves = share * f64::from(q) - entropy(share);
        if saves > LEAST_OF_QUANT.max(least) {
            found.push((saves, q, share));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let least = found.first().map_or(0.0, |best| best.0 * CLOSE_QUANT);
    // Where one number comes often, its zeros count as often: what all have is tried whatever that says.
    let is_close = |place: usize, saves: f64| place < MOST_QUANT && saves >= least;
    let found = found.into_iter().enumerate();
    found
        .filter(|&(place, (saves, _, share))| is_close(place, saves) || share > ALL_QUANT)
        .map(|(_, (_, q, _))| q)
        .collect()
}

/// Bits that it takes to say whether something is so that is so with a probability.
fn entropy(probability: f64) -> f64 {
    let of = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    of(probability) + of(1.0 - probability)
}

/// Bases that many floats of the sample are near to multiples of, as ordered latents, and about how many bits
/// a float the best of them saves.
pub(crate) fn float_mult_bases<L: Latent>(sample: &[L]) -> (Vec<L>, f64) {
    let values = spread(sample, FEW);
    if values.len() < 4 {
        return (Vec::new(), 0.0);
    }
    let digits = f64::from(L::MANTISSA_DIGITS);
    let look = &values[..values.len().min(LOOK)];
    let mut bases = decimal_bases();
    for divisor in common_divisors(&values, digits) {
        // What is as good as decimal is decimal.
        if bases.iter().all(|base| (divisor / base - 1.0).abs() > SAME) {
            bases.push(divisor);
        }
    }
    let mut tried: Vec<Tried> = Vec::new();
    for base in bases {
        let base = L::bits_from_f64(base).bits_to_f64();
        // Most bases fail at once.
        let is_base = base.is_finite() && base != 0.0;
        if is_base && multiples(look, base, digits) * 5 > look.len() {
            tried.push(Tried { base, hits: multiples(&values, base, digits) });
        }
    }
    tried.retain(|tried| tried.hits * 5 > values.len() * 2);
    if tried.is_empty() {
        return (Vec::new(), 0.0);
    }
    // A base says nothing where a greater one fits about as many floats. Of the others the greatest is best
    // where all digits behind the point are as many; where digits are as many in all, one between may be.
    tried.sort_unstable_by(|a, b| b.base.total_cmp(&a.base));
    retain_fitting(&mut tried, 0);
    let values = spread(sample, FLOATS);
    for tried in &mut tried {
        tried.hits = multiples(&values, tried.base, digits);
    }
    retain_fitting(&mut tried, SAME_HITS);
    let logs = logs(&values);
    let saves_of = |Tried { base, hits }: Tried| {
        #[expect(clippy::cast_precision_loss, reason = "a sample")]
        let saves = hits as f64 * (digits - 1.0 + base.log2())
            - logs_of_multiples(&values, &logs, base, digits);
        (saves, L::bits_from_f64(base).order())
    };
    let mut found: Vec<(f64, L)> = tried.into_iter().map(saves_of).collect();
    found.retain(|&(_, base)| is_normal(base));
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let most = found.first().map_or(0.0, |best| best.0);
    found.retain(|&(saves, _)| saves >= most * CLOSE_MULT);
    #[expect(clippy::cast_precision_loss, reason = "a sample")]
    let of_each = most / values.len() as f64;
    (found.into_iter().take(MOST).map(|(_, base)| base).collect(), of_each)
}

/// Leaves out bases that fit at most one in so many more than a greater one does; these come first.
fn retain_fitting(tried: &mut Vec<Tried>, part: usize) {
    let mut fitting = 0usize;
    tried.retain(|base| {
        let more = fitting.checked_div(part).unwrap_or(0);
        let is_more = base.hits > fitting + more;
        fitting = fitting.max(base.hits);
        is_more
    });
}

/// Absolute values of about so many floats, spread over the sample, since what is near to each other is often alike.
fn spread<L: Latent>(sample: &[L], n: usize) -> Vec<f64> {
    sample
        .iter()
        .step_by((sample.len() / n).max(1) | 1)
        .map(|x| x.ordered_to_f64().abs())
        .filter(|v| v.is_normal() && *v < 1e300)
        .collect()
}

/// A base that many floats are multiples of, and how many.
struct Tried {
    base: f64,
    hits: usize,
}

/// Old readers refuse bases that are not normal floats.
fn is_normal<L: Latent>(base: L) -> bool {
    let bits = base.unorder();
    let exponent_bits = L::BITS - L::MANTISSA_DIGITS;
    let exponent = (bits << 1) >> (L::MANTISSA_DIGITS);
    exponent != L::ZERO && exponent.to_u64() != (1u64 << exponent_bits) - 1
}

/// How many values are multiples of a base.
fn multiples(values: &[f64], base: f64, digits: f64) -> usize {
    Present::in_use().call(
        #[inline(always)]
        || {
            let inverse = 1.0 / base;
            values.iter().map(|&v| usize::from(is_whole(v * inverse, digits))).sum()
        },
    )
}

/// The sum of the logarithms of multiples of a base.
fn logs_of_multiples(values: &[f64], logs: &[f64], base: f64, digits: f64) -> f64 {
    /// Sums side by side: none waits for the one before, and all are the same everywhere.
    const SUMS: usize = 8;
    Present::in_use().call(
        #[inline(always)]
        || {
            let inverse = 1.0 / base;
            let mut sums = [0.0; SUMS];
            for (values, logs) in values.chunks(SUMS).zip(logs.chunks(SUMS)) {
                for ((&v, &log), sum) in values.iter().zip(logs).zip(&mut sums) {
                    *sum += if is_whole(v * inverse, digits) { log } else { 0.0 };
                }
            }
            sums.iter().sum()
        },
    )
}

fn logs(values: &[f64]) -> Vec<f64> {
    Present::in_use().call(
        #[inline(always)]
        || values.iter().map(|&v| log2(v)).collect(),
    )
}

/// Whether a quotient is within a few units in the last place of a whole number that is small enough for
/// that to mean something.
#[inline(always)]
fn is_whole(quotient: f64, digits: f64) -> bool {
    // Rounded by an addition; the quotient is small enough for that, or too large anyway.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let nearest = (quotient + ROUND) - ROUND;
    // Of all floats a quarter lie as near as an eighth.
    const NEAR: f64 = 0.125;
    // All of them at once: no branches, for vectors.
    (nearest >= 1.0)
        & (nearest <= power_of_two(digits - 3.0))
        & ((quotient - nearest).abs() <= (quotient * power_of_two(3.0 - digits)).min(NEAR))
}

/// A power of two with a small whole exponent.
#[expect(clippy::cast_possible_truncation, reason = "a whole number")]
fn power_of_two(exponent: f64) -> f64 {
    f64::from_bits(u64::from((exponent as i32 + 1023).unsigned_abs()) << 52)
}

fn decimal_bases() -> Vec<f64> {
    let mut bases: Vec<f64> = Vec::new();
    // As many digits as programs print of a double near 1.
    for exponent in -15i32..=6 {
        let power = 10f64.powi(exponent.abs());
        let of = |digit: f64| if exponent < 0 { digit / power } else { digit * power };
        bases.extend([of(1.0), of(2.0), of(5.0), of(2.5)]);
    }
    bases
}

/// Greatest common divisors of neighbouring values, as far as rounding allows, made precise by
/// the values themselves.
fn common_divisors(values: &[f64], digits: f64) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    let least = (8.0 - digits).exp2();
    let pairs = (values.len() / 4).min(PAIRS);
    Present::in_use().call(
        #[inline(always)]
        || {
            for pair in values.chunks_exact(2).take(pairs) {
                let (mut a, mut b) = (pair[0].max(pair[1]), pair[0].min(pair[1]));
                let tolerance = a * least;
                while b > tolerance {
                    (a, b) = (b, a - b * (a / b).floor());
                    if a - b < tolerance {
                        b = 0.0;
                    }
                }
                if a > 64.0 * tolerance {
                    found.push(a);
                }
            }
        },
    );
    found.sort_unstable_by(f64::total_cmp);
    let Some(&rough) = found.get(found.len() / 2) else { return Vec::new() };
    // The greatest multiple tells the base best.
    let mut base = rough;
    for &v in values {
        let multiple = (v / base).round();
        if multiple >= 1.0
            && (v / base - multiple).abs() < 0.05
            && multiple * (2.0 - digits).exp2() < 0.05
        {
            base = v / multiple;
        }
    }
    let inverse = (1.0 / base).round();
    let mut bases = vec![base];
    if inverse >= 1.0 && ((1.0 / base) / inverse - 1.0).abs() < 1e-6 {
        bases.push(1.0 / inverse);
    }
    bases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    #[test]
    fn decimals_and_fractions_are_found() {
        let cents: Vec<u64> =
            (1..500).map(|i| (f64::from(i * 37 % 1000) / 100.0).to_latent()).collect();
        assert!(float_mult_bases(&cents).0.contains(&0.01f64.to_latent()));
        let sevenths: Vec<u64> =
            (1..500).map(|i| (f64::from(i * 37 % 1000) / 7.0).to_latent()).collect();
        assert!(float_mult_bases(&sevenths).0.contains(&(1.0 / 7.0f64).to_latent()));
        let random: Vec<u64> =
            (1..500).map(|i| (f64::from(i) * 0.7231).sin().to_latent()).collect();
        assert!(float_mult_bases(&random).0.is_empty());
    }

    #[test]
    fn all_digits_of_doubles_and_many_of_singles_are_found() {
        let printed = |i: u32| format!("{:.14}", f64::from(i).ln() / 2.0 + 1.0);
        let sample: Vec<u64> =
            (1..500).map(|i| printed(i).parse::<f64>().unwrap().to_latent()).collect();
        assert_eq!(float_mult_bases(&sample).0.first(), Some(&1e-14f64.to_latent()));
        let cents: Vec<u32> = (1..500u32)
            .map(|i| format!("{:.2}", f64::from(i * 7919 % 1_000_000) / 100.0))
            .map(|x| x.parse::<f32>().unwrap().to_latent())
            .collect();
        assert_eq!(float_mult_bases(&cents).0.first(), Some(&0.01f32.to_latent()));
    }

    #[test]
    fn as_many_digits_in_all_have_a_base_between() {
        // Four of five between 0.1 and 1, the others below.
        let size = |i: u32| if i.is_multiple_of(5) { -1.0 - f64::from(i % 30) / 10.0 } else { 0.0 };
        let sample: Vec<u64> = (1..1000)
            .map(|i| 10f64.powf(size(i) - f64::from(i * 619 % 997) / 1000.0))
            .map(|x| format!("{x:.4e}").parse::<f64>().unwrap().to_latent())
            .collect();
        let bases = float_mult_bases(&sample).0;
        assert!(bases.contains(&1e-5f64.to_latent()), "{bases:?}");
    }

    #[test]
    fn narrow_floats_beside_others_are_found() {
        let narrow = |i: u32| f64::from((i as f32).sqrt()).to_latent();
        let wide = |i: u32| (f64::from(i) * 0.7231).sin().to_latent();
        // A filler has more zeros than all others.
        let mut sample: Vec<u64> = (1..500).map(narrow).collect();
        sample.extend(std::iter::repeat_n(0.5f64.to_latent(), 700));
        assert!(float_quant_bits(&sample, 0.0).contains(&29));
        let fifth = |i: u32| if i.is_multiple_of(5) { narrow(i) } else { wide(i) };
        let sample: Vec<u64> = (1..1000).map(fifth).collect();
        assert_eq!(float_quant_bits(&sample, 0.0), [29]);
        assert!(float_quant_bits(&sample, 20.0).is_empty());
        assert!(float_quant_bits(&(1..1000).map(wide).collect::<Vec<u64>>(), 0.0).is_empty());
    }

    #[test]
    fn narrow_floats_in_wide_ones_are_found() {
        let sample: Vec<u64> = (1..500).map(|i| f64::from((i as f32).sqrt()).to_latent()).collect();
        assert!(float_quant_bits(&sample, 0.0).contains(&29));
    }

    #[test]
    fn a_decimal_base_is_not_missed_for_what_is_near_it() {
        // Even counts of hundredths; sums that are some last places off.
        let twos: Vec<u64> =
            (1..500).map(|i| (f64::from(i * 37 % 1000 * 2) / 100.0).to_latent()).collect();
        assert_eq!(float_mult_bases(&twos).0.first(), Some(&0.02f64.to_latent()));
        let sums: Vec<u64> = (1..500)
            .map(|i| (f64::from(i * 7919 % 100_003) / 1e6 * (1.0 + f64::EPSILON)).to_latent())
            .collect();
        assert_eq!(float_mult_bases(&sums).0, [1e-6f64.to_latent()]);
    }

    #[test]
    fn narrow_floats_among_many_equal_ones_are_found() {
        let narrow = |i: u32| f64::from((i as f32).sqrt()).to_latent();
        let mut sample: Vec<u64> = (1..250).map(narrow).collect();
        sample.extend(std::iter::repeat_n(f64::NAN.to_latent(), 750));
        assert!(float_quant_bits(&sample, 0.0).contains(&29));
    }
}
