//! The work of building tables that the numbers of a file do not earn.
//!
//! A chunk of 20 bytes may say that its tables have 2^14 slots, and hold a single number. What
//! encoders write stays far below.

use crate::error::Result;
use crate::limits::Limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Slots of a chunk's tables that each of its numbers earns.
const EARNED: u64 = 8;

/// Slots that the chunks of a file have had beyond those; shared by all that decode it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpareSlots(Arc<AtomicU64>);

impl SpareSlots {
    /// Counts a chunk of `n` numbers, before its tables are built.
    ///
    /// # Errors
    /// When the limit is passed.
    pub(crate) fn take(&self, slots: u64, n: usize, limits: &Limits) -> Result<()> {
        let spare = slots.saturating_sub(EARNED.saturating_mul(n as u64));
        let before = self.0.fetch_add(spare, Ordering::Relaxed);
        limits.check_spare_slots(before + spare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_earn_their_slots() {
        let limits = Limits::default().max_spare_slots(100);
        let spare = SpareSlots::default();
        spare.take(1 << 14, 1 << 11, &limits).unwrap();
        spare.take(1 << 14, usize::MAX, &limits).unwrap();
        spare.take(108, 1, &limits).unwrap();
        let error = spare.clone().take(9, 1, &limits).unwrap_err();
        assert!(error.is_limit() && error.to_string().contains("101 slots"), "{error}");
    }
}
