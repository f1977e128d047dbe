//! Sorting latents by their digits.

use crate::number::Latent;
use crate::pco::dense;
use latens_kernels::dispatch::Present;

/// Values of a digit, and of one of few latents.
const DIGIT: usize = 1 << 11;
const SHORT_DIGIT: usize = 1 << 8;
/// Fewer latents than this are few.
const MANY: usize = 1 << 12;
/// Fewer latents than this are compared with each other.
const FEW: usize = 1 << 9;
/// Digits that are sorted by; in latents that are wider than those, only the highest.
const MOST_DIGITS: u32 = 3;

/// Sorts latents: by their highest digits first, those that are alike in them by comparison.
pub(crate) fn sort<L: Latent>(latents: &mut [L]) {
    let Some(&first) = latents.first() else { return };
    if latents.len() < FEW {
        latents.sort_unstable();
        return;
    }
    if latents.is_sorted() {
        return;
    }
    let (min, max) = dense::bounds(latents).unwrap_or((first, first));
    let bits = max.sub(min).bit_length();
    let digit = if latents.len() < MANY { SHORT_DIGIT } else { DIGIT };
    let digits = bits.div_ceil(digit.ilog2()).min(MOST_DIGITS);
    let low = bits.saturating_sub(digits * digit.ilog2());
    Present::in_use().call(
        #[inline(always)]
        || match digit {
            SHORT_DIGIT => by_digits::<L, SHORT_DIGIT>(latents, min, low, digits),
            _ => by_digits::<L, DIGIT>(latents, min, low, digits),
        },
    );
    // Few latents are seldom alike in their highest digits.
    if low > 0 && !latents.is_sorted() {
        let high = |x: L| x.sub(min) >> low;
        for alike in latents.chunk_by_mut(|&a, &b| high(a) == high(b)) {
            if alike.len() > 1 {
                alike.sort_unstable();
            }
        }
    }
}

#[inline(always)]
fn by_digits<L: Latent, const DIGIT: usize>(latents: &mut [L], min: L, low: u32, digits: u32) {
    #[expect(clippy::cast_possible_truncation, reason = "masked")]
    let digit =
        |x: L, i: u32| (x.sub(min).to_u64() >> (low + i * DIGIT.ilog2())) as usize & (DIGIT - 1);
    // All digits are counted at once: sums of one wait for each other where latents are alike.
    let mut places = [[0u32; DIGIT]; MOST_DIGITS as usize];
    let places = &mut places[..digits as usize];
    for &x in &*latents {
        for (i, counts) in (0..).zip(&mut *places) {
            counts[digit(x, i)] += 1;
        }
    }
    let mut other = latents.to_vec();
    let (mut from, mut to) = (&mut latents[..], &mut other[..]);
    for (i, places) in (0..).zip(places) {
        let mut sum = 0;
        for place in &mut *places {
            sum += std::mem::replace(place, sum);
        }
        for &x in &*from {
            let place = &mut places[digit(x, i)];
            to[*place as usize] = x;
            *place += 1;
        }
        (from, to) = (to, from);
    }
    if digits % 2 == 1 {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<L: Latent>(mut latents: Vec<L>) {
        let mut expect = latents.clone();
        expect.sort_unstable();
        sort(&mut latents);
        assert_eq!(latents, expect);
    }

    proptest! {
        #[test]
        fn sorts(latents in prop::collection::vec(any::<u64>(), 0..3000), shift in 0u32..64) {
            let narrow = |x: &u64| x >> shift | 1 << 60;
            check::<u64>(latents.iter().map(narrow).collect());
            check::<u64>(latents.iter().map(|x| x << shift).collect());
            check::<u32>(latents.iter().map(|&x| u32::truncate(x >> shift)).collect());
            check::<u16>(latents.iter().map(|&x| u16::truncate(x)).collect());
            check::<u64>(latents.iter().map(|x| ((x % 5) << 50) | (x % 999)).collect());
            check::<u8>(latents.iter().map(|&x| u8::truncate(x)).collect());
        }
    }
}
