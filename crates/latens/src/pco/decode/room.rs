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

/// Room of pages that are done with, for those that come: no more than have been decoded at a time.
#[derive(Debug)]
pub(super) struct Kept<L>(Mutex<Vec<Room<L>>>);

impl<L: Latent> Kept<L> {
    /// Room for a page.
    pub(super) fn room(&self) -> Room<L> {
        let new = || Room { batch: tans::Room::new(), page: Vec::new() };
        self.change(Vec::pop).unwrap_or_else(new)
    }

    /// Keeps the room of a page.
    pub(super) fn keep(&self, room: Room<L>) {
        self.change(|kept| kept.push(room));
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Room<L>>) -> R) -> R {
        // A list is sound whoever has panicked.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<L> Default for Kept<L> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<L> Clone for Kept<L> {
    fn clone(&self) -> Self {
        Self::default()
    }
}
