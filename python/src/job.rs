//! Calls of the library without the GIL, that tell of their progress and can be interrupted.

use crate::errors::exception;
use latens::Error;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::io::{self, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// How often Python is asked for signals and told of progress.
const PERIOD: Duration = Duration::from_millis(50);

/// One call.
pub(crate) struct Job {
    progress: Option<Py<PyAny>>,
    total: u64,
    done: AtomicU64,
    stopped: AtomicBool,
    raised: Mutex<Option<PyErr>>,
    caller: ThreadId,
    last: Mutex<Instant>,
}

impl Job {
    /// Counts `n` of the total as done. At times, and on the caller's thread only, Python handles
    /// its signals and the callback is called; an exception there ends the job.
    pub(crate) fn tick(&self, n: u64) -> latens::Result<()> {
        let done = self.done.fetch_add(n, Ordering::Relaxed).saturating_add(n);
        if self.stopped.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        if std::thread::current().id() != self.caller {
            return Ok(());
        }
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.elapsed() < PERIOD {
                return Ok(());
            }
            *last = Instant::now();
        }
        let told = Python::attach(|py| {
            py.check_signals()?;
            self.tell(py, done)
        });
        told.map_err(|raised| {
            self.stopped.store(true, Ordering::Relaxed);
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
            stopped()
        })
    }

    fn tell(&self, py: Python<'_>, done: u64) -> PyResult<()> {
        if let Some(progress) = &self.progress {
            progress.call1(py, (done.min(self.total), self.total))?;
        }
        Ok(())
    }
}

thread_local! {
    /// The job that this thread is at work for, where a source of bytes asks.
    static CURRENT: RefCell<Option<Arc<Job>>> = const { RefCell::new(None) };
}

/// Counts `n` for the job that this thread is at work for, if it is.
pub(crate) fn current(n: u64) -> latens::Result<()> {
    let job = CURRENT.with_borrow(Clone::clone);
    job.map_or(Ok(()), |job| job.tick(n))
}

impl Job {
    /// Runs `work` with this job as the [`current`] one.
    pub(crate) fn during<T>(
        self: &Arc<Self>,
        work: impl FnOnce() -> latens::Result<T>,
    ) -> latens::Result<T> {
        let before = CURRENT.replace(Some(Arc::clone(self)));
        let result = work();
        CURRENT.set(before);
        result
    }
}

fn stopped() -> Error {
    Error::invalid("interrupted")
}

/// Bytes on their way to a writer, between which a job can end.
pub(crate) struct Ticking<W> {
    pub(crate) out: W,
    pub(crate) job: Arc<Job>,
}

impl<W: Write> Write for Ticking<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.job.tick(0)?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Seek> Seek for Ticking<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

/// Runs `work` without the GIL. `progress(done, total)` is called now and then, and at the end.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    total: u64,
    work: impl FnOnce(&Arc<Job>) -> latens::Result<T> + Send,
) -> PyResult<T> {
    let job = Arc::new(Job {
        progress,
        total,
        done: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        raised: Mutex::new(None),
        caller: std::thread::current().id(),
        last: Mutex::new(Instant::now()),
    });
    let result = py.detach(|| work(&job));
    if let Some(raised) = job.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(raised);
    }
    let value = result.map_err(|e| exception(py, &e))?;
    job.tell(py, total)?;
    Ok(value)
}

/// Threads in force: 0 stands for as many as there are cores.
pub(crate) fn threads(asked: usize) -> NonZero<usize> {
    NonZero::new(asked)
        .or_else(|| std::thread::available_parallelism().ok())
        .unwrap_or(NonZero::<usize>::MIN)
}
