//! Memory that is used again.

use crate::wcodec::decode::group::{Buffers, MOST};
use crate::wcodec::threads::Spare;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What groups decoded one after the other may use again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) stored: [Vec<u8>; MOST],
    pub(crate) symbols: Vec<u8>,
    /// Planes that are still to be joined.
    pub(crate) planes: Vec<u8>,
    /// By part, a group of which some is in the next stretch.
    pub(crate) across: BTreeMap<usize, Across>,
    pub(crate) buffers: Buffers,
}

/// A decoded group.
#[derive(Debug, Default)]
pub(crate) struct Across {
    /// Which: the entry that holds it, its part and its number there. `None` where it may be any bytes.
    pub(crate) of: Option<(usize, usize, usize)>,
    pub(crate) bytes: Vec<u8>,
}

/// Scratch of work that is done, for work to come: fresh memory is dear.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    scratch: Mutex<Vec<Scratch>>,
    /// Buffers of what is decoded.
    pub(crate) spare: Spare,
}

/// Decoded bytes in a buffer that may be longer: it is not cleared again for what is written over anyway.
#[derive(Debug)]
pub(crate) struct Filled {
    buffer: Vec<u8>,
    length: usize,
}

impl Filled {
    /// None yet, in the memory of `buffer`.
    pub(crate) fn new(buffer: Vec<u8>) -> Self {
        Self { buffer, length: 0 }
    }

    /// So many more, whatever they are.
    pub(crate) fn more(&mut self, count: usize) -> &mut [u8] {
        let start = self.length;
        self.length += count;
        if let Some(more) = self.length.checked_sub(self.buffer.len()) {
            self.buffer.reserve_exact(more);
            self.buffer.resize(self.length, 0);
        }
        &mut self.buffer[start..self.length]
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// The buffer, as long as it was.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

/// Scratch that goes back to its pool.
#[derive(Debug)]
pub(crate) struct Lent<'p> {
    pool: &'p Pool,
    pub(crate) scratch: Scratch,
}

/// Bytes of scratch that are kept; what unusual groups took is not.
pub(crate) const KEPT: usize = 1 << 22;

impl Pool {
    pub(crate) fn lend(&self) -> Lent<'_> {
        let scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Lent { pool: self, scratch: scratch.unwrap_or_default() }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.buffers.forget();
        scratch.across.values_mut().for_each(|across| across.of = None);
        let across = scratch.across.values().map(|across| &across.bytes);
        let each = scratch.stored.iter().chain([&scratch.symbols, &scratch.planes]).chain(across);
        let stored = each.map(Vec::capacity);
        if stored.sum::<usize>() + scratch.buffers.bytes() <= KEPT {
            self.pool.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        }
    }
}
