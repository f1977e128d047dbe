//! Memory and time of one call, kept for whoever asks afterwards.

use crate::common::counting;
use cpu_time::{ProcessTime, ThreadTime};
use std::cell::Cell;

/// What one call took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Bytes held at most, beyond those held before; 0 where no counting allocator is installed.
    pub bytes: usize,
    /// Processor time: other programs do not make it longer.
    pub nanos: u64,
}

thread_local! {
    static LAST: Cell<Taken> = const { Cell::new(Taken { bytes: 0, nanos: 0 }) };
}

/// Runs `f` on this thread and remembers what it took.
pub fn measured<V>(f: impl FnOnce() -> V) -> V {
    let start = ThreadTime::now();
    let (value, bytes) = counting::peak_of(f);
    let nanos = start.elapsed().as_nanos() as u64;
    LAST.set(Taken { bytes, nanos });
    value
}

/// The same where `f` has threads of its own, in a process that does nothing else.
pub fn measured_with_threads<V>(f: impl FnOnce() -> V) -> V {
    let start = ProcessTime::now();
    let (value, bytes) = counting::peak_of_process(f);
    let nanos = start.elapsed().as_nanos() as u64;
    LAST.set(Taken { bytes, nanos });
    value
}

/// What the last measured call of this thread took.
pub fn taken() -> Taken {
    LAST.take()
}
