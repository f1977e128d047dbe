//! The eleven number types, and the order-preserving maps onto unsigned latents.
//!
//! | numbers | latent of `x` |
//! |---|---|
//! | `u8 u16 u32 u64` | `x` |
//! | `i8 i16 i32 i64` | `x + 2^(k-1) mod 2^k` |
//! | `f16 f32 f64` | sign bit clear: `bits ^ 2^(k-1)`; set: `!bits` |
//!
//! `k` is the width in bits. Source: Pco format, "Processing Formulas".

mod any;
mod any_slice;
pub(crate) mod float_bits;
mod half_bits;
mod latent;
mod number_type;

pub use any::AnyNumbers;
pub(crate) use any::with_inside;
pub(crate) use any_slice::with_slice;
pub use any_slice::{AnySlice, AnySliceMut};
pub use half::f16;
use half::slice::HalfFloatSliceExt;
use half::vec::HalfBitsVecExt;
use latens_kernels::tans::Map;
pub use latent::Latent;
pub(crate) use latent::with_latent;
pub use number_type::NumberType;
use std::convert::identity;

pub(crate) mod sealed {
    use super::{AnyNumbers, AnySlice, AnySliceMut};

    /// What no other crate implements, and what callers do not see.
    pub trait Sealed: Sized {
        /// The same memory, number after number in the machine's order of bytes.
        fn bytes(numbers: &[Self]) -> &[u8];
        /// Those bytes, to be overwritten.
        fn bytes_mut(numbers: &mut [Self]) -> &mut [u8];

        /// The same numbers, of a type that is known at run time only; and back.
        fn any(numbers: &[Self]) -> AnySlice<'_>;
        fn of_any(numbers: AnySlice<'_>) -> Option<&[Self]>;
        fn any_mut(numbers: &mut [Self]) -> AnySliceMut<'_>;
        fn of_any_mut(numbers: AnySliceMut<'_>) -> Option<&mut [Self]>;
        fn any_vec(numbers: Vec<Self>) -> AnyNumbers;
        fn of_any_vec(numbers: AnyNumbers) -> Option<Vec<Self>>;
    }

    /// Numbers and unsigned integers of their width.
    pub trait Cast<L>: Sized {
        /// The same memory as bits.
        fn bits_mut(numbers: &mut [Self]) -> &mut [L];
        /// The vector of numbers that is a vector of bits.
        fn of_bits(bits: Vec<L>) -> Vec<Self>;
        /// What latents are mapped by, to bits.
        const MAP: latens_kernels::tans::Map;
    }
}

/// How numbers of a type divide: integers have multiples, floats have decimals and short mantissas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// `u8` to `u64`.
    Unsigned,
    /// `i8` to `i64`.
    Signed,
    /// `f16` to `f64`.
    Float,
}

/// A number that the codecs take: one of eleven types, sealed.
///
/// Equality of numbers is equality of [`Number::to_latent`], i.e. of bits: NaN payloads and the
/// sign of zero count.
pub trait Number:
    sealed::Sealed
    + sealed::Cast<Self::L>
    + Copy
    + Send
    + Sync
    + std::fmt::Debug
    + std::fmt::Display
    + PartialOrd
    + Default
    + 'static
{
    /// The unsigned integer of the same width.
    type L: Latent;
    /// The run-time name of the type.
    const TYPE: NumberType;

    /// The order-preserving map to a latent.
    fn to_latent(self) -> Self::L;
    /// The inverse of [`Number::to_latent`].
    fn from_latent(latent: Self::L) -> Self;
    /// The bits as they stand in memory.
    fn to_bits(self) -> Self::L;
    /// The inverse of [`Number::to_bits`].
    fn from_bits(bits: Self::L) -> Self;
}

/// The way to types that are known at run time only, and back.
macro_rules! of_any {
    ($name:ident) => {
        #[inline]
        fn any(numbers: &[Self]) -> AnySlice<'_> {
            AnySlice::$name(numbers)
        }
        #[inline]
        fn of_any(numbers: AnySlice<'_>) -> Option<&[Self]> {
            if let AnySlice::$name(numbers) = numbers { Some(numbers) } else { None }
        }
        #[inline]
        fn any_mut(numbers: &mut [Self]) -> AnySliceMut<'_> {
            AnySliceMut::$name(numbers)
        }
        #[inline]
        fn of_any_mut(numbers: AnySliceMut<'_>) -> Option<&mut [Self]> {
            if let AnySliceMut::$name(numbers) = numbers { Some(numbers) } else { None }
        }
        #[inline]
        fn any_vec(numbers: Vec<Self>) -> AnyNumbers {
            AnyNumbers::$name(numbers)
        }
        #[inline]
        fn of_any_vec(numbers: AnyNumbers) -> Option<Vec<Self>> {
            if let AnyNumbers::$name(numbers) = numbers { Some(numbers) } else { None }
        }
    };
}

macro_rules! impl_int {
    ($t:ty, $l:ty, $name:ident, $flip:expr) => {
        impl sealed::Sealed for $t {
            fn bytes(numbers: &[Self]) -> &[u8] {
                bytemuck::cast_slice(numbers)
            }
            fn bytes_mut(numbers: &mut [Self]) -> &mut [u8] {
                bytemuck::cast_slice_mut(numbers)
            }
            of_any!($name);
        }
        impl sealed::Cast<$l> for $t {
            fn bits_mut(numbers: &mut [Self]) -> &mut [$l] {
                bytemuck::cast_slice_mut(numbers)
            }
            fn of_bits(bits: Vec<$l>) -> Vec<Self> {
                bytemuck::cast_vec(bits)
            }
            const MAP: Map = Map::Flip($flip);
        }
        impl Number for $t {
            type L = $l;
            const TYPE: NumberType = NumberType::$name;

            #[inline]
            fn to_latent(self) -> $l {
                self.to_bits() ^ $flip
            }
            #[inline]
            fn from_latent(latent: $l) -> Self {
                Self::from_bits(latent ^ $flip)
            }
            #[inline]
            fn to_bits(self) -> $l {
                <$l>::from_ne_bytes(self.to_ne_bytes())
            }
            #[inline]
            fn from_bits(bits: $l) -> Self {
                <$t>::from_ne_bytes(bits.to_ne_bytes())
            }
        }
    };
}

impl_int!(u8, u8, U8, 0);
impl_int!(u16, u16, U16, 0);
impl_int!(u32, u32, U32, 0);
impl_int!(u64, u64, U64, 0);
impl_int!(i8, u8, I8, 1 << 7);
impl_int!(i16, u16, I16, 1 << 15);
impl_int!(i32, u32, I32, 1 << 31);
impl_int!(i64, u64, I64, 1 << 63);

macro_rules! impl_float {
    ($t:ty, $l:ty, $name:ident, $bits:expr, $bits_mut:expr, $of_bits:expr) => {
        impl sealed::Sealed for $t {
            fn bytes(numbers: &[Self]) -> &[u8] {
                bytemuck::cast_slice($bits(numbers))
            }
            fn bytes_mut(numbers: &mut [Self]) -> &mut [u8] {
                bytemuck::cast_slice_mut($bits_mut(numbers))
            }
            of_any!($name);
        }
        impl sealed::Cast<$l> for $t {
            fn bits_mut(numbers: &mut [Self]) -> &mut [$l] {
                bytemuck::cast_slice_mut($bits_mut(numbers))
            }
            fn of_bits(bits: Vec<$l>) -> Vec<Self> {
                $of_bits(bits)
            }
            const MAP: Map = Map::Float;
        }
        impl Number for $t {
            type L = $l;
            const TYPE: NumberType = NumberType::$name;

            #[inline]
            fn to_latent(self) -> $l {
                let bits = <$t>::to_bits(self);
                let top = 1 << (<$l>::BITS - 1);
                if bits & top == 0 { bits ^ top } else { !bits }
            }
            #[inline]
            fn from_latent(latent: $l) -> Self {
                let top = 1 << (<$l>::BITS - 1);
                <$t>::from_bits(if latent & top == 0 { !latent } else { latent ^ top })
            }
            #[inline]
            fn to_bits(self) -> $l {
                <$t>::to_bits(self)
            }
            #[inline]
            fn from_bits(bits: $l) -> Self {
                <$t>::from_bits(bits)
            }
        }
    };
}

impl_float!(
    f16,
    u16,
    F16,
    HalfFloatSliceExt::reinterpret_cast,
    HalfFloatSliceExt::reinterpret_cast_mut,
    HalfBitsVecExt::reinterpret_into
);
impl_float!(f32, u32, F32, identity::<&[f32]>, identity::<&mut [f32]>, bytemuck::cast_vec);
impl_float!(f64, u64, F64, identity::<&[f64]>, identity::<&mut [f64]>, bytemuck::cast_vec);

impl NumberType {
    /// What latents of the type are mapped by, to bits.
    pub(crate) fn map(self) -> Map {
        fn of<T: Number>() -> Map {
            T::MAP
        }
        crate::with_number_type!(self, T => of::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latents_keep_the_order() {
        let floats =
            [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY];
        let mapped: Vec<u64> = floats.iter().map(|x| x.to_latent()).collect();
        assert!(mapped.windows(2).all(|w| w[0] < w[1]));
        assert!((-3i16).to_latent() < 2i16.to_latent());
    }

    #[test]
    fn maps_are_bijections() {
        for bits in 0..=u16::MAX {
            assert_eq!(<f16 as Number>::from_latent(bits).to_latent(), bits);
            assert_eq!(i16::from_latent(bits).to_latent(), bits);
        }
        let nan = f32::from_bits(0xffc0_1234);
        assert_eq!(f32::to_bits(f32::from_latent(nan.to_latent())), 0xffc0_1234);
    }
}
