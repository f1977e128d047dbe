//! Parallel loops in the pool at hand. Work is handed over as `dyn`, so that the machinery is
//! compiled once per kind of result and not once per closure and type of number.

use rayon::prelude::*;

use crate::message::Result;

/// The results of `work(0)` to `work(n - 1)` in order, or the first error by that order.
///
/// # Errors
/// Those of `work`.
pub fn map<R: Send>(n: usize, work: &(dyn Fn(usize) -> Result<R> + Sync)) -> Result<Vec<R>> {
    let all: Vec<Result<R>> = (0..n).into_par_iter().map(work).collect();
    all.into_iter().collect()
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
