//! Numbers whose type is known only at run time.

use super::any_slice::turn;
use super::sealed::Sealed;
use super::{AnySlice, AnySliceMut, Latent, Number, NumberType, f16};
use crate::error::{Error, Result};

/// Evaluates an expression with `$T` standing for the type that a [`NumberType`] names.
///
/// ```
/// use latens::{Number, NumberType};
/// let ty = NumberType::I16;
/// let width = latens::with_number_type!(ty, T => std::mem::size_of::<T>());
/// assert_eq!(width, 2);
/// ```
#[macro_export]
macro_rules! with_number_type {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            $crate::NumberType::U8 => {
                type $T = u8;
                $body
            }
            $crate::NumberType::U16 => {
                type $T = u16;
                $body
            }
            $crate::NumberType::U32 => {
                type $T = u32;
                $body
            }
            $crate::NumberType::U64 => {
                type $T = u64;
                $body
            }
            $crate::NumberType::I8 => {
                type $T = i8;
                $body
            }
            $crate::NumberType::I16 => {
                type $T = i16;
                $body
            }
            $crate::NumberType::I32 => {
                type $T = i32;
                $body
            }
            $crate::NumberType::I64 => {
                type $T = i64;
                $body
            }
            $crate::NumberType::F16 => {
                type $T = $crate::f16;
                $body
            }
            $crate::NumberType::F32 => {
                type $T = f32;
                $body
            }
            $crate::NumberType::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}

/// A vector of numbers of one of the eleven types.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are the types of the same name")]
pub enum AnyNumbers {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F16(Vec<f16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Evaluates an expression with `$v` bound to what is inside of an enum of the eleven types.
macro_rules! with_inside {
    ($any:ident, $numbers:expr, $v:ident => $body:expr) => {
        match $numbers {
            $any::U8($v) => $body,
            $any::U16($v) => $body,
            $any::U32($v) => $body,
            $any::U64($v) => $body,
            $any::I8($v) => $body,
            $any::I16($v) => $body,
            $any::I32($v) => $body,
            $any::I64($v) => $body,
            $any::F16($v) => $body,
            $any::F32($v) => $body,
            $any::F64($v) => $body,
        }
    };
}
pub(crate) use with_inside;

/// Evaluates an expression with `$v` bound to the vector inside.
macro_rules! with_numbers {
    ($numbers:expr, $v:ident => $body:expr) => {
        with_inside!(AnyNumbers, $numbers, $v => $body)
    };
}

impl AnyNumbers {
    /// No numbers of that type.
    pub fn new(ty: NumberType) -> Self {
        with_number_type!(ty, T => Self::from(Vec::<T>::new()))
    }

    /// Their type.
    pub fn number_type(&self) -> NumberType {
        self.as_any_slice().number_type()
    }

    /// How many.
    pub fn len(&self) -> usize {
        with_numbers!(self, v => v.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, if they are of type `T`.
    pub fn as_slice<T: Number>(&self) -> Option<&[T]> {
        with_numbers!(self, v => (v as &dyn std::any::Any).downcast_ref::<Vec<T>>().map(Vec::as_slice))
    }

    /// The vector, if it is of type `T`.
    pub fn as_mut_vec<T: Number>(&mut self) -> Option<&mut Vec<T>> {
        with_numbers!(self, v => (v as &mut dyn std::any::Any).downcast_mut::<Vec<T>>())
    }

    /// The vector, if it is of type `T`; else it is dropped.
    ///
    /// ```
    /// use latens::AnyNumbers;
    /// let numbers = AnyNumbers::from(vec![1.5f32, 2.5]);
    /// assert_eq!(numbers.clone().into_vec::<u32>(), None);
    /// assert_eq!(numbers.into_vec::<f32>(), Some(vec![1.5, 2.5]));
    /// ```
    pub fn into_vec<T: Number>(self) -> Option<Vec<T>> {
        T::of_any_vec(self)
    }

    /// All of them, borrowed.
    pub fn as_any_slice(&self) -> AnySlice<'_> {
        with_numbers!(self, v => AnySlice::from(v.as_slice()))
    }

    /// All of them, to be overwritten.
    pub fn as_any_slice_mut(&mut self) -> AnySliceMut<'_> {
        with_numbers!(self, v => AnySliceMut::from(v.as_mut_slice()))
    }

    /// Numbers of type `ty` whose bits these unsigned integers of the same width are.
    pub(crate) fn of_bits<L: Latent>(ty: NumberType, bits: Vec<L>) -> Self {
        fn numbers<T: Number>(bits: AnyNumbers) -> AnyNumbers {
            T::any_vec(T::of_bits(T::L::of_any_vec(bits).unwrap_or_default()))
        }
        let bits = L::any_vec(bits);
        with_number_type!(ty, T => numbers::<T>(bits))
    }

    /// [`AnySlice::le_bytes`], to keep.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        self.as_any_slice().le_bytes().into_owned()
    }

    /// The inverse of [`AnyNumbers::to_le_bytes`].
    ///
    /// # Errors
    /// Invalid argument when the length is no multiple of the type's width.
    pub fn from_le_bytes(ty: NumberType, bytes: &[u8]) -> Result<Self> {
        fn numbers<T: Number>(bytes: &[u8]) -> Vec<T> {
            let mut numbers = vec![T::default(); bytes.len() / T::TYPE.bytes()];
            let own = T::bytes_mut(&mut numbers);
            own.copy_from_slice(bytes);
            turn(own, T::TYPE);
            numbers
        }
        if !bytes.len().is_multiple_of(ty.bytes()) {
            let n = bytes.len();
            return Err(Error::invalid(format!("{n} bytes are no whole number of {ty}")));
        }
        Ok(with_number_type!(ty, T => Self::from(numbers::<T>(bytes))))
    }
}

impl<T: Number> From<Vec<T>> for AnyNumbers {
    fn from(numbers: Vec<T>) -> Self {
        T::any_vec(numbers)
    }
}

impl PartialEq for AnyNumbers {
    /// Equal bits, so NaN equals itself and −0 does not equal 0.
    fn eq(&self, other: &Self) -> bool {
        self.number_type() == other.number_type() && self.to_le_bytes() == other.to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_back() {
        let numbers = AnyNumbers::from(vec![f16::from_f64(1.5), f16::NAN, f16::NEG_ZERO]);
        let bytes = numbers.to_le_bytes();
        assert_eq!(bytes.len(), 6);
        assert_eq!(AnyNumbers::from_le_bytes(NumberType::F16, &bytes).unwrap(), numbers);
        assert!(AnyNumbers::from_le_bytes(NumberType::F32, &bytes).is_err());
        assert!(numbers.as_slice::<f32>().is_none());
        assert_eq!(numbers.as_slice::<f16>().unwrap().len(), 3);
        assert!(numbers.clone().into_vec::<u16>().is_none());
        assert_eq!(numbers.into_vec::<f16>().unwrap().len(), 3);
    }
}
