//! Frame-of-reference deltas: unpacking, adding the minimum and summing up in one pass, and back.
//!
//! A *miniblock body* holds fields of `width` bits, least significant bit first. Its numbers are
//! `last + min_delta + field[0]`, then `+ min_delta + field[1]` to that, and so on, all mod
//! 2^[`Lane::BITS`]. Bodies of neighbouring miniblocks follow each other without a gap, so that
//! neighbours of equal width are one longer run for the kernels.

pub(crate) mod bodies;
pub(crate) mod kernel;

#[cfg(target_arch = "aarch64")]
use crate::aarch64::neon_delta;
use crate::dispatch::Simd;
use crate::lane::Lane;
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_delta, avx512_delta};

pub use crate::lane::DeltaLane;
pub use bodies::{Bodies, MAX_WIDTH, MINIBLOCK_STEP};
pub use kernel::Kernel;

impl Kernel {
    /// Decodes the first `out.len()` values of a block and returns the last of them, or `last`
    /// where there are none. `last` is the value before the first one. Fields of more bits than
    /// the lane has count by their low bits. Bits that `bodies` lacks are read as zeros, and
    /// values that have no miniblock are left as they are: who calls has checked that none are
    /// lacking.
    ///
    /// # Panics
    /// Where the width of a miniblock is above [`MAX_WIDTH`].
    #[inline]
    pub fn decode_block<L: DeltaLane>(
        self,
        bodies: Bodies<'_>,
        min_delta: L,
        last: L,
        out: &mut [L],
    ) -> L {
        debug_assert!(bodies.values_per_miniblock.is_multiple_of(MINIBLOCK_STEP));
        L::decode_block(self, bodies, min_delta, last, out)
    }
}

// Not inlined: the code for all widths is compiled once, here, and not in every crate above.
macro_rules! impl_delta_lane {
    ($lane:ty, $avx2:path, $avx512:path, $neon:path) => {
        impl DeltaLane for $lane {
            #[inline(never)]
            fn deltas(kernel: Kernel, previous: Self, values: &[Self], out: &mut [Self]) -> Self {
                scalar::delta_pack::deltas(kernel, previous, values, out)
            }

            #[inline(never)]
            fn subtract(kernel: Kernel, min: Self, deltas: &mut [Self]) -> u8 {
                scalar::delta_pack::subtract(kernel, min, deltas)
            }

            #[inline(never)]
            fn pack(values: &[Self], width: u8, out: &mut Vec<u8>) {
                scalar::delta_pack::pack(values, width, out);
            }

            #[inline(never)]
            fn decode_block(
                kernel: Kernel,
                bodies: Bodies<'_>,
                min_delta: Self,
                last: Self,
                out: &mut [Self],
            ) -> Self {
                match kernel.0 {
                    #[cfg(target_arch = "x86_64")]
                    Simd::Avx512 => {
                        // SAFETY: a `Kernel` is made for what the processor has alone.
                        unsafe { $avx512(bodies, min_delta, last, out) }
                    }
                    #[cfg(target_arch = "x86_64")]
                    Simd::Avx2 => {
                        // SAFETY: a `Kernel` is made for what the processor has alone.
                        unsafe { $avx2(bodies, min_delta, last, out) }
                    }
                    #[cfg(target_arch = "aarch64")]
                    Simd::Neon => {
                        // SAFETY: a `Kernel` is made for what the processor has alone.
                        unsafe { $neon(bodies, min_delta, last, out) }
                    }
                    _ => scalar::delta::decode_block(bodies, min_delta, last, out),
                }
            }
        }
    };
}

impl_delta_lane!(
    u32,
    avx2_delta::decode_block_u32,
    avx512_delta::decode_block_u32,
    neon_delta::decode_block_u32
);
impl_delta_lane!(
    u64,
    avx2_delta::decode_block_u64,
    avx512_delta::decode_block_u64,
    neon_delta::decode_block_u64
);

/// Decodes `out.len()` values of one miniblock, from its value `first` on, and returns the last
/// of them, or `last` where there are none. Any `first` will do, at the speed of one field at a
/// time.
///
/// # Panics
/// Where `width` is above [`MAX_WIDTH`].
pub fn decode_from<L: Lane>(
    body: &[u8],
    width: u8,
    first: usize,
    min_delta: L,
    last: L,
    out: &mut [L],
) -> L {
    assert!(width <= MAX_WIDTH, "a width above {MAX_WIDTH}");
    scalar::delta::decode_from(body, width.into(), first, min_delta, last, out)
}

/// `out[i] = values[i] - values[i - 1]` mod 2^[`Lane::BITS`], with `previous` before the first
/// one, and the smallest of them as two's complement: 0 for no values.
///
/// # Panics
/// Where the slices differ in length.
pub fn deltas<L: DeltaLane>(kernel: Kernel, previous: L, values: &[L], out: &mut [L]) -> L {
    L::deltas(kernel, previous, values, out)
}

/// Subtracts `min` from every delta and returns the bits that the widest result needs.
pub fn subtract<L: DeltaLane>(kernel: Kernel, min: L, deltas: &mut [L]) -> u8 {
    L::subtract(kernel, min, deltas)
}

/// Appends `values`, each in `width` bits, least significant first. The last byte is filled up
/// with zeros.
///
/// # Panics
/// Where `width` is above [`Lane::BITS`]. Bits of a value above `width` are an error of the
/// caller's and spoil its neighbours.
pub fn pack<L: DeltaLane>(values: &[L], width: u8, out: &mut Vec<u8>) {
    L::pack(values, width, out);
}

#[cfg(test)]
pub(crate) mod tests;
