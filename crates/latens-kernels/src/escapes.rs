//! Symbols that are said apart put in their places: those where one symbol stands for the next one of a list.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_escapes, avx512_escapes};

/// Symbols that are looked at together.
pub(crate) const WIDTH: usize = u64::BITS as usize;

/// Puts the next one of `listed` in place of each symbol `escape`; those that are left over, or `None` where they run out.
pub fn put<'l>(
    present: Present,
    escape: u8,
    listed: &'l [u8],
    symbols: &mut [u8],
) -> Option<&'l [u8]> {
    let (many, rest) = symbols.as_chunks_mut::<WIDTH>();
    let listed = match present.simd() {
        // SAFETY: `present` is what the processor has.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => unsafe { avx512_escapes::put(escape, listed, many) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => unsafe { avx2_escapes::put(escape, listed, many) },
        _ => {
            let put = || scalar(escape, listed, many);
            present.call(put)
        }
    }?;
    let mut next = listed.iter();
    for symbol in rest.iter_mut().filter(|symbol| **symbol == escape) {
        *symbol = *next.next()?;
    }
    Some(next.as_slice())
}

#[inline(always)]
fn scalar<'l>(escape: u8, listed: &'l [u8], many: &mut [[u8; WIDTH]]) -> Option<&'l [u8]> {
    let mut next = listed.iter();
    for some in many {
        // Most hold none.
        if some.iter().fold(0, |any, &s| any | u8::from(s == escape)) != 0 {
            put_at(places_of(escape, some), &mut next, some)?;
        }
    }
    Some(next.as_slice())
}

/// Puts the next ones at `places`, a bit each; `None` where they run out.
#[inline(always)]
pub(crate) fn put_at(
    mut places: u64,
    next: &mut std::slice::Iter<'_, u8>,
    symbols: &mut [u8; WIDTH],
) -> Option<()> {
    while places != 0 {
        symbols[places.trailing_zeros() as usize % WIDTH] = *next.next()?;
        places &= places - 1;
    }
    Some(())
}

/// Where `symbols` are `symbol`, a bit each.
#[inline(always)]
fn places_of(symbol: u8, symbols: &[u8; WIDTH]) -> u64 {
    /// The lowest bit of each byte.
    const ONES: u64 = u64::MAX / 255;
    let eight = |eight: &[u8; 8]| {
        let other = u64::from_le_bytes(*eight) ^ (ONES * u64::from(symbol));
        // The highest bit of each byte of `other` that is 0, moved to the lowest; then these side by side.
        let low = ONES * 127;
        let same = !(((other & low) + low) | other | low) >> 7;
        same.wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let eights = symbols.as_chunks().0.iter().rev();
    eights.fold(0, |places, symbols| places << 8 | eight(symbols))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    /// Symbols of which one in so many is the escape, and a list of so many more or fewer than there are of these.
    fn case(
        len: usize,
        one_in: u64,
        more: isize,
        next: &mut impl FnMut() -> u64,
    ) -> (Vec<u8>, Vec<u8>) {
        let mut byte = || next().to_le_bytes()[0];
        let other = |symbol: u8| if symbol == ESCAPE { 0 } else { symbol };
        let mut symbols: Vec<u8> = (0..len).map(|_| other(byte())).collect();
        let listed: Vec<u8> = (0..2 * len + 200).map(|_| byte()).collect();
        for symbol in &mut symbols {
            if next().is_multiple_of(one_in) {
                *symbol = ESCAPE;
            }
        }
        let count = symbols.iter().filter(|&&symbol| symbol == ESCAPE).count();
        let listed = listed[..count.saturating_add_signed(more)].to_vec();
        (symbols, listed)
    }

    const ESCAPE: u8 = 9;

    fn cases() -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut next = noise(51);
        let mut cases = Vec::new();
        for len in [0usize, 1, 63, 64, 65, 128, 191, 192, 1000, 5000] {
            for one_in in [1, 2, 30, 500] {
                for more in [-70, -1, 0, 1, 63, 64, 150] {
                    cases.push(case(len, one_in, more, &mut next));
                }
            }
        }
        cases
    }

    twin_test!(all_kernels_put_alike, cases(), |simd, case| {
        let mut symbols = case.0.clone();
        let left = put(Present::new(simd), ESCAPE, &case.1, &mut symbols).map(<[u8]>::len);
        // What was put before they ran out is nobody's business.
        left.map(|left| (left, symbols))
    });

    #[test]
    fn each_finds_its_place() {
        for (symbols, listed) in cases() {
            let (mut wanted, mut next) = (symbols.clone(), listed.iter());
            let of = |symbol: &mut u8| {
                if *symbol == ESCAPE { next.next().map(|&s| *symbol = s) } else { Some(()) }
            };
            let complete = wanted.iter_mut().try_for_each(of).is_some();
            for simd in Simd::available() {
                let mut found = symbols.clone();
                let left = put(Present::new(simd), ESCAPE, &listed, &mut found);
                assert_eq!(left.is_some(), complete);
                if let Some(left) = left {
                    assert_eq!((left, &found), (next.as_slice(), &wanted));
                }
            }
        }
    }
}
