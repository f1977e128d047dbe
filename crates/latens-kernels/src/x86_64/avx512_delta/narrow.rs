//! Narrow fields: more than a vector of numbers at a time, so that sums and steps across the
//! register are shared. As in the loop for all widths, `next` is what the next group would be with
//! all fields 0, and `step` is min_delta for each lane of a vector.

use super::group::{Carried, window};
use super::places::{Forms, Places, SUMS, SUMS_MOST};
use crate::delta::bodies::Run;
use crate::x86_64::vector512::Vector;

/// Decodes the whole groups at the start of a run of narrow fields into `out`, where there is a
/// form for them; `None` where there is not. Else how many values that was, and what is carried on.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
pub(super) unsafe fn groups<V: Vector, L: Forms>(
    run: &Run<'_>,
    carried: Carried<V>,
    out: &mut [L],
) -> Option<(usize, V)> {
    // No closures here: they are not inlined, and each intrinsic in them becomes a call.
    if L::BITS == 64 && run.width as usize <= SUMS_MOST {
        let whole = out.len() / L::LANES * L::LANES;
        // SAFETY: the caller vouches for the instructions.
        return Some((whole, unsafe { sums(run, carried, &mut out[..whole]) }));
    }
    let places = L::halves().get(run.width as usize)?;
    let whole = out.len() / (2 * L::LANES) * (2 * L::LANES);
    // SAFETY: as above.
    Some((whole, unsafe { halves(run, places, carried, &mut out[..whole]) }))
}

/// Up to eight bits, numbers of 64: a group of eight fields lies in 64 bits, which all lanes get.
/// Each takes the fields up to its own apart to bytes, and adds them up in one instruction.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn sums<V: Vector, L: Forms>(run: &Run<'_>, carried: Carried<V>, out: &mut [L]) -> V {
    let Places { right, bytes, .. } = &SUMS[run.width as usize];
    let Carried { mut next, step } = carried;
    let size = run.width as usize;
    let mut src = run.bytes;
    // SAFETY: the caller vouches for the instructions, here and below.
    let (begin, keep) = unsafe { (V::load(right), V::load(bytes)) };
    for group in out.chunks_exact_mut(L::LANES) {
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
            x.add::<L>(next).store(group);
            next = next.add::<L>(x.broadcast_last::<L>().add::<L>(step));
        }
        src = src.get(size..).unwrap_or_default();
    }
    next
}

/// Two fields to a lane, in its lower half those of the first half of the group and in its upper
/// half the others, unpacked and added up together. A mask and a shift widen them. Numbers of 64
/// bits have sixteen fields of up to 25 bits, those of 32 have thirty-two of up to twelve.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn halves<V: Vector, L: Forms>(
    run: &Run<'_>,
    places: &Places,
    carried: Carried<V>,
    out: &mut [L],
) -> V {
    let Carried { mut next, step } = carried;
    let size = run.width as usize * L::LANES / 4;
    let bits = L::BITS / 2;
    let field = (1u64 << run.width) - 1;
    let mut src = run.bytes;
    // SAFETY: the caller vouches for the instructions, here and below.
    let (bytes, right, mask, low, half) = unsafe {
        (
            V::load(&places.bytes),
            V::load(&places.right),
            V::splat(L::truncate(field << bits | field)),
            V::splat(L::truncate((1 << bits) - 1)),
            V::splat(L::truncate(bits.into())),
        )
    };
    for group in out.chunks_exact_mut(2 * L::LANES) {
        // SAFETY: as above.
        unsafe {
            let mut x = window::<V>(src).permute_bytes(bytes);
            // Halves of 32 bits have a shift of their own, those of 16 take their bits from 64.
            x = if L::BITS == 64 { x.shift_right::<u32>(right) } else { x.take_bits(right) };
            x = x.and(mask);
            x = x.add::<L>(x.below::<L, 1>());
            x = x.add::<L>(x.below::<L, 2>());
            x = x.add::<L>(x.below::<L, 4>());
            if L::BITS == 32 {
                x = x.add::<L>(x.below::<L, 8>());
            }
            let total = x.broadcast_last::<L>();
            let between = next.add::<L>(total.and(low).add::<L>(step));
            let (first, second) = group.split_at_mut(L::LANES);
            x.and(low).add::<L>(next).store(first);
            x.shift_right::<L>(half).add::<L>(between).store(second);
            next = between.add::<L>(total.shift_right::<L>(half).add::<L>(step));
        }
        src = src.get(size..).unwrap_or_default();
    }
    next
}
