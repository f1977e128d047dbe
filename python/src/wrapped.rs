//! The wrapped format: parts of a file for containers of the caller's own.

use crate::array::{Octets, from_numbers, named, reading, writing};
use crate::errors::lift;
use crate::job::{BRIEF, run};
use crate::pco::{PcoConfig, limits};
use latens::pco::wrapped;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Writes the header of a wrapped file and makes its chunks.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct FileEncoder {
    encoder: wrapped::FileEncoder,
}

#[pymethods]
impl FileEncoder {
    #[new]
    fn new(config: &PcoConfig) -> Self {
        Self { encoder: wrapped::FileEncoder::new(config.config.clone()) }
    }

    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        lift(py, self.encoder.write_header(&mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn chunk<'py>(
        &self,
        py: Python<'py>,
        array: &Bound<'py, PyUntypedArray>,
        page_lens: Vec<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<ChunkEncoder> {
        let encoder = reading(array, |numbers| {
            run(py, progress, numbers.len() as u64, |job| {
                self.encoder.watched(&job.watch()).any_chunk_encoder(numbers, &page_lens)
            })
        })?;
        Ok(ChunkEncoder { encoder })
    }
}

/// Numbers that take no time to speak of.
const AT_ONCE: usize = 1 << 22;

/// A chunk with everything chosen, ready to be written in parts.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct ChunkEncoder {
    encoder: wrapped::AnyChunkEncoder,
}

#[pymethods]
impl ChunkEncoder {
    #[getter]
    fn mode(&self) -> String {
        self.encoder.mode().to_string()
    }

    #[getter]
    fn delta(&self) -> String {
        self.encoder.delta_encoding().to_string()
    }

    #[getter]
    fn pages(&self) -> usize {
        self.encoder.pages()
    }

    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        lift(py, self.encoder.write_meta(&mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn page<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, None, 0, |_| {
            let mut bytes = Vec::new();
            self.encoder.write_page(index, &mut bytes)?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// Knows the format version of a wrapped file.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct FileDecoder {
    decoder: wrapped::FileDecoder,
    /// Bytes that the header takes.
    #[pyo3(get)]
    consumed: usize,
}

#[pymethods]
impl FileDecoder {
    #[new]
    fn new(
        py: Python<'_>,
        header: Octets<'_>,
        max_output: Option<u64>,
        max_alloc: Option<u64>,
    ) -> PyResult<Self> {
        let bytes = header.as_slice()?;
        let limits = limits(max_output, max_alloc);
        let (decoder, consumed) = lift(py, wrapped::FileDecoder::new(bytes, limits))?;
        Ok(Self { decoder, consumed })
    }

    #[getter]
    fn format_version(&self) -> String {
        self.decoder.format_version().to_string()
    }

    fn chunk(&self, py: Python<'_>, meta: Octets<'_>, dtype: &str) -> PyResult<ChunkDecoder> {
        let (bytes, ty) = (meta.as_slice()?, named(py, dtype)?);
        let (decoder, consumed) = run(py, None, 0, |_| self.decoder.any_chunk_decoder(ty, bytes))?;
        Ok(ChunkDecoder { decoder, consumed })
    }
}

/// A chunk's metadata with its tables.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct ChunkDecoder {
    decoder: wrapped::AnyChunkDecoder,
    /// Bytes that the metadata takes.
    #[pyo3(get)]
    consumed: usize,
}

#[pymethods]
impl ChunkDecoder {
    #[getter]
    fn mode(&self) -> String {
        self.decoder.mode().to_string()
    }

    #[getter]
    fn delta(&self) -> String {
        self.decoder.delta_encoding().to_string()
    }

    #[getter]
    fn r#type(&self) -> String {
        self.decoder.number_type().to_string()
    }

    fn page<'py>(
        &self,
        py: Python<'py>,
        page: Octets<'py>,
        n: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let page = page.as_slice()?;
        let is_told = progress.is_some();
        let (numbers, consumed) = run(py, progress, n as u64, |job| {
            if !is_told && n <= AT_ONCE {
                return self.decoder.read_page(page, n);
            }
            self.decoder.watched(&job.watch()).read_page(page, n)
        })?;
        Ok((from_numbers(py, numbers), consumed))
    }

    fn page_into<'py>(
        &self,
        page: Octets<'py>,
        out: &Bound<'py, PyUntypedArray>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let page = page.as_slice()?;
        writing(out, |numbers| {
            let (n, is_told) = (numbers.len(), progress.is_some());
            if !is_told && n.saturating_mul(numbers.number_type().bytes()) <= BRIEF {
                return lift(out.py(), self.decoder.decode_page(page, numbers));
            }
            run(out.py(), progress, n as u64, |job| {
                if !is_told && n <= AT_ONCE {
                    return self.decoder.decode_page(page, numbers);
                }
                self.decoder.watched(&job.watch()).decode_page(page, numbers)
            })
        })
    }

    fn pages_into<'py>(
        &self,
        pages: Vec<Octets<'py>>,
        lens: Vec<usize>,
        out: &Bound<'py, PyUntypedArray>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<usize>> {
        let pages = pages.iter().map(Octets::as_slice).collect::<PyResult<Vec<_>>>()?;
        writing(out, |numbers| {
            run(out.py(), progress, numbers.len() as u64, |job| {
                self.decoder.watched(&job.watch()).decode_pages_into(&pages, &lens, numbers)
            })
        })
    }
}
