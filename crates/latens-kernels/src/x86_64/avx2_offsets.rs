//! Eight offsets at a time.
//!
//! The widths of four (or two) become a mask of as many fields of 16 (or 32) bits, with as many
//! bits set from the bottom of each. `pdep` puts the stream's next bits there: all of the offsets
//! with one instruction, and the mask's count of bits is how far the stream goes on.

use crate::latent::Latent;
use crate::tans::offsets::{MEDIUM, SHORT};
use crate::tans::slot::Node;
use std::arch::x86_64::*;

/// Eight fields for offsets: as masks, then with the offsets in them.
pub(super) trait Eight: Copy {
    /// The masks for eight nodes' offsets, `None` where one of them is too wide; that is not looked
    /// for unless `CHECK`.
    ///
    /// # Safety
    /// There are eight nodes; callers are compiled with AVX2.
    unsafe fn masks<const CHECK: bool>(nodes: *const Node) -> Option<Self>;
    /// Offsets in place of the masks. `next` gives the stream's next bits and is told how many of
    /// them are used.
    ///
    /// # Safety
    /// Callers are compiled with BMI2 and POPCNT.
    unsafe fn fill(self, next: impl FnMut(u32) -> u64) -> Self;
    /// All eight, of 32 bits.
    ///
    /// # Safety
    /// Callers are compiled with AVX2.
    unsafe fn vector(self) -> __m256i;
    /// The first four and the others, of 64 bits.
    ///
    /// # Safety
    /// Callers are compiled with AVX2.
    unsafe fn wide_vectors(self) -> [__m256i; 2];
}

/// The widths of eight nodes' offsets, in the order 0 1 4 5 | 2 3 6 7; `None` where `CHECK` finds
/// one of them above `MOST`.
///
/// # Safety
/// There are eight nodes; callers are compiled with AVX2.
#[inline(always)]
unsafe fn widths<const MOST: u8, const CHECK: bool>(nodes: *const Node) -> Option<__m256i> {
    // SAFETY: the caller's promise: 64 bytes of nodes.
    unsafe {
        let low = _mm256_castsi256_ps(_mm256_loadu_si256(nodes.cast()));
        let high = _mm256_castsi256_ps(_mm256_loadu_si256(nodes.add(4).cast()));
        let heads = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
        let widths = _mm256_and_si256(_mm256_srli_epi32::<8>(heads), _mm256_set1_epi32(0xff));
        let longer = _mm256_cmpgt_epi32(widths, _mm256_set1_epi32(MOST.into()));
        (!CHECK || _mm256_testz_si256(longer, longer) == 1).then_some(widths)
    }
}

/// The stream's next bits where the mask has its own.
///
/// # Safety
/// Callers are compiled with BMI2 and POPCNT.
#[inline(always)]
unsafe fn deposit(mask: u64, mut next: impl FnMut(u32) -> u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { _pdep_u64(next(mask.count_ones()), mask) }
}

/// Fields of 16 bits for offsets of [`SHORT`] at most.
#[derive(Clone, Copy)]
pub(super) struct Short([u64; 2]);

impl Eight for Short {
    #[inline(always)]
    unsafe fn masks<const CHECK: bool>(nodes: *const Node) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            let widths = widths::<SHORT, CHECK>(nodes)?;
            // −2^width, which saturation leaves as it is.
            let inverse = _mm256_sllv_epi32(_mm256_set1_epi32(-1), widths);
            let (low, high) =
                (_mm256_castsi256_si128(inverse), _mm256_extracti128_si256::<1>(inverse));
            let packed = _mm_shuffle_epi32::<0b11_01_10_00>(_mm_packs_epi32(low, high));
            let masks = _mm_xor_si128(packed, _mm_set1_epi32(-1));
            let masks = [_mm_cvtsi128_si64(masks), _mm_extract_epi64::<1>(masks)];
            Some(Self(masks.map(i64::cast_unsigned)))
        }
    }

    #[inline(always)]
    unsafe fn fill(self, mut next: impl FnMut(u32) -> u64) -> Self {
        let [a, b] = self.0;
        // SAFETY: the caller's promise.
        unsafe { Self([deposit(a, &mut next), deposit(b, &mut next)]) }
    }

    #[inline(always)]
    unsafe fn vector(self) -> __m256i {
        let [a, b] = self.0.map(u64::cast_signed);
        // SAFETY: the caller's promise.
        unsafe { _mm256_cvtepu16_epi32(_mm_set_epi64x(b, a)) }
    }

    #[inline(always)]
    unsafe fn wide_vectors(self) -> [__m256i; 2] {
        // SAFETY: the caller's promise.
        let four = |x: u64| unsafe { _mm256_cvtepu16_epi64(_mm_cvtsi64_si128(x.cast_signed())) };
        self.0.map(four)
    }
}

/// Fields of 32 bits for offsets of [`MEDIUM`] at most.
#[derive(Clone, Copy)]
pub(super) struct Medium([u64; 4]);

impl Eight for Medium {
    #[inline(always)]
    unsafe fn masks<const CHECK: bool>(nodes: *const Node) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            let widths = widths::<MEDIUM, CHECK>(nodes)?;
            let ones = _mm256_set1_epi32(-1);
            let masks = _mm256_xor_si256(_mm256_sllv_epi32(ones, widths), ones);
            let (low, high) = (_mm256_castsi256_si128(masks), _mm256_extracti128_si256::<1>(masks));
            // 0 1 4 5 | 2 3 6 7.
            let masks = [
                _mm_cvtsi128_si64(low),
                _mm_cvtsi128_si64(high),
                _mm_extract_epi64::<1>(low),
                _mm_extract_epi64::<1>(high),
            ];
            Some(Self(masks.map(i64::cast_unsigned)))
        }
    }

    #[inline(always)]
    unsafe fn fill(self, mut next: impl FnMut(u32) -> u64) -> Self {
        let [a, b, c, d] = self.0;
        // SAFETY: the caller's promise.
        unsafe {
            Self([
                deposit(a, &mut next),
                deposit(b, &mut next),
                deposit(c, &mut next),
                deposit(d, &mut next),
            ])
        }
    }

    #[inline(always)]
    unsafe fn vector(self) -> __m256i {
        let [a, b, c, d] = self.0.map(u64::cast_signed);
        // SAFETY: the caller's promise.
        unsafe { _mm256_set_epi64x(d, c, b, a) }
    }

    #[inline(always)]
    unsafe fn wide_vectors(self) -> [__m256i; 2] {
        let [a, b, c, d] = self.0.map(u64::cast_signed);
        // SAFETY: the caller's promise.
        let four = |a, b| unsafe { _mm256_cvtepu32_epi64(_mm_set_epi64x(b, a)) };
        [four(a, b), four(c, d)]
    }
}

/// Adds eight offsets, and `least`, to the upper halves of the nodes.
///
/// # Safety
/// There are eight nodes and room for eight latents; callers are compiled with AVX2.
#[inline(always)]
pub(super) unsafe fn add_near<L: Latent, O: Eight>(
    least: L,
    nodes: *const Node,
    offsets: O,
    dst: *mut L,
) {
    let least = least.widen().cast_signed();
    // SAFETY: the caller's promise; a pointer to eight latents is cast to one to as many bytes.
    unsafe {
        let (low, high) =
            (_mm256_loadu_si256(nodes.cast()), _mm256_loadu_si256(nodes.add(4).cast()));
        if L::WIDTH > 32 {
            let four = |nodes: __m256i, offsets: __m256i| {
                let lowers =
                    _mm256_add_epi64(_mm256_srli_epi64::<32>(nodes), _mm256_set1_epi64x(least));
                _mm256_add_epi64(lowers, offsets)
            };
            let offsets = offsets.wide_vectors();
            _mm256_storeu_si256(dst.cast(), four(low, offsets[0]));
            return _mm256_storeu_si256(dst.add(4).cast(), four(high, offsets[1]));
        }
        let offsets = offsets.vector();
        let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        let mixed = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
        let lowers = _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed);
        let halves = |v: __m256i| (_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
        let least = _mm256_set1_epi32(least as i32);
        let sums = _mm256_add_epi32(_mm256_add_epi32(lowers, offsets), least);
        if L::WIDTH == 32 {
            return _mm256_storeu_si256(dst.cast(), sums);
        }
        let (low, high) = halves(_mm256_and_si256(sums, _mm256_set1_epi32((1 << L::WIDTH) - 1)));
        let words = _mm_packus_epi32(low, high);
        if L::WIDTH == 16 {
            return _mm_storeu_si128(dst.cast(), words);
        }
        _mm_storel_epi64(dst.cast(), _mm_packus_epi16(words, words));
    }
}

/// Adds eight offsets to those of `lowers` that the upper halves of the nodes say.
///
/// # Safety
/// There are eight nodes, whose lower bounds are there, and room for eight latents of 64 bits, the
/// only ones that lie that far from each other; callers are compiled with AVX2.
#[inline(always)]
pub(super) unsafe fn add_far<L: Latent, O: Eight>(
    lowers: *const L,
    nodes: *const Node,
    offsets: O,
    dst: *mut L,
) {
    debug_assert!(L::WIDTH == 64);
    // SAFETY: the caller's promise; a pointer to eight latents is cast to one to as many bytes.
    unsafe {
        let [low, high] = offsets.wide_vectors();
        let lower = |i: usize| lowers.add((*nodes.add(i)).payload() as usize).cast::<f64>();
        let two = |i: usize| _mm_loadh_pd(_mm_load_sd(lower(i)), lower(i + 1));
        let four = |i: usize| _mm256_castpd_si256(_mm256_set_m128d(two(i + 2), two(i)));
        _mm256_storeu_si256(dst.cast(), _mm256_add_epi64(four(0), low));
        _mm256_storeu_si256(dst.add(4).cast(), _mm256_add_epi64(four(4), high));
    }
}
