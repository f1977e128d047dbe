//! Running sums within a vector by doubling distances, from vector to vector by one addition.

use crate::latent::Latent;
use crate::tans::Map;
use std::arch::asm;
use std::arch::x86_64::*;

/// Replaces each latent by `sum`, to which it is then added; what comes of it goes to a place of its own, or to the
/// latents', by way of a map.
///
/// # Safety
/// Needs the sets below; there are `n` latents, and as many in their place.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
pub(crate) unsafe fn running<L: Latent>(
    sum: &mut L,
    latents: *const L,
    map: Map,
    dst: *mut L,
    n: usize,
) {
    const BYTES: usize = 64;
    let lanes = BYTES * 8 / L::WIDTH as usize;
    let whole = n / lanes * lanes;
    let shift = map.shift::<L>();
    let (flip, is_float) = match map {
        Map::Flip(bits) => (splat(L::from_low(bits)), false),
        Map::Float => (splat(L::from_low(1 << (L::WIDTH - 1))), true),
    };
    let last = last_lane::<L>();
    let mut carry = splat(*sum);
    if let Some(shift) = shift {
        carry = add::<L>(carry, splat(shift));
    }
    for at in (0..whole).step_by(lanes) {
        // SAFETY: as many bytes as a vector has are left.
        let latents = unsafe { latents.add(at).cast::<__m512i>().read_unaligned() };
        let sums = sums::<L>(latents);
        let before = add::<L>(carry, sub::<L>(sums, latents));
        let mapped = if shift.is_some() {
            before
        } else if is_float {
            // Lanes without the topmost bit are inverted, and the others lose it.
            _mm512_ternarylogic_epi64::<0x4b>(before, signs::<L>(before), flip)
        } else {
            _mm512_xor_si512(before, flip)
        };
        // SAFETY: likewise.
        unsafe { dst.add(at).cast::<__m512i>().write_unaligned(mapped) };
        carry = add::<L>(carry, spread::<L>(last, sums));
    }
    if let Some(shift) = shift {
        carry = sub::<L>(carry, splat(shift));
    }
    let mut m = L::from_low(_mm_cvtsi128_si64(_mm512_castsi512_si128(carry)).cast_unsigned());
    for at in whole..n {
        // SAFETY: it is there, and has a place.
        unsafe {
            let latent = *latents.add(at);
            *dst.add(at) = map.of(m);
            m = m.plus_low(latent.widen());
        }
    }
    *sum = m;
}

/// All bits of lanes whose topmost one is set, none of others.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
#[inline]
fn signs<L: Latent>(x: __m512i) -> __m512i {
    match L::WIDTH {
        8 => _mm512_movm_epi8(_mm512_movepi8_mask(x)),
        16 => _mm512_srai_epi16::<15>(x),
        32 => _mm512_srai_epi32::<31>(x),
        _ => _mm512_srai_epi64::<63>(x),
    }
}

/// Sums of each latent and those before it.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
#[inline]
fn sums<L: Latent>(mut x: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    if L::WIDTH == 64 {
        x = _mm512_add_epi64(x, _mm512_alignr_epi64::<7>(x, zero));
        x = _mm512_add_epi64(x, _mm512_alignr_epi64::<6>(x, zero));
        return _mm512_add_epi64(x, _mm512_alignr_epi64::<4>(x, zero));
    }
    if L::WIDTH == 32 {
        x = _mm512_add_epi32(x, _mm512_alignr_epi32::<15>(x, zero));
        x = _mm512_add_epi32(x, _mm512_alignr_epi32::<14>(x, zero));
        x = _mm512_add_epi32(x, _mm512_alignr_epi32::<12>(x, zero));
        return _mm512_add_epi32(x, _mm512_alignr_epi32::<8>(x, zero));
    }
    // Within each quarter, then what the quarters come to.
    if L::WIDTH == 8 {
        x = add::<L>(x, _mm512_bslli_epi128::<1>(x));
    }
    x = add::<L>(x, _mm512_bslli_epi128::<2>(x));
    x = add::<L>(x, _mm512_bslli_epi128::<4>(x));
    x = add::<L>(x, _mm512_bslli_epi128::<8>(x));
    let last = if L::WIDTH == 8 { _mm512_set1_epi8(15) } else { _mm512_set1_epi16(0x0f0e) };
    let totals = _mm512_alignr_epi64::<6>(_mm512_shuffle_epi8(x, last), zero);
    let totals = add::<L>(totals, _mm512_alignr_epi64::<6>(totals, zero));
    let before = _mm512_alignr_epi64::<4>(totals, zero);
    add::<L>(x, add::<L>(totals, before))
}

/// For [`spread`]: where the highest latent is, for all lanes.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn last_lane<L: Latent>() -> __m512i {
    let mut at = match L::WIDTH {
        64 => _mm512_set1_epi64(7),
        32 => _mm512_set1_epi32(15),
        _ => _mm512_set1_epi16(31),
    };
    // SAFETY: no instruction. Of a permutation by known places two are made.
    unsafe { asm!("/* {0} */", inout(zmm_reg) at, options(pure, nomem, nostack, preserves_flags)) };
    at
}

/// The highest latent in all lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
#[inline]
fn spread<L: Latent>(last: __m512i, x: __m512i) -> __m512i {
    match L::WIDTH {
        64 => _mm512_permutexvar_epi64(last, x),
        32 => _mm512_permutexvar_epi32(last, x),
        16 => _mm512_permutexvar_epi16(last, x),
        _ => _mm512_shuffle_epi8(_mm512_permutexvar_epi16(last, x), _mm512_set1_epi8(1)),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
#[inline]
fn add<L: Latent>(a: __m512i, b: __m512i) -> __m512i {
    match L::WIDTH {
        8 => _mm512_add_epi8(a, b),
        16 => _mm512_add_epi16(a, b),
        32 => _mm512_add_epi32(a, b),
        _ => _mm512_add_epi64(a, b),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
#[inline]
fn sub<L: Latent>(a: __m512i, b: __m512i) -> __m512i {
    match L::WIDTH {
        8 => _mm512_sub_epi8(a, b),
        16 => _mm512_sub_epi16(a, b),
        32 => _mm512_sub_epi32(a, b),
        _ => _mm512_sub_epi64(a, b),
    }
}

/// The latent in all lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
#[inline]
fn splat<L: Latent>(x: L) -> __m512i {
    let x = x.widen().cast_signed();
    #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
    match L::WIDTH {
        8 => _mm512_set1_epi8(x as i8),
        16 => _mm512_set1_epi16(x as i16),
        32 => _mm512_set1_epi32(x as i32),
        _ => _mm512_set1_epi64(x),
    }
}
