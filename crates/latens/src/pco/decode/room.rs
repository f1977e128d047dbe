//! Room for the batches of a page.

use crate::number::Latent;
use latens_kernels::tans;
use std::sync::{Mutex, PoisonError};

/// Room for what a page's batches have.
#[derive(Clone, Debug)]
pub(super) struct Room<L> {
    /// Codes and latents.
    pub(super) batch: Box<tans::Room<L>>,
    /// A copy of a short page, and room behind it.
    pub(super) page: Vec<u8>,
}

impl<L: Latent> Room<L> {
    pub(super) fn new() -> Self {
        Self { batch: tans::Room::new(), page: Vec::new() }
    }
}

/// Room of pages that are done with, for those that come: no more than have been decoded at a time.
#[derive(Debug)]
pub(crate) struct Kept<R>(Mutex<Vec<R>>);

impl<R> Kept<R> {
    /// Room for a page, or for pages.
    pub(crate) fn room(&self, new: impl FnOnce() -> R) -> R {
        self.change(Vec::pop).unwrap_or_else(new)
    }

    /// Keeps it.
    pub(crate) fn keep(&self, room: R) {
        self.change(|kept| kept.push(room));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<R>) -> T) -> T {
        // A list is sound whoever has panicked.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<R> Default for Kept<R> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<R> Clone for Kept<R> {
    fn clone(&self) -> Self {
        Self::default()
    }
}
