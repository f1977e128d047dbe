//! Loops on threads that have nothing else to do.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// How many threads have nothing to do.
#[derive(Debug)]
pub(crate) struct Idle(AtomicUsize);

impl Idle {
    pub(crate) fn new(threads: usize) -> Self {
        Self(AtomicUsize::new(threads))
    }

    /// A thread that works, and is idle when this is dropped.
    pub(crate) fn at_work(&self) -> AtWork<'_> {
        AtWork(self)
    }

    /// One of those that are idle, to be put to work.
    fn take(&self) -> Option<AtWork<'_>> {
        let less = |n: usize| n.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok().map(|_| self.at_work())
    }
}

/// See [`Idle::at_work`].
#[derive(Debug)]
pub(crate) struct AtWork<'i>(&'i Idle);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A thread, and those that may help it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crew<'i>(Option<&'i Idle>);

/// A loop that threads share.
struct Loop {
    next: AtomicUsize,
    count: usize,
    /// The first error in order, and its index.
    failed: Mutex<Option<(usize, Error)>>,
}

impl Loop {
    /// The next index, if there is one.
    fn next(&self) -> Option<usize> {
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < self.count)
    }

    fn is_over(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.count
    }

    /// Takes in an error: none is begun after it.
    fn fail(&self, i: usize, error: Error) {
        self.next.store(self.count, Ordering::Relaxed);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|(at, _)| i < *at) {
            *failed = Some((i, error));
        }
    }
}

impl<'i> Crew<'i> {
    /// A thread that nobody helps.
    pub(crate) const ALONE: Self = Self(None);

    /// A thread that idle ones help.
    pub(crate) fn with(idle: &'i Idle) -> Self {
        Self(Some(idle))
    }

    /// Whether others may help.
    pub(crate) fn is_alone(self) -> bool {
        self.0.is_none()
    }

    /// `f` of 0, …, count - 1, begun in this order, by this thread and whichever others are idle or become
    /// so. Each has something of its own; what they had in the end, in no order.
    ///
    /// # Errors
    /// The first error in order.
    pub(crate) fn each<S: Send>(
        self,
        count: usize,
        make: impl Fn() -> S + Sync,
        f: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let Some(idle) = self.0.filter(|_| count > 1) else {
            let mut own = make();
            (0..count).try_for_each(|i| f(&mut own, i))?;
            return Ok(vec![own]);
        };
        let shared = Loop { next: AtomicUsize::new(0), count, failed: Mutex::new(None) };
        let step = |own: &mut S, i: usize| f(own, i).unwrap_or_else(|error| shared.fail(i, error));
        let help = |_at_work: AtWork<'i>| {
            let mut own = make();
            while let Some(i) = shared.next() {
                step(&mut own, i);
            }
            own
        };
        let all = std::thread::scope(|scope| {
            let (mut own, mut helpers) = (make(), Vec::new());
            while let Some(i) = shared.next() {
                if !shared.is_over()
                    && let Some(helper) = idle.take()
                {
                    let help = || help(helper);
                    // None where the system has no more: `scope.spawn` would panic.
                    helpers.extend(Builder::new().spawn_scoped(scope, help).ok());
                }
                step(&mut own, i);
            }
            let mut all = vec![own];
            for helper in helpers {
                match helper.join() {
                    Ok(own) => all.push(own),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        match shared.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(all),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn each_index_comes_once_and_threads_are_idle_again() {
        for threads in [0, 1, 3] {
            let idle = Idle::new(threads);
            for count in [0, 1, 2, 500] {
                let step = |own: &mut Vec<usize>, i: usize| {
                    own.push(i);
                    Ok(())
                };
                let all = Crew::with(&idle).each(count, Vec::new, step).unwrap();
                assert!(all.len() <= threads + 1);
                let mut all = all.concat();
                all.sort_unstable();
                assert_eq!(all, (0..count).collect::<Vec<_>>());
                assert_eq!(idle.0.load(Ordering::Relaxed), threads);
            }
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        for threads in [0, 1, 3] {
            let idle = Idle::new(threads);
            let bad = |(): &mut (), i: usize| match i {
                ..9 => Ok(()),
                _ => Err(Error::invalid(i.to_string())),
            };
            let error = Crew::with(&idle).each(500, || (), bad).unwrap_err();
            assert_eq!(error.what(), "9");
            assert_eq!(idle.0.load(Ordering::Relaxed), threads);
        }
    }
}
