//! Floats as the bits of latents: value, rounding, and a multiplication that leaves nothing to
//! the processor.

use super::half_bits;
use half::f16;

/// Latents of 16, 32 and 64 bits as f16, f32 and f64. No number type of 8 bits is a float, so
/// the methods of `u8` are never reached; they exist to let one code serve all widths.
pub trait FloatBits: Copy {
    /// Digits of the mantissa, the implicit one included: 11, 24, 53.
    const MANTISSA_DIGITS: u32;

    /// The value of a float given by its bits, exactly.
    fn bits_to_f64(self) -> f64;
    /// The bits of the float nearest to `x`, ties to even.
    fn bits_from_f64(x: f64) -> Self;
    /// Bits of the float nearest to the product of two floats given by their bits. If `self` is
    /// NaN it comes back with its quiet bit set, payload and sign kept, whatever `factor` is.
    fn mul_bits(self, factor: Self) -> Self;

    /// The bits of a whole number of 2^[`FloatBits::MANTISSA_DIGITS`] at most as a float.
    fn whole_to_bits(self) -> Self;
    /// The product of a whole number below half of 2^[`FloatBits::MANTISSA_DIGITS`] and a float that
    /// is finite and has no sign: its bits, rounded likewise.
    fn mul_small(self, factor: Self) -> Self;
    /// All bits set where the topmost one is.
    fn sign_mask(self) -> Self;

    /// The ordered latent of a float's bits.
    fn order(self) -> Self;
    /// The inverse of [`FloatBits::order`].
    fn unorder(self) -> Self;
    /// The value of a float given by its ordered latent.
    #[inline(always)]
    fn ordered_to_f64(self) -> f64 {
        self.unorder().bits_to_f64()
    }
}

impl FloatBits for u8 {
    const MANTISSA_DIGITS: u32 = 1;
    fn bits_to_f64(self) -> f64 {
        f64::from(self)
    }
    fn bits_from_f64(_: f64) -> Self {
        0
    }
    fn mul_bits(self, _: Self) -> Self {
        self
    }
    fn whole_to_bits(self) -> Self {
        self
    }
    fn mul_small(self, _: Self) -> Self {
        self
    }
    fn sign_mask(self) -> Self {
        self
    }
    fn order(self) -> Self {
        self
    }
    fn unorder(self) -> Self {
        self
    }
}

impl FloatBits for u16 {
    const MANTISSA_DIGITS: u32 = 11;
    #[inline(always)]
    fn bits_to_f64(self) -> f64 {
        half_bits::to_f32(self).into()
    }
    #[inline(always)]
    fn bits_from_f64(x: f64) -> Self {
        f16::from_f64(x).to_bits()
    }
    #[inline(always)]
    fn mul_bits(self, factor: Self) -> Self {
        const QUIET: u16 = 1 << 9;
        let v = half_bits::to_f32(self);
        // 11 + 11 digits fit in f32, so only the way back rounds.
        let product = v * half_bits::to_f32(factor);
        if v.is_nan() { self | QUIET } else { half_bits::from_number(product) }
    }
    #[inline(always)]
    fn whole_to_bits(self) -> Self {
        half_bits::from_number(self.into())
    }
    #[inline(always)]
    fn mul_small(self, factor: Self) -> Self {
        half_bits::from_number(f32::from(self) * half_bits::to_f32(factor))
    }
    #[inline(always)]
    fn sign_mask(self) -> Self {
        (self.cast_signed() >> 15).cast_unsigned()
    }
    #[inline(always)]
    fn order(self) -> Self {
        if self >> (Self::BITS - 1) == 0 { self ^ 1 << (Self::BITS - 1) } else { !self }
    }
    #[inline(always)]
    fn unorder(self) -> Self {
        if self >> (Self::BITS - 1) == 0 { !self } else { self ^ 1 << (Self::BITS - 1) }
    }
}

impl FloatBits for u32 {
    const MANTISSA_DIGITS: u32 = 24;
    #[inline]
    fn bits_to_f64(self) -> f64 {
        f64::from(f32::from_bits(self))
    }
    #[inline(always)]
    fn bits_from_f64(x: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
        (x as f32).to_bits()
    }
    #[inline(always)]
    fn mul_bits(self, factor: Self) -> Self {
        const QUIET: u32 = 1 << 22;
        let v = f32::from_bits(self);
        let product = v * f32::from_bits(factor);
        if v.is_nan() { self | QUIET } else { product.to_bits() }
    }
    #[inline(always)]
    fn whole_to_bits(self) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "2^24 at most")]
        (self.cast_signed() as f32).to_bits()
    }
    #[inline(always)]
    fn mul_small(self, factor: Self) -> Self {
        (f32::from_bits(self.whole_to_bits()) * f32::from_bits(factor)).to_bits()
    }
    #[inline(always)]
    fn sign_mask(self) -> Self {
        (self.cast_signed() >> 31).cast_unsigned()
    }
    #[inline(always)]
    fn order(self) -> Self {
        if self >> (Self::BITS - 1) == 0 { self ^ 1 << (Self::BITS - 1) } else { !self }
    }
    #[inline(always)]
    fn unorder(self) -> Self {
        if self >> (Self::BITS - 1) == 0 { !self } else { self ^ 1 << (Self::BITS - 1) }
    }
}

impl FloatBits for u64 {
    const MANTISSA_DIGITS: u32 = 53;
    #[inline]
    fn bits_to_f64(self) -> f64 {
        f64::from_bits(self)
    }
    #[inline(always)]
    fn bits_from_f64(x: f64) -> Self {
        x.to_bits()
    }
    #[inline(always)]
    fn mul_bits(self, factor: Self) -> Self {
        const QUIET: u64 = 1 << 51;
        let v = f64::from_bits(self);
        let product = v * f64::from_bits(factor);
        if v.is_nan() { self | QUIET } else { product.to_bits() }
    }
    #[inline(always)]
    fn whole_to_bits(self) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "2^53 at most")]
        (self.cast_signed() as f64).to_bits()
    }
    #[inline(always)]
    fn mul_small(self, factor: Self) -> Self {
        // 2^52 and the number as its mantissa; vector units convert no integers of 64 bits.
        const TWO_52: u64 = 0x4330_0000_0000_0000;
        let v = f64::from_bits(TWO_52 ^ self) - f64::from_bits(TWO_52);
        (v * f64::from_bits(factor)).to_bits()
    }
    #[inline(always)]
    fn sign_mask(self) -> Self {
        (self.cast_signed() >> 63).cast_unsigned()
    }
    #[inline(always)]
    fn order(self) -> Self {
        if self >> (Self::BITS - 1) == 0 { self ^ 1 << (Self::BITS - 1) } else { !self }
    }
    #[inline(always)]
    fn unorder(self) -> Self {
        if self >> (Self::BITS - 1) == 0 { !self } else { self ^ 1 << (Self::BITS - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_times_base_is_ours_to_define() {
        assert_eq!(0xff80_0123u32.mul_bits(2f32.to_bits()), 0xffc0_0123);
        assert_eq!(0x7ff0_0000_0000_0001u64.mul_bits(0.1f64.to_bits()), 0x7ff8_0000_0000_0001);
        assert_eq!(0x7c01u16.mul_bits(f16::ONE.to_bits()), 0x7e01);
    }

    #[test]
    fn products_round_once() {
        let (a, b) = (f16::from_f64(3.0), f16::from_f64(0.1));
        assert_eq!(a.to_bits().mul_bits(b.to_bits()), f16::from_f64(3.0 * b.to_f64()).to_bits());
        assert_eq!(3f64.to_bits().mul_bits(0.1f64.to_bits()), (3.0 * 0.1f64).to_bits());
    }
}
