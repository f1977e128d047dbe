//! Codes and offsets as bits, in words of 64.
//!
//! Each field waits for the place that the one before it ends at. So neighbours that have 64 bits at most
//! become one field first.

use crate::dispatch::Present;
#[cfg(any(target_arch = "x86_64", test))]
use crate::dispatch::Simd;
use crate::latent::Latent;
use crate::scalar::pack as scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx512_pack as avx512;

/// Bins as the offsets of their latents need them: where each begins, and bits of an offset.
#[derive(Clone, Debug)]
pub struct Spans {
    /// Filled up to [`IN_REGISTERS`].
    pub(crate) lowers: Vec<u64>,
    /// Likewise.
    pub(crate) widths: Vec<u8>,
    pub(crate) count: usize,
    /// Bits of the widest offset.
    pub(crate) widest: u8,
}

/// So many bins at most are kept in registers.
pub(crate) const IN_REGISTERS: usize = 128;

/// Where the next bit goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Bits written.
    bits: u64,
    /// Those of the last word while it is not full.
    pending: u64,
}

impl Spans {
    /// For bins in their order, given by lower bound and offset bits.
    ///
    /// # Panics
    /// Where an offset has more than 64 bits.
    #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
    pub fn new<L: Latent>(bins: impl IntoIterator<Item = (L, u32)>) -> Self {
        let (mut lowers, mut widths) = (Vec::new(), Vec::new());
        for (lower, width) in bins {
            assert!(width <= 64, "offsets of 64 bits at most");
            lowers.push(lower.widen());
            widths.push(width as u8);
        }
        let (count, widest) = (lowers.len(), widths.iter().copied().max().unwrap_or(0));
        lowers.resize(count.max(IN_REGISTERS), 0);
        widths.resize(count.max(IN_REGISTERS), 0);
        Self { lowers, widths, count, widest }
    }
}

impl Place {
    /// Words that are full.
    #[inline(always)]
    pub fn full(self) -> usize {
        (self.bits / 64) as usize
    }

    /// What the word behind these begins with, and how many bits that are.
    pub fn pending(self) -> (u64, u32) {
        (self.pending, (self.bits % 64) as u32)
    }

    /// The same where full words were taken away.
    #[must_use]
    pub fn taken(self) -> Self {
        Self { bits: self.bits % 64, pending: self.pending }
    }

    /// Writes the `count` (0 to 64) low bits of `value`; higher bits must be zero.
    #[inline(always)]
    #[must_use]
    pub(crate) fn write(self, words: &mut [u64], value: u64, count: u64) -> Self {
        let word = self.pending | value << (self.bits % 64);
        words[self.full()] = word;
        let bits = self.bits + count;
        // What does not fit into it; in two shifts, as one by 64 is none.
        let rest = (value >> 1) >> (!self.bits % 64);
        Self { bits, pending: if bits / 64 == self.bits / 64 { word } else { rest } }
    }
}

/// Writes codes by fours, as [`crate::tans::Encoder::codes`] has them; returns the place behind them.
///
/// # Panics
/// Where the words have no room.
#[must_use]
pub fn codes(present: Present, words: &mut [u64], at: Place, fours: &[u64]) -> Place {
    // Compiled by itself: among other loops the pending bits are on the stack, and waited for.
    present.call(
        #[inline(always)]
        || {
            let four = |at: Place, &four: &u64| at.write(words, four & (u64::MAX >> 8), four >> 56);
            fours.iter().fold(at, four)
        },
    )
}

/// Writes the offsets of latents in the bins that `symbols` names; returns the place behind them.
///
/// # Panics
/// Where there is not a symbol for each latent, one has no bin though offsets have bits, or the words have no room.
#[must_use]
pub fn offsets<L: Latent>(
    present: Present,
    words: &mut [u64],
    at: Place,
    spans: &Spans,
    latents: &[L],
    symbols: &[u16],
) -> Place {
    assert!(latents.len() == symbols.len(), "a symbol for each");
    let (done, at) = match present.simd() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `present` is what the processor has.
        Simd::Avx512 => unsafe { avx512::offsets(words, at, spans, latents, symbols) },
        _ => (0, at),
    };
    let (latents, symbols) = (&latents[done..], &symbols[done..]);
    macro_rules! by {
        ($n:literal) => {
            present.call(
                #[inline(always)]
                || scalar::offsets::<L, $n>(words, at, spans, latents, symbols),
            )
        };
    }
    if latents.is_empty() {
        return at;
    }
    match spans.widest {
        0 => at,
        1..=8 => by!(8),
        9..=12 => by!(5),
        13..=16 => by!(4),
        17..=21 => by!(3),
        22..=32 => by!(2),
        _ => by!(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    /// Bins of a width with up to so many bits, latents in them, and which bins these are.
    type Case<L> = (Vec<(L, u32)>, Vec<L>, Vec<u16>);

    fn cases<L: Latent>() -> Vec<Case<L>> {
        let mut next = noise(5);
        let mut cases = Vec::new();
        for count in [1u64, 2, 31, 32, 33, 64, 65, 128, 129, 5000] {
            for most in [0, 1, 7, 8, 9, 12, 16, 20, 21, 32, 33, 64] {
                let most = L::WIDTH.min(most);
                for n in [0usize, 1, 7, 63, 64, 65, 100, 255, 256] {
                    let mut bin = || {
                        let width = u32::try_from(next() % u64::from(most + 1)).unwrap();
                        let room = u64::MAX.checked_shl(width).unwrap_or(0);
                        (L::from_low(next() & room), width)
                    };
                    let bins: Vec<(L, u32)> = (0..count).map(|_| bin()).collect();
                    let symbols: Vec<u16> =
                        (0..n).map(|_| u16::try_from(next() % count).unwrap()).collect();
                    let latents = symbols.iter().map(|&symbol| {
                        let (lower, width) = bins[usize::from(symbol)];
                        let offset = next() & !u64::MAX.checked_shl(width).unwrap_or(0);
                        lower.plus_low(offset)
                    });
                    cases.push((bins.clone(), latents.collect(), symbols.clone()));
                }
            }
        }
        cases
    }

    /// Behind three bits.
    const BEGUN: Place = Place { bits: 3, pending: 5 };

    fn packed<L: Latent>(simd: Simd, (bins, latents, symbols): &Case<L>) -> (Vec<u64>, Place) {
        let mut words = vec![0; latents.len() + 2];
        let spans = Spans::new(bins.iter().copied());
        let at = offsets(Present::new(simd), &mut words, BEGUN, &spans, latents, symbols);
        words.truncate(at.full());
        (words, at)
    }

    fn bits(fields: impl IntoIterator<Item = (u64, u32)>) -> Vec<bool> {
        let bits = |(value, width): (u64, u32)| (0..width).map(move |i| value >> i & 1 == 1);
        fields.into_iter().flat_map(bits).collect()
    }

    fn bits_of(words: &[u64], at: Place) -> Vec<bool> {
        bits(words[..at.full()].iter().map(|&word| (word, 64)).chain([at.pending()]))
    }

    fn check<L: Latent>() {
        for case in cases::<L>() {
            let (words, at) = packed(Simd::Scalar, &case);
            let (bins, latents, symbols) = &case;
            let alone = latents.iter().zip(symbols).map(|(latent, &symbol)| {
                let (lower, width) = bins[usize::from(symbol)];
                (latent.widen() - lower.widen(), width)
            });
            let expect = bits([BEGUN.pending()].into_iter().chain(alone));
            assert!(bits_of(&words, at) == expect, "{case:?}");
        }
    }

    #[test]
    fn offsets_are_written_one_after_another() {
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
    }

    twin_test!(all_kernels_pack_alike_8, cases::<u8>(), |simd, case| packed(simd, case));
    twin_test!(all_kernels_pack_alike_16, cases::<u16>(), |simd, case| packed(simd, case));
    twin_test!(all_kernels_pack_alike_32, cases::<u32>(), |simd, case| packed(simd, case));
    twin_test!(all_kernels_pack_alike_64, cases::<u64>(), |simd, case| packed(simd, case));

    #[test]
    fn codes_are_written_one_after_another() {
        let mut next = noise(6);
        for most in [1u32, 4, 8, 9, 16, 17, 32, 33, 56] {
            for n in [0usize, 1, 2, 15, 16, 17, 63, 64] {
                let mut four = || {
                    let width = u32::try_from(next() % u64::from(most + 1)).unwrap();
                    (next() & !(u64::MAX << width), width)
                };
                let codes: Vec<(u64, u32)> = (0..n).map(|_| four()).collect();
                let fours: Vec<u64> =
                    codes.iter().map(|&(code, width)| code | u64::from(width) << 56).collect();
                for simd in Simd::available() {
                    let mut words = vec![0; n + 2];
                    let at = super::codes(Present::new(simd), &mut words, BEGUN, &fours);
                    let all = [BEGUN.pending()].into_iter().chain(codes.clone());
                    assert_eq!(bits_of(&words, at), bits(all));
                }
            }
        }
    }

    #[test]
    fn symbols_without_bins_and_words_without_room_are_refused() {
        for simd in Simd::available() {
            for n in [8usize, 64, 65, 256] {
                let refused = |symbols: Vec<u16>, room: usize| {
                    let mut words = vec![0; room];
                    let spans = Spans::new([(0u32, 3), (8, 3)]);
                    let run = || {
                        let (latents, at) = (vec![1u32; n], Place::default());
                        offsets(Present::new(simd), &mut words, at, &spans, &latents, &symbols)
                    };
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
                };
                let mut symbols = vec![0; n];
                assert!(!refused(symbols.clone(), n) && refused(symbols.clone(), n / 22));
                symbols[n - 1] = 2;
                assert!(refused(symbols, n));
            }
        }
    }
}
