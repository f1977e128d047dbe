//! Standalone Pco files in memory.

use crate::array::{Octets, from_numbers, reading, writing};
use crate::errors::{invalid, lift};
use crate::job::{BRIEF, run, run_sized};
use latens::pco::{self, Config};
use latens::{Limits, Watch};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Settings of an encoder.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct PcoConfig {
    pub(crate) config: Config,
}

#[pymethods]
impl PcoConfig {
    #[new]
    #[pyo3(signature = (*, level, mode, delta, favor, chunk_n, checksum))]
    fn new(
        py: Python<'_>,
        level: u32,
        mode: &str,
        delta: &str,
        favor: &str,
        chunk_n: Option<usize>,
        checksum: bool,
    ) -> PyResult<Self> {
        let config = Config::default()
            .level(level)
            .mode(lift(py, mode.parse())?)
            .delta(lift(py, delta.parse())?)
            .favor(lift(py, favor.parse())?)
            .checksum(checksum);
        // Where the caller does not say, the encoder may take longer ones.
        let config = match chunk_n {
            Some(n) => config.chunk_n(n),
            None => config,
        };
        Ok(Self { config })
    }
}

/// What a decoder may emit and allocate; `None` bounds nothing.
pub(crate) fn limits(max_output: Option<u64>, max_alloc: Option<u64>) -> Limits {
    Limits::default()
        .max_output(max_output.unwrap_or(u64::MAX))
        .max_alloc(max_alloc.unwrap_or(u64::MAX))
}

/// Also what its tables may have beyond what numbers earn; `None` is the default.
pub(crate) fn with_spare_slots(limits: Limits, max_spare_slots: Option<u64>) -> Limits {
    max_spare_slots.map_or(limits, |slots| limits.max_spare_slots(slots))
}

#[pyfunction]
pub(crate) fn pco_compress<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyUntypedArray>,
    config: &PcoConfig,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (config, total) = (&config.config, array.len() as u64);
    let file = reading(array, |numbers| {
        // Encoding takes some hundred times as long as decoding, of few numbers.
        let bytes = numbers.len().saturating_mul(numbers.number_type().bytes());
        run_sized(py, bytes.saturating_mul(100), progress, total, |watch| {
            pco::compress_any_with(numbers, config, threads, watch)
        })
    })?;
    Ok(PyBytes::new(py, &file))
}

#[pyfunction]
pub(crate) fn pco_decompress<'py>(
    py: Python<'py>,
    file: Octets<'py>,
    max_output: Option<u64>,
    max_alloc: Option<u64>,
    max_spare_slots: Option<u64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let limits = with_spare_slots(limits(max_output, max_alloc), max_spare_slots);
    let bytes = file.as_slice()?;
    let head = lift(py, pco::peek(bytes))?;
    let total = head.n_hint;
    let Some(found) = head.number_type else {
        return Ok(from_numbers(py, lift(py, pco::decompress_any(bytes, limits))?));
    };
    // What a file says of itself is not to be relied on: it is tried within such bounds.
    let brief = limits.max_output(max_output.unwrap_or(u64::MAX).min(BRIEF as u64));
    let is_brief = progress.is_none()
        && bytes.len() <= BRIEF
        && total <= BRIEF as u64 / u64::from(found.bits() / 8);
    let found = Some(found);
    if is_brief && let Ok(numbers) = pco::decompress_any_with(bytes, found, brief, 1, &Watch::NONE)
    {
        return Ok(from_numbers(py, numbers));
    }
    let numbers = run(py, progress, total, |job| {
        pco::decompress_any_with(bytes, found, limits, threads, &job.watch())
    })?;
    Ok(from_numbers(py, numbers))
}

#[pyfunction]
pub(crate) fn pco_decompress_into<'py>(
    py: Python<'py>,
    file: Octets<'py>,
    out: &Bound<'py, PyUntypedArray>,
    max_alloc: Option<u64>,
    max_spare_slots: Option<u64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(usize, bool)> {
    let limits = with_spare_slots(limits(None, max_alloc), max_spare_slots);
    let (bytes, total) = (file.as_slice()?, out.len() as u64);
    let done = writing(out, |numbers| {
        let work = bytes.len().max(numbers.len().saturating_mul(numbers.number_type().bytes()));
        run_sized(py, work, progress, total, |watch| {
            pco::decompress_any_into_with(bytes, numbers, limits, threads, watch)
        })
    })?;
    if out.is_empty() && !done.finished {
        return Err(invalid(py, "`out` has no room for the numbers of the file"));
    }
    Ok((done.count, done.finished))
}
