//! What both lanes have in common: the forms of groups, and the loads that they are made of.

use crate::delta::bodies::Run;
use std::arch::x86_64::*;

/// Values in a group.
pub(super) const GROUP: usize = 8;
/// Eight fields of up to this width become bytes of a lane of 64 bits.
pub(super) const SHORT: u32 = 8;
/// Four fields of up to this width lie in a window of 16 bytes.
pub(super) const QUADS: u32 = 32;
/// A group of fields of up to this width lies in a single window.
pub(super) const SINGLE: u32 = 16;

// How the fields of a group lie: what the loops are compiled for.
/// A group, or four fields, in one window.
pub(super) const IN_ONE_WINDOW: u8 = 0;
/// Each field in the bytes of its lane.
pub(super) const IN_LANES: u8 = 1;
/// Some fields in one byte more than their lane has.
pub(super) const WIDE: u8 = 2;
/// Each field is a whole lane.
pub(super) const PLAIN: u8 = 3;

/// A group is read by loads that end at most this many bytes behind its first byte, plus its
/// width: the window of the last pair begins within the group, the ninth bytes lie 8 further.
pub(super) const REACH: usize = 24;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn vector(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: a load of the 32 bytes behind the reference; it asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// One window of 16 bytes, in both halves.
///
/// # Safety
/// 16 bytes must be readable from `src` on.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn one_window(src: *const u8) -> __m256i {
    // SAFETY: what the caller promises.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(src.cast())) }
}

/// Two windows of 16 bytes, at `low` and at `high`.
///
/// # Safety
/// 16 bytes must be readable from `src + low` and from `src + high` on.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn windows(src: *const u8, low: usize, high: usize) -> __m256i {
    // SAFETY: what the caller promises.
    unsafe {
        let low = _mm_loadu_si128(src.add(low).cast());
        let high = _mm_loadu_si128(src.add(high).cast());
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
    }
}

/// Both halves of 128 bits, exchanged.
///
/// In assembly, as LLVM turns the intrinsic and the shuffles around it into three instructions
/// that cross the halves where this one will do: see `optimizations/delta-binary-packed.md`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_halves(x: __m256i) -> __m256i {
    let swapped;
    // SAFETY: AVX2 is enabled; the instruction has no other effect than to set `swapped`.
    unsafe {
        std::arch::asm!("vperm2i128 {}, {}, {}, 1", out(ymm_reg) swapped, in(ymm_reg) x,
            in(ymm_reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    swapped
}

/// All ones in the upper half.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn upper_half() -> __m256i {
    _mm256_setr_epi64x(0, 0, -1, -1)
}

/// How many of a run's values lie in whole groups that may be read with the overhang of [`REACH`].
#[inline(always)]
pub(super) fn readable_values(run: &Run<'_>) -> usize {
    let width = run.width as usize;
    let groups = run.values / GROUP;
    let need = groups.saturating_mul(width).saturating_add(REACH);
    if need <= run.bytes.len() || width == 0 {
        groups * GROUP
    } else {
        groups.min(run.bytes.len().saturating_sub(REACH) / width) * GROUP
    }
}
