//! Room for the batches of a page.

use crate::number::Latent;
use crate::pco::layout::BATCH_N;
use latens_kernels::tans::Codes;
use std::sync::{Mutex, PoisonError};

/// Room for codes and latents.
///
/// Codes of one batch are read while those of another and latents are written. Loads wait for
/// stores before them whose addresses are alike in the low twelve bits: hence the distances. Stores
/// across lines take longer than all else: hence the alignment.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Room<L> {
    pub(super) codes: [Codes; 2],
    apart: [u64; 80],
    pub(super) primary: [L; BATCH_N],
    pub(super) secondary: [L; BATCH_N],
    /// A copy of a short page, and room behind it.
    pub(super) page: Vec<u8>,
}

impl<L: Latent> Room<L> {
    fn new() -> Box<Self> {
        Box::new(Self {
            codes: Default::default(),
            apart: [0; 80],
            primary: [L::ZERO; BATCH_N],
            secondary: [L::ZERO; BATCH_N],
            page: Vec::new(),
        })
    }
}

/// Room of pages that are done with, for those that come: no more than have been decoded at a time.
#[derive(Debug)]
pub(super) struct Kept<L>(Mutex<Vec<Box<Room<L>>>>);

impl<L: Latent> Kept<L> {
    /// Room for a page.
    pub(super) fn room(&self) -> Box<Room<L>> {
        self.change(Vec::pop).unwrap_or_else(Room::new)
    }

    /// Keeps the room of a page.
    pub(super) fn keep(&self, room: Box<Room<L>>) {
        self.change(|kept| kept.push(room));
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Box<Room<L>>>) -> R) -> R {
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
