//! Files decoded on a device: reading, copying and decoding at the same time.

use crate::batch::{Batch, Decoded, Fetch, Output};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::launch::{Running, Spare, launch, pinned};
use crate::stage::Stage;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, PinnedHostSlice};
use latens::wcodec::Reader;
use latens::wcodec::checkpoint::ReadAt;
use latens::wcodec::view::Values;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// Stored bytes and decoded ones of a batch, unless a tensor alone has more.
const BATCH_BYTES: usize = 256 << 20;
/// Bytes that a thread reads at a time.
const PIECE: usize = 8 << 20;

/// A `.wcodec` file whose tensors are decoded on a device.
pub struct GpuReader<S: ReadAt> {
    gpu: Gpu,
    reader: Reader<S>,
    batch_bytes: usize,
    threads: usize,
    /// Seconds that kernels took.
    kernels: Mutex<f64>,
    fallbacks: AtomicUsize,
}

/// The memory of the tensors of a batch.
#[derive(Debug)]
struct Arena {
    bytes: CudaSlice<u8>,
}

impl Drop for Arena {
    /// Waits for all work of the device: whoever uses the tensors does it on streams of their own.
    fn drop(&mut self) {
        let _ = self.bytes.context().synchronize();
    }
}

/// A tensor in device memory. It begins on 256 bytes and shares its memory with others that were
/// decoded with it, which is freed with the last of them.
#[derive(Clone, Debug)]
pub struct DeviceTensor {
    /// Its number in the file.
    pub number: usize,
    arena: Arc<Arena>,
    range: Range<usize>,
}

impl DeviceTensor {
    /// Its bytes.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The number of its device.
    pub(crate) fn ordinal(&self) -> usize {
        self.arena.bytes.context().ordinal()
    }

    /// The device's address of its first byte. What is there has been written when this returns, and
    /// stays as long as the tensor or a clone of it.
    pub fn address(&self) -> u64 {
        let bytes = &self.arena.bytes;
        bytes.device_ptr(bytes.stream()).0 + self.range.start as u64
    }

    /// A copy of its bytes on the host.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn to_host(&self) -> Result<Vec<u8>> {
        let bytes = &self.arena.bytes;
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let view = bytes.try_slice(self.range.clone());
        Ok(view.map_or(Ok(Vec::new()), |view| bytes.stream().clone_dtoh(&view))?)
    }
}

/// One of the streams that take turns.
struct Slot {
    stream: Arc<CudaStream>,
    staging: Option<PinnedHostSlice<u8>>,
    running: Option<(Running, Vec<Decoded>)>,
    spare: Option<Spare>,
}

impl<S: ReadAt> GpuReader<S> {
    /// Decodes the tensors of `reader` on `gpu`.
    pub fn new(gpu: Gpu, reader: Reader<S>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(16);
        Self {
            gpu,
            reader,
            batch_bytes: BATCH_BYTES,
            threads,
            kernels: Mutex::default(),
            fallbacks: AtomicUsize::new(0),
        }
    }

    /// Least bytes of a batch: what is read while the batch before is decoded.
    #[must_use]
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = bytes.max(1);
        self
    }

    /// Seconds that the device has spent in kernels so far, as its own clock has it.
    pub fn kernel_seconds(&self) -> f64 {
        *self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tensors (and runs of rows) so far in which the device found a fault, so that the CPU decoded
    /// them.
    pub fn fallbacks(&self) -> usize {
        self.fallbacks.load(Ordering::Relaxed)
    }

    /// The file.
    pub fn reader(&self) -> &Reader<S> {
        &self.reader
    }

    /// All tensors, in the order of the file.
    ///
    /// # Errors
    /// Those of [`GpuReader::tensors`].
    pub fn all(&self) -> Result<Vec<DeviceTensor>> {
        let numbers: Vec<usize> = self.reader.tensors().map(|(number, _)| number).collect();
        self.tensors(&numbers)
    }

    /// The tensors of these numbers, as bytes, in this order.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`], for the first tensor that is damaged; those of the driver.
    pub fn tensors(&self, numbers: &[usize]) -> Result<Vec<DeviceTensor>> {
        let mut out = Vec::with_capacity(numbers.len());
        let mut slots = [self.slot()?, self.slot()?];
        let mut turn = 0;
        let mut left = numbers;
        while !left.is_empty() {
            let (batch, count) = self.next_batch(left)?;
            left = &left[count..];
            // What this slot did before is done by now, or is waited for.
            let slot = &mut slots[turn % 2];
            self.finish(slot, &mut out)?;
            self.start(slot, batch)?;
            turn += 1;
        }
        self.finish(&mut slots[turn % 2], &mut out)?;
        self.finish(&mut slots[(turn + 1) % 2], &mut out)?;
        Ok(out)
    }

    /// Rows of the logical weights of a tensor, as [`Reader::rows`] has them: small integers, one a
    /// byte, or words of the tensor's type. Only the groups that hold them are read.
    ///
    /// # Errors
    /// Those of [`Reader::rows`]; those of the driver.
    pub fn rows(&self, number: usize, rows: Range<u64>) -> Result<DeviceTensor> {
        self.one(number, rows.clone(), Output::Values, || {
            Ok(match self.reader.rows(number, rows)? {
                Values::Signed(values) => values.into_iter().map(i8::cast_unsigned).collect(),
                Values::Unsigned(values) | Values::Words(values) => values,
            })
        })
    }

    /// Bytes of a tensor, from `range.start` on. Only the groups that hold its rows are read.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; invalid argument where there are no such bytes; those of the driver.
    pub fn bytes(&self, number: usize, range: Range<u64>) -> Result<DeviceTensor> {
        let layout = self.reader.layout(number)?;
        let unit = layout.unit_bytes.max(1);
        let units = layout.rows / layout.unit_rows.max(1);
        if range.start > range.end || range.end > units * layout.unit_bytes {
            let what = format!("bytes {} to {} of a tensor", range.start, range.end);
            return Err(latens::Error::invalid(what).into());
        }
        let wanted = range.start / unit..range.end.div_ceil(unit);
        let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let part = of(range.start - wanted.start * unit)..of(range.end - wanted.start * unit);
        let rows = wanted.start * layout.unit_rows..wanted.end * layout.unit_rows;
        let first = of(wanted.start * unit);
        let mut tensor = self.one(number, rows, Output::Stored, || {
            let all = self.reader.tensor(number)?;
            Ok(all.get(first..).unwrap_or_default().to_vec())
        })?;
        tensor.range = part;
        Ok(tensor)
    }

    /// Some rows of a tensor; `on_cpu` decodes them where the device found a fault.
    fn one(
        &self,
        number: usize,
        rows: Range<u64>,
        output: Output,
        on_cpu: impl FnOnce() -> latens::Result<Vec<u8>>,
    ) -> Result<DeviceTensor> {
        let mut batch = Batch::default();
        batch.add(number, self.reader.plan_rows(number, rows)?, output)?;
        let mut slot = self.slot()?;
        self.start(&mut slot, batch)?;
        let Some((running, decoded)) = slot.running.take() else {
            return Err(latens::Error::invalid("an empty batch").into());
        };
        let fault = running.status()?.iter().any(|&status| status != 0);
        let mut bytes = running.outputs;
        let range = decoded.first().map_or(0..0, |d| d.out.clone());
        if fault {
            self.fallbacks.fetch_add(1, Ordering::Relaxed);
            let held = on_cpu()?;
            if let Some(held) = held.get(..range.len())
                && let Some(mut room) = bytes.try_slice_mut(range.clone())
                && !held.is_empty()
            {
                slot.stream.memcpy_htod(held, &mut room)?;
            }
        }
        slot.stream.synchronize()?;
        Ok(DeviceTensor { number, arena: Arc::new(Arena { bytes }), range })
    }

    fn slot(&self) -> Result<Slot> {
        let stream = self.gpu.context.new_stream()?;
        Ok(Slot { stream, staging: None, running: None, spare: None })
    }

    /// A batch of the first of `numbers`, and how many these are.
    fn next_batch(&self, numbers: &[usize]) -> Result<(Batch, usize)> {
        let (mut batch, mut count) = (Batch::default(), 0);
        for &number in numbers {
            batch.add(number, self.reader.plan(number)?, Output::Stored)?;
            count += 1;
            if batch.input + batch.planes + batch.outputs >= self.batch_bytes {
                break;
            }
        }
        Ok((batch, count))
    }

    /// Reads what the batch needs and sends it on its way.
    fn start(&self, slot: &mut Slot, batch: Batch) -> Result<()> {
        let stage = Stage::of(&batch);
        // Twice as large as needed at most: all of it is copied.
        if slot.staging.as_ref().is_none_or(|s| s.len() < stage.total || s.len() / 2 > stage.total)
        {
            slot.staging = None;
            slot.staging = Some(pinned(&self.gpu, stage.total)?);
        }
        let Some(staging) = &mut slot.staging else { return Ok(()) };
        fetch(&self.reader, &batch.fetches, staging.as_mut_slice()?, self.threads)?;
        let spare = slot.spare.take();
        let running = launch(&self.gpu, &slot.stream, &batch, &stage, staging, spare)?;
        slot.running = Some((running, batch.tensors));
        Ok(())
    }

    /// Waits for what a slot does, and takes its tensors.
    fn finish(&self, slot: &mut Slot, out: &mut Vec<DeviceTensor>) -> Result<()> {
        let Some((running, decoded)) = slot.running.take() else { return Ok(()) };
        let status = running.status()?.to_vec();
        *self.kernels.lock().unwrap_or_else(PoisonError::into_inner) += running.seconds()?;
        slot.spare = Some(running.spare);
        let mut bytes = running.outputs;
        for tensor in &decoded {
            let groups = status.get(tensor.groups.clone()).unwrap_or_default();
            if groups.iter().all(|&status| status == 0) {
                continue;
            }
            // The CPU says what is wrong; what it can decode counts.
            self.fallbacks.fetch_add(1, Ordering::Relaxed);
            let held = self.reader.tensor(tensor.number)?;
            if let Some(mut room) = bytes.try_slice_mut(tensor.out.clone())
                && !held.is_empty()
            {
                slot.stream.memcpy_htod(&held, &mut room)?;
            }
        }
        slot.stream.synchronize()?;
        let arena = Arc::new(Arena { bytes });
        out.extend(decoded.into_iter().map(|tensor| DeviceTensor {
            number: tensor.number,
            arena: arena.clone(),
            range: tensor.out,
        }));
        Ok(())
    }
}

/// Reads all fetches, those that follow each other at once, on several threads.
fn fetch<S: ReadAt>(
    reader: &Reader<S>,
    fetches: &[Fetch],
    mut room: &mut [u8],
    threads: usize,
) -> Result<()> {
    let mut pieces: Vec<(u64, &mut [u8])> = Vec::new();
    let (mut at, mut i) = (0, 0);
    while let Some(first) = fetches.get(i) {
        let (mut bytes, start) = (first.bytes, first.to);
        i += 1;
        while let Some(next) = fetches.get(i)
            && next.from == first.from + bytes as u64
            && next.to == start + bytes
            && bytes < PIECE
        {
            bytes += next.bytes;
            i += 1;
        }
        let (_, rest) = std::mem::take(&mut room).split_at_mut(start - at);
        let (piece, rest) = rest.split_at_mut(bytes);
        pieces.push((first.from, piece));
        (room, at) = (rest, start + bytes);
    }
    let left = Mutex::new(pieces.into_iter());
    let work = || -> latens::Result<()> {
        loop {
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((from, to)) = next else { return Ok(()) };
            reader.stored_bytes(from, to)?;
        }
    };
    std::thread::scope(|scope| {
        // Fewer where the system has no more: `scope.spawn` would panic.
        let spawned = |_| Builder::new().spawn_scoped(scope, work).ok();
        let handles: Vec<_> = (1..threads).map_while(spawned).collect();
        let mut result = work();
        for handle in handles {
            let ended = handle.join();
            let failed = || Err(latens::Error::invalid("a thread that reads has failed"));
            result = result.and(ended.unwrap_or_else(|_| failed()));
        }
        result
    })?;
    Ok(())
}
