//! The unsigned integers that kernels work on, and the signed ones as bit casts of them.

use crate::delta::bodies::Bodies;
use crate::delta::kernel::Kernel;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// An unsigned integer of 32 or 64 bits.
pub trait Lane:
    sealed::Sealed + Copy + Default + Eq + Ord + Send + Sync + std::fmt::Debug + 'static
{
    /// Width in bits.
    const BITS: u32;
    /// The lowest bits of `x`.
    fn truncate(x: u64) -> Self;
    /// `self` as 64 bits, zeros above.
    fn widen(self) -> u64;
    /// `self + other` mod 2^[`Self::BITS`].
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// `self - other` mod 2^[`Self::BITS`].
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// `self * other` mod 2^[`Self::BITS`].
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// The bits of both.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// The smaller one of both read as two's complement.
    #[must_use]
    fn signed_min(self, other: Self) -> Self;
    /// Read as two's complement.
    fn to_signed(self) -> i64;
}

macro_rules! impl_lane {
    ($t:ty) => {
        impl Lane for $t {
            const BITS: u32 = <$t>::BITS;
            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::unnecessary_cast,
                reason = "truncation is what is asked for; u64 to u64 in one of two expansions"
            )]
            fn truncate(x: u64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn signed_min(self, other: Self) -> Self {
                self.cast_signed().min(other.cast_signed()).cast_unsigned()
            }
            #[inline(always)]
            fn to_signed(self) -> i64 {
                self.cast_signed().into()
            }
        }
    };
}

impl_lane!(u32);
impl_lane!(u64);

/// A lane that the kernels of [`crate::delta`] are written for: `u32` and `u64`.
pub trait DeltaLane: Lane {
    /// See [`Kernel::decode_block`].
    #[doc(hidden)]
    fn decode_block(
        kernel: Kernel,
        bodies: Bodies<'_>,
        min_delta: Self,
        last: Self,
        out: &mut [Self],
    ) -> Self;
    /// See [`crate::delta::deltas`].
    #[doc(hidden)]
    fn deltas(kernel: Kernel, previous: Self, values: &[Self], out: &mut [Self]) -> Self;
    /// See [`crate::delta::subtract`].
    #[doc(hidden)]
    fn subtract(kernel: Kernel, min: Self, deltas: &mut [Self]) -> u8;
    /// See [`crate::delta::pack`].
    #[doc(hidden)]
    fn pack(values: &[Self], width: u8, out: &mut Vec<u8>);
}

/// An integer of 32 or 64 bits, signed or not: in memory the same bits as its [`Lane`].
pub trait Integer:
    sealed::Sealed + Copy + Default + Eq + std::fmt::Debug + Send + Sync + 'static
{
    /// The unsigned integer of the same width.
    type Lane: DeltaLane;
    /// Whether the type is signed.
    const SIGNED: bool;
    /// The same bits, unsigned.
    fn to_lane(self) -> Self::Lane;
    /// The same bits, as this type.
    fn from_lane(lane: Self::Lane) -> Self;
    /// The same memory, unsigned.
    fn as_lanes(slice: &[Self]) -> &[Self::Lane];
    /// The same memory, unsigned.
    fn as_lanes_mut(slice: &mut [Self]) -> &mut [Self::Lane];
}

macro_rules! impl_integer {
    ($t:ty, $lane:ty, $signed:expr) => {
        #[allow(clippy::unnecessary_cast, reason = "the same type in half of the expansions")]
        impl Integer for $t {
            type Lane = $lane;
            const SIGNED: bool = $signed;
            #[inline(always)]
            fn to_lane(self) -> $lane {
                self as $lane
            }
            #[inline(always)]
            fn from_lane(lane: $lane) -> Self {
                lane as $t
            }
            #[inline(always)]
            fn as_lanes(slice: &[Self]) -> &[$lane] {
                // SAFETY: the two integer types have the same size and alignment and no invalid
                // bit patterns; pointer, length and lifetime are those of `slice`.
                unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), slice.len()) }
            }
            #[inline(always)]
            fn as_lanes_mut(slice: &mut [Self]) -> &mut [$lane] {
                // SAFETY: as above; the exclusive borrow of `slice` goes over to the result.
                unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), slice.len()) }
            }
        }
    };
}

impl_integer!(u32, u32, false);
impl_integer!(i32, u32, true);
impl_integer!(u64, u64, false);
impl_integer!(i64, u64, true);
