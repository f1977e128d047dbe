//! What becomes of eight latents: sums, the map to numbers, and where they go.

use crate::latent::Latent;
use crate::tans::Map;
use crate::tans::shadow::MOST_SUMS;
use std::arch::aarch64::*;
use std::arch::asm;

/// Sums and map.
#[derive(Clone, Copy)]
pub(super) struct Finisher<L> {
    order: usize,
    map: Map,
    /// Over all lanes: what the sums of latents begin with, those that come first of all first.
    sums: [uint64x2_t; MOST_SUMS],
    /// The same of latents that come one by one.
    singles: [u64; MOST_SUMS],
    /// The bits that the map inverts, or the one that it looks at.
    flip: L,
}

/// Keeps the vectoriser of superwords from packing neighbours into a vector: they come from general
/// registers.
#[inline(always)]
pub(super) fn alone(mut x: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe {
        asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

/// Four numbers become the sums before them, which begin with `sum`.
#[inline(always)]
fn sums_before([a, b, c, d]: [u64; 4], sum: &mut u64) -> [u64; 4] {
    let before = *sum;
    let a = alone(before.wrapping_add(a));
    let b = alone(a.wrapping_add(b));
    let c = alone(b.wrapping_add(c));
    *sum = alone(c.wrapping_add(d));
    [before, a, b, c]
}

/// Eight latents: as many as fit in vectors of 32 bits, or all of 64.
pub(super) type Narrow = [uint32x4_t; 2];
pub(super) type Wide = [uint64x2_t; 4];

/// Lanes of 32 bits become the sums before them, which begin with `sum`.
#[target_feature(enable = "neon")]
#[inline]
fn running_u32(x: uint32x4_t, sum: &mut uint32x4_t) -> uint32x4_t {
    let zero = vdupq_n_u32(0);
    let x = vaddq_u32(x, vextq_u32::<3>(zero, x));
    let x = vaddq_u32(x, vextq_u32::<2>(zero, x));
    let with = vaddq_u32(x, *sum);
    let before = vextq_u32::<3>(*sum, with);
    *sum = vdupq_laneq_u32::<3>(with);
    before
}

/// Lanes of 64 bits.
#[target_feature(enable = "neon")]
#[inline]
fn running_u64(x: uint64x2_t, sum: &mut uint64x2_t) -> uint64x2_t {
    let x = vaddq_u64(x, vextq_u64::<1>(vdupq_n_u64(0), x));
    let with = vaddq_u64(x, *sum);
    let before = vextq_u64::<1>(*sum, with);
    *sum = vdupq_laneq_u64::<1>(with);
    before
}

impl<L: Latent> Finisher<L> {
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn new(map: Map, flip: L, sums: [L; MOST_SUMS], order: usize) -> Self {
        let splat = |x: L| match L::WIDTH {
            64 => vdupq_n_u64(x.widen()),
            #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
            _ => vreinterpretq_u64_u32(vdupq_n_u32(x.widen() as u32)),
        };
        let singles = sums.map(|x| alone(x.widen()));
        Self { order, map, sums: sums.map(splat), singles, flip }
    }

    /// What sums have come to, of latents that came one by one or by eights.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn sums(&self, one_by_one: bool) -> [L; MOST_SUMS] {
        let sums = self.sums.map(|sum| vgetq_lane_u64::<0>(sum));
        if one_by_one { self.singles.map(alone) } else { sums }.map(L::from_low)
    }

    /// Four latents that came one by one, whatever is above their bits.
    ///
    /// # Safety
    /// There is room for four at `dst`.
    #[inline(always)]
    pub(super) unsafe fn singles(&mut self, mut x: [u64; 4], dst: *mut L) {
        // Written out: compilers leave loops over four.
        let [last, first] = &mut self.singles;
        if self.order > 0 {
            x = sums_before(x, last);
        }
        if self.order > 1 {
            x = sums_before(x, first);
        }
        let flip = self.flip.widen();
        let above = u64::BITS - L::WIDTH;
        let bits = |x: u64| match self.map {
            Map::Flip(_) => flip,
            Map::Float => flip | !((x << above).cast_signed() >> 63).cast_unsigned(),
        };
        let store = |i: usize| {
            // SAFETY: the caller's promise.
            unsafe { *dst.add(i) = L::from_low(alone(x[i] ^ bits(x[i]))) };
        };
        store(0);
        store(1);
        store(2);
        store(3);
    }

    /// Latents of 64 bits.
    ///
    /// # Safety
    /// There is room for eight at `dst`, which are of 64 bits.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) unsafe fn wide(&mut self, mut x: Wide, dst: *mut L) {
        let [last, first] = &mut self.sums;
        if self.order > 0 {
            x = x.map(|x| running_u64(x, last));
        }
        if self.order > 1 {
            x = x.map(|x| running_u64(x, first));
        }
        let flip = vdupq_n_u64(self.flip.widen());
        for (i, x) in x.iter_mut().enumerate() {
            let bits = match self.map {
                Map::Flip(_) => flip,
                Map::Float => {
                    let negative = vshrq_n_s64::<63>(vreinterpretq_s64_u64(*x));
                    vornq_u64(flip, vreinterpretq_u64_s64(negative))
                }
            };
            // SAFETY: the caller's promise.
            unsafe { vst1q_u64(dst.cast::<u64>().add(2 * i), veorq_u64(*x, bits)) };
        }
    }

    /// Latents of up to 32 bits, whatever is above them.
    ///
    /// # Safety
    /// There is room for eight at `dst`, which are of 32 bits or fewer. Of fewer there are no sums, nor floats.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) unsafe fn narrow(&mut self, mut x: Narrow, dst: *mut L) {
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
        let flip = vdupq_n_u32(self.flip.widen() as u32);
        if L::WIDTH == 32 {
            let [mut last, mut first] = self.sums.map(|sum| vreinterpretq_u32_u64(sum));
            if self.order > 0 {
                x = x.map(|x| running_u32(x, &mut last));
            }
            if self.order > 1 {
                x = x.map(|x| running_u32(x, &mut first));
            }
            self.sums = [last, first].map(|sum| vreinterpretq_u64_u32(sum));
            if self.map == Map::Float {
                for x in &mut x {
                    let negative = vshrq_n_s32::<31>(vreinterpretq_s32_u32(*x));
                    let bits = vornq_u32(flip, vreinterpretq_u32_s32(negative));
                    *x = veorq_u32(*x, bits);
                }
            } else {
                x = x.map(|x| veorq_u32(x, flip));
            }
            // SAFETY: the caller's promise.
            return unsafe {
                vst1q_u32(dst.cast(), x[0]);
                vst1q_u32(dst.cast::<u32>().add(4), x[1]);
            };
        }
        let [low, high] = x.map(|x| vreinterpretq_u16_u32(veorq_u32(x, flip)));
        let words = vuzp1q_u16(low, high);
        // SAFETY: the caller's promise.
        unsafe {
            match L::WIDTH {
                16 => vst1q_u16(dst.cast(), words),
                _ => vst1_u8(dst.cast(), vmovn_u16(words)),
            }
        }
    }
}
