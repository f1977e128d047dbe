//! What the bitplane coder knows of a bit before it is coded.
//!
//! | bit | context |
//! |---|---|
//! | significance: is this the value's highest bit? | name, plane |
//! | sign | kind |
//! | refinement | kind, plane, the bits above (at most 31) |
//!
//! A *name* is the value's kind, 0 to 15, and how many of three neighbours are known not to be 0:
//! 64 names. Of plain values the kind is a class that the caller gives; of coefficients it is 8, for
//! the ADST 12, plus the position class.

use crate::wcodec::scan::position_class;
use crate::wcodec::transform::Transform;

/// Kinds of values.
pub const KINDS: usize = 16;
/// Kinds that plain values may have where coefficients are beside them.
pub const PLAIN_KINDS: usize = 8;
/// Names of contexts.
pub const NAMES: usize = 4 * KINDS;
/// Planes that a value may have.
pub const PLANES: usize = 16;
/// Refinement contexts of a kind and plane; the last one is shared by all longer prefixes.
const PREFIXES: usize = 32;

/// The kind of a coefficient by its place in the sub-block, row · 8 + column.
pub fn coefficient_kind(transform: Transform, place: u8) -> u8 {
    let base = if transform == Transform::Adst { 12 } else { 8 };
    base + position_class(place)
}

/// An adaptive estimate of how likely a bit is 0: the mean of what was seen, later a decaying one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bit {
    /// In units of 2^−32.
    zero: u32,
    /// Bits seen, at most [`Bit::MOST`].
    seen: u16,
}

impl Bit {
    /// Where counting stops: from here on the newest bit has a weight of 1 / 512.
    const MOST: u16 = 510;
    /// What the coder's probabilities are in units of: 2^−15.
    pub(crate) const SCALE: u32 = 15;

    const NEW: Bit = Bit { zero: 1 << 31, seen: 0 };

    /// The probability of a 0 in units of 2^−15, 8 to 2^15 − 8.
    #[inline(always)]
    pub(crate) fn probability(self) -> u32 {
        (self.zero >> (32 - Self::SCALE)).clamp(8, (1 << Self::SCALE) - 8)
    }

    /// Takes a bit into account. Without a branch: bits are hard to foresee.
    #[inline(always)]
    pub(crate) fn update(&mut self, bit: bool) {
        let rate = RATES[usize::from(self.seen & 511)];
        self.seen += u16::from(self.seen < Self::MOST);
        // A 0 raises `zero` by the rest to 1 as a 1 lowers it: on the complement.
        let flip = u32::from(bit).wrapping_sub(1);
        let x = self.zero ^ flip;
        self.zero = (x - (x >> rate)) ^ flip;
    }
}

/// ⌊log2(seen + 2)⌋.
const RATES: [u8; 512] = {
    let mut all = [1; 512];
    let mut seen = 2;
    while seen < 512 {
        all[seen] = all[(seen - 2) / 2] + 1;
        seen += 1;
    }
    all
};

/// All contexts of a group; they begin anew in each.
#[derive(Debug)]
pub(crate) struct Contexts {
    significance: Vec<Bit>,
    sign: [Bit; KINDS],
    refinement: Vec<Bit>,
}

impl Contexts {
    pub(crate) fn new() -> Self {
        Self {
            significance: vec![Bit::NEW; NAMES * PLANES],
            sign: [Bit::NEW; KINDS],
            refinement: vec![Bit::NEW; KINDS * PLANES * PREFIXES],
        }
    }

    #[inline(always)]
    pub(crate) fn significance(&mut self, kind: u8, neighbours: usize, plane: usize) -> &mut Bit {
        let name = 4 * usize::from(kind & 15) + neighbours;
        &mut self.significance[name * PLANES + plane]
    }

    #[inline(always)]
    pub(crate) fn sign(&mut self, kind: u8) -> &mut Bit {
        &mut self.sign[usize::from(kind & 15)]
    }

    /// `prefix` is the value's magnitude above `plane`.
    #[inline(always)]
    pub(crate) fn refinement(&mut self, kind: u8, plane: usize, prefix: u16) -> &mut Bit {
        let prefix = usize::from(prefix).min(PREFIXES - 1);
        &mut self.refinement[(usize::from(kind & 15) * PLANES + plane) * PREFIXES + prefix]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_steps_are_those_of_the_specification() {
        for (seen, &rate) in RATES.iter().enumerate() {
            assert_eq!(u32::from(rate), (seen + 2).ilog2());
        }
        let (mut bit, mut zero) = (Bit::NEW, 1u32 << 31);
        for i in 0..2000u32 {
            let one = i.wrapping_mul(0x9e37_79b9) >> 30 == 0;
            let rate = (i.min(510) + 2).ilog2();
            zero = if one { zero - (zero >> rate) } else { zero + ((u32::MAX - zero) >> rate) };
            bit.update(one);
            assert_eq!(bit.zero, zero);
        }
    }

    #[test]
    fn probabilities_find_what_they_see_and_stay_in_range() {
        for (ones, of) in [(0, 1), (1, 1), (1, 2), (1, 10), (3, 4)] {
            let mut bit = Bit::NEW;
            for i in 0..20_000 {
                bit.update(i * ones / of != (i + 1) * ones / of);
                assert!((8..=(1 << 15) - 8).contains(&bit.probability()));
            }
            let expected = f64::from(of - ones) / f64::from(of);
            let found = f64::from(bit.probability()) / 32768.0;
            assert!((expected - found).abs() < 0.01, "{expected} {found}");
        }
    }

    #[test]
    fn kinds_of_coefficients_are_apart() {
        let mut kinds: Vec<u8> = [Transform::Dct, Transform::Adst]
            .iter()
            .flat_map(|&t| (0..64).map(move |place| coefficient_kind(t, place)))
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds, [8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(usize::from(kinds[0]), PLAIN_KINDS);
    }
}
