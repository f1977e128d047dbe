//! A device with the kernels on it. All that is known of the driver at build time are names, which are
//! looked for when a device is opened.

use crate::error::{Error, Result};
use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{CudaContext, CudaFunction};
use cudarc::nvrtc::Ptx;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The least compute capability that the kernels are compiled for.
const LEAST: (i32, i32) = (7, 5);

/// A device, and the kernels on it.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) check: CudaFunction,
    pub(crate) decode: CudaFunction,
    pub(crate) join: CudaFunction,
    /// Shared memory that a block may take for tables, in bytes.
    pub(crate) shared: usize,
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        Error::Device(format!("{error:?}"))
    }
}

impl Gpu {
    /// Opens device `ordinal`, 0 being the first one.
    ///
    /// # Errors
    /// [`Error::GpuUnavailable`] where there is no driver, no such device, or one that cannot load the
    /// kernels: they need compute capability 7.5 and a driver of CUDA 12.9 or later.
    pub fn open(ordinal: usize) -> Result<Self> {
        // SAFETY: loads the driver's library where there is one, which runs its initialisers; this is
        // what every program that uses CUDA does.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::GpuUnavailable("the NVIDIA driver is not installed".to_owned()));
        }
        // A driver that lacks one of the functions makes cudarc panic when that is first looked for.
        catch_unwind(AssertUnwindSafe(|| Self::open_present(ordinal))).unwrap_or_else(|_| {
            let what = "the NVIDIA driver lacks a function; CUDA 12.9 or later is needed";
            Err(Error::GpuUnavailable(what.to_owned()))
        })
    }

    fn open_present(ordinal: usize) -> Result<Self> {
        let none = |e: DriverError| Error::GpuUnavailable(format!("{e:?}"));
        let context = CudaContext::new(ordinal).map_err(none)?;
        let capability = context.compute_capability().map_err(none)?;
        if capability < LEAST {
            let (major, minor) = capability;
            let what = format!("compute capability {major}.{minor}; 7.5 or higher is needed");
            return Err(Error::GpuUnavailable(what));
        }
        let module = context.load_module(Ptx::from_src(crate::PTX)).map_err(none)?;
        let function = |name| module.load_function(name).map_err(none);
        let (check, decode) = (function("wcodec_check")?, function("wcodec_decode")?);
        let join = function("wcodec_join")?;
        // Half of what there is: two blocks can be on a multiprocessor at a time.
        let most = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let shared = context.attribute(most).map_err(none)? / 2 / 1024 * 1024;
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        decode.set_attribute(attribute, shared).map_err(none)?;
        let shared = usize::try_from(shared).unwrap_or(0);
        Ok(Self { context, check, decode, join, shared })
    }

    /// The device's name.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn name(&self) -> Result<String> {
        Ok(self.context.name()?)
    }

    /// Bytes a second that the device reads and writes, in copies of `bytes` within its memory: what
    /// any decoder is held against.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn copy_bandwidth(&self, bytes: usize) -> Result<f64> {
        let stream = self.context.new_stream()?;
        let from = stream.alloc_zeros::<u8>(bytes)?;
        let mut to = stream.alloc_zeros::<u8>(bytes)?;
        let timing = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let mut best = f64::MAX;
        for _ in 0..5 {
            let before = stream.record_event(timing)?;
            stream.memcpy_dtod(&from, &mut to)?;
            let after = stream.record_event(timing)?;
            best = best.min(f64::from(before.elapsed_ms(&after)?) / 1e3);
        }
        #[expect(clippy::cast_precision_loss, reason = "a measurement")]
        let moved = 2.0 * bytes as f64;
        Ok(moved / best)
    }
}
