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

mod group;
mod narrow;
mod places;
mod single;

use crate::delta::bodies::{Bodies, Run, Runs};
use crate::scalar::delta::decode_run;
use crate::x86_64::vector512::Vector;
use group::Carried;
use places::{COUNTED, Forms};
use single::{even, single};

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
        if let Some(done) = narrow::groups(run, carried, out) {
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
