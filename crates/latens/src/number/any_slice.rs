//! Borrowed numbers whose type is known only at run time.
//!
//! What takes them is compiled in this crate, once for each type. Functions that are generic by type
//! are compiled again in every crate that calls them, and forward to those.

use super::sealed::Sealed;
use super::{Latent, Number, NumberType, f16};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// Numbers of one of the eleven types, to be read.
///
/// ```
/// use latens::{AnySlice, NumberType};
/// let numbers = AnySlice::from(&[1.5f32, 2.5][..]);
/// assert_eq!((numbers.number_type(), numbers.len()), (NumberType::F32, 2));
/// assert_eq!(numbers.as_slice::<f32>(), Some(&[1.5, 2.5][..]));
/// assert_eq!(numbers.as_slice::<u32>(), None);
/// assert_eq!(*numbers.le_bytes(), [0, 0, 0xc0, 0x3f, 0, 0, 0x20, 0x40]);
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the variants are the types of the same name")]
pub enum AnySlice<'a> {
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    F16(&'a [f16]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

/// Numbers of one of the eleven types, to be overwritten.
///
/// ```
/// use latens::{AnySliceMut, NumberType};
/// let mut numbers = [0u16; 3];
/// let any = AnySliceMut::from(&mut numbers[..]);
/// assert_eq!((any.number_type(), any.len()), (NumberType::U16, 3));
/// any.into_slice::<u16>().unwrap().fill(7);
/// assert_eq!(numbers, [7, 7, 7]);
/// ```
#[derive(Debug)]
#[expect(missing_docs, reason = "the variants are the types of the same name")]
pub enum AnySliceMut<'a> {
    U8(&'a mut [u8]),
    U16(&'a mut [u16]),
    U32(&'a mut [u32]),
    U64(&'a mut [u64]),
    I8(&'a mut [i8]),
    I16(&'a mut [i16]),
    I32(&'a mut [i32]),
    I64(&'a mut [i64]),
    F16(&'a mut [f16]),
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
}

/// Evaluates an expression with `$v` bound to the slice inside.
macro_rules! with_slice {
    ($numbers:expr, $v:ident => $body:expr) => {
        $crate::number::with_inside!(AnySlice, $numbers, $v => $body)
    };
}
pub(crate) use with_slice;

/// Evaluates an expression with `$v` bound to the slice inside.
macro_rules! with_slice_mut {
    ($numbers:expr, $v:ident => $body:expr) => {
        $crate::number::with_inside!(AnySliceMut, $numbers, $v => $body)
    };
}

fn type_of<T: Number>(_: &[T]) -> NumberType {
    T::TYPE
}

fn bytes_of<T: Number>(numbers: &[T]) -> &[u8] {
    T::bytes(numbers)
}

/// Little-endian bytes of numbers to those of this machine, or back.
pub(super) fn turn(bytes: &mut [u8], ty: NumberType) {
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(ty.bytes()).for_each(<[u8]>::reverse);
    }
}

impl<'a> AnySlice<'a> {
    /// Their type.
    pub fn number_type(self) -> NumberType {
        with_slice!(self, v => type_of(v))
    }

    /// How many.
    pub fn len(self) -> usize {
        with_slice!(self, v => v.len())
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The numbers, if they are of type `T`.
    pub fn as_slice<T: Number>(self) -> Option<&'a [T]> {
        T::of_any(self)
    }

    /// The bytes as they lie in a little-endian file, `len × width` of them: those in memory, where they lie so there.
    pub fn le_bytes(self) -> Cow<'a, [u8]> {
        let ty = self.number_type();
        let own = with_slice!(self, v => bytes_of(v));
        match cfg!(target_endian = "little") {
            true => Cow::Borrowed(own),
            false => {
                let mut own = own.to_vec();
                turn(&mut own, ty);
                Cow::Owned(own)
            }
        }
    }

    /// Some of them, which must be there.
    pub(crate) fn range(self, range: Range<usize>) -> Self {
        with_slice!(self, v => Self::from(&v[range]))
    }
}

impl AnySliceMut<'_> {
    /// Their type.
    pub fn number_type(&self) -> NumberType {
        with_slice_mut!(self, v => type_of(v))
    }

    /// How many.
    pub fn len(&self) -> usize {
        with_slice_mut!(self, v => v.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> AnySliceMut<'a> {
    /// The numbers, if they are of type `T`.
    pub fn into_slice<T: Number>(self) -> Option<&'a mut [T]> {
        T::of_any_mut(self)
    }

    /// Their bits: unsigned integers of the same width.
    pub(crate) fn into_bits(self) -> Self {
        with_slice_mut!(self, v => Self::bits_of(v))
    }

    /// Bits that are of this width.
    pub(crate) fn of_width<L: Latent>(self) -> Result<&'a mut [L]> {
        L::of_any_mut(self).ok_or_else(|| Error::invalid("numbers of another width"))
    }

    /// The bits of numbers whose type is known.
    #[inline]
    pub(crate) fn bits_of<T: Number>(numbers: &'a mut [T]) -> Self {
        T::L::any_mut(T::bits_mut(numbers))
    }
}

impl<'a, T: Number> From<&'a [T]> for AnySlice<'a> {
    fn from(numbers: &'a [T]) -> Self {
        T::any(numbers)
    }
}

impl<'a, T: Number> From<&'a mut [T]> for AnySliceMut<'a> {
    fn from(numbers: &'a mut [T]) -> Self {
        T::any_mut(numbers)
    }
}
