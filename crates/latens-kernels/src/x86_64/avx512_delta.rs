//! AVX-512 kernels of [`crate::delta`], for processors with VBMI.
//!
//! A group of as many fields as a vector has lanes (8 of 64 bits or 16 of 32) is b or 2 b bytes
//! and lies within one load of 64 bytes, at places that depend on the width b alone. One byte
//! permutation, one shift by lane and one mask take it apart; where a field may span one byte
//! more than its lane, a second permutation and shift bring that byte in. Sums in log steps follow,
//! and one addition of the carried vector: the last value plus the ramp min_delta · (1, 2, 3, …).
//!
//! All of it is generic over [`Vector`] and tested through the portable model of its operations.
//! It has not been timed by us: no processor with these instructions was at hand.

use crate::delta::{Bodies, Run, Runs};
use crate::lane::Lane;
use crate::scalar::delta::decode_run;
use crate::x86_64::vector512::Vector;

/// Bytes in a vector.
const SIZE: usize = 64;

/// How fields of one width lie in a group.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Places {
    /// For each lane the bytes its field begins in.
    bytes: [u8; SIZE],
    /// For each lane, in its lowest byte, the one byte after these.
    over: [u8; SIZE],
    /// For each lane: shift right by this.
    right: [u8; SIZE],
    /// For each lane: shift the one byte more left by this, out of the lane where it is 0 bits.
    left: [u8; SIZE],
    /// Whether a field needs the one byte more.
    wide: bool,
}

#[expect(clippy::cast_possible_truncation, reason = "all below 256, and no `try_into` in a const")]
const fn places(width: usize, lane: usize) -> Places {
    let zero = [0u8; SIZE];
    let mut p = Places { bytes: zero, over: zero, right: zero, left: zero, wide: false };
    let mut field = 0;
    while field < SIZE / lane {
        let (bit, at) = (field * width, field * lane);
        let mut byte = 0;
        while byte < lane {
            // The permutation takes indices mod 64; what lies above is not of this field.
            p.bytes[at + byte] = ((bit / 8 + byte) % SIZE) as u8;
            byte += 1;
        }
        p.over[at] = ((bit / 8 + lane) % SIZE) as u8;
        p.right[at] = (bit % 8) as u8;
        p.left[at] = (8 * lane - bit % 8) as u8;
        p.wide |= bit % 8 + width > 8 * lane;
        field += 1;
    }
    p
}

static PLACES_32: [Places; 33] = {
    let mut table = [places(0, 4); 33];
    let mut width = 0;
    while width <= 32 {
        table[width] = places(width, 4);
        width += 1;
    }
    table
};

static PLACES_64: [Places; 65] = {
    let mut table = [places(0, 8); 65];
    let mut width = 0;
    while width <= 64 {
        table[width] = places(width, 8);
        width += 1;
    }
    table
};

/// What one width needs, in registers.
struct Constants<V> {
    bytes: V,
    over: V,
    right: V,
    left: V,
    mask: V,
}

/// See [`crate::delta::Kernel::decode_block`].
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
pub(crate) unsafe fn decode_block<V: Vector, L: Lane>(
    table: &[Places],
    bodies: Bodies<'_>,
    min: L,
    last: L,
    out: &mut [L],
) -> L {
    let lanes = SIZE * 8 / L::BITS as usize;
    let step = min.times(L::truncate(lanes as u64));
    let mut last = last;
    // SAFETY: the caller vouches for the instructions.
    let (mut next, step) = unsafe { (carried::<V, L>(min, last), V::splat(step)) };
    let mut out = out;
    for run in Runs::new(bodies, out.len()) {
        let (now, rest) = out.split_at_mut(run.values);
        let whole = now.len().is_multiple_of(lanes);
        // SAFETY: as above.
        unsafe {
            match table.get(run.width as usize) {
                _ if run.width == 0 => next = ramp::<V, L>(next, step, now),
                Some(_) if run.width == L::BITS => {
                    next = groups::<V, L, false, true>(&run, &table[0], next, step, now);
                }
                Some(places) if places.wide => {
                    next = groups::<V, L, true, false>(&run, places, next, step, now);
                }
                Some(places) => {
                    next = groups::<V, L, false, false>(&run, places, next, step, now);
                }
                // More bits than the lane has, in lenient reading.
                None => {
                    decode_run(run.bytes, run.width, min, last, now);
                }
            }
            last = now.last().copied().unwrap_or(last);
            if !whole || run.width > L::BITS {
                next = carried::<V, L>(min, last);
            }
        }
        out = rest;
    }
    last
}

/// What the next group would be with all fields 0.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn carried<V: Vector, L: Lane>(min: L, last: L) -> V {
    let mut bytes = [0; SIZE];
    let mut value = last;
    for lane in bytes.chunks_exact_mut(L::BITS as usize / 8) {
        value = value.plus(min);
        lane.copy_from_slice(&value.widen().to_le_bytes()[..lane.len()]);
    }
    // SAFETY: the caller vouches for the instruction.
    unsafe { V::load(&bytes) }
}

/// Width 0.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn ramp<V: Vector, L: Lane>(mut next: V, step: V, out: &mut [L]) -> V {
    for group in out.chunks_mut(SIZE * 8 / L::BITS as usize) {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            next.store(group);
            next = next.add::<L>(step);
        }
    }
    next
}

/// A run of one width. `next` is what the next group would be with all fields 0, `step` is
/// min_delta for each lane. Bits that the run lacks are zeros; what is returned is of no use
/// where the last group was not whole.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn groups<V: Vector, L: Lane, const WIDE: bool, const PLAIN: bool>(
    run: &Run<'_>,
    places: &Places,
    mut next: V,
    step: V,
    out: &mut [L],
) -> V {
    let lanes = SIZE * 8 / L::BITS as usize;
    let size = run.width as usize * lanes / 8;
    let mask = u64::MAX.checked_shr(64 - run.width).unwrap_or(0);
    let mut src = run.bytes;
    // SAFETY: the caller vouches for the instructions, here and below.
    let at = unsafe {
        Constants {
            bytes: V::load(&places.bytes),
            over: V::load(&places.over),
            right: V::load(&places.right),
            left: V::load(&places.left),
            mask: V::splat(L::truncate(mask)),
        }
    };
    for group in out.chunks_mut(lanes) {
        // SAFETY: as above.
        unsafe {
            let window = match src.first_chunk::<SIZE>() {
                Some(window) => V::load(window),
                None => V::load_part(src),
            };
            let mut x = window;
            if !PLAIN {
                x = window.permute_bytes(at.bytes).shift_right::<L>(at.right);
                if WIDE {
                    x = x.or(window.permute_bytes(at.over).shift_left::<L>(at.left));
                }
                x = x.and(at.mask);
            }
            x = x.add::<L>(x.lanes_up::<L, 1>());
            x = x.add::<L>(x.lanes_up::<L, 2>());
            x = x.add::<L>(x.lanes_up::<L, 4>());
            if L::BITS == 32 {
                x = x.add::<L>(x.lanes_up::<L, 8>());
            }
            x.add::<L>(next).store(group);
            next = next.add::<L>(x.broadcast_last::<L>().add::<L>(step));
        }
        src = src.get(size..).unwrap_or_default();
    }
    next
}

#[cfg(target_arch = "x86_64")]
pub(crate) use entry::{decode_block_u32, decode_block_u64};

#[cfg(target_arch = "x86_64")]
mod entry {
    use std::arch::x86_64::__m512i;

    use super::{Bodies, PLACES_32, PLACES_64, decode_block};

    /// See [`crate::delta::Kernel::decode_block`].
    ///
    /// # Safety
    /// None beyond the features: all reads and writes lie within the slices.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2")]
    pub(crate) fn decode_block_u32(
        bodies: Bodies<'_>,
        min: u32,
        last: u32,
        out: &mut [u32],
    ) -> u32 {
        // SAFETY: the features are those that `Vector` asks for.
        unsafe { decode_block::<__m512i, u32>(&PLACES_32, bodies, min, last, out) }
    }

    /// See [`crate::delta::Kernel::decode_block`].
    ///
    /// # Safety
    /// None beyond the features: all reads and writes lie within the slices.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2")]
    pub(crate) fn decode_block_u64(
        bodies: Bodies<'_>,
        min: u64,
        last: u64,
        out: &mut [u64],
    ) -> u64 {
        // SAFETY: the features are those that `Vector` asks for.
        unsafe { decode_block::<__m512i, u64>(&PLACES_64, bodies, min, last, out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::tests::cases;
    use crate::x86_64::vector512::Model;

    fn check<L: Lane>(table: &[Places]) {
        for case in cases() {
            let (min, last) = (L::truncate(case.min), L::truncate(case.last));
            let mut expected = vec![L::default(); case.count];
            let expected_last =
                crate::scalar::delta::decode_block(case.bodies(), min, last, &mut expected);
            let mut out = vec![L::default(); case.count];
            // SAFETY: the model needs no instructions.
            let out_last =
                unsafe { decode_block::<Model, L>(table, case.bodies(), min, last, &mut out) };
            assert_eq!(out, expected, "{case:?}");
            assert_eq!(out_last, expected_last);
        }
    }

    #[test]
    fn the_kernels_on_the_model_agree_with_scalar() {
        check::<u32>(&PLACES_32);
        check::<u64>(&PLACES_64);
    }
}
