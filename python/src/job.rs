//! Calls of the library without the GIL, that tell of their progress and can be interrupted.

use crate::errors::{exception, lift};
use latens::{Error, Watch};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// How often Python is asked for signals and told of progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Bytes of input and of output up to which a call is over before another thread would miss the GIL,
/// or anybody Ctrl-C.
pub(crate) const BRIEF: usize = 1 << 14;

/// One call.
pub(crate) struct Job {
    progress: Option<Py<PyAny>>,
    total: AtomicU64,
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
            return Err(Error::stopped());
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
            Error::stopped()
        })
    }

    /// Says what there is in all, where that was not known before.
    pub(crate) fn expect(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// What the library tells.
    pub(crate) fn watch(self: &Arc<Self>) -> Watch {
        let job = Arc::clone(self);
        Watch::new(move |step| job.tick(step.done))
    }

    fn tell(&self, py: Python<'_>, done: u64) -> PyResult<()> {
        if let Some(progress) = &self.progress {
            let total = self.total.load(Ordering::Relaxed);
            progress.call1(py, (done.min(total), total))?;
        }
        Ok(())
    }
}

/// Runs `work` on so many bytes: as [`run`] does, or at once, unwatched and with the GIL, where they
/// are few and nobody asks for progress. That takes less than to let go of it.
pub(crate) fn run_sized<T: Send>(
    py: Python<'_>,
    bytes: usize,
    progress: Option<Py<PyAny>>,
    total: u64,
    work: impl FnOnce(&Watch) -> latens::Result<T> + Send,
) -> PyResult<T> {
    if progress.is_none() && bytes <= BRIEF {
        return lift(py, work(&Watch::NONE));
    }
    run(py, progress, total, |job| work(&job.watch()))
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
        total: AtomicU64::new(total),
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
    job.tell(py, u64::MAX)?;
    Ok(value)
}
