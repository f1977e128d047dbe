//! What a buffer held before chunks were decoded to it, for as long as that may fail: after an error
//! nothing has changed behind the numbers that are right.
//!
//! Threads take chunks in order, so that all but the last few are followed by none that failed: what
//! these overwrote is forgotten, and its memory used again.

use crate::number::Number;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The old content of chunks.
pub(super) struct Kept<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    /// By chunk.
    held: BTreeMap<usize, Piece<T>>,
    /// All chunks before this one are decoded.
    next: usize,
    spare: Vec<Vec<T>>,
}

struct Piece<T> {
    /// Where it stands in the buffer.
    start: usize,
    numbers: Vec<T>,
    decoded: bool,
}

impl<T: Number> Kept<T> {
    pub(super) fn new() -> Self {
        let state = State { held: BTreeMap::new(), next: 0, spare: Vec::new() };
        Self { state: Mutex::new(state) }
    }

    fn with<V>(&self, change: impl FnOnce(&mut State<T>) -> V) -> V {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps `old`, which stands at `start`, before chunk `index` is decoded there.
    pub(super) fn keep(&self, index: usize, start: usize, old: &[T]) {
        let mut numbers = self.with(|state| state.spare.pop()).unwrap_or_default();
        numbers.clear();
        numbers.extend_from_slice(old);
        let piece = Piece { start, numbers, decoded: false };
        self.with(|state| state.held.insert(index, piece));
    }

    /// Chunk `index` is as it should be.
    pub(super) fn decoded(&self, index: usize) {
        self.with(|state| {
            if let Some(piece) = state.held.get_mut(&index) {
                piece.decoded = true;
            }
            while state.held.get(&state.next).is_some_and(|piece| piece.decoded) {
                state.spare.extend(state.held.remove(&state.next).map(|piece| piece.numbers));
                state.next += 1;
            }
        });
    }

    /// Puts back everything from the first chunk on that was not decoded.
    pub(super) fn restore(self, buffer: &mut [T]) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        for piece in state.held.into_values() {
            let place = piece.start..piece.start + piece.numbers.len();
            if let Some(place) = buffer.get_mut(place) {
                place.copy_from_slice(&piece.numbers);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_what_is_safe_and_restores_the_rest() {
        let mut buffer: Vec<u32> = (0..40).collect();
        let kept = Kept::new();
        for index in [0, 1, 3, 2] {
            kept.keep(index, 10 * index, &buffer[10 * index..][..10]);
            buffer[10 * index..][..10].fill(99);
        }
        kept.decoded(1);
        kept.decoded(3);
        assert_eq!(kept.with(|state| state.held.len()), 4);
        kept.decoded(0);
        assert_eq!(kept.with(|state| (state.held.len(), state.spare.len())), (2, 2));
        kept.restore(&mut buffer);
        assert!(buffer[..20].iter().all(|n| *n == 99));
        assert_eq!(buffer[20..], (20..40).collect::<Vec<u32>>());
    }
}
