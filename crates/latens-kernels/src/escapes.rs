//! Symbols that are said apart: looked for where they are to be taken out, and put in their places, which are those
//! where one symbol stands for the next one of a list.

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

/// Some of the 256 symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// By symbol: 255 where it is one of them, 0 elsewhere.
    pub(crate) members: [u8; 256],
    /// By the low four bits: which high four bits they have, those below 8 and those from there on, a bit each.
    pub(crate) by_low: [[u8; 16]; 2],
}

impl Set {
    /// Those for which it is true.
    pub fn new(members: &[bool; 256]) -> Self {
        let mut by_low = [[0; 16]; 2];
        for (symbol, _) in members.iter().enumerate().filter(|(_, member)| **member) {
            by_low[symbol >> 7][symbol & 15] |= 1 << (symbol >> 4 & 7);
        }
        Self { members: members.map(|member| u8::from(member) * u8::MAX), by_low }
    }

    /// Appends where members are among 64 symbols each, a bit each; none behind the last ones.
    pub fn places(&self, present: Present, symbols: &[u8], places: &mut Vec<u64>) {
        let (many, rest) = symbols.as_chunks::<WIDTH>();
        match present.simd() {
            // SAFETY: `present` is what the processor has.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => unsafe { avx512_escapes::places(self, many, places) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => unsafe { avx2_escapes::places(self, many, places) },
            _ => places.extend(many.iter().map(|some| self.places_in(some))),
        }
        if !rest.is_empty() {
            places.push(self.places_in(rest));
        }
    }

    fn places_in(&self, symbols: &[u8]) -> u64 {
        let is_member = |symbol: &u8| u64::from(self.members[usize::from(*symbol)] & 1);
        symbols.iter().rev().fold(0, |places, symbol| places << 1 | is_member(symbol))
    }
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
    use crate::dispatch::Simd;
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

    twin_test!(
        all_kernels_look_alike,
        {
            let mut next = noise(52);
            let mut sets = Vec::new();
            for members in [0, 1, 128, 256] {
                let members: [bool; 256] = std::array::from_fn(|_| next() % 256 < members);
                for (symbols, _) in cases().into_iter().step_by(7) {
                    sets.push((Set::new(&members), symbols));
                }
            }
            sets
        },
        |simd, case| {
            let mut places = vec![7];
            case.0.places(Present::new(simd), &case.1, &mut places);
            for (some, places) in case.1.chunks(64).zip(&places[1..]) {
                for (i, &symbol) in some.iter().enumerate() {
                    assert_eq!(places >> i & 1 == 1, case.0.members[usize::from(symbol)] != 0);
                }
            }
            places
        }
    );

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
