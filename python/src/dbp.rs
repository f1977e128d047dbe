//! Parquet's DELTA_BINARY_PACKED.

use crate::array::{from_vec, named, number_type, readable, writable};
use crate::errors::{invalid, lift};
use crate::job::run;
use crate::pco::limits;
use latens::delta_binary_packed::{
    Element, Layout, Options, decode_into_with, decode_with, encode_to,
};
use numpy::{PyReadonlyArray1, PyUntypedArray};
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
) -> PyResult<Bound<'py, PyBytes>> {
    fn layout<T: Element>(size: Option<usize>, minis: Option<usize>) -> latens::Result<Layout> {
        let default = Layout::default_for::<T>();
        Layout::new(size.unwrap_or(default.block_size()), minis.unwrap_or(default.miniblocks()))
    }
    let stream = with_element!(py, number_type(array)?, T => {
        let layout = lift(py, layout::<T>(block_size, miniblocks))?;
        let held = readable::<T>(array)?;
        let numbers = held.as_slice()?;
        run(py, None, 0, |job| {
            let mut out = Vec::new();
            encode_to(numbers, layout, &mut out, &job.watch())?;
            Ok(out)
        })
    })?;
    Ok(PyBytes::new(py, &stream))
}

#[pyfunction]
pub(crate) fn dbp_decode<'py>(
    py: Python<'py>,
    stream: PyReadonlyArray1<'py, u8>,
    dtype: &str,
    max_output: Option<u64>,
    strict: bool,
    expect_count: Option<u64>,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let (bytes, limits) = (stream.as_slice()?, limits(max_output, None));
    let options = Options { strict, expect_count };
    with_element!(py, named(py, dtype)?, T => {
        let (numbers, consumed) = run(py, None, 0, |job| {
            decode_with::<T>(bytes, limits, options, &job.watch())
        })?;
        Ok((from_vec(py, numbers), consumed))
    })
}

#[pyfunction]
pub(crate) fn dbp_decode_into<'py>(
    py: Python<'py>,
    stream: PyReadonlyArray1<'py, u8>,
    out: &Bound<'py, PyUntypedArray>,
    strict: bool,
    expect_count: Option<u64>,
) -> PyResult<(usize, usize)> {
    let bytes = stream.as_slice()?;
    let options = Options { strict, expect_count };
    let done = with_element!(py, number_type(out)?, T => {
        let mut held = writable::<T>(out)?;
        let numbers = held.as_slice_mut()?;
        run(py, None, 0, |job| {
            decode_into_with(bytes, numbers, options, &job.watch())
        })
    })?;
    Ok((done.count, done.consumed))
}
