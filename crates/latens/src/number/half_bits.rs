//! Bits of f16 to f32 and back in integers alone: no branch and no call, so that loops over it become
//! vectors.

/// Digits of a mantissa that f32 has and f16 lacks.
const MORE_DIGITS: u32 = 13;
/// How much further apart f16 and f32 count their exponents: 127 − 15, at its place in an f32.
const REBIAS: u32 = 112 << 23;
/// The first f32 beyond the exponents of f16: 2^16.
const BEYOND: u32 = 143 << 23;
/// The least f16 that is not subnormal, as an f32: 2^−14.
const NORMAL: u32 = 113 << 23;
/// f16's infinity.
const INFINITY: u32 = 0x7c00;

/// The value of an f16, exactly. A NaN keeps its sign and payload.
#[inline(always)]
pub(super) fn to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let shifted = u32::from(bits & 0x7fff) << MORE_DIGITS;
    // Behind the largest exponent come infinity and the NaNs.
    let more = if shifted >= INFINITY << MORE_DIGITS { REBIAS } else { 0 };
    let normal = shifted + REBIAS + more;
    // 2^-14 and the mantissa, less 2^-14.
    let subnormal = (f32::from_bits(shifted + NORMAL) - f32::from_bits(NORMAL)).to_bits();
    f32::from_bits(sign | if shifted < 1 << 23 { subnormal } else { normal })
}

/// The f16 nearest to a number, ties to even; for NaN there is none.
#[inline(always)]
pub(super) fn from_number(x: f32) -> u16 {
    // A sum with 0.5 has the last place of f16's subnormals.
    const HALF: f32 = 0.5;
    let bits = x.to_bits();
    let magnitude = bits & !(1 << 31);
    // Rounds half up, or half down where the last digit that stays is even.
    let odd = magnitude >> MORE_DIGITS & 1;
    let below_half = (1 << (MORE_DIGITS - 1)) - 1;
    let rounded = magnitude.wrapping_sub(REBIAS).wrapping_add(below_half + odd);
    let normal = if magnitude >= BEYOND { INFINITY } else { rounded >> MORE_DIGITS };
    let subnormal = (f32::from_bits(magnitude) + HALF).to_bits().wrapping_sub(HALF.to_bits());
    let nearest = if magnitude < NORMAL { subnormal } else { normal };
    #[expect(clippy::cast_possible_truncation, reason = "15 bits and a sign")]
    let nearest = (nearest | bits >> 31 << 15) as u16;
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn every_f16_has_its_value() {
        for bits in 0..=u16::MAX {
            let (found, expected) = (to_f32(bits), f16::from_bits(bits).to_f32());
            if expected.is_nan() {
                assert!(found.is_nan(), "{bits:#x}");
            } else {
                assert_eq!(found.to_bits(), expected.to_bits(), "{bits:#x}");
            }
        }
    }

    #[test]
    fn numbers_round_as_the_crate_half_rounds_them() {
        // All that f16 keeps, and what it drops: nothing, below the half, the half, above it.
        for kept in 0..1u32 << (32 - MORE_DIGITS) {
            for dropped in [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff] {
                let x = f32::from_bits(kept << MORE_DIGITS | dropped);
                if !x.is_nan() {
                    assert_eq!(from_number(x), f16::from_f32_const(x).to_bits(), "{x:e}");
                }
            }
        }
    }
}
