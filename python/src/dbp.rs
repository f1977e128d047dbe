//! Parquet's DELTA_BINARY_PACKED.

use crate::array::{Octets, from_vec, named, number_type, readable, writable};
use crate::errors::{invalid, lift};
use crate::job::run_sized;
use crate::pco::limits;
use latens::delta_binary_packed::{
    Decoder, Element, Layout, Options, decode_into_with, decode_with, encode_with,
};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Evaluates with `$T` standing for one of the four types that the encoding has.
macro_rules! with_element {
    ($py:expr, $ty:expr, $T:ident => $body:expr) => {
        latens::with_element_type!($ty, $T => $body, other => Err(invalid(
            $py,
            format!("DELTA_BINARY_PACKED holds int32, int64, uint32 or uint64, not {other}"),
        )))
    };
}

#[pyfunction]
pub(crate) fn dbp_encode<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyUntypedArray>,
    block_size: Option<usize>,
    miniblocks: Option<usize>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    fn layout<T: Element>(size: Option<usize>, minis: Option<usize>) -> latens::Result<Layout> {
        let default = Layout::default_for::<T>();
        Layout::new(size.unwrap_or(default.block_size()), minis.unwrap_or(default.miniblocks()))
    }
    let stream = with_element!(py, number_type(array)?, T => {
        let layout = lift(py, layout::<T>(block_size, miniblocks))?;
        let held = readable::<T>(array)?;
        let numbers = held.as_slice()?;
        run_sized(py, size_of_val(numbers), progress, numbers.len() as u64, |watch| {
            encode_with(numbers, layout, threads, watch)
        })
    })?;
    Ok(PyBytes::new(py, &stream))
}

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each of Python's")]
pub(crate) fn dbp_decode<'py>(
    py: Python<'py>,
    stream: Octets<'py>,
    dtype: &str,
    max_output: Option<u64>,
    strict: bool,
    expect_count: Option<u64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let (bytes, limits) = (stream.as_slice()?, limits(max_output, None));
    let options = Options { strict, expect_count };
    with_element!(py, named(py, dtype)?, T => {
        // No stream has more than it says.
        let n = Decoder::<T>::new(bytes, options).map_or(0, |stream| stream.remaining());
        let size = usize::try_from(n).unwrap_or(usize::MAX).saturating_mul(size_of::<T>());
        let (numbers, consumed) = run_sized(py, size, progress, n, |watch| {
            decode_with::<T>(bytes, limits, options, threads, watch)
        })?;
        Ok((from_vec(py, numbers), consumed))
    })
}

#[pyfunction]
pub(crate) fn dbp_decode_into<'py>(
    py: Python<'py>,
    stream: Octets<'py>,
    out: &Bound<'py, PyUntypedArray>,
    strict: bool,
    expect_count: Option<u64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(usize, usize)> {
    let bytes = stream.as_slice()?;
    let options = Options { strict, expect_count };
    let done = with_element!(py, number_type(out)?, T => {
        let mut held = writable::<T>(out)?;
        let numbers = held.as_slice_mut()?;
        let total = Decoder::<T>::new(bytes, options).map_or(0, |stream| stream.remaining());
        run_sized(py, size_of_val(numbers), progress, total, |watch| {
            decode_into_with(bytes, numbers, options, threads, watch)
        })
    })?;
    Ok((done.count, done.consumed))
}
