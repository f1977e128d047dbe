//! A tensor taken apart once from end to end: parts that are kept go where there is room for them, and all is seen to come
//! together again.

use crate::error::Result;
use crate::wcodec::view::{Layout, View};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory of a thread that takes pieces apart.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) buffer: Vec<u8>,
    symbols: Vec<u8>,
    packed: Vec<u8>,
}

/// A pass over all pieces of a tensor, some of them at a time.
pub(super) struct Pass<'p> {
    pub(super) layout: Layout,
    pub(super) pieces: Layout,
    /// Bytes of each part that a piece has.
    pub(super) own: &'p [usize],
    /// Of each part the memory for it, those of some pieces at a time; none where it is not kept.
    pub(super) room: Vec<Vec<Mutex<&'p mut [u8]>>>,
}

fn locked<T>(room: &Mutex<T>) -> MutexGuard<'_, T> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pass<'_> {
    /// Takes apart `bytes`, which are `n` pieces and the `i`-th to be taken together; whether they come together again.
    pub(super) fn takes_apart(
        &self,
        bytes: &[u8],
        (i, n): (usize, usize),
        memory: &mut Memory,
    ) -> Result<bool> {
        if let (View::Packed(_), [room], [own]) = (self.layout.view, &self.room[..], self.own) {
            // One part, in memory that is there.
            let Memory { symbols, packed, .. } = memory;
            let mut room = room.get(i).map(locked);
            let symbols: &mut [u8] = match &mut room {
                Some(room) => room,
                None => {
                    symbols.resize(n * own, 0);
                    symbols
                }
            };
            return Ok(self.pieces.packs_back(bytes, symbols, packed));
        }
        let Some(split) = self.pieces.split(bytes) else { return Ok(false) };
        for (room, split) in self.room.iter().zip(&split) {
            if let Some(room) = room.get(i) {
                locked(room).copy_from_slice(split.bytes());
            }
        }
        self.pieces.gives_back(split, bytes)
    }
}
