//! Parallel loops in the pool at hand. Work is handed over as `dyn` and results are left in cells,
//! so that the pool's machinery is compiled once and not again for each closure and type.

use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::message::{Failure, Result};

/// Calls `work(0)` to `work(n - 1)`, in any order.
fn each(n: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(work);
}

/// The results of `work(0)` to `work(n - 1)` in order, or the first error by that order.
///
/// # Errors
/// Those of `work`.
pub fn map<R: Send>(n: usize, work: &(dyn Fn(usize) -> Result<R> + Sync)) -> Result<Vec<R>> {
    let cells: Vec<Mutex<Option<Result<R>>>> = (0..n).map(|_| Mutex::new(None)).collect();
    each(n, &|index| {
        let result = work(index);
        *cells[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let result = |cell: Mutex<Option<Result<R>>>| {
        let done = cell.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A panic of `work` has gone through `each`, to the caller.
        done.unwrap_or_else(|| Err(Failure::new("a thread ended before its work")))
    };
    cells.into_iter().map(result).collect()
}

/// The results of `work` on each item, with its index, in order, or the first error by that order.
///
/// # Errors
/// Those of `work`.
pub fn map_mut<T: Send, R: Send>(
    items: &mut [T],
    work: &(dyn Fn(usize, &mut T) -> Result<R> + Sync),
) -> Result<Vec<R>> {
    let cells: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    map(cells.len(), &|index| {
        work(index, &mut cells[index].lock().unwrap_or_else(PoisonError::into_inner))
    })
}

/// Hands to `take` what `work` makes of each item of `next`, in order, while later ones are worked on. A few items for
/// each thread are under way. `next` and `take`, which may end it by `false`, are called on this thread.
///
/// # Errors
/// Those of `next` and `take`; what comes before them has been taken.
pub fn in_order<I: Send, R: Send>(
    next: &mut dyn FnMut() -> Result<Option<I>>,
    work: &(dyn Fn(I) -> R + Sync),
    take: &mut dyn FnMut(R) -> Result<bool>,
) -> Result<()> {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        while let Some(item) = next()? {
            if !take(work(item))? {
                break;
            }
        }
        return Ok(());
    }
    rayon::in_place_scope_fifo(|scope| {
        let mut ahead = VecDeque::new();
        let mut ended = Ok(false);
        loop {
            while ahead.len() < AHEAD * threads && matches!(ended, Ok(false)) {
                match next() {
                    Ok(None) => ended = Ok(true),
                    Err(e) => ended = Err(e),
                    Ok(Some(item)) => {
                        let place = Arc::new(Place::default());
                        ahead.push_back(Arc::clone(&place));
                        scope.spawn_fifo(move |_| Filled(place).0.fill(Some(work(item))));
                    }
                }
            }
            let Some(place) = ahead.pop_front() else { return ended.map(|_| ()) };
            let Some(result) = place.wait() else {
                return Err(Failure::new("a thread ended before its work"));
            };
            if !take(result)? {
                return Ok(());
            }
        }
    })
}

/// Items of each thread that are read and not taken yet.
const AHEAD: usize = 2;

/// Where a result is left.
struct Place<R> {
    /// What there is, once there is.
    result: Mutex<Option<Option<R>>>,
    filled: Condvar,
}

impl<R> Default for Place<R> {
    fn default() -> Self {
        Place { result: Mutex::new(None), filled: Condvar::new() }
    }
}

impl<R> Place<R> {
    /// The first one stays.
    fn fill(&self, result: Option<R>) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(result);
        self.filled.notify_all();
    }

    /// What is left here; does other work of the pool until it is, where there is some. `None` where its thread has
    /// ended by a panic.
    fn wait(&self) -> Option<R> {
        let there = || self.result.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        while !there() && rayon::yield_now() == Some(rayon::Yield::Executed) {}
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = self.filled.wait_while(result, |result| result.is_none());
        filled.unwrap_or_else(PoisonError::into_inner).take().flatten()
    }
}

/// A place that is filled however its thread ends.
struct Filled<R>(Arc<Place<R>>);

impl<R> Drop for Filled<R> {
    fn drop(&mut self) {
        self.0.fill(None);
    }
}

/// Both at the same time; the error of `a` goes before that of `b`.
///
/// # Errors
/// Those of either.
pub fn both(
    a: &mut (dyn FnMut() -> Result<()> + Send),
    b: &mut (dyn FnMut() -> Result<()> + Send),
) -> Result<()> {
    let (a, b) = rayon::join(a, b);
    a.and(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_told() {
        let work = |index| match index % 3 {
            2 => Err(Failure::new(format!("number {index}"))),
            _ => Ok(index),
        };
        assert_eq!(map(2, &work).ok(), Some(vec![0, 1]));
        assert!(map(100, &work).is_err_and(|e| e.to_string().contains("number 2")));
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
    }

    #[test]
    fn items_are_taken_in_order() {
        for threads in [1, 2, 5] {
            let (mut items, mut taken) = (0..200, Vec::new());
            let take = &mut |square| {
                taken.push(square);
                Ok(true)
            };
            pool(threads)
                .install(|| in_order(&mut || Ok(items.next()), &|i: usize| i * i, take))
                .expect("no errors");
            assert_eq!(taken, (0..200).map(|i| i * i).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_ends_it_early_comes_in_its_turn() {
        for threads in [1, 3] {
            for stop in [0, 7, 49] {
                let (mut items, mut taken) = (0..50, 0);
                let mut next = || match items.next() {
                    Some(i) if i == stop => Err(Failure::new(format!("no {i}"))),
                    item => Ok(item),
                };
                let take = &mut |i| {
                    assert_eq!(i, taken);
                    taken += 1;
                    Ok(true)
                };
                let done = pool(threads).install(|| in_order(&mut next, &|i: usize| i, take));
                assert!(done.is_err_and(|e| e.to_string().contains(&format!("no {stop}"))));
                assert_eq!(taken, stop);
                let mut items = 0..50;
                let take = &mut |i| Ok(i != stop);
                let next = &mut || Ok(items.next());
                pool(threads).install(|| in_order(next, &|i: usize| i, take)).expect("no errors");
                assert!(items.start <= stop + 1 + AHEAD * threads);
            }
        }
    }

    #[test]
    fn a_panic_is_no_deadlock() {
        let mut items = 0..50;
        let next = &mut || Ok(items.next());
        let work = |i: usize| assert_ne!(i, 20);
        let run = || pool(3).install(|| in_order(next, &work, &mut |()| Ok(true)));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }

    #[test]
    fn items_are_changed_in_place() {
        let mut items = [1, 2, 3];
        let before = map_mut(&mut items, &|index, item| Ok(std::mem::replace(item, 10 * index)));
        assert_eq!((before.ok(), items), (Some(vec![1, 2, 3]), [0, 10, 20]));
    }
}
