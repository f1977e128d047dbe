//! Running sums within a vector by doubling distances, from vector to vector by one addition. Two numbers of 64 bits
//! are added as fast one after the other, in portable code.

use crate::latent::Latent;
use std::arch::aarch64::*;

/// Replaces each latent, of fewer than 64 bits, by `sum`, to which it is then added.
#[target_feature(enable = "neon")]
pub(crate) fn running<L: Latent>(sum: &mut L, latents: &mut [L]) {
    debug_assert!(L::WIDTH < 64);
    const BYTES: usize = 16;
    let mut vectors = latents.chunks_exact_mut(BYTES * 8 / L::WIDTH as usize);
    let mut carry = splat(*sum);
    for vector in &mut vectors {
        let place = vector.as_mut_ptr().cast::<u8>();
        // SAFETY: a chunk has as many bytes as a vector.
        unsafe { vst1q_u8(place, sums_before::<L>(vld1q_u8(place), &mut carry)) };
    }
    let mut m = L::from_low(vgetq_lane_u64::<0>(vreinterpretq_u64_u8(carry)));
    for x in vectors.into_remainder() {
        let latent = *x;
        *x = m;
        m = m.plus_low(latent.widen());
    }
    *sum = m;
}

/// Lanes become the sums before them, which begin with those of `sum`. From one vector to the next there is but an
/// addition.
#[target_feature(enable = "neon")]
#[inline]
fn sums_before<L: Latent>(x: uint8x16_t, sum: &mut uint8x16_t) -> uint8x16_t {
    let zero = vdupq_n_u8(0);
    match L::WIDTH {
        8 => {
            let x = vaddq_u8(x, vextq_u8::<15>(zero, x));
            let x = vaddq_u8(x, vextq_u8::<14>(zero, x));
            let x = vaddq_u8(x, vextq_u8::<12>(zero, x));
            let x = vaddq_u8(x, vextq_u8::<8>(zero, x));
            let before = vaddq_u8(*sum, vextq_u8::<15>(zero, x));
            *sum = vaddq_u8(*sum, vdupq_laneq_u8::<15>(x));
            before
        }
        16 => {
            let (x, zero) = (vreinterpretq_u16_u8(x), vreinterpretq_u16_u8(zero));
            let old = vreinterpretq_u16_u8(*sum);
            let x = vaddq_u16(x, vextq_u16::<7>(zero, x));
            let x = vaddq_u16(x, vextq_u16::<6>(zero, x));
            let x = vaddq_u16(x, vextq_u16::<4>(zero, x));
            *sum = vreinterpretq_u8_u16(vaddq_u16(old, vdupq_laneq_u16::<7>(x)));
            vreinterpretq_u8_u16(vaddq_u16(old, vextq_u16::<7>(zero, x)))
        }
        _ => {
            let (x, zero) = (vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(zero));
            let old = vreinterpretq_u32_u8(*sum);
            let x = vaddq_u32(x, vextq_u32::<3>(zero, x));
            let x = vaddq_u32(x, vextq_u32::<2>(zero, x));
            *sum = vreinterpretq_u8_u32(vaddq_u32(old, vdupq_laneq_u32::<3>(x)));
            vreinterpretq_u8_u32(vaddq_u32(old, vextq_u32::<3>(zero, x)))
        }
    }
}

/// The latent in all lanes.
#[target_feature(enable = "neon")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
fn splat<L: Latent>(x: L) -> uint8x16_t {
    let x = x.widen();
    match L::WIDTH {
        8 => vdupq_n_u8(x as u8),
        16 => vreinterpretq_u8_u16(vdupq_n_u16(x as u16)),
        _ => vreinterpretq_u8_u32(vdupq_n_u32(x as u32)),
    }
}
