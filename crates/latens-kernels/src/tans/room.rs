//! Memory for batches.

use super::codes::Codes;
use super::stream::BATCH;
use crate::latent::Latent;
use std::ptr;

/// Room for the codes of two batches and latents of two variables.
///
/// Codes of one batch are read while those of another and latents are written. Loads wait for
/// stores before them whose addresses are alike in the low twelve bits: hence the distances. Stores
/// across lines take longer than all else: hence the alignment.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Room<L> {
    /// Of the batch that is unpacked, and of the next one.
    pub codes: [Codes; 2],
    apart: [u64; 64],
    /// Latents of the first variable.
    pub primary: [L; BATCH],
    /// Of the second.
    pub secondary: [L; BATCH],
}

impl<L: Latent> Room<L> {
    /// Room where no codes are.
    #[must_use]
    pub fn new() -> Box<Self> {
        let mut room = Box::<Self>::new_uninit();
        let all = room.as_mut_ptr();
        // As a value it would be made on the stack and moved: some ten KiB, a fifth of the time that
        // a file of ten numbers takes.
        // SAFETY: the memory is the box's own. All fields are integers, or arrays and structures of such,
        // whose bytes may be zeros, but for those that are written.
        unsafe {
            ptr::write_bytes(all, 0, 1);
            for codes in 0..2 {
                (&raw mut (*all).codes[codes].summed).write(None);
            }
            room.assume_init()
        }
    }
}
