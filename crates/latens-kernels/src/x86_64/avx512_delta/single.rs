//! Groups of one vector: fields of any width, and those of none.

use super::group::{Carried, window};
use super::places::{Forms, Places, SIZE};
use crate::delta::bodies::Run;
use crate::lane::Lane;
use crate::x86_64::vector512::Vector;

/// Width 0. Whole vectors of the cache's lines: after the first one, stores begin where a line does,
/// and the last one overlaps the one before.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
pub(super) unsafe fn even<V: Vector, L: Forms>(carried: Carried<V>, min: L, out: &mut [L]) -> V {
    let Carried { next, step } = carried;
    let count = out.len();
    let odd = out.as_ptr().align_offset(SIZE).min(L::LANES);
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        if let Some(group) = out.get_mut(..L::LANES) {
            next.store(group);
        }
        let mut now = after(next, min, odd);
        for group in out.get_mut(odd..).unwrap_or_default().chunks_exact_mut(L::LANES) {
            now.store(group);
            now = now.add::<L>(step);
        }
        if let Some(last) = count.checked_sub(L::LANES) {
            after(next, min, last).store(&mut out[last..]);
        }
        after(next, min, count)
    }
}

/// What comes `values` values of width 0 after `next`.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn after<V: Vector, L: Lane>(next: V, min: L, values: usize) -> V {
    // SAFETY: the caller vouches for the instructions.
    unsafe { next.add::<L>(V::splat(min.times(L::truncate(values as u64)))) }
}

/// Groups of one vector. `WIDE`: some fields span a byte more than their lane; `PLAIN`: each is a
/// whole lane.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
pub(super) unsafe fn single<V: Vector, L: Forms, const WIDE: bool, const PLAIN: bool>(
    run: &Run<'_>,
    places: &Places,
    carried: Carried<V>,
    out: &mut [L],
) -> V {
    let Carried { mut next, step } = carried;
    let size = run.width as usize * L::LANES / 8;
    let mask = u64::MAX.checked_shr(64 - run.width).unwrap_or(0);
    let mut src = run.bytes;
    // SAFETY: the caller vouches for the instructions, here and below.
    let (bytes, over, right, left, mask) = unsafe {
        (
            V::load(&places.bytes),
            V::load(&places.over),
            V::load(&places.right),
            V::load(&places.left),
            V::splat(L::truncate(mask)),
        )
    };
    for group in out.chunks_exact_mut(L::LANES) {
        // SAFETY: as above.
        unsafe {
            let window = window::<V>(src);
            let mut x = window;
            if !PLAIN {
                x = window.permute_bytes(bytes).shift_right::<L>(right);
                if WIDE {
                    x = x.or(window.permute_bytes(over).shift_left::<L>(left));
                }
                x = x.and(mask);
            }
            x = x.add::<L>(x.below::<L, 1>());
            x = x.add::<L>(x.below::<L, 2>());
            x = x.add::<L>(x.below::<L, 4>());
            if L::BITS == 32 {
                x = x.add::<L>(x.below::<L, 8>());
            }
            x.add::<L>(next).store(group);
            next = next.add::<L>(x.broadcast_last::<L>().add::<L>(step));
        }
        src = src.get(size..).unwrap_or_default();
    }
    next
}
