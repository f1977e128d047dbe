//! Reading `.wcodec` files.

use crate::array::from_vec;
use crate::errors::{invalid, lift};
use crate::job::{Job, run};
use crate::pco::limits;
use latens::wcodec::checkpoint::ReadAt;
use latens::wcodec::dtype::Dtype;
use latens::wcodec::view::Values;
use latens::wcodec::{Reader, open_base};
use latens::{Error, Limits};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the bytes of a file come from.
pub(crate) enum Source {
    /// A file on disk.
    File(File),
    /// A file in memory, that of Python's `bytes`.
    Bytes(PyBackedBytes),
}

impl ReadAt for Source {
    fn size(&self) -> io::Result<u64> {
        match self {
            Source::File(file) => file.size(),
            Source::Bytes(bytes) => bytes[..].size(),
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Source::File(file) => file.read_exact_at(buf, offset),
            Source::Bytes(bytes) => bytes[..].read_exact_at(buf, offset),
        }
    }

    fn held(&self, offset: u64, len: usize) -> Option<&[u8]> {
        match self {
            Source::File(_) => None,
            Source::Bytes(bytes) => bytes[..].held(offset, len),
        }
    }
}

/// Name, type, shape, bytes decoded, bytes stored, and the tensor that it shares its bytes with.
type Entry = (String, String, Vec<u64>, usize, usize, Option<String>);

/// An open `.wcodec` file.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct WcodecReader {
    reader: Reader<Source>,
    /// What is wrong with the file beside tensors, and at which byte.
    damage: Vec<(u64, String)>,
}

impl WcodecReader {
    /// The file, whose calls tell `job`.
    fn watched(&self, job: &Arc<Job>) -> Reader<Source> {
        self.reader.watched(&job.watch())
    }

    fn number(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.reader
            .find(name)
            .ok_or_else(|| invalid(py, format!("there is no tensor {name:?} in the file")))
    }
}

#[pymethods]
impl WcodecReader {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one call of Python's")]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        data: Option<PyBackedBytes>,
        base: Option<PathBuf>,
        threads: usize,
        max_output: Option<u64>,
        max_alloc: Option<u64>,
        salvage: bool,
    ) -> PyResult<Self> {
        let limits = limits(max_output, max_alloc);
        run(py, None, 0, |job| {
            let source = match (path, data) {
                (Some(path), _) => Source::File(File::open(path)?),
                (None, Some(data)) => Source::Bytes(data),
                (None, None) => return Err(Error::invalid("neither a path nor bytes")),
            };
            let (reader, damage) = if salvage {
                let found = Reader::salvage(source, limits)?;
                (found.reader, found.damage.into_iter().map(|d| (d.at, d.what)).collect())
            } else {
                (Reader::open(source, limits)?, Vec::new())
            };
            let mut reader = reader.threads(threads);
            if let Some(path) = base {
                reader = reader.with_base(open_base(&path, limits, &job.watch())?)?;
            }
            Ok(Self { reader, damage })
        })
    }

    /// All tensors, in the order of the file.
    fn tensors(&self) -> Vec<Entry> {
        let entries = self.reader.tensors().map(|(_, t)| {
            let copy = t.copy_of.and_then(|i| self.reader.entry(i)).map(|of| of.name);
            (t.name, t.dtype.to_owned(), t.shape, t.length, t.stored, copy)
        });
        entries.collect()
    }

    /// Names and lengths of the source files.
    fn files(&self) -> Vec<(String, u64)> {
        self.reader.files().map(|(name, len)| (name.to_owned(), len)).collect()
    }

    /// What is wrong with a file that was opened in spite of it: bytes, and what is there.
    #[getter]
    fn damage(&self) -> Vec<(u64, String)> {
        self.damage.clone()
    }

    #[getter]
    fn model_hash(&self) -> String {
        self.reader.model_hash().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[getter]
    fn base_name(&self) -> Option<String> {
        self.reader.base_name().map(|(name, _)| name.to_owned())
    }

    /// Rows and columns of the logical weights, and how they are packed.
    fn layout(&self, py: Python<'_>, name: &str) -> PyResult<(u64, u64, String)> {
        let number = self.number(py, name)?;
        let layout = run(py, None, 0, |_| self.reader.layout(number))?;
        let entry = self.reader.entry(number);
        let packing = layout.view.packing(entry.as_ref().map_or("", |entry| entry.dtype));
        Ok((layout.rows, layout.cols, packing))
    }

    /// How a tensor is coded, and its entropy, for which it is decoded.
    fn inspect<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let number = self.number(py, name)?;
        let found = run(py, None, 0, |job| self.watched(job).inspect(number))?;
        crate::inspect::tensor(py, &found)
    }

    /// The bytes of a tensor as an array of uint8.
    fn bytes<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let number = self.number(py, name)?;
        let bytes = run(py, None, 0, |job| self.watched(job).tensor(number))?;
        Ok(from_vec(py, bytes))
    }

    /// The bytes of several tensors, in this order.
    fn several<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let numbers = names.iter().map(|name| self.number(py, name));
        let numbers = numbers.collect::<PyResult<Vec<_>>>()?;
        let mut all = Vec::with_capacity(numbers.len());
        let mut keep = |_, bytes| {
            all.push(bytes);
            Ok(None)
        };
        run(py, None, 0, |job| self.watched(job).for_each(&numbers, &mut keep))?;
        Ok(all.into_iter().map(|bytes| from_vec(py, bytes)).collect())
    }

    /// Bytes `start` to `stop` of a tensor.
    fn range<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        start: u64,
        stop: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let number = self.number(py, name)?;
        let bytes = run(py, None, 0, |job| self.watched(job).byte_range(number, start..stop))?;
        Ok(from_vec(py, bytes))
    }

    /// Numbers of the logical weights: int8 or uint8 where they are packed integers, else bytes of
    /// the tensor's own type, and true.
    fn logical<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        rows: (u64, u64),
        cols: (u64, u64),
        without_planes: usize,
    ) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let number = self.number(py, name)?;
        let values = run(py, None, 0, |job| {
            let reader = self.watched(job).without_planes(without_planes);
            reader.slice(number, rows.0..rows.1, cols.0..cols.1)
        })?;
        Ok(match values {
            Values::Signed(numbers) => (from_vec(py, numbers), false),
            Values::Unsigned(numbers) => (from_vec(py, numbers), false),
            Values::Words(bytes) => (from_vec(py, bytes), true),
        })
    }

    /// What a source file begins with before its first tensor, at most `most` bytes.
    fn head(&self, py: Python<'_>, file: usize, most: u64) -> PyResult<Vec<u8>> {
        run(py, None, 0, |job| self.watched(job).file_head(file, most))
    }

    /// Writes a source file as it was to a new file at `path`.
    fn write_file(
        &self,
        py: Python<'_>,
        file: usize,
        path: PathBuf,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let total = self.reader.files().nth(file).map_or(0, |(_, length)| length);
        run(py, progress, total, |job| {
            let mut out = io::BufWriter::new(File::create(path)?);
            self.watched(job).write_file(file, &mut out)?;
            out.flush()?;
            Ok(out.get_ref().sync_all()?)
        })
    }

    /// Decodes everything and checks every checksum.
    fn verify(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let total = self.reader.files().map(|(_, length)| length).fold(0, u64::saturating_add);
        run(py, progress, total, |job| self.watched(job).verify())
    }

    /// All that is wrong: the tensor, if it is of one, the byte, and what it is.
    fn faults(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<Vec<Fault>> {
        let total = self.reader.files().map(|(_, length)| length).fold(0, u64::saturating_add);
        let faults = run(py, progress, total, |job| self.watched(job).faults())?;
        let told = faults.into_iter().map(|fault| {
            let tensor = fault.tensor.and_then(|number| self.reader.entry(number));
            let of_it = usize::from(tensor.is_some());
            let places = fault.error.places().iter().skip(of_it).map(String::as_str);
            let what = places.chain([fault.error.what()]).collect::<Vec<_>>().join(": ");
            (tensor.map(|tensor| tensor.name), fault.error.at(), what)
        });
        Ok(told.collect())
    }

    /// Bytes of an element of a type that a checkpoint names; None where it has no whole number.
    #[staticmethod]
    fn width(dtype: &str) -> Option<u64> {
        match Dtype::named(dtype).block() {
            Some((1, bytes)) => Some(bytes),
            _ => None,
        }
    }
}

/// A tensor, the byte, and what is wrong.
type Fault = (Option<String>, Option<u64>, String);

/// Opens a file with limits that bound nothing, for what was just written.
pub(crate) fn reopen(path: &Path, threads: usize) -> latens::Result<Reader<Source>> {
    Ok(Reader::open(Source::File(File::open(path)?), Limits::default())?.threads(threads))
}

/// Bytes of the file at `path`.
pub(crate) fn size_of(py: Python<'_>, path: &Path) -> PyResult<u64> {
    lift(py, py.detach(|| std::fs::metadata(path)).map(|about| about.len()).map_err(Error::from))
}
