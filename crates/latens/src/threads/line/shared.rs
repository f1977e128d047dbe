//! Threads that do the steps of a line, and the one that takes what is done.

use super::Pieces;
use super::steps::{Line, Step};
use crate::error::Result;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A [`Line`] that threads share.
pub(super) struct Shared<'w, P: Pieces> {
    work: &'w P,
    line: Mutex<Line<P>>,
    /// Something has been done or taken.
    moved: Condvar,
    count: usize,
    /// Steps that may be ahead.
    most: usize,
}

impl<'w, P: Pieces> Shared<'w, P> {
    /// All of `count` indices, of which `most` steps may be ahead.
    pub(super) fn new(work: &'w P, count: usize, most: usize) -> Self {
        Self { work, line: Mutex::new(Line::new()), moved: Condvar::new(), count, most }
    }

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
    pub(super) fn help(&self) {
        let leave = Leave(self);
        let mut own = self.work.own();
        let mut line = self.lock();
        while !line.over && !line.is_begun(self.count) {
            line = self.go_on(line, &mut own);
        }
        drop(line);
        std::mem::forget(leave);
    }

    /// Takes what is done, and works where nothing is.
    pub(super) fn take(
        &self,
        mut take: impl FnMut(&P::Open, Option<P::Piece>) -> Result<()>,
    ) -> Result<()> {
        let mut own = self.work.own();
        let mut line = self.lock();
        loop {
            let Line { items, ahead, first, over, .. } = &mut *line;
            let Some(item) = items.front_mut() else {
                // Where it is over, a helper panicked, and so will the scope.
                if *over || line.next == self.count {
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
                _ if *over => return Ok(()), // As above.
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
pub(super) struct Leave<'a, 'w, P: Pieces>(pub(super) &'a Shared<'w, P>);

impl<P: Pieces> Drop for Leave<'_, '_, P> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.moved.notify_all();
    }
}
