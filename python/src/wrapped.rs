//! The wrapped format: parts of a file for containers of the caller's own.

use crate::array::{Octets, from_vec, named, number_type, readable, writable};
use crate::errors::lift;
use crate::job::{BRIEF, run};
use crate::pco::{PcoConfig, limits};
use latens::pco::wrapped;
use latens::{Error, Number, NumberType, with_number_type};
use numpy::{Element, PyUntypedArray, PyUntypedArrayMethods};
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
        let encoder = with_number_type!(number_type(array)?, T => {
            let held = readable::<T>(array)?;
            let numbers = held.as_slice()?;
            run(py, progress, numbers.len() as u64, |job| {
                let encoder = self.encoder.watched(&job.watch());
                let encoder = encoder.chunk_encoder(numbers, &page_lens)?;
                Ok(Box::new(encoder) as Box<dyn AnyEncoder>)
            })
        })?;
        Ok(ChunkEncoder { encoder })
    }
}

/// Numbers of a page that are decoded at a time.
const PIECE: usize = 1 << 18;
/// Numbers that take no time to speak of.
const AT_ONCE: usize = 1 << 22;

/// An encoder of any number type.
trait AnyEncoder: Send + Sync {
    fn coding(&self) -> (String, String);
    fn pages(&self) -> usize;
    fn meta(&self, out: &mut Vec<u8>) -> latens::Result<usize>;
    fn page(&self, index: usize, out: &mut Vec<u8>) -> latens::Result<usize>;
}

impl<T: Number> AnyEncoder for wrapped::ChunkEncoder<T> {
    fn coding(&self) -> (String, String) {
        (self.mode().to_string(), self.delta_encoding().to_string())
    }
    fn pages(&self) -> usize {
        wrapped::ChunkEncoder::pages(self)
    }
    fn meta(&self, out: &mut Vec<u8>) -> latens::Result<usize> {
        self.write_meta(out)
    }
    fn page(&self, index: usize, out: &mut Vec<u8>) -> latens::Result<usize> {
        self.write_page(index, out)
    }
}

/// A chunk with everything chosen, ready to be written in parts.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct ChunkEncoder {
    encoder: Box<dyn AnyEncoder>,
}

#[pymethods]
impl ChunkEncoder {
    #[getter]
    fn mode(&self) -> String {
        self.encoder.coding().0
    }

    #[getter]
    fn delta(&self) -> String {
        self.encoder.coding().1
    }

    #[getter]
    fn pages(&self) -> usize {
        self.encoder.pages()
    }

    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        lift(py, self.encoder.meta(&mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn page<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, None, 0, |_| {
            let mut bytes = Vec::new();
            self.encoder.page(index, &mut bytes)?;
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
        let (bytes, number_type) = (meta.as_slice()?, named(py, dtype)?);
        with_number_type!(number_type, T => {
            let (decoder, consumed) = run(py, None, 0, |_| self.decoder.chunk_decoder::<T>(bytes))?;
            Ok(ChunkDecoder { decoder: Box::new(decoder), consumed, number_type })
        })
    }
}

/// A decoder of any number type.
trait AnyDecoder: Send + Sync {
    fn coding(&self) -> (String, String);
    fn page_into(
        &self,
        page: &[u8],
        out: &Bound<'_, PyUntypedArray>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<usize>;
    fn page<'py>(
        &self,
        py: Python<'py>,
        page: &[u8],
        n: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, usize)>;
    fn pages_into(
        &self,
        pages: &[&[u8]],
        lens: &[usize],
        out: &Bound<'_, PyUntypedArray>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<usize>>;
}

impl<T: Number + Element> AnyDecoder for wrapped::ChunkDecoder<T> {
    fn coding(&self) -> (String, String) {
        (self.mode().to_string(), self.delta_encoding().to_string())
    }

    fn page_into(
        &self,
        page: &[u8],
        out: &Bound<'_, PyUntypedArray>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<usize> {
        let mut held = writable::<T>(out)?;
        let numbers = held.as_slice_mut()?;
        if progress.is_none() && size_of_val(numbers) <= BRIEF {
            return lift(out.py(), self.decode_page(page, numbers));
        }
        let is_told = progress.is_some();
        run(out.py(), progress, numbers.len() as u64, |job| {
            if !is_told && numbers.len() <= AT_ONCE {
                return self.decode_page(page, numbers);
            }
            let mut decoder = self.page_decoder(page, numbers.len())?;
            let mut done = 0;
            for piece in numbers.chunks_mut(PIECE) {
                let after = |e: Error| {
                    let before = e.values_before().unwrap_or(0);
                    e.after_values(done + before)
                };
                let got = decoder.read(piece).map_err(after)? as u64;
                done += got;
                job.tick(got).map_err(|e| e.after_values(done))?;
            }
            decoder.finish().map_err(|e| e.after_values(done))
        })
    }

    fn page<'py>(
        &self,
        py: Python<'py>,
        page: &[u8],
        n: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let (numbers, consumed) = run(py, progress, n as u64, |job| {
            // Memory grows with what is decoded: `n` is the container's word.
            let mut decoder = self.page_decoder(page, n)?;
            let mut numbers: Vec<T> = Vec::new();
            while decoder.left() > 0 {
                let (have, now) = (numbers.len(), decoder.left().min(PIECE));
                numbers.try_reserve(now).map_err(|_| {
                    Error::invalid(format!("there is no memory for the {n} numbers of the page"))
                })?;
                numbers.resize(have + now, T::default());
                let got = decoder.read(&mut numbers[have..])?;
                numbers.truncate(have + got);
                job.tick(got as u64)?;
            }
            Ok((numbers, decoder.finish()?))
        })?;
        Ok((from_vec(py, numbers), consumed))
    }

    fn pages_into(
        &self,
        pages: &[&[u8]],
        lens: &[usize],
        out: &Bound<'_, PyUntypedArray>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<usize>> {
        let mut held = writable::<T>(out)?;
        let dst = held.as_slice_mut()?;
        run(out.py(), progress, dst.len() as u64, |job| {
            self.watched(&job.watch()).decode_pages_into(pages, lens, dst)
        })
    }
}

/// A chunk's metadata with its tables.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct ChunkDecoder {
    decoder: Box<dyn AnyDecoder>,
    /// Bytes that the metadata takes.
    #[pyo3(get)]
    consumed: usize,
    number_type: NumberType,
}

#[pymethods]
impl ChunkDecoder {
    #[getter]
    fn mode(&self) -> String {
        self.decoder.coding().0
    }

    #[getter]
    fn delta(&self) -> String {
        self.decoder.coding().1
    }

    #[getter]
    fn r#type(&self) -> String {
        self.number_type.to_string()
    }

    fn page<'py>(
        &self,
        py: Python<'py>,
        page: Octets<'py>,
        n: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        self.decoder.page(py, page.as_slice()?, n, progress)
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
        self.decoder.page_into(page.as_slice()?, out, progress)
    }

    fn pages_into<'py>(
        &self,
        pages: Vec<Octets<'py>>,
        lens: Vec<usize>,
        out: &Bound<'py, PyUntypedArray>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<usize>> {
        let pages = pages.iter().map(Octets::as_slice).collect::<PyResult<Vec<_>>>()?;
        self.decoder.pages_into(&pages, &lens, out, progress)
    }
}
