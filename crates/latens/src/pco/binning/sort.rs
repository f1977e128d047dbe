//! Sorting latents by their digits.

use crate::number::Latent;
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
    let (min, max) = latents.iter().fold((first, first), |(min, max), &x| (min.min(x), max.max(x)));
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
    if low > 0 {
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
    let mut other = latents.to_vec();
    let (mut from, mut to) = (&mut latents[..], &mut other[..]);
    for digit in 0..digits {
        pass::<L, DIGIT>(from, to, min, low + digit * DIGIT.ilog2());
        (from, to) = (to, from);
    }
    if digits % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// Orders latents less `min` by the digit at `shift`, those of the same digit as they were.
#[inline(always)]
fn pass<L: Latent, const DIGIT: usize>(from: &[L], to: &mut [L], min: L, shift: u32) {
    #[expect(clippy::cast_possible_truncation, reason = "masked")]
    let digit = |x: L| (x.sub(min) >> shift).to_u64() as usize & (DIGIT - 1);
    let mut places = [0u32; DIGIT];
    for &x in from {
        places[digit(x)] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for &x in from {
        let place = &mut places[digit(x)];
        to[*place as usize] = x;
        *place += 1;
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
