//! A batch on its way through a device: one copy, three launches, the status of its groups.
//!
//! All of a batch is on one stream: what is copied, decoded and freed happens in that order.

use crate::batch::{Batch, Upload};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::record::{BLOCK_FIELDS, BLOCK_GROUPS, JOIN_BLOCK_FIELDS};
use crate::stage::{Elsewhere, Stage};
use cudarc::driver::{
    CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, LaunchConfig,
    PinnedHostSlice, PushKernelArg, ValidAsZeroBits,
};
use std::sync::Arc;

/// Threads of a block of the kernels but the decoding one, which has [`BLOCK_GROUPS`] warps.
const THREADS: usize = 256;

/// What a batch holds on the device until it is done.
#[derive(Debug)]
pub(crate) struct Running {
    /// The tensors.
    pub(crate) outputs: CudaSlice<u8>,
    groups: usize,
    /// Held until the kernels have run; then for the next batch.
    pub(crate) spare: Spare,
    _status: CudaSlice<u32>,
    /// Before the first kernel and behind the last one.
    times: (CudaEvent, CudaEvent),
}

/// Memory of a batch that the next one on the same stream can have.
#[derive(Debug)]
pub(crate) struct Spare {
    staged: CudaSlice<u8>,
    planes: CudaSlice<u8>,
    scratch: CudaSlice<u8>,
    status: PinnedHostSlice<u32>,
}

impl Running {
    /// Waits, and gives the status of each group.
    pub(crate) fn status(&self) -> Result<&[u32]> {
        Ok(self.spare.status.as_slice()?.get(..self.groups).unwrap_or_default())
    }

    /// Waits, and gives the seconds that the kernels took.
    pub(crate) fn seconds(&self) -> Result<f64> {
        Ok(f64::from(self.times.0.elapsed_ms(&self.times.1)?) / 1e3)
    }
}

/// Memory of at least a byte, unset.
fn room<T: DeviceRepr>(stream: &Arc<CudaStream>, len: usize) -> Result<CudaSlice<T>> {
    // SAFETY: Rust does not reach memory of the device, so that nothing of it can be read unset here:
    // copies and kernels on the same stream write what others on it read or copy to the host.
    Ok(unsafe { stream.alloc(len.max(1)) }?)
}

/// What is there where it is large enough, else new memory.
fn enough(
    stream: &Arc<CudaStream>,
    spare: Option<CudaSlice<u8>>,
    len: usize,
) -> Result<CudaSlice<u8>> {
    match spare.filter(|s| s.len() >= len) {
        Some(spare) => Ok(spare),
        None => room(stream, len),
    }
}

fn place<T>(slice: &CudaSlice<T>, stream: &CudaStream) -> u64 {
    slice.device_ptr(stream).0
}

/// Host memory that the device reads and writes by itself, all zeros.
pub(crate) fn pinned<T: DeviceRepr + ValidAsZeroBits>(
    gpu: &Gpu,
    len: usize,
) -> Result<PinnedHostSlice<T>> {
    if isize::try_from(len.saturating_mul(size_of::<T>())).is_err() {
        return Err(Error::Device("a batch larger than memory".to_owned()));
    }
    // SAFETY: it is set below, before anybody gets it.
    let mut memory = unsafe { gpu.context.alloc_pinned_with_flags::<T>(len.max(1), 0) }?;
    let start = memory.as_mut_ptr()?;
    // SAFETY: `memory` has as many elements, and zeros are one, as `ValidAsZeroBits` says.
    unsafe { start.write_bytes(0, memory.len()) };
    Ok(memory)
}

fn grid(blocks: usize, threads: usize, shared: usize) -> Result<LaunchConfig> {
    let small = |n: usize| u32::try_from(n).ok().filter(|n| *n < 1 << 31);
    match (small(blocks), small(threads), small(shared)) {
        (Some(blocks), Some(threads), Some(shared_mem_bytes)) => Ok(LaunchConfig {
            grid_dim: (blocks, 1, 1),
            block_dim: (threads, 1, 1),
            shared_mem_bytes,
        }),
        _ => Err(Error::Device(format!("{blocks} blocks are too many for a launch"))),
    }
}

/// Sends a batch on its way; `staging` is as long as `stage` wants it, and holds the input; `spare` is
/// what a batch before on this stream has left. Returns before the device is done.
pub(crate) fn launch(
    gpu: &Gpu,
    stream: &Arc<CudaStream>,
    batch: &Batch,
    stage: &Stage,
    staging: &mut PinnedHostSlice<u8>,
    spare: Option<Spare>,
) -> Result<Running> {
    let (staged, planes, scratch, found) = match spare {
        Some(s) => (Some(s.staged), Some(s.planes), Some(s.scratch), Some(s.status)),
        None => (None, None, None, None),
    };
    let mut staged = enough(stream, staged, staging.len().max(stage.total))?;
    let mut planes = enough(stream, planes, batch.planes)?;
    let scratch = enough(stream, scratch, batch.scratch)?;
    let mut outputs = room::<u8>(stream, batch.outputs)?;
    let groups = batch.group_count();
    let mut found = match found.filter(|f| f.len() > groups) {
        Some(found) => found,
        None => pinned::<u32>(gpu, (groups + 1).next_power_of_two())?,
    };
    // As long as `found`: a copy to the host is as long as its target.
    let status = stream.alloc_zeros::<u32>(found.len())?;
    let base = place(&staged, stream);
    let others = Elsewhere {
        planes: (place(&planes, stream), batch.planes),
        outputs: (place(&outputs, stream), batch.outputs),
        scratch: (place(&scratch, stream), batch.scratch),
        status: place(&status, stream),
    };
    stage.fill(batch, base, others, staging.as_mut_slice()?);
    stream.memcpy_htod(staging, &mut staged)?;
    for (Upload { to_output, to, bytes }, &from) in batch.uploads.iter().zip(&stage.uploads) {
        let buffer = if *to_output { &mut outputs } else { &mut planes };
        let from = staged.try_slice(from..from + bytes.len());
        if let (Some(from), Some(mut to)) = (from, buffer.try_slice_mut(*to..*to + bytes.len()))
            && !bytes.is_empty()
        {
            stream.memcpy_dtod(&from, &mut to)?;
        }
    }
    let fields = base + stage.fields as u64;
    let shared = batch.tables.min(gpu.shared);
    let shared_bytes = u32::try_from(shared).unwrap_or(0);
    let run = |function: &CudaFunction, blocks: usize, threads: usize, tables: Option<&u32>| {
        if blocks == 0 {
            return Ok(());
        }
        let grid = grid(blocks, threads, if tables.is_some() { shared } else { 0 })?;
        let mut builder = stream.launch_builder(function);
        builder.arg(&fields);
        if let Some(bytes) = tables {
            builder.arg(bytes);
        }
        // SAFETY: the argument is the address of the numbers that kernels/batch.cuh names, in that
        // order (and, of the decoding kernel alone, the bytes of its shared memory). They name buffers
        // of this stream, with their lengths, that live in `Running` until the kernels have run; the
        // kernels hold every place that they read or write against these lengths.
        unsafe { builder.launch(grid) }?;
        Result::Ok(())
    };
    let timing = Some(cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT);
    let before = stream.record_event(timing)?;
    run(&gpu.check, groups.div_ceil(THREADS / 32), THREADS, None)?;
    let blocks = batch.blocks.len() / BLOCK_FIELDS;
    run(&gpu.decode, blocks, 32 * BLOCK_GROUPS, Some(&shared_bytes))?;
    run(&gpu.join, batch.join_blocks.len() / JOIN_BLOCK_FIELDS, THREADS, None)?;
    let after = stream.record_event(timing)?;
    stream.memcpy_dtoh(&status, &mut found)?;
    Ok(Running {
        outputs,
        groups,
        spare: Spare { staged, planes, scratch, status: found },
        _status: status,
        times: (before, after),
    })
}
