//! Results in order, while those behind them are worked on.

use crate::error::Result;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Results of each thread that may wait to be taken.
const AHEAD: usize = 2;

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

/// An index that has been begun.
struct Item<P: Pieces> {
    /// Once it is open.
    open: Option<Result<Arc<P::Open>>>,
    count: usize,
    /// The next piece to be worked on.
    next: usize,
    /// How many pieces have been taken.
    taken: usize,
    /// Those after them, as far as they are there.
    done: VecDeque<Option<Result<P::Piece>>>,
}

/// What is under way.
struct Line<P: Pieces> {
    /// The next index to be opened.
    next: usize,
    /// The index of the first item.
    first: usize,
    /// Those that are begun and not taken as a whole.
    items: VecDeque<Item<P>>,
    /// Indices being opened, and pieces that are worked on or wait to be taken.
    ahead: usize,
    /// Nothing more is wanted.
    over: bool,
}

/// A step that a thread has claimed.
enum Step<P: Pieces> {
    Open(usize),
    Piece(usize, Arc<P::Open>, usize),
}

/// A [`Line`] that threads share.
struct Shared<'w, P: Pieces> {
    work: &'w P,
    line: Mutex<Line<P>>,
    /// Something has been done or taken.
    moved: Condvar,
    count: usize,
    /// Steps that may be ahead.
    most: usize,
}

impl<P: Pieces> Line<P> {
    /// A step that nobody works on, where there may be one: the first in order. The one that all others wait for may always be.
    fn claim(&mut self, count: usize, most: usize) -> Option<Step<P>> {
        let is_free = self.ahead < most && !self.over;
        for (k, item) in self.items.iter_mut().enumerate() {
            let Some(Ok(open)) = &item.open else { continue };
            if item.next < item.count {
                let is_first = k == 0 && item.next == item.taken && !self.over;
                return (is_free || is_first).then(|| {
                    item.done.push_back(None);
                    item.next += 1;
                    self.ahead += 1;
                    Step::Piece(self.first + k, Arc::clone(open), item.next - 1)
                });
            }
        }
        let is_first = self.items.is_empty() && !self.over;
        (self.next < count && (is_free || is_first)).then(|| {
            let done = VecDeque::new();
            self.items.push_back(Item { open: None, count: 0, next: 0, taken: 0, done });
            self.ahead += 1;
            self.next += 1;
            Step::Open(self.next - 1)
        })
    }

    /// Whether all steps have been begun.
    fn is_begun(&self, count: usize) -> bool {
        let is_begun = |item: &Item<P>| item.open.is_some() && item.next == item.count;
        self.next == count && self.items.iter().all(is_begun)
    }
}

impl<P: Pieces> Shared<'_, P> {
    fn lock(&self) -> MutexGuard<'_, Line<P>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, line: MutexGuard<'a, Line<P>>) -> MutexGuard<'a, Line<P>> {
        self.moved.wait(line).unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a step.
    fn step(&self, own: &mut P::Own, step: Step<P>) {
        match step {
            Step::Open(i) => {
                let opened = self.work.open(own, i);
                let mut line = self.lock();
                line.ahead -= 1;
                let at = i - line.first;
                if let Some(item) = line.items.get_mut(at) {
                    item.count = opened.as_ref().map_or(0, |(_, count)| *count);
                    item.open = Some(opened.map(|(open, _)| Arc::new(open)));
                }
            }
            Step::Piece(i, open, j) => {
                let piece = self.work.piece(own, &open, j);
                drop(open);
                let mut line = self.lock();
                let at = i - line.first;
                if let Some(item) = line.items.get_mut(at)
                    && let Some(place) = item.done.get_mut(j - item.taken)
                {
                    *place = Some(piece);
                }
            }
        }
        self.moved.notify_all();
    }

    /// Works as long as there is something to do.
    fn help(&self) {
        let leave = Leave(self);
        let mut own = self.work.own();
        let mut line = self.lock();
        while !line.over && !line.is_begun(self.count) {
            line = match line.claim(self.count, self.most) {
                None => self.wait(line),
                Some(step) => {
                    drop(line);
                    self.step(&mut own, step);
                    self.lock()
                }
            };
        }
        drop(line);
        std::mem::forget(leave);
    }

    /// Takes what is done, and works where nothing is.
    fn take(&self, mut take: impl FnMut(&P::Open, Option<P::Piece>) -> Result<()>) -> Result<()> {
        let mut own = self.work.own();
        let mut line = self.lock();
        loop {
            let Line { items, ahead, first, over, .. } = &mut *line;
            let Some(item) = items.front_mut() else {
                if line.next == self.count {
                    return Ok(());
                }
                line = self.go_on(line, &mut own);
                continue;
            };
            let open = match &item.open {
                Some(Ok(open)) => Some(Arc::clone(open)),
                Some(Err(_)) => {
                    return item.open.take().map_or(Ok(()), |open| open.map(|_| ()));
                }
                None => None,
            };
            match (open, item.done.front()) {
                (Some(open), Some(Some(_))) => {
                    let piece = item.done.pop_front().flatten();
                    item.taken += 1;
                    *ahead -= 1;
                    self.moved.notify_all();
                    drop(line);
                    piece.map_or(Ok(()), |piece| take(&open, Some(piece?)))?;
                    line = self.lock();
                }
                (Some(open), None) if item.taken == item.count => {
                    items.pop_front();
                    *first += 1;
                    drop(line);
                    take(&open, None)?;
                    line = self.lock();
                }
                _ if *over => return Ok(()), // A helper panicked, and so will the scope.
                _ => line = self.go_on(line, &mut own),
            }
        }
    }

    /// Does a step that nobody works on, or waits.
    fn go_on<'a>(
        &'a self,
        mut line: MutexGuard<'a, Line<P>>,
        own: &mut P::Own,
    ) -> MutexGuard<'a, Line<P>> {
        match line.claim(self.count, self.most) {
            None => self.wait(line),
            Some(step) => {
                drop(line);
                self.step(own, step);
                self.lock()
            }
        }
    }
}

/// Ends the line where a thread leaves it early, so that no other waits for what will not come.
struct Leave<'a, 'w, P: Pieces>(&'a Shared<'w, P>);

impl<P: Pieces> Drop for Leave<'_, '_, P> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.moved.notify_all();
    }
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
    let line = Line { next: 0, first: 0, items: VecDeque::new(), ahead: 0, over: false };
    let (line, moved) = (Mutex::new(line), Condvar::new());
    let shared = Shared { work, line, moved, count, most: AHEAD * threads };
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
