//! How many threads a call works on, the same work on all of them, and what they take of it.

pub(crate) mod line;

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::Builder;

/// Threads that are of use for each core, and how many are in any case: more wait for each other.
const EACH: usize = 4;
const ANYWHERE: usize = 16;

/// Threads in force: 0 stands for as many as there are cores, which is found out once. Of more than a few for each core
/// the rest is not begun.
pub(crate) fn count(asked: usize) -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let find = || std::thread::available_parallelism().map_or(1, usize::from);
    match asked {
        0 => *CORES.get_or_init(find),
        // The system need not be asked.
        n @ ..=ANYWHERE => n,
        n => n.min(CORES.get_or_init(find).saturating_mul(EACH).max(ANYWHERE)),
    }
}

/// Jobs that threads take in order, with their numbers.
pub(crate) struct Jobs<I>(Mutex<std::iter::Enumerate<I>>);

impl<I: Iterator> Jobs<I> {
    pub(crate) fn new(jobs: impl IntoIterator<IntoIter = I>) -> Self {
        Self(Mutex::new(jobs.into_iter().enumerate()))
    }

    pub(crate) fn next(&self) -> Option<(usize, I::Item)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next()
    }

    /// Nothing more is begun: the others need not go on.
    pub(crate) fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_ref().for_each(drop);
    }
}

/// `work` on so many threads, this one among them; what came of it, in no order.
///
/// They are fewer where the system has no more.
pub(crate) fn side_by_side<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    let (own, mut all) = beside(threads, &work, &work);
    all.push(own);
    all
}

/// `own` on this thread, and `work` on as many others as make so many threads with it; what came of
/// both.
pub(crate) fn beside<T: Send, R>(
    threads: usize,
    work: impl Fn() -> T + Sync,
    own: impl FnOnce() -> R,
) -> (R, Vec<T>) {
    std::thread::scope(|scope| {
        // `scope.spawn` would panic where the system has no more.
        let spawned = |_| Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<_> = (1..threads).map_while(spawned).collect();
        let own = own();
        let join = |other: std::thread::ScopedJoinHandle<'_, T>| match other.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        (own, others.into_iter().map(join).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn no_threads_are_all_cores() {
        assert!(count(0) >= 1);
        assert_eq!((count(3), count(ANYWHERE)), (3, ANYWHERE));
        let most = count(100_000);
        assert!(most == ANYWHERE.max(EACH * count(0)), "{most}");
        assert_eq!(count(usize::MAX), most);
    }

    #[test]
    fn jobs_are_taken_in_order_until_they_end() {
        let jobs = Jobs::new(["a", "b", "c"]);
        assert_eq!((jobs.next(), jobs.next()), (Some((0, "a")), Some((1, "b"))));
        jobs.end();
        assert_eq!(jobs.next(), None);
    }

    #[test]
    fn each_thread_works_once() {
        let next = AtomicU32::new(0);
        let mut all = side_by_side(3, || next.fetch_add(1, Ordering::Relaxed));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
        assert_eq!(beside(1, || 5, || 7), (7, vec![]));
    }
}
