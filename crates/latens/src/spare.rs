//! Long vectors that a process keeps for the next call.
//!
//! Allocators hand long memory back to the system, and each page of it that comes again is a fault: a
//! quarter of the time of compressing a chunk, on virtual machines more. Only vectors that no caller
//! gets to see are kept, and [`MOST`] bytes of them in all.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// Bytes of the shortest vectors that are kept: shorter ones allocators keep as well.
const SHORTEST: usize = 1 << 15;

/// Bytes that are kept at most, which serves two threads with chunks of 2^18 numbers of 64 bits.
const MOST: usize = 16 << 20;

/// The oldest first.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

struct Kept {
    bytes: usize,
    vec: Box<dyn Any + Send>,
}

/// An empty vector with room for `n`, and for twice as many at most.
pub(crate) fn take<T: Send + 'static>(n: usize) -> Vec<T> {
    let mut vec = as_it_was(n);
    vec.clear();
    vec
}

/// `n` values of any kind, all of which the caller is to write over.
pub(crate) fn stale<T: Copy + Default + Send + 'static>(n: usize) -> Vec<T> {
    let mut vec = as_it_was(n);
    vec.resize(n, T::default());
    vec
}

/// A vector with room for `n`, and what it was given back with.
fn as_it_was<T: Send + 'static>(n: usize) -> Vec<T> {
    if n.saturating_mul(size_of::<T>()) < SHORTEST {
        return Vec::with_capacity(n);
    }
    // Nobody waits for another thread: what is at hand is merely faster.
    let mut let_go = Vec::new();
    let found = KEPT.try_lock().ok().and_then(|mut kept| {
        let found = find::<T>(&mut kept, n);
        if found.is_none() {
            let_go = oldest_within(&mut kept, n * size_of::<T>());
        }
        found
    });
    drop(let_go);
    found.unwrap_or_else(|| Vec::with_capacity(n))
}

/// These values, in a vector that [`take`] has room in.
pub(crate) fn copy<T: Copy + Send + 'static>(values: &[T]) -> Vec<T> {
    let mut vec = take(values.len());
    vec.extend_from_slice(values);
    vec
}

/// `n` times `value`, as [`take`] has room for.
pub(crate) fn filled<T: Copy + Send + 'static>(value: T, n: usize) -> Vec<T> {
    let mut vec = take(n);
    vec.resize(n, value);
    vec
}

/// Keeps a vector for [`take`], or lets it go.
pub(crate) fn give<T: Send + 'static>(vec: Vec<T>) {
    let bytes = vec.capacity() * size_of::<T>();
    if !(SHORTEST..=MOST).contains(&bytes) {
        return;
    }
    let mut let_go = Vec::new();
    if let Ok(mut kept) = KEPT.try_lock() {
        let all = kept.iter().map(|k| k.bytes).sum::<usize>() + bytes;
        let_go = oldest(&mut kept, all.saturating_sub(MOST));
        kept.push(Kept { bytes, vec: Box::new(vec) });
    }
    drop(let_go);
}

/// As [`stale`]; compiled once.
#[inline(never)]
pub(crate) fn stale_bytes(n: usize) -> Vec<u8> {
    stale(n)
}

/// As [`give`]; compiled once.
#[inline(never)]
pub(crate) fn give_bytes(bytes: Vec<u8>) {
    give(bytes);
}

/// Bytes in memory that is kept for [`take`] when they are dropped.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    vec: Vec<u8>,
    len: usize,
}

impl Bytes {
    /// As [`stale_bytes`]; a vector that is longer stays so, and is not filled again for the next.
    pub(crate) fn stale(n: usize) -> Self {
        let mut vec = as_it_was(n);
        vec.resize(n.max(vec.len()), 0);
        Self { vec, len: n }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(vec: Vec<u8>) -> Self {
        Self { len: vec.len(), vec }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.vec[..self.len]
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.vec[..self.len]
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        give_bytes(std::mem::take(&mut self.vec));
    }
}

/// The shortest that is long enough and not too long.
fn find<T: 'static>(kept: &mut Vec<Kept>, n: usize) -> Option<Vec<T>> {
    let capacity = |k: &Kept| k.vec.downcast_ref::<Vec<T>>().map(Vec::capacity);
    let (_, place) = (0..kept.len())
        .filter_map(|place| Some((capacity(&kept[place])?, place)))
        .filter(|(capacity, _)| (n..=2 * n).contains(capacity))
        .min()?;
    kept.remove(place).vec.downcast().ok().map(|vec| *vec)
}

/// The oldest that have no more than so many bytes in all: a short vector that is new does not send away a long one
/// that will be asked for again.
fn oldest_within(kept: &mut Vec<Kept>, bytes: usize) -> Vec<Kept> {
    let mut left = bytes;
    let fits = |k: &&Kept| {
        let rest = left.checked_sub(k.bytes);
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    let count = kept.iter().take_while(fits).count();
    kept.drain(..count).collect()
}

/// The oldest that have so many bytes at least in all.
fn oldest(kept: &mut Vec<Kept>, bytes: usize) -> Vec<Kept> {
    let mut sum = 0;
    let is_needed = |k: &&Kept| {
        let before = sum;
        sum += k.bytes;
        before < bytes
    };
    let count = kept.iter().take_while(is_needed).count();
    kept.drain(..count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(capacities: &[usize]) -> Vec<Kept> {
        let one = |&n: &usize| Kept { bytes: 8 * n, vec: Box::new(Vec::<u64>::with_capacity(n)) };
        capacities.iter().map(one).collect()
    }

    #[test]
    fn the_shortest_that_fits_is_taken_of_its_type() {
        let mut all = kept(&[100, 70, 300, 50]);
        assert!(find::<u32>(&mut all, 60).is_none());
        assert_eq!(find::<u64>(&mut all, 60).map(|v| v.capacity()), Some(70));
        assert_eq!(find::<u64>(&mut all, 60).map(|v| v.capacity()), Some(100));
        // Fifty are too short, and 300 too long.
        assert!(find::<u64>(&mut all, 60).is_none());
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn the_oldest_go_first_until_that_is_enough() {
        let mut all = kept(&[10, 20, 30]);
        assert_eq!(oldest(&mut all, 0).len(), 0);
        assert_eq!(oldest(&mut all, 81).len(), 2);
        assert_eq!(all.len(), 1);
        assert_eq!(oldest(&mut all, 10_000).len(), 1);
    }

    #[test]
    fn what_is_new_sends_away_no_more_than_it_takes() {
        let mut all = kept(&[10, 20, 30]);
        assert_eq!(oldest_within(&mut all, 79).len(), 0);
        assert_eq!(oldest_within(&mut all, 239).len(), 1);
        assert_eq!(oldest_within(&mut all, 400).len(), 2);
        assert!(all.is_empty());
    }

    #[test]
    fn what_comes_back_is_empty_and_has_room() {
        for n in [0, 1, SHORTEST / 8, SHORTEST, MOST] {
            for _ in 0..3 {
                let vec = filled(7u64, n);
                assert_eq!(vec.len(), n);
                assert!(vec.iter().all(|&x| x == 7));
                give(vec);
                assert_eq!(stale::<u64>(n).len(), n);
                let vec = take::<u64>(n);
                assert!(vec.is_empty() && vec.capacity() >= n);
                give(vec);
            }
        }
        let all: usize = KEPT.lock().unwrap().iter().map(|k| k.bytes).sum();
        assert!(all <= MOST, "{all}");
    }
}
