//! NumPy arrays as slices of one of the eleven number types.

use crate::errors::invalid;
use crate::job::BRIEF;
use latens::{AnyNumbers, AnySlice, AnySliceMut, Number, NumberType, with_number_type};
use numpy::{
    BorrowError, Element, PyArray1, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1,
    PyReadwriteArray1, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The type of the numbers of an array.
pub(crate) fn number_type(array: &Bound<'_, PyUntypedArray>) -> PyResult<NumberType> {
    let dtype = array.dtype();
    let native = dtype.itemsize() == 1 || dtype.is_native_byteorder() == Some(true);
    let found = match (dtype.kind(), dtype.itemsize()) {
        _ if !native => None,
        (b'u', 1) => Some(NumberType::U8),
        (b'u', 2) => Some(NumberType::U16),
        (b'u', 4) => Some(NumberType::U32),
        (b'u', 8) => Some(NumberType::U64),
        (b'i', 1) => Some(NumberType::I8),
        (b'i', 2) => Some(NumberType::I16),
        (b'i', 4) => Some(NumberType::I32),
        (b'i', 8) => Some(NumberType::I64),
        (b'f', 2) => Some(NumberType::F16),
        (b'f', 4) => Some(NumberType::F32),
        (b'f', 8) => Some(NumberType::F64),
        _ => None,
    };
    found.ok_or_else(|| {
        invalid(
            array.py(),
            format!(
                "an array of {dtype} is not one of uint8…uint64, int8…int64, float16, float32, \
                 float64 in the machine's byte order"
            ),
        )
    })
}

/// The array with its type known, to be read from. It is contiguous and of one dimension.
pub(crate) fn readable<'py, T: Number + Element>(
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    array.cast::<PyArray1<T>>()?.try_readonly().map_err(|e| in_use(array.py(), &e))
}

/// The array with its type known, to be written to.
pub(crate) fn writable<'py, T: Number + Element>(
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<PyReadwriteArray1<'py, T>> {
    array.cast::<PyArray1<T>>()?.try_readwrite().map_err(|e| in_use(array.py(), &e))
}

/// What `work` makes of the numbers of an array of any of the types.
pub(crate) fn reading<R>(
    array: &Bound<'_, PyUntypedArray>,
    work: impl FnOnce(AnySlice<'_>) -> PyResult<R>,
) -> PyResult<R> {
    with_number_type!(number_type(array)?, T => {
        let held = readable::<T>(array)?;
        work(held.as_slice()?.into())
    })
}

/// The same where they are overwritten.
pub(crate) fn writing<R>(
    array: &Bound<'_, PyUntypedArray>,
    work: impl FnOnce(AnySliceMut<'_>) -> PyResult<R>,
) -> PyResult<R> {
    with_number_type!(number_type(array)?, T => {
        let mut held = writable::<T>(array)?;
        work(held.as_slice_mut()?.into())
    })
}

/// Nobody reads or writes an array while somebody decodes into it.
fn in_use(py: Python<'_>, error: &BorrowError) -> PyErr {
    match error {
        BorrowError::NotWriteable => invalid(py, "the array to decode into is not writable"),
        _ => invalid(py, "the array is in use: another thread decodes into its memory, or from it"),
    }
}

/// The numbers as an array that owns them, without a copy where that is worth it.
pub(crate) fn from_vec<T: Number + Element>(py: Python<'_>, numbers: Vec<T>) -> Bound<'_, PyAny> {
    // A copy of few takes less than the object that would hold their memory.
    if size_of_val(&*numbers) <= BRIEF {
        return PyArray1::from_slice(py, &numbers).into_any();
    }
    PyArray1::from_vec(py, numbers).into_any()
}

/// The same for numbers of any of the types.
pub(crate) fn from_numbers(py: Python<'_>, numbers: AnyNumbers) -> Bound<'_, PyAny> {
    with_number_type!(numbers.number_type(), T => {
        from_vec(py, numbers.into_vec::<T>().unwrap_or_default())
    })
}

/// Bytes to read: those of a `bytes`, which nobody changes, or an array of them, which is borrowed.
pub(crate) enum Octets<'py> {
    Bytes(Bound<'py, PyBytes>),
    Array(PyReadonlyArray1<'py, u8>),
}

impl Octets<'_> {
    pub(crate) fn as_slice(&self) -> PyResult<&[u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.as_bytes()),
            Self::Array(array) => Ok(array.as_slice()?),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Octets<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Self::Bytes(bytes.to_owned())),
            Err(_) => Ok(Self::Array(object.extract()?)),
        }
    }
}

/// The type that a name like `float64` says.
pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<NumberType> {
    let short = match name {
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        "int8" => "i8",
        "int16" => "i16",
        "int32" => "i32",
        "int64" => "i64",
        "float16" => "f16",
        "float32" => "f32",
        "float64" => "f64",
        other => other,
    };
    NumberType::from_name(short)
        .ok_or_else(|| invalid(py, format!("`{name}` is none of the eleven number types")))
}
