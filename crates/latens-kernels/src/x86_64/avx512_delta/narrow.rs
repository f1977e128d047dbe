//! Narrow fields: more than a vector of numbers at a time, so that sums and steps across the
//! register are shared. As in the loop for all widths, `next` is what the next group would be with
//! all fields 0, and `step` is min_delta for each lane of a vector.

use super::places::{HALVES, PAIRS, Places, SIZE, SUMS};
use super::{Carried, window};
use crate::delta::bodies::Run;
use crate::x86_64::vector512::Vector;

/// Up to eight bits, numbers of 64: a group of eight fields lies in 64 bits, which all lanes get.
/// Each takes the fields up to its own apart to bytes, and adds them up in one instruction.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
pub(super) unsafe fn sums<V: Vector>(run: &Run<'_>, carried: Carried<V>, out: &mut [u64]) -> V {
    let Places { right, bytes, .. } = &SUMS[run.width as usize];
    let Carried { mut next, step } = carried;
    let size = run.width as usize;
    let mut src = run.bytes;
    // SAFETY: the caller vouches for the instructions, here and below.
    let (begin, keep) = unsafe { (V::load(right), V::load(bytes)) };
    for group in out.chunks_exact_mut(8) {
        // SAFETY: as above.
        unsafe {
            let fields = match src.first_chunk::<8>() {
                Some(fields) => V::splat(u64::from_le_bytes(*fields)),
                None => {
                    let mut fields = [0; 8];
                    fields[..src.len()].copy_from_slice(src);
                    V::splat(u64::from_le_bytes(fields))
                }
            };
            let x = fields.take_bits(begin).and(keep).sum_bytes();
            x.add::<u64>(next).store(group);
            next = next.add::<u64>(x.broadcast_last::<u64>().add::<u64>(step));
        }
        src = src.get(size..).unwrap_or_default();
    }
    next
}

/// Up to 25 bits, numbers of 64: sixteen fields, field i in the lower and field 8 + i in the upper
/// half of lane i, unpacked and added up together. A mask and a shift widen them.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
pub(super) unsafe fn halves<V: Vector>(run: &Run<'_>, carried: Carried<V>, out: &mut [u64]) -> V {
    let places = &HALVES[run.width as usize];
    let Carried { mut next, step } = carried;
    let size = run.width as usize * 2;
    let mut src = run.bytes;
    // SAFETY: the caller vouches for the instructions, here and below.
    let (bytes, right, mask, low, half) = unsafe {
        (
            V::load(&places.bytes),
            V::load(&places.right),
            V::splat((1u32 << run.width) - 1),
            V::splat(u64::from(u32::MAX)),
            V::splat(32u64),
        )
    };
    for group in out.chunks_exact_mut(16) {
        // SAFETY: as above.
        unsafe {
            let mut x = window::<V>(src).permute_bytes(bytes).shift_right::<u32>(right).and(mask);
            x = x.add::<u64>(x.below::<u64, 1>());
            x = x.add::<u64>(x.below::<u64, 2>());
            x = x.add::<u64>(x.below::<u64, 4>());
            let total = x.broadcast_last::<u64>();
            let between = next.add::<u64>(total.and(low).add::<u64>(step));
            let (first, second) = group.split_at_mut(SIZE / 8);
            x.and(low).add::<u64>(next).store(first);
            x.shift_right::<u64>(half).add::<u64>(between).store(second);
            next = between.add::<u64>(total.shift_right::<u64>(half).add::<u64>(step));
        }
        src = src.get(size..).unwrap_or_default();
    }
    next
}

/// Up to twelve bits, numbers of 32: [`halves`] with half of each size.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
pub(super) unsafe fn pairs<V: Vector>(run: &Run<'_>, carried: Carried<V>, out: &mut [u32]) -> V {
    let places = &PAIRS[run.width as usize];
    let Carried { mut next, step } = carried;
    let size = run.width as usize * 4;
    let mut src = run.bytes;
    let field = (1u32 << run.width) - 1;
    // SAFETY: the caller vouches for the instructions, here and below.
    let (bytes, begin, mask, low, half) = unsafe {
        (
            V::load(&places.bytes),
            V::load(&places.right),
            V::splat(field << 16 | field),
            V::splat(u32::from(u16::MAX)),
            V::splat(16u32),
        )
    };
    for group in out.chunks_exact_mut(32) {
        // SAFETY: as above.
        unsafe {
            let mut x = window::<V>(src).permute_bytes(bytes).take_bits(begin).and(mask);
            x = x.add::<u32>(x.below::<u32, 1>());
            x = x.add::<u32>(x.below::<u32, 2>());
            x = x.add::<u32>(x.below::<u32, 4>());
            x = x.add::<u32>(x.below::<u32, 8>());
            let total = x.broadcast_last::<u32>();
            let between = next.add::<u32>(total.and(low).add::<u32>(step));
            let (first, second) = group.split_at_mut(SIZE / 4);
            x.and(low).add::<u32>(next).store(first);
            x.shift_right::<u32>(half).add::<u32>(between).store(second);
            next = between.add::<u32>(total.shift_right::<u32>(half).add::<u32>(step));
        }
        src = src.get(size..).unwrap_or_default();
    }
    next
}
