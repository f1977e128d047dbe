//! Zeros in the mantissas of floats.

use crate::number::Latent;

/// Bits a float that zeros in its mantissa must save, what part of the most that any save, and of how many.
const LEAST_OF_QUANT: f64 = 0.5;
const CLOSE_QUANT: f64 = 0.8;
const MOST_QUANT: usize = 2;
/// What part of the floats are all but exceptions.
const ALL_QUANT: f64 = 0.99;

/// Counts of low mantissa bits that are zero in so many latents of the sample that telling these from the
/// others saves `least` bits a float; the one that saves most first.
pub(crate) fn float_quant_bits<L: Latent>(sample: &[L], least: f64) -> Vec<u32> {
    let mantissa = L::MANTISSA_DIGITS - 1;
    let mut counts = [0u32; 64];
    let mut nonzero = 0u32;
    for bits in sample.iter().map(|x| x.unorder()).filter(|&bits| bits << 1 != L::ZERO) {
        nonzero += 1;
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
        let share = f64::from(at_least) / f64::from(nonzero.max(1));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

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
    fn narrow_floats_among_many_equal_ones_are_found() {
        let narrow = |i: u32| f64::from((i as f32).sqrt()).to_latent();
        let mut sample: Vec<u64> = (1..250).map(narrow).collect();
        sample.extend(std::iter::repeat_n(f64::NAN.to_latent(), 750));
        assert!(float_quant_bits(&sample, 0.0).contains(&29));
    }
}
