//! Unsigned integers as the codecs see them: four widths, wrapping arithmetic.

use super::float_bits::FloatBits;
use super::sealed::Sealed;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// `u8`, `u16`, `u32` or `u64`; sealed. All arithmetic on latents wraps.
pub trait Latent:
    Sealed
    + FloatBits
    + latens_kernels::tans::Latent
    + Copy
    + Send
    + Sync
    + Ord
    + Eq
    + Hash
    + Default
    + Debug
    + Display
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + 'static
{
    /// Width in bits.
    const BITS: u32;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The largest value.
    const MAX: Self;
    /// `2^(BITS-1)`: added to residuals before they are stored.
    const MID: Self;

    /// Sum mod `2^BITS`.
    fn add(self, other: Self) -> Self;
    /// Difference mod `2^BITS`.
    fn sub(self, other: Self) -> Self;
    /// Product mod `2^BITS`.
    fn mul(self, other: Self) -> Self;
    /// Quotient; `None` by zero.
    fn div(self, other: Self) -> Option<Self>;
    /// Remainder; `None` by zero.
    fn rem(self, other: Self) -> Option<Self>;
    /// The low bits of `x`.
    fn truncate(x: u64) -> Self;
    /// As a 64-bit number.
    fn to_u64(self) -> u64;
    /// Leading zero bits.
    fn leading_zeros(self) -> u32;
    /// Trailing zero bits; `BITS` for zero.
    fn trailing_zeros(self) -> u32;
    /// Bits needed to write the value: 0 for 0.
    #[inline]
    fn bit_length(self) -> u32 {
        Self::BITS - self.leading_zeros()
    }
}

/// Evaluates an expression with `$L` standing for the latents of a number type.
macro_rules! with_latent {
    ($ty:expr, $L:ident => $body:expr) => {
        match $crate::number::NumberType::bits($ty) {
            8 => {
                type $L = u8;
                $body
            }
            16 => {
                type $L = u16;
                $body
            }
            32 => {
                type $L = u32;
                $body
            }
            _ => {
                type $L = u64;
                $body
            }
        }
    };
}
pub(crate) use with_latent;

macro_rules! impl_latent {
    ($t:ident) => {
        impl Latent for $t {
            const BITS: u32 = $t::BITS;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const MAX: Self = $t::MAX;
            const MID: Self = 1 << ($t::BITS - 1);

            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn div(self, other: Self) -> Option<Self> {
                self.checked_div(other)
            }
            #[inline]
            fn rem(self, other: Self) -> Option<Self> {
                self.checked_rem(other)
            }
            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
            #[allow(clippy::unnecessary_cast, reason = "u64 is one of the types")]
            fn truncate(x: u64) -> Self {
                x as $t
            }
            #[inline]
            fn to_u64(self) -> u64 {
                u64::from(self)
            }
            #[inline]
            fn leading_zeros(self) -> u32 {
                $t::leading_zeros(self)
            }
            #[inline]
            fn trailing_zeros(self) -> u32 {
                $t::trailing_zeros(self)
            }
        }
    };
}

impl_latent!(u8);
impl_latent!(u16);
impl_latent!(u32);
impl_latent!(u64);
