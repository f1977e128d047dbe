//! What loops over groups have in common: what is carried, and how bytes come in.

use super::places::SIZE;
use crate::x86_64::vector512::Vector;

/// What goes from group to group.
#[derive(Clone, Copy)]
pub(super) struct Carried<V> {
    /// What the next group would be with all fields 0.
    pub(super) next: V,
    /// For each lane, by how much a group of one vector moves on where all fields are 0.
    pub(super) step: V,
}

/// The 64 bytes at the start of `src`; zeros where there are fewer.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
pub(super) unsafe fn window<V: Vector>(src: &[u8]) -> V {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        match src.first_chunk::<SIZE>() {
            Some(window) => V::load(window),
            None => V::load_part(src),
        }
    }
}
