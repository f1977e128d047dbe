//! `.wcodec` files decoded on a GPU, where there is one. Nothing of CUDA is looked for before a file is
//! opened here.

use crate::errors::exception;
use crate::job::run;
use crate::pco::limits;
use dlpark::ffi::{DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::python::{DlpackExporter, ExportRequest, export_dlpack};
use dlpark::{DlpackFlags, Managed};
use latens::Watch;
use latens::wcodec::{Reader, open_base};
use latens_cuda::{DeviceTensor, Error, Gpu, GpuReader};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// GPUs that were opened, with the kernels on them.
static OPEN: Mutex<BTreeMap<usize, Gpu>> = Mutex::new(BTreeMap::new());

fn gpu(ordinal: usize) -> latens_cuda::Result<Gpu> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gpu) = open.get(&ordinal) {
        return Ok(gpu.clone());
    }
    let gpu = Gpu::open(ordinal)?;
    open.insert(ordinal, gpu.clone());
    Ok(gpu)
}

fn lift<T>(py: Python<'_>, result: latens_cuda::Result<T>) -> PyResult<T> {
    result.map_err(|error| match error {
        Error::Data(error) => exception(py, &error),
        other => PyRuntimeError::new_err(other.to_string()),
    })
}

/// Bytes in device memory, which PyTorch and CuPy take as they are, by DLPack or CUDA's array
/// interface: nothing is copied, and the memory stays as long as this or what took it. They are there
/// when this is handed out, so no stream need wait.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct DeviceBytes(DeviceTensor);

impl DlpackExporter for DeviceBytes {
    fn device(&self) -> DLDevice {
        self.0.dlpack_device()
    }

    fn flags(&self) -> DlpackFlags {
        DlpackFlags::empty()
    }

    /// Whatever the consumer's stream is: what was decoded has been waited for.
    fn prepare_export(&self, _: Python<'_>, _: &ExportRequest<'_>) -> PyResult<()> {
        Ok(())
    }

    fn export_legacy(&self, py: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        lift(py, self.0.dlpack())
    }

    fn export_versioned(&self, py: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        lift(py, self.0.dlpack())
    }
}

#[pymethods]
impl DeviceBytes {
    /// The bytes as a DLPack tensor of one dimension.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let request = ExportRequest::parse(stream.as_ref(), max_version, dl_device, copy)?;
        export_dlpack(self, py, request)
    }

    /// Kind and number of the device.
    fn __dlpack_device__(&self) -> (u32, i32) {
        let device = self.0.dlpack_device();
        (device.device_type.0, device.device_id)
    }

    /// CUDA's array interface, version 3.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.0.len(),))?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (self.0.address(), false))?;
        interface.set_item("strides", py.None())?;
        interface.set_item("stream", py.None())?;
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// An open `.wcodec` file whose tensors are decoded on a GPU.
#[pyclass(frozen, module = "latens._latens")]
pub(crate) struct GpuFile {
    reader: GpuReader<File>,
}

impl GpuFile {
    fn number(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let none = || latens::Error::invalid(format!("there is no tensor {name:?}"));
        self.reader.reader().find(name).ok_or_else(|| exception(py, &none()))
    }
}

#[pymethods]
impl GpuFile {
    /// The file, or why GPU `ordinal` cannot decode it.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        base: Option<PathBuf>,
        threads: usize,
        ordinal: usize,
        max_output: Option<u64>,
        max_alloc: Option<u64>,
    ) -> PyResult<(Option<GpuFile>, String)> {
        let limits = limits(max_output, max_alloc);
        let open = |watch: &Watch| -> latens_cuda::Result<GpuFile> {
            let gpu = self::gpu(ordinal)?;
            let file = File::open(path).map_err(latens::Error::from)?;
            let mut reader = Reader::open(file, limits)?.threads(threads);
            if let Some(path) = base {
                reader = reader.with_base(open_base(&path, limits, watch)?)?;
            }
            Ok(GpuFile { reader: GpuReader::new(gpu, reader) })
        };
        match run(py, None, 0, |job| Ok(open(&job.watch())))? {
            Err(Error::GpuUnavailable(why)) => Ok((None, why)),
            other => Ok((Some(lift(py, other)?), String::new())),
        }
    }

    /// Tensors, decoded in few launches.
    fn tensors(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<DeviceBytes>> {
        let numbers =
            names.iter().map(|name| self.number(py, name)).collect::<PyResult<Vec<_>>>()?;
        let tensors = py.detach(|| self.reader.tensors(&numbers));
        Ok(lift(py, tensors)?.into_iter().map(DeviceBytes).collect())
    }

    /// Bytes of a tensor from `start` to `stop`.
    fn range(&self, py: Python<'_>, name: &str, start: u64, stop: u64) -> PyResult<DeviceBytes> {
        let number = self.number(py, name)?;
        let bytes = py.detach(|| self.reader.bytes(number, start..stop));
        Ok(DeviceBytes(lift(py, bytes)?))
    }
}
