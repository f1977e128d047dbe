//! The same function for many indices, on some threads; results in order.

use crate::error::{Error, Result};
use crate::wcodec::crew::{AtWork, Crew, Idle};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Results of each thread that may wait to be taken.
const AHEAD: usize = 2;

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
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        // Fewer where the system has no more: `scope.spawn` would panic.
        let spawned = |_| Builder::new().spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (1..threads).map_while(spawned).collect();
        let mut all = work();
        for helper in helpers {
            match helper.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
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

    pub(crate) fn give(&self, buffer: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

/// What is under way of [`in_order`].
struct Line<T> {
    /// The next index to be worked on.
    next: usize,
    /// How many results have been taken.
    taken: usize,
    /// Those after them, as far as they are there.
    done: VecDeque<Option<Result<T>>>,
    /// Nothing more is wanted.
    over: bool,
}

/// A [`Line`] that threads share.
struct Shared<T> {
    line: Mutex<Line<T>>,
    /// Something has been done or taken.
    moved: Condvar,
    count: usize,
    /// Indices that may be worked on beyond those taken.
    ahead: usize,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Line<T>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, line: MutexGuard<'a, Line<T>>) -> MutexGuard<'a, Line<T>> {
        self.moved.wait(line).unwrap_or_else(PoisonError::into_inner)
    }

    /// An index that nobody works on, where there may be one.
    fn claim(&self, line: &mut Line<T>) -> Option<usize> {
        let free = line.next < self.count && line.next < line.taken + self.ahead && !line.over;
        free.then(|| {
            line.done.push_back(None);
            line.next += 1;
            line.next - 1
        })
    }

    fn put(&self, i: usize, result: Result<T>) {
        let mut line = self.lock();
        let at = i - line.taken;
        if let Some(place) = line.done.get_mut(at) {
            *place = Some(result);
        }
        self.moved.notify_all();
    }

    /// Works as long as there is something to do.
    fn help<S>(&self, make: impl Fn() -> S, f: impl Fn(&mut S, usize) -> Result<T>) {
        let leave = Leave(self);
        let mut own = make();
        let mut line = self.lock();
        while !line.over && line.next < self.count {
            line = match self.claim(&mut line) {
                None => self.wait(line),
                Some(i) => {
                    drop(line);
                    self.put(i, f(&mut own, i));
                    self.lock()
                }
            };
        }
        drop(line);
        std::mem::forget(leave);
    }
}

/// Ends the line where a thread leaves it early, so that no other waits for what will not come.
struct Leave<'a, T>(&'a Shared<T>);

impl<T> Drop for Leave<'_, T> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.moved.notify_all();
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

/// Hands `f(0), …, f(count - 1)` to `take` in that order, while later ones are worked on. Only a few
/// results for each thread wait.
///
/// # Errors
/// The first error of `f` in that order, or of `take`; nothing is taken after it.
pub(crate) fn in_order<T: Send, S>(
    count: usize,
    threads: usize,
    make: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let threads = threads.clamp(1, count.max(1));
    if threads == 1 {
        let mut own = make();
        return (0..count).try_for_each(|i| take(f(&mut own, i)?));
    }
    let line = Line { next: 0, taken: 0, done: VecDeque::new(), over: false };
    let (line, moved) = (Mutex::new(line), Condvar::new());
    let shared = Shared { line, moved, count, ahead: AHEAD * threads };
    std::thread::scope(|scope| {
        let help = || shared.help(&make, &f);
        // Fewer where the system has no more: `scope.spawn` would panic.
        let spawned = |_| Builder::new().spawn_scoped(scope, help).ok();
        let _helpers: Vec<_> = (1..threads).map_while(spawned).collect();
        let _leave = Leave(&shared);
        let mut own = make();
        loop {
            let mut line = shared.lock();
            if line.taken == count {
                return Ok(());
            }
            if let Some(Some(_)) = line.done.front() {
                let result = line.done.pop_front().flatten();
                line.taken += 1;
                shared.moved.notify_all();
                drop(line);
                result.map_or(Ok(()), |result| take(result?))?;
            } else if let Some(i) = shared.claim(&mut line) {
                drop(line);
                shared.put(i, f(&mut own, i));
            } else if line.over {
                // A helper panicked, and so will the scope.
                return Ok(());
            } else {
                drop(shared.wait(line));
            }
        }
    })
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
    fn results_are_taken_in_order() {
        for threads in [0, 1, 2, 3, 100] {
            let mut taken = Vec::new();
            let take = |i| {
                taken.push(i);
                Ok(())
            };
            super::in_order(500, threads, || (), |(), i| Ok(i), take).unwrap();
            assert_eq!(taken, (0..500).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        for threads in [1, 2, 5] {
            let mut taken = 0;
            let bad =
                |i: usize| if i % 7 == 6 { Err(Error::invalid(i.to_string())) } else { Ok(i) };
            let take = |_| {
                taken += 1;
                Ok(())
            };
            let error = super::in_order(50, threads, || (), |(), i| bad(i), take).unwrap_err();
            assert!(error.to_string().contains('6'), "{error}");
            assert_eq!(taken, 6);
            let full = super::in_order(50, threads, || (), |(), i| Ok(i), |i| bad(i).map(|_| ()));
            assert!(full.is_err());
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
            let f = |(): &mut (), i: usize| if i == at { panic!("at {i}") } else { Ok(i) };
            let run = || super::in_order(50, 4, || (), f, |_| Ok(()));
            assert!(std::panic::catch_unwind(run).is_err());
            let run = || super::until_error(50, 4, || (), |own, i| f(own, i).map(|_| ()));
            assert!(std::panic::catch_unwind(run).is_err());
        }
    }
}
