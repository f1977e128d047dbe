//! Running sums within a vector by doubling distances, from vector to vector by one addition.

use crate::latent::Latent;
use std::arch::x86_64::*;

/// Replaces each latent by `sum`, to which it is then added.
///
/// # Safety
/// AVX2 is present.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn running<L: Latent>(sum: &mut L, latents: &mut [L]) {
    const BYTES: usize = 32;
    let lanes = BYTES * 8 / L::WIDTH as usize;
    let mut vectors = latents.chunks_exact_mut(lanes);
    let mut carry = splat(*sum);
    // What each half's last latent is spread over it by.
    let last = last_of_half::<L>();
    for vector in &mut vectors {
        let place = vector.as_mut_ptr().cast::<__m256i>();
        // SAFETY: a chunk has as many bytes as a vector.
        let latents = unsafe { _mm256_loadu_si256(place) };
        let sums = sums_of_halves::<L>(latents);
        let totals = _mm256_shuffle_epi8(sums, last);
        // Those before each: without itself, and with the lower half for the upper one.
        let before =
            add::<L>(sub::<L>(sums, latents), _mm256_permute2x128_si256::<0x08>(totals, totals));
        // SAFETY: likewise.
        unsafe { _mm256_storeu_si256(place, add::<L>(before, carry)) };
        let total = add::<L>(totals, _mm256_permute2x128_si256::<0x01>(totals, totals));
        carry = add::<L>(carry, total);
    }
    #[expect(clippy::cast_sign_loss, reason = "bits")]
    let mut m = L::from_low(_mm_cvtsi128_si64(_mm256_castsi256_si128(carry)) as u64);
    for x in vectors.into_remainder() {
        let latent = *x;
        *x = m;
        m = m.plus_low(latent.widen());
    }
    *sum = m;
}

/// Sums of each latent and those before it in its half.
#[target_feature(enable = "avx2")]
#[inline]
fn sums_of_halves<L: Latent>(x: __m256i) -> __m256i {
    let mut x = x;
    if L::WIDTH <= 8 {
        x = add::<L>(x, _mm256_slli_si256::<1>(x));
    }
    if L::WIDTH <= 16 {
        x = add::<L>(x, _mm256_slli_si256::<2>(x));
    }
    if L::WIDTH <= 32 {
        x = add::<L>(x, _mm256_slli_si256::<4>(x));
    }
    add::<L>(x, _mm256_slli_si256::<8>(x))
}

#[target_feature(enable = "avx2")]
#[inline]
fn add<L: Latent>(a: __m256i, b: __m256i) -> __m256i {
    match L::WIDTH {
        8 => _mm256_add_epi8(a, b),
        16 => _mm256_add_epi16(a, b),
        32 => _mm256_add_epi32(a, b),
        _ => _mm256_add_epi64(a, b),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn sub<L: Latent>(a: __m256i, b: __m256i) -> __m256i {
    match L::WIDTH {
        8 => _mm256_sub_epi8(a, b),
        16 => _mm256_sub_epi16(a, b),
        32 => _mm256_sub_epi32(a, b),
        _ => _mm256_sub_epi64(a, b),
    }
}

/// The latent in all lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn splat<L: Latent>(x: L) -> __m256i {
    let x = x.widen().cast_signed();
    #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
    match L::WIDTH {
        8 => _mm256_set1_epi8(x as i8),
        16 => _mm256_set1_epi16(x as i16),
        32 => _mm256_set1_epi32(x as i32),
        _ => _mm256_set1_epi64x(x),
    }
}

/// Where in its half the bytes of the half's last latent are, over and over.
#[target_feature(enable = "avx2")]
#[inline]
fn last_of_half<L: Latent>() -> __m256i {
    match L::WIDTH {
        8 => _mm256_set1_epi8(15),
        16 => _mm256_set1_epi16(0x0f0e),
        32 => _mm256_set1_epi32(0x0f0e_0d0c),
        _ => _mm256_set1_epi64x(0x0f0e_0d0c_0b0a_0908),
    }
}
