//! Results in order, while those behind them are worked on.

mod shared;
mod steps;

use crate::error::Result;
use shared::{Leave, Shared};
use std::thread::Builder;

/// Results of each thread that may wait to be taken, and some more: the one that takes them works on others meanwhile,
/// or waits for what they are written to.
const AHEAD: usize = 2;
const MORE_AHEAD: usize = 4;

/// Work of some indices, each of which is opened once and then done in pieces.
pub(crate) trait Pieces: Sync {
    /// What a thread makes once and uses again.
    type Own;
    /// What all pieces of an index need.
    type Open: Send + Sync;
    type Piece: Send;

    fn own(&self) -> Self::Own;

    /// Opens index `i`; how many pieces it has.
    fn open(&self, own: &mut Self::Own, i: usize) -> Result<(Self::Open, usize)>;

    /// Piece `j` of an index.
    fn piece(&self, own: &mut Self::Own, open: &Self::Open, j: usize) -> Result<Self::Piece>;
}

/// Hands the pieces of indices 0, …, count - 1 to `take` in order, while later ones are worked on, and none after the
/// last piece of each index. Only a few results for each thread wait.
///
/// # Errors
/// The first error of `work` in order, or of `take`; nothing is taken after it.
pub(crate) fn pieces_in_order<P: Pieces>(
    work: &P,
    count: usize,
    threads: usize,
    mut take: impl FnMut(&P::Open, Option<P::Piece>) -> Result<()>,
) -> Result<()> {
    if threads <= 1 {
        let mut own = work.own();
        for i in 0..count {
            let (open, pieces) = work.open(&mut own, i)?;
            for j in 0..pieces {
                take(&open, Some(work.piece(&mut own, &open, j)?))?;
            }
            take(&open, None)?;
        }
        return Ok(());
    }
    let shared = Shared::new(work, count, AHEAD * threads + MORE_AHEAD);
    std::thread::scope(|scope| {
        let help = || shared.help();
        // Fewer where the system has no more: `scope.spawn` would panic.
        let spawned = |_| Builder::new().spawn_scoped(scope, help).ok();
        let _helpers: Vec<_> = (1..threads).map_while(spawned).collect();
        let _leave = Leave(&shared);
        shared.take(take)
    })
}

/// One index of some pieces.
struct One<M, F> {
    count: usize,
    make: M,
    f: F,
}

impl<S, T: Send, M, F> Pieces for One<M, F>
where
    M: Fn() -> S + Sync,
    F: Fn(&mut S, usize) -> Result<T> + Sync,
{
    type Own = S;
    type Open = ();
    type Piece = T;

    fn own(&self) -> S {
        (self.make)()
    }

    fn open(&self, _own: &mut S, _i: usize) -> Result<((), usize)> {
        Ok(((), self.count))
    }

    fn piece(&self, own: &mut S, _open: &(), j: usize) -> Result<T> {
        (self.f)(own, j)
    }
}

/// Hands `f(0), …, f(count - 1)` to `take` in that order, as [`pieces_in_order`].
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
    let take = |_: &(), piece: Option<T>| piece.map_or(Ok(()), &mut take);
    pieces_in_order(&One { count, make, f }, 1, threads.min(count), take)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
