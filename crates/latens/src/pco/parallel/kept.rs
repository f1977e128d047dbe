//! What a buffer held before chunks were decoded to it, for as long as that may fail: after an error
//! nothing has changed behind the numbers that are right.
//!
//! Threads take chunks in order. Of the first one that is not decoded yet nothing need be kept: what is
//! written of it is right, up to an error. Of those behind it pieces are kept as they are come to, until
//! all chunks before are decoded; what was kept is then forgotten, and its memory used again.

use crate::number::{Latent, NumberType};
use crate::pco::standalone::{Engine, Slice};
use crate::spare;
use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes that are kept at once: they are in the nearest caches still when they are overwritten.
const PIECE: usize = 1 << 15;

/// The old content of chunks.
pub(super) struct Kept<L: Latent> {
    /// All chunks before this one are decoded.
    next: AtomicUsize,
    state: Mutex<State<L>>,
}

struct State<L: Latent> {
    /// By chunk, of those that nobody is at.
    held: BTreeMap<usize, Old<L>>,
    spare: Vec<Vec<L>>,
}

impl<L: Latent> Drop for State<L> {
    fn drop(&mut self) {
        mem::take(&mut self.spare).into_iter().for_each(spare::give);
    }
}

struct Old<L> {
    /// Where it stands in the buffer.
    start: usize,
    numbers: Vec<L>,
    decoded: bool,
}

impl<L: Latent> Kept<L> {
    pub(super) fn new() -> Self {
        let state = State { held: BTreeMap::new(), spare: Vec::new() };
        Self { next: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    fn with<V>(&self, change: impl FnOnce(&mut State<L>) -> V) -> V {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// For the decoding of chunk `index` of `n` numbers, which stands at `start`.
    pub(super) fn chunk(&self, index: usize, start: usize, n: usize) -> Keeping<'_, L> {
        Keeping { kept: self, index, n, old: Old { start, numbers: Vec::new(), decoded: false } }
    }

    /// Puts back everything from the first chunk on that was not decoded.
    pub(super) fn restore(self, buffer: &mut [L]) {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        for old in mem::take(&mut state.held).into_values() {
            let place = old.start..old.start + old.numbers.len();
            if let Some(place) = buffer.get_mut(place) {
                place.copy_from_slice(&old.numbers);
            }
        }
    }
}

/// What the decoding of one chunk overwrites.
pub(super) struct Keeping<'k, L: Latent> {
    kept: &'k Kept<L>,
    index: usize,
    /// Numbers of the chunk.
    n: usize,
    old: Old<L>,
}

impl<L: Latent> Keeping<'_, L> {
    /// Keeps what comes next in the chunk, where it may have to be put back.
    fn keep(&mut self, old: &[L]) {
        if self.kept.next.load(Ordering::Acquire) == self.index {
            return;
        }
        let numbers = &mut self.old.numbers;
        if numbers.capacity() == 0 {
            let before = self.kept.with(|state| state.spare.pop());
            *numbers = before.unwrap_or_else(|| spare::take(self.n));
            numbers.clear();
        }
        numbers.extend_from_slice(old);
    }

    /// Whether the chunk is as it should be.
    pub(super) fn end(mut self, decoded: bool) {
        self.old.decoded = decoded;
    }
}

impl<L: Latent> Drop for Keeping<'_, L> {
    /// Hands it over, also where a thread panics.
    fn drop(&mut self) {
        let nothing = Old { start: 0, numbers: Vec::new(), decoded: false };
        let old = mem::replace(&mut self.old, nothing);
        self.kept.with(|state| {
            state.held.insert(self.index, old);
            let mut next = self.kept.next.load(Ordering::Relaxed);
            while state.held.get(&next).is_some_and(|old| old.decoded) {
                let old = state.held.remove(&next).map(|old| old.numbers);
                state.spare.extend(old.filter(|numbers| numbers.capacity() > 0));
                next += 1;
            }
            self.kept.next.store(next, Ordering::Release);
        });
    }
}

/// Decodes the numbers of a chunk to `dst`; whether they are all there.
pub(super) fn decode<L: Latent>(
    decoder: &mut Engine<Slice<'_>>,
    ty: NumberType,
    dst: &mut [L],
    mut keeping: Option<&mut Keeping<'_, L>>,
) -> bool {
    dst.chunks_mut(PIECE / size_of::<L>()).all(|piece| {
        if let Some(keeping) = &mut keeping {
            keeping.keep(piece);
        }
        decoder.read_bits(ty, piece).is_ok_and(|got| got == piece.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_what_is_safe_and_restores_the_rest() {
        let mut buffer: Vec<u32> = (0..40).collect();
        let kept = Kept::new();
        {
            let mut at = [0, 1, 2, 3].map(|index| kept.chunk(index, 10 * index, 10));
            for (keeping, piece) in at.iter_mut().zip(buffer.chunks_mut(10)) {
                keeping.keep(&piece[..5]);
                piece.fill(99);
            }
            let [zeroth, first, mut second, third] = at;
            first.end(true);
            third.end(true);
            assert_eq!(kept.with(|state| state.held.len()), 2);
            zeroth.end(true);
            // Of the first chunk nothing was kept, and of this one nothing more is.
            assert_eq!(kept.with(|state| (state.held.len(), state.spare.len())), (1, 1));
            second.keep(&[1; 5]);
            assert_eq!(second.old.numbers, [20, 21, 22, 23, 24]);
            second.end(false);
        }
        kept.restore(&mut buffer);
        let expected: Vec<u32> =
            (0..40).map(|i| if i >= 20 && i % 10 < 5 { i } else { 99 }).collect();
        assert_eq!(buffer, expected);
    }
}
