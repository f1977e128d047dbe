//! Unpacking with AVX-512: eight offsets at a time, whatever their widths.
//!
//! * One permutation brings the widths of eight nodes into each of eight lanes, as far as they
//!   lie before the lane's end, and `vpsadbw` sums them up: where each offset ends.
//! * Eight offsets lie within 72 bytes. The word that an offset ends in and the one before it come
//!   by two permutations; shifted right as one they have the offset at the top.
//! * A shift to the left of zeros and these by the width leaves the offset and nothing else.
//!
//! Only offsets of 64 bits do not come out, as these shifts count modulo 64.

#![expect(
    clippy::cast_possible_truncation,
    reason = "usize has 64 bits on x86-64, masks and least bounds as many as there are lanes"
)]

use crate::latent::Latent;
use crate::tans::slot::{Lowers, Node};
use crate::tans::stream::Stream;
use crate::x86_64::bmi2_tans::scalar;
use std::arch::asm;
use std::arch::x86_64::*;

/// Most bits of an offset here.
pub(crate) const MOST: u8 = 63;

/// In each lane, where the widths of eight nodes are.
pub(super) const WIDTHS: i64 = 0x3931_2921_1911_0901;
/// Lane `i` has bytes 0 to `i`.
pub(super) const UP_TO: u64 = 0xff7f_3f1f_0f07_0301;
/// The highest lane, and the bits of a place within a byte.
pub(super) const SEVENS: i64 = 7;
/// Nodes that a walk has stored so late that they are not yet in the cache. They come fast in
/// pieces of eight bytes, as they were stored, and slowly in larger ones.
const LATEST: usize = 32;

/// Where in the stream the next offset is.
struct Place {
    bytes: *const u8,
    /// Its first bit, counted from `bytes`, in all lanes.
    at: __m512i,
    up_to: u64,
}

impl Place {
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn new(stream: Stream<'_>) -> Self {
        let mut up_to = UP_TO;
        // SAFETY: no instruction. Where the mask is known, a permutation of two vectors and of
        // three steps is taken in place of one that clears.
        unsafe {
            asm!("/* {0} */", inout(kreg) up_to, options(pure, nomem, nostack, preserves_flags));
        }
        let at = _mm512_set1_epi64(stream.bit as i64);
        Self { bytes: stream.bytes.as_ptr(), at, up_to }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn bit(&self) -> usize {
        _mm_cvtsi128_si64(_mm512_castsi512_si128(self.at)).cast_unsigned() as usize
    }

    /// The offsets of eight nodes.
    ///
    /// # Safety
    /// The stream goes on for 64 bytes from the byte on that the first one begins in.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    #[inline]
    unsafe fn offsets(&mut self, nodes: __m512i) -> __m512i {
        let (zero, sevens) = (_mm512_setzero_si512(), _mm512_set1_epi64(SEVENS));
        let widths = _mm512_maskz_permutexvar_epi8(self.up_to, _mm512_set1_epi64(WIDTHS), nodes);
        let sums = _mm512_sad_epu8(widths, zero);
        let ends = _mm512_add_epi64(sums, _mm512_and_si512(self.at, sevens));
        let byte = self.bit() / 8;
        self.at = _mm512_add_epi64(self.at, _mm512_permutexvar_epi64(sevens, sums));
        // SAFETY: the caller's promise; what lies before these bytes is not read.
        let (words, before) = unsafe {
            let words = self.bytes.add(byte);
            let before = words.wrapping_sub(8);
            (_mm512_loadu_si512(words.cast()), _mm512_maskz_loadu_epi64(0xfe, before.cast()))
        };
        let word = _mm512_srli_epi64::<6>(ends);
        let top = _mm512_shrdv_epi64(
            _mm512_permutexvar_epi64(word, before),
            _mm512_permutexvar_epi64(word, words),
            ends,
        );
        _mm512_shldv_epi64(zero, top, _mm512_srli_epi64::<8>(nodes))
    }
}

/// From nodes to latents; returns the bits that were read.
///
/// # Safety
/// The nodes are of the table of `lowers`, whose offsets have [`MOST`] bits at most; there are as
/// many as latents; the stream goes on for 64 bytes behind the last offset.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn unpack<L: Latent>(
    lowers: &Lowers<L>,
    visited: &[Node],
    stream: Stream<'_>,
    dst: &mut [L],
) -> usize {
    let mut place = Place::new(stream);
    // SAFETY: the caller's promise, in all arms.
    unsafe {
        match lowers {
            Lowers::Near(least) if L::WIDTH == 64 => {
                let least = _mm512_set1_epi64(least.widen().cast_signed());
                let eight = |nodes, _| {
                    let lowers = _mm512_add_epi64(_mm512_srli_epi64::<32>(nodes), least);
                    _mm512_add_epi64(lowers, place.offsets(nodes))
                };
                by_eight(visited, dst, eight);
            }
            Lowers::Near(least) => narrow(*least, &mut place, visited, dst),
            // Of 64 bits: narrower ones are always near each other.
            Lowers::Far(lowers) => {
                let eight = |nodes, mask| {
                    let lowers = _mm512_mask_i64gather_epi64::<8>(
                        _mm512_setzero_si512(),
                        mask,
                        _mm512_srli_epi64::<32>(nodes),
                        lowers.as_ptr().cast(),
                    );
                    _mm512_add_epi64(lowers, place.offsets(nodes))
                };
                by_eight(visited, dst, eight);
            }
        }
    }
    place.bit() - stream.bit
}

/// As many lanes as there are, below 16.
#[inline(always)]
pub(super) fn lanes(count: usize) -> u16 {
    (1 << count) - 1
}

/// Latents of 64 bits, by nodes and which of them there are.
///
/// # Safety
/// There are as many nodes as latents.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[inline]
unsafe fn by_eight<L: Latent>(
    visited: &[Node],
    dst: &mut [L],
    mut eight: impl FnMut(__m512i, u8) -> __m512i,
) {
    let (nodes, tail) = visited.as_chunks::<8>();
    let (dst, rest) = dst.as_chunks_mut::<8>();
    for (xs, nodes) in dst.iter_mut().zip(nodes) {
        // SAFETY: 64 bytes each.
        unsafe {
            let latents = eight(_mm512_loadu_si512(nodes.as_ptr().cast()), 0xff);
            _mm512_storeu_si512(xs.as_mut_ptr().cast(), latents);
        }
    }
    let mask = lanes(tail.len()) as u8;
    if mask != 0 {
        // SAFETY: as many of eight bytes as the mask says, here and there.
        unsafe {
            let latents = eight(_mm512_maskz_loadu_epi64(mask, tail.as_ptr().cast()), mask);
            _mm512_mask_storeu_epi64(rest.as_mut_ptr().cast(), mask, latents);
        }
    }
}

/// Latents of 32 bits or fewer.
///
/// # Safety
/// As [`unpack`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[inline]
unsafe fn narrow<L: Latent>(least: L, place: &mut Place, visited: &[Node], dst: &mut [L]) {
    let least = _mm512_set1_epi32(least.widen() as i32);
    let (even, odd) = halves();
    let mut sixteen = |a: __m512i, b: __m512i| {
        // SAFETY: the caller's promise.
        let (first, second) = unsafe { (place.offsets(a), place.offsets(b)) };
        let offsets = _mm512_permutex2var_epi32(first, even, second);
        let lowers = _mm512_permutex2var_epi32(a, odd, b);
        _mm512_add_epi32(_mm512_add_epi32(lowers, least), offsets)
    };
    let (nodes, tail) = visited.as_chunks::<16>();
    let (dst, rest) = dst.as_chunks_mut::<16>();
    for (xs, nodes) in dst.iter_mut().zip(nodes) {
        // SAFETY: 128 bytes of nodes, and as many latents.
        unsafe {
            let (nodes, xs) = (nodes.as_ptr().cast::<__m512i>(), xs.as_mut_ptr());
            let latents = sixteen(nodes.read_unaligned(), nodes.add(1).read_unaligned());
            match L::WIDTH {
                32 => _mm512_storeu_si512(xs.cast(), latents),
                16 => _mm256_storeu_si256(xs.cast(), _mm512_cvtepi32_epi16(latents)),
                _ => _mm_storeu_si128(xs.cast(), _mm512_cvtepi32_epi8(latents)),
            }
        }
    }
    let mask = lanes(tail.len());
    if mask != 0 {
        let [low, high] = mask.to_le_bytes();
        // SAFETY: as many nodes and latents as the mask says.
        unsafe {
            let (nodes, xs) = (tail.as_ptr().cast::<i64>(), rest.as_mut_ptr());
            let first = _mm512_maskz_loadu_epi64(low, nodes);
            let second = _mm512_maskz_loadu_epi64(high, nodes.wrapping_add(8));
            let latents = sixteen(first, second);
            match L::WIDTH {
                32 => _mm512_mask_storeu_epi32(xs.cast(), mask, latents),
                16 => _mm512_mask_cvtepi32_storeu_epi16(xs.cast(), mask, latents),
                _ => _mm512_mask_cvtepi32_storeu_epi8(xs.cast(), mask, latents),
            }
        }
    }
}

/// Which lanes of 32 bits of two vectors are the lower halves of those of 64, and the upper ones.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn halves() -> (__m512i, __m512i) {
    let lower = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    (lower, _mm512_add_epi32(lower, _mm512_set1_epi32(1)))
}

/// Bits that the offsets of nodes take that a walk has just visited.
#[target_feature(enable = "avx512f")]
#[inline]
pub(crate) fn offset_bits(visited: &[Node]) -> usize {
    let (nodes, latest) = visited.split_at(visited.len().saturating_sub(LATEST) & !7);
    let mut sums = _mm512_setzero_si512();
    for eight in nodes.as_chunks().0 {
        sums = _mm512_add_epi64(sums, offset_bits_of(eight));
    }
    _mm512_reduce_add_epi64(sums) as usize + late_offset_bits(latest) as usize
}

#[target_feature(enable = "avx512f")]
#[inline]
fn offset_bits_of(nodes: &[Node; 8]) -> __m512i {
    // SAFETY: 64 bytes.
    let eight = unsafe { _mm512_loadu_si512(nodes.as_ptr().cast()) };
    _mm512_and_si512(_mm512_srli_epi64::<8>(eight), _mm512_set1_epi64(0xff))
}

/// Offset bits of nodes that were stored a moment ago.
#[inline(always)]
fn late_offset_bits(nodes: &[Node]) -> u32 {
    // The low bytes have bits of codes, of which sixteen sum up to less than 256.
    let half = |node: &Node| node.0 & 0xffff;
    let mut all = 0;
    for nodes in nodes.chunks(16) {
        // Two sums, so that they do not wait for each other.
        let mut sums = [0u64; 2];
        let (pairs, rest) = nodes.as_chunks::<2>();
        for pair in pairs {
            for (sum, node) in sums.iter_mut().zip(pair) {
                *sum = scalar(*sum + half(node));
            }
        }
        all += (sums[0] + sums[1] + rest.iter().map(half).sum::<u64>()) >> 8;
    }
    all as u32
}
