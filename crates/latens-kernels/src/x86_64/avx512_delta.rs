//! AVX-512 kernels of [`crate::delta`], for processors with VBMI.
//!
//! A group of as many fields as a vector has lanes (8 of 64 bits or 16 of 32) is b or 2 b bytes
//! and lies within one load of 64 bytes, at places that depend on the width b alone. One byte
//! permutation, one shift by lane and one mask take it apart; where a field may span one byte
//! more than its lane, a second permutation and shift bring that byte in. Sums in log steps follow,
//! and one addition of the carried vector: the last value plus the ramp min_delta · (1, 2, 3, …).
//! [`narrow`] has what does better where fields are short.
//!
//! All of it is generic over [`Vector`], so that processors without these instructions test it
//! through the portable model of its operations.

mod narrow;
mod places;

use crate::delta::bodies::{Bodies, Run, Runs};
use crate::lane::Lane;
use crate::scalar::delta::decode_run;
use crate::x86_64::vector512::Vector;
use places::{COUNTED, HALVES_MOST, PAIRS_MOST, Places, SINGLES_32, SINGLES_64, SIZE, SUMS_MOST};

/// What goes from group to group.
#[derive(Clone, Copy)]
struct Carried<V> {
    /// What the next group would be with all fields 0.
    next: V,
    /// For each lane, by how much a group of one vector moves on where all fields are 0.
    step: V,
}

/// A lane with its forms of fields.
trait Forms: Lane {
    /// Lanes in a vector.
    const LANES: usize = SIZE * 8 / Self::BITS as usize;

    /// Places of each width.
    fn singles() -> &'static [Places];

    /// Decodes the whole groups at the start of a run of narrow fields into `out`, where there is
    /// a form for them; `None` where there is not. Else how many values that was, and what is
    /// carried on.
    ///
    /// # Safety
    /// As [`Vector`] says.
    unsafe fn narrow<V: Vector>(
        run: &Run<'_>,
        carried: Carried<V>,
        out: &mut [Self],
    ) -> Option<(usize, V)>;
}

impl Forms for u32 {
    fn singles() -> &'static [Places] {
        &SINGLES_32
    }

    #[inline(always)]
    unsafe fn narrow<V: Vector>(
        run: &Run<'_>,
        carried: Carried<V>,
        out: &mut [Self],
    ) -> Option<(usize, V)> {
        // No closures here: they are not inlined, and each intrinsic in them becomes a call.
        if run.width as usize > PAIRS_MOST {
            return None;
        }
        let whole = out.len() / 32 * 32;
        // SAFETY: the caller vouches for the instructions.
        Some((whole, unsafe { narrow::pairs(run, carried, &mut out[..whole]) }))
    }
}

impl Forms for u64 {
    fn singles() -> &'static [Places] {
        &SINGLES_64
    }

    #[inline(always)]
    unsafe fn narrow<V: Vector>(
        run: &Run<'_>,
        carried: Carried<V>,
        out: &mut [Self],
    ) -> Option<(usize, V)> {
        if run.width as usize <= SUMS_MOST {
            let whole = out.len() / 8 * 8;
            // SAFETY: the caller vouches for the instructions.
            return Some((whole, unsafe { narrow::sums(run, carried, &mut out[..whole]) }));
        }
        if run.width as usize > HALVES_MOST {
            return None;
        }
        let whole = out.len() / 16 * 16;
        // SAFETY: as above.
        Some((whole, unsafe { narrow::halves(run, carried, &mut out[..whole]) }))
    }
}

/// See [`crate::delta::Kernel::decode_block`].
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn decode_block<V: Vector, L: Forms>(
    bodies: Bodies<'_>,
    min: L,
    last: L,
    out: &mut [L],
) -> L {
    // SAFETY: the caller vouches for the instructions, here and below.
    let (ramp, mut carried) = unsafe {
        let counted = &COUNTED[usize::from(L::BITS == 64)];
        let ramp = V::load(counted).multiply::<L>(V::splat(min));
        let step = V::splat(min.times(L::truncate(L::LANES as u64)));
        (ramp, Carried { next: V::splat(last).add::<L>(ramp), step })
    };
    let mut runs = Runs::new(bodies, out.len());
    let mut out = out;
    // The first one by itself: in a loop, what each form needs in registers would be made ready for
    // all of them, and most blocks are of one width.
    if let Some(run) = runs.next() {
        let (now, rest) = out.split_at_mut(run.values);
        // SAFETY: as above.
        carried.next = unsafe { one_run(&run, carried, ramp, min, now) };
        out = rest;
    }
    for run in runs {
        let (now, rest) = out.split_at_mut(run.values);
        // SAFETY: as above.
        carried.next = unsafe { one_run(&run, carried, ramp, min, now) };
        out = rest;
    }
    // SAFETY: as above.
    unsafe { carried.next.first::<L>() }.minus(min)
}

/// Decodes a run and returns what is carried on.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn one_run<V: Vector, L: Forms>(
    run: &Run<'_>,
    carried: Carried<V>,
    ramp: V,
    min: L,
    out: &mut [L],
) -> V {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let (done, next) = groups::<V, L>(run, carried, min, out);
        if done == out.len() {
            return next;
        }
        let last = next.first::<L>().minus(min);
        let last = decode_run(run.bytes_from(done), run.width, min, last, &mut out[done..]);
        V::splat(last).add::<L>(ramp)
    }
}

/// Decodes the whole groups of a run: how many values that was, and what is carried on.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn groups<V: Vector, L: Forms>(
    run: &Run<'_>,
    carried: Carried<V>,
    min: L,
    out: &mut [L],
) -> (usize, V) {
    let whole = out.len() / L::LANES * L::LANES;
    let singles = L::singles();
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        if run.width == 0 {
            return (whole, even(carried, min, &mut out[..whole]));
        }
        if let Some(done) = L::narrow(run, carried, out) {
            return done;
        }
        let out = &mut out[..whole];
        let next = match singles.get(run.width as usize) {
            // More bits than the lane has, in lenient reading.
            None => return (0, carried.next),
            Some(_) if run.width == L::BITS => {
                single::<V, L, false, true>(run, &singles[0], carried, out)
            }
            Some(places) if places.wide => single::<V, L, true, false>(run, places, carried, out),
            Some(places) => single::<V, L, false, false>(run, places, carried, out),
        };
        (whole, next)
    }
}

/// The 64 bytes at the start of `src`; zeros where there are fewer.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn window<V: Vector>(src: &[u8]) -> V {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        match src.first_chunk::<SIZE>() {
            Some(window) => V::load(window),
            None => V::load_part(src),
        }
    }
}

/// Width 0. Whole vectors of the cache's lines: after the first one, stores begin where a line does,
/// and the last one overlaps the one before.
///
/// # Safety
/// As [`Vector`] says.
#[inline(always)]
unsafe fn even<V: Vector, L: Forms>(carried: Carried<V>, min: L, out: &mut [L]) -> V {
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
unsafe fn single<V: Vector, L: Forms, const WIDE: bool, const PLAIN: bool>(
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

#[cfg(target_arch = "x86_64")]
pub(crate) use entry::{decode_block_u32, decode_block_u64};

#[cfg(target_arch = "x86_64")]
mod entry {
    use std::arch::x86_64::__m512i;

    use super::{Bodies, decode_block};

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
        unsafe { decode_block::<__m512i, u32>(bodies, min, last, out) }
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
        unsafe { decode_block::<__m512i, u64>(bodies, min, last, out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::tests::cases;
    use crate::x86_64::vector512::Model;

    fn check<L: Forms>() {
        for case in cases() {
            let (min, last) = (L::truncate(case.min), L::truncate(case.last));
            let mut expected = vec![L::default(); case.count];
            let expected_last =
                crate::scalar::delta::decode_block(case.bodies(), min, last, &mut expected);
            let mut out = vec![L::default(); case.count];
            // SAFETY: the model needs no instructions.
            let out_last = unsafe { decode_block::<Model, L>(case.bodies(), min, last, &mut out) };
            assert_eq!(out, expected, "{case:?}");
            assert_eq!(out_last, expected_last);
        }
    }

    #[test]
    fn the_kernels_on_the_model_agree_with_scalar() {
        check::<u32>();
        check::<u64>();
    }
}
