//! Who is told of bytes that are decoded.

use crate::error::Result;
use crate::watch::Watch;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells of the bytes of an entry that are decoded, of none twice.
#[derive(Debug)]
pub(crate) struct Telling {
    watch: Watch,
    left: AtomicU64,
}

impl Telling {
    pub(crate) fn new(watch: &Watch, bytes: usize) -> Self {
        Self { watch: watch.clone(), left: AtomicU64::new(bytes as u64) }
    }

    /// So many more are decoded, or have been before.
    pub(crate) fn done(&self, bytes: usize) -> Result<()> {
        let (mut left, bytes) = (self.left.load(Ordering::Relaxed), bytes as u64);
        loop {
            let now = left.min(bytes);
            let (from, to) = (left, left - now);
            match self.left.compare_exchange_weak(from, to, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return self.watch.done(now),
                Err(there) => left = there,
            }
        }
    }

    /// All are there.
    pub(crate) fn end(&self) -> Result<()> {
        self.done(usize::MAX)
    }
}
