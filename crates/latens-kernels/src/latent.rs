//! The unsigned integers that tables, sums and predictions work on.

mod sealed {
    pub trait Sealed {}
}

/// An unsigned integer of 8 to 64 bits.
pub trait Latent:
    sealed::Sealed + Copy + Default + std::fmt::Debug + Ord + Send + Sync + 'static
{
    /// Bits of the type.
    const WIDTH: u32;
    /// `self` plus the low bits of `offset`, wrapping.
    #[must_use]
    fn plus_low(self, offset: u64) -> Self;
    /// As a 64-bit number.
    fn widen(self) -> u64;
    /// The low bits of `x`.
    fn from_low(x: u64) -> Self;
}

macro_rules! impl_latent {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}
        #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "low bits")]
        #[allow(clippy::cast_lossless, reason = "one code for all widths")]
        impl Latent for $t {
            const WIDTH: u32 = <$t>::BITS;
            #[inline(always)]
            fn plus_low(self, offset: u64) -> Self {
                self.wrapping_add(offset as $t)
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn from_low(x: u64) -> Self {
                x as $t
            }
        }
    )*};
}
impl_latent!(u8 u16 u32 u64);
