//! Frame-of-reference deltas: unpacking, adding the minimum and summing up in one pass, and back.
//!
//! A *miniblock body* holds fields of `width` bits, least significant bit first. Its numbers are
//! `last + min_delta + field[0]`, then `+ min_delta + field[1]` to that, and so on, all mod
//! 2^[`Lane::BITS`]. Bodies of neighbouring miniblocks follow each other without a gap, so that
//! neighbours of equal width are one longer run for the kernels.

use crate::dispatch::Simd;
use crate::lane::Lane;
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_delta, avx512_delta};

/// Most bits that a field may have, whatever the lane.
pub const MAX_WIDTH: u8 = 64;

/// Miniblock sizes are multiples of this many values.
pub const MINIBLOCK_STEP: usize = 32;

/// The packed bodies of consecutive miniblocks.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    /// From the first body on, to the end of all that may be read: kernels load more than the
    /// bodies where there is more.
    pub bytes: &'a [u8],
    /// One width in bits per miniblock, each at most [`MAX_WIDTH`].
    pub widths: &'a [u8],
    /// Values in each full miniblock, a multiple of [`MINIBLOCK_STEP`].
    pub values_per_miniblock: usize,
}

/// Neighbouring miniblocks of one width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// From the first body of the run to the end of all that may be read.
    pub(crate) bytes: &'a [u8],
    pub(crate) width: u32,
    pub(crate) values: usize,
}

impl<'a> Run<'a> {
    /// The bytes from value `index` on, a multiple of eight.
    #[inline(always)]
    pub(crate) fn bytes_from(&self, index: usize) -> &'a [u8] {
        let skipped = (index / 8).saturating_mul(self.width as usize);
        self.bytes.get(skipped..).unwrap_or_default()
    }
}

/// Cuts [`Bodies`] into [`Run`]s until `left` values are covered.
pub(crate) struct Runs<'a> {
    bodies: Bodies<'a>,
    left: usize,
}

impl<'a> Runs<'a> {
    #[inline(always)]
    pub(crate) fn new(bodies: Bodies<'a>, values: usize) -> Self {
        Self { bodies, left: values }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Run<'a>> {
        let Bodies { bytes, widths, values_per_miniblock } = self.bodies;
        if self.left == 0 {
            return None;
        }
        let (&width, _) = widths.split_first()?;
        let mut values = values_per_miniblock;
        let mut miniblocks = 1;
        while values < self.left && widths.get(miniblocks) == Some(&width) {
            values += values_per_miniblock;
            miniblocks += 1;
        }
        let size = (values / 8).saturating_mul(usize::from(width));
        self.bodies.widths = &widths[miniblocks..];
        self.bodies.bytes = bytes.get(size..).unwrap_or_default();
        let values = values.min(self.left);
        self.left -= values;
        Some(Run { bytes, width: width.into(), values })
    }
}

/// The decoding kernels of one instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Simd);

impl Kernel {
    /// Those of `simd` where this processor has it, the scalar ones elsewhere.
    pub fn new(simd: Simd) -> Self {
        Self(if simd.is_available() { simd } else { Simd::Scalar })
    }

    /// Whether AVX2 may be used.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn has_avx2(self) -> bool {
        matches!(self.0, Simd::Avx2 | Simd::Avx512)
    }

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

/// A lane that these kernels are written for: `u32` and `u64`.
pub trait DeltaLane: Lane {
    /// See [`Kernel::decode_block`].
    #[doc(hidden)]
    fn decode_block(
        kernel: Kernel,
        bodies: Bodies<'_>,
        min_delta: Self,
        last: Self,
        out: &mut [Self],
    ) -> Self;
    /// See [`pack`].
    #[doc(hidden)]
    fn pack(values: &[Self], width: u8, out: &mut Vec<u8>);
}

// Not inlined: the code for all widths is compiled once, here, and not in every crate above.
macro_rules! impl_delta_lane {
    ($lane:ty, $avx2:path, $avx512:path) => {
        impl DeltaLane for $lane {
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
                    _ => scalar::delta::decode_block(bodies, min_delta, last, out),
                }
            }
        }
    };
}

impl_delta_lane!(u32, avx2_delta::decode_block_u32, avx512_delta::decode_block_u32);
impl_delta_lane!(u64, avx2_delta::decode_block_u64, avx512_delta::decode_block_u64);

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

/// Appends `values`, each in `width` bits, least significant first. The last byte is filled up
/// with zeros.
///
/// # Panics
/// Where `width` is above [`Lane::BITS`]. Bits of a value above `width` are an error of the
/// caller's and spoil its neighbours.
pub fn pack<L: DeltaLane>(values: &[L], width: u8, out: &mut Vec<u8>) {
    L::pack(values, width, out);
}

pub use crate::scalar::delta_pack::{deltas, subtract};

#[cfg(test)]
pub(crate) mod tests;
