//! Writing `.wcodec` files layer by layer.

use crate::checkpoint::{Chosen, config};
use crate::errors::{invalid, lift};
use crate::job::{Job, run};
use crate::wcodec::{reopen, size_of};
use latens::wcodec::checkpoint::Tensors;
use latens::wcodec::dtype::Dtype;
use latens::wcodec::{Base, Writer, open_base};
use latens::{Limits, Result, Watch};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The call that is running, which the writer tells of what it does.
type Now = Arc<Mutex<Option<Arc<Job>>>>;

/// Name, type, shape and bytes of a tensor.
type Tensor<'py> = (String, String, Vec<u64>, PyReadonlyArray1<'py, u8>);

/// A `.wcodec` file whose tensors come in several calls.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct WcodecWriter {
    /// None where it is finished, or writing failed.
    writer: Mutex<Option<Writer<BufWriter<File>>>>,
    now: Now,
    base: Option<Arc<dyn Base>>,
    out: PathBuf,
    threads: usize,
}

#[pymethods]
impl WcodecWriter {
    #[new]
    fn new(
        py: Python<'_>,
        name: String,
        metadata: BTreeMap<String, String>,
        out: PathBuf,
        base: Option<PathBuf>,
        chosen: Chosen,
        threads: usize,
    ) -> PyResult<Self> {
        let now = Now::default();
        let told = Arc::clone(&now);
        let watch = Watch::new(move |step| {
            let job = told.lock().unwrap_or_else(PoisonError::into_inner).clone();
            job.map_or(Ok(()), |job| job.tick(step.done))
        });
        let config = config(py, chosen, base.is_some())?.threads(threads).watch(watch);
        run(py, None, 0, |job| {
            let held: Option<Arc<dyn Base>> = match &base {
                Some(path) => Some(Arc::from(open_base(path, Limits::default(), &job.watch())?)),
                None => None,
            };
            let mut writer = Writer::new(BufWriter::new(File::create(&out)?), &name, &config)?;
            if let Some(held) = &held {
                let name = base.as_deref().and_then(Path::file_name);
                let name =
                    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                writer = writer.against(Box::new(Arc::clone(held)), &name)?;
            }
            for (name, value) in metadata {
                writer.metadata(name, value);
            }
            Ok(Self { writer: Mutex::new(Some(writer)), now, base: held, out, threads })
        })
    }

    /// Writes tensors that belong together.
    fn write<'py>(&self, py: Python<'py>, tensors: Vec<Tensor<'py>>) -> PyResult<()> {
        let mut taken = Tensors::new();
        let mut bytes = 0;
        for (name, dtype, shape, data) in tensors {
            let data = data.as_slice()?.to_vec();
            bytes += data.len() as u64;
            lift(py, taken.add(name, Dtype::named(&dtype), &shape, data))?;
        }
        let mut writer = self.take(py)?;
        let writer = run(py, None, bytes, |job| {
            self.during(job, || {
                writer.write(taken)?;
                Ok(writer)
            })
        })?;
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer);
        Ok(())
    }

    /// Writes the end of the file, and decodes all of it again where it is to be verified. Bytes of the file.
    fn finish(&self, py: Python<'_>, verify: bool) -> PyResult<u64> {
        let writer = self.take(py)?;
        run(py, None, 0, |job| {
            self.during(job, || {
                let mut out = writer.finish_to_file()?;
                out.flush()?;
                out.get_ref().sync_all()?;
                if verify {
                    let mut reader = reopen(&self.out, self.threads)?;
                    if let Some(base) = &self.base {
                        reader = reader.with_base(Box::new(Arc::clone(base)))?;
                    }
                    reader.watched(&job.watch()).verify()?;
                }
                Ok(())
            })
        })?;
        size_of(py, &self.out)
    }
}

impl WcodecWriter {
    fn take(&self, py: Python<'_>) -> PyResult<Writer<BufWriter<File>>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        writer.ok_or_else(|| invalid(py, "the file is finished, or writing it failed"))
    }

    /// Tells `job` what the writer does.
    fn during<T>(&self, job: &Arc<Job>, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let set = |now| *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
        set(Some(Arc::clone(job)));
        let done = work();
        set(None);
        done
    }
}
