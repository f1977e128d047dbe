//! The same function for many indices, on some threads; results in order.

use crate::error::{Error, Result};
pub(crate) use crate::threads::line::{Pieces, in_order, pieces_in_order};
use crate::threads::side_by_side;
use crate::wcodec::crew::{AtWork, Crew, Idle};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// `f(0), …, f(count - 1)`; what comes out does not depend on `threads`.
pub(crate) fn map<T: Send>(count: usize, threads: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_with(count, threads, || (), |(), i| f(i))
}

/// As [`map`], with something that each thread makes once and uses again.
pub(crate) fn map_with<T: Send, S>(
    count: usize,
    threads: usize,
    make: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let threads = threads.clamp(1, count.max(1));
    if threads == 1 {
        let mut own = make();
        return (0..count).map(|i| f(&mut own, i)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = make();
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return done;
            }
            done.push((i, f(&mut own, i)));
        }
    };
    let mut all: Vec<_> = side_by_side(threads, work).into_iter().flatten().collect();
    all.sort_unstable_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

/// What became of [`until_error`].
#[derive(Debug)]
pub(crate) struct Failed {
    /// The index of the error.
    pub(crate) at: usize,
    /// How many indices had been begun by then, this one among them.
    pub(crate) begun: usize,
    pub(crate) error: Error,
}

/// `f(0), …, f(count - 1)`, begun in this order; none is begun after one has failed.
///
/// # Errors
/// The first error in order of the indices, whatever `threads`.
pub(crate) fn until_error<S>(
    count: usize,
    threads: usize,
    make: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> Result<()> + Sync,
) -> std::result::Result<(), Failed> {
    let state: Mutex<(usize, Option<(usize, Error)>)> = Mutex::new((0, None));
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let begin = || {
        let (begun, failed) = &mut *lock();
        (failed.is_none() && *begun < count).then(|| {
            *begun += 1;
            *begun - 1
        })
    };
    let threads = threads.clamp(1, count.max(1));
    // A line of work for each thread.
    map_with(threads, threads, make, |own, _| {
        while let Some(i) = begin() {
            if let Err(error) = f(own, i) {
                let failed = &mut lock().1;
                if failed.as_ref().is_none_or(|(at, _)| i < *at) {
                    *failed = Some((i, error));
                }
            }
        }
    });
    let (begun, failed) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), |(at, error)| Err(Failed { at, begun, error }))
}

/// Buffers of results that were taken, to be used again.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    /// One that holds anything.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// One of `length` bytes, whatever they are: that of the least memory that holds them, if it is not far more.
    pub(crate) fn take_of(&self, length: usize) -> Vec<u8> {
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits =
            |buffer: &Vec<u8>| (length..=length.saturating_mul(2)).contains(&buffer.capacity());
        let fitting = buffers.iter().enumerate().filter(|(_, buffer)| fits(buffer));
        let least = fitting.min_by_key(|(_, buffer)| buffer.capacity()).map(|(at, _)| at);
        let Some(mut buffer) = least.map(|at| buffers.swap_remove(at)) else {
            // The system clears it where it is first written, on whichever thread.
            return vec![0; length];
        };
        drop(buffers);
        buffer.resize(length, 0);
        buffer
    }

    pub(crate) fn give(&self, buffer: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }

    /// Keeps so many bytes at most.
    pub(crate) fn keep(&self, most: usize) {
        let mut left = most;
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.retain(|buffer| match left.checked_sub(buffer.capacity()) {
            Some(less) => {
                left = less;
                true
            }
            None => false,
        });
    }
}

/// `f(0), f(1), …`, one for each of `weights`, of which the largest are begun first, so that threads end
/// at about the same time: one that finds no more to begin helps the others. None is begun after one has
/// failed.
///
/// # Errors
/// That of the heaviest that fails.
pub(crate) fn heaviest_first<T: Send>(
    weights: &[usize],
    threads: usize,
    f: impl Fn(usize, Crew<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(weights[i]));
    let done: Vec<Mutex<Option<T>>> = weights.iter().map(|_| Mutex::new(None)).collect();
    let workers = threads.clamp(1, order.len().max(1));
    let idle = Idle::new(threads.saturating_sub(workers));
    let crew = if threads > 1 { Crew::with(&idle) } else { Crew::ALONE };
    let work = |_at_work: &mut AtWork<'_>, at: usize| {
        let i = order[at];
        let made = f(i, crew)?;
        *done[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
        Ok(())
    };
    until_error(order.len(), threads, || idle.at_work(), work).map_err(|failed| failed.error)?;
    let made = done.into_iter().filter_map(|done| done.into_inner().ok().flatten());
    Ok(made.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use crate::error::Error;

    #[test]
    fn results_come_in_order() {
        for threads in [0, 1, 3, 100] {
            assert_eq!(
                super::map(50, threads, |i| i * i),
                (0..50).map(|i| i * i).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn none_is_begun_after_an_error() {
        for threads in [0, 1, 2, 3, 100] {
            for bad in [0, 1, 6, 49, 50] {
                let begun = std::sync::Mutex::new(Vec::new());
                let f = |(): &mut (), i: usize| {
                    begun.lock().unwrap().push(i);
                    if i >= bad { Err(Error::invalid(i.to_string())) } else { Ok(()) }
                };
                let done = super::until_error(50, threads, || (), f);
                let mut begun = begun.into_inner().unwrap();
                begun.sort_unstable();
                assert_eq!(begun, (0..begun.len()).collect::<Vec<_>>());
                match done {
                    Ok(()) => assert_eq!((bad, begun.len()), (50, 50)),
                    Err(failed) => {
                        assert_eq!((failed.at, failed.begun), (bad, begun.len()));
                        assert_eq!(failed.error.what(), bad.to_string());
                        assert!(begun.len() <= bad + threads.max(1));
                    }
                }
            }
        }
    }

    #[test]
    fn a_panic_is_no_deadlock() {
        for at in [0, 20, 49] {
            let f = |(): &mut (), i: usize| if i == at { panic!("at {i}") } else { Ok(()) };
            let run = || super::until_error(50, 4, || (), f);
            assert!(std::panic::catch_unwind(run).is_err());
        }
    }
}
