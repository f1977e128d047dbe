//! What is under way, and which step is the next.

use super::Pieces;
use crate::error::Result;
use std::collections::VecDeque;
use std::sync::Arc;

/// An index that has been begun.
pub(super) struct Item<P: Pieces> {
    /// Once it is open.
    pub(super) open: Option<Result<Arc<P::Open>>>,
    pub(super) count: usize,
    /// The next piece to be worked on.
    next: usize,
    /// How many pieces have been taken.
    pub(super) taken: usize,
    /// Those after them, as far as they are there.
    pub(super) done: VecDeque<Option<Result<P::Piece>>>,
}

/// What is under way.
pub(super) struct Line<P: Pieces> {
    /// The next index to be opened.
    pub(super) next: usize,
    /// The index of the first item.
    pub(super) first: usize,
    /// Those that are begun and not taken as a whole.
    pub(super) items: VecDeque<Item<P>>,
    /// Indices being opened, and pieces that are worked on or wait to be taken.
    pub(super) ahead: usize,
    /// Nothing more is wanted.
    pub(super) over: bool,
}

/// A step that a thread has claimed.
pub(super) enum Step<P: Pieces> {
    Open(usize),
    Piece(usize, Arc<P::Open>, usize),
}

impl<P: Pieces> Line<P> {
    /// Nothing has been begun.
    pub(super) fn new() -> Self {
        Self { next: 0, first: 0, items: VecDeque::new(), ahead: 0, over: false }
    }

    /// A step that nobody works on, where there may be one: the first in order. The one that all others wait
    /// for may always be.
    pub(super) fn claim(&mut self, count: usize, most: usize) -> Option<Step<P>> {
        if self.over {
            return None;
        }
        let is_free = self.ahead < most;
        for (k, item) in self.items.iter_mut().enumerate() {
            let Some(Ok(open)) = &item.open else { continue };
            if item.next < item.count {
                let is_first = k == 0 && item.next == item.taken;
                return (is_free || is_first).then(|| {
                    item.done.push_back(None);
                    item.next += 1;
                    self.ahead += 1;
                    Step::Piece(self.first + k, Arc::clone(open), item.next - 1)
                });
            }
        }
        let is_first = self.items.is_empty();
        (self.next < count && (is_free || is_first)).then(|| {
            let done = VecDeque::new();
            self.items.push_back(Item { open: None, count: 0, next: 0, taken: 0, done });
            self.ahead += 1;
            self.next += 1;
            Step::Open(self.next - 1)
        })
    }

    /// Whether all steps have been begun.
    pub(super) fn is_begun(&self, count: usize) -> bool {
        let is_begun = |item: &Item<P>| item.open.is_some() && item.next == item.count;
        self.next == count && self.items.iter().all(is_begun)
    }
}
