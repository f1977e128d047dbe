//! Where the tables of a file's chunks are made, whoever decodes them.
//!
//! A chunk of 20 bytes may say that its tables have 2^14 slots, and hold a single number. What
//! encoders write stays far below. So slots are counted that the numbers of a file do not earn, and
//! the memory of tables that are done with is kept for those that come.

use crate::error::Result;
use crate::limits::Limits;
use latens_kernels::tans::Memory;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Slots of a chunk's tables that each of its numbers earns.
const EARNED: u64 = 8;

/// Shared by all that decode a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workshop(Arc<Inside>);

#[derive(Debug, Default)]
struct Inside {
    /// Slots that chunks have had beyond those that are earned.
    spare: AtomicU64,
    /// No more than there have been tables at a time.
    memory: Mutex<Vec<Memory>>,
}

impl Workshop {
    /// Counts a chunk of `n` numbers, before its tables are built.
    ///
    /// # Errors
    /// When the limit is passed.
    pub(crate) fn count(&self, slots: u64, n: usize, limits: Limits) -> Result<()> {
        let spare = slots.saturating_sub(EARNED.saturating_mul(n as u64));
        let before = self.0.spare.fetch_add(spare, Ordering::Relaxed);
        limits.check_spare_slots(before + spare)
    }

    /// Memory for a table.
    pub(crate) fn memory(&self) -> Memory {
        self.kept(Vec::pop).unwrap_or_default()
    }

    /// Keeps the memory of a table.
    pub(crate) fn keep(&self, memory: Memory) {
        self.kept(|kept| kept.push(memory));
    }

    fn kept<R>(&self, change: impl FnOnce(&mut Vec<Memory>) -> R) -> R {
        // A list is sound whoever has panicked.
        change(&mut self.0.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_earn_their_slots() {
        let limits = Limits::default().max_spare_slots(100);
        let workshop = Workshop::default();
        workshop.count(1 << 14, 1 << 11, limits).unwrap();
        workshop.count(1 << 14, usize::MAX, limits).unwrap();
        workshop.count(108, 1, limits).unwrap();
        let error = workshop.clone().count(9, 1, limits).unwrap_err();
        assert!(error.is_limit() && error.to_string().contains("101 slots"), "{error}");
    }
}
