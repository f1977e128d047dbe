//! Parallel loops in the pool at hand. Work is handed over as `dyn` and results are left in cells,
//! so that the pool's machinery is compiled once and not again for each closure and type.

use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

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

    #[test]
    fn items_are_changed_in_place() {
        let mut items = [1, 2, 3];
        let before = map_mut(&mut items, &|index, item| Ok(std::mem::replace(item, 10 * index)));
        assert_eq!((before.ok(), items), (Some(vec![1, 2, 3]), [0, 10, 20]));
    }
}
