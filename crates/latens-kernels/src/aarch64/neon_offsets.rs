//! Eight offsets at a time.
//!
//! The widths of eight offsets become the bytes of a register. Multiplied by 0x0101…, behind the bit that the
//! first one begins at, they are where each one begins. All eight of up to [`EIGHTS`] bits lie within sixteen
//! bytes from that of the first on; of up to [`FOURS`] bits each half does. A shuffle brings the bytes that an
//! offset begins in to its lane, where it is shifted up to bit 7, whichever it began at, and down again, and rid
//! of what follows.

use crate::tans::slot::Node;
use crate::tans::stream::Stream;
use std::arch::aarch64::*;
use std::arch::asm;

/// Most bits of offsets of which eight lie within sixteen bytes.
pub(super) const EIGHTS: u8 = 15;
/// Most bits of those of which four do, and each in a lane of 32 bits from its byte on.
pub(super) const FOURS: u8 = 25;

/// Where the next offset begins.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The byte.
    pub(super) bytes: *const u8,
    /// Which bit of it.
    pub(super) bit: u64,
}

/// Eight nodes, two to a vector.
#[derive(Clone, Copy)]
pub(super) struct Nodes([uint8x16_t; 4]);

/// What shuffles take.
#[derive(Clone, Copy)]
pub(super) struct Patterns {
    /// Bytes 0 to 3 over all of their lanes of 32 bits, and bytes 4 to 7.
    spread: [uint8x16_t; 2],
    /// The same with zeros above.
    widened: [uint8x16_t; 2],
    /// The numbers of the bytes of a lane.
    numbers: uint8x16_t,
}

impl Patterns {
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn new() -> Self {
        /// A byte of zeros.
        const Z: u8 = 0xff;
        // SAFETY: sixteen bytes.
        let load = |bytes: &[u8; 16]| unsafe { vld1q_u8(bytes.as_ptr()) };
        Self {
            spread: [
                load(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]),
                load(&[4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7]),
            ],
            widened: [
                load(&[0, Z, Z, Z, 1, Z, Z, Z, 2, Z, Z, Z, 3, Z, Z, Z]),
                load(&[4, Z, Z, Z, 5, Z, Z, Z, 6, Z, Z, Z, 7, Z, Z, Z]),
            ],
            numbers: load(&[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),
        }
    }

    /// Four lanes of a window, from their first bytes on, of which `bytes` says where they are.
    #[target_feature(enable = "neon")]
    #[inline]
    fn lanes<const HALF: usize>(
        &self,
        window: uint8x16_t,
        bytes: uint8x16_t,
        shifts: uint8x16_t,
    ) -> uint32x4_t {
        let from = vaddq_u8(vqtbl1q_u8(bytes, self.spread[HALF]), self.numbers);
        let up = vreinterpretq_s32_u8(vqtbl1q_u8(shifts, self.widened[HALF]));
        vshlq_u32(vreinterpretq_u32_u8(vqtbl1q_u8(window, from)), up)
    }
}

/// Keeps the compiler from going on with both halves apart.
#[inline(always)]
fn whole(mut x: uint16x8_t) -> uint16x8_t {
    // SAFETY: no instruction.
    unsafe {
        asm!("/* {0:v} */", inout(vreg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

impl Place {
    #[inline(always)]
    pub(super) fn of(stream: Stream<'_>) -> Self {
        Self { bytes: stream.bytes.as_ptr(), bit: stream.bit as u64 }
    }

    /// To so many bits behind the first of the place's byte, as the low byte says.
    ///
    /// # Safety
    /// As many belong to the stream.
    #[inline(always)]
    pub(super) unsafe fn go_on(&mut self, bits: u64) {
        // SAFETY: the caller's promise.
        self.bytes = unsafe { self.bytes.add((bits >> 3 & 0x1f) as usize) };
        self.bit = bits & 7;
    }
}

/// Where eight offsets begin and how wide they are, as bytes.
struct Eight {
    widths: uint8x8_t,
    /// The same.
    all: u64,
    /// From the first bit of the byte that the first one begins in.
    places: u64,
    /// The bit behind the last one.
    end: u64,
}

impl Eight {
    /// `bit` is where the first one begins.
    #[target_feature(enable = "neon")]
    #[inline]
    fn of(nodes: Nodes, bit: u64) -> Self {
        let Nodes([a, b, c, d]) = nodes;
        // Odd bytes of nodes, and of these the even ones: one of offset bits, one of the payload.
        let mixed = vuzp1q_u8(vuzp2q_u8(a, b), vuzp2q_u8(c, d));
        let widths = vmovn_u16(vreinterpretq_u16_u8(mixed));
        let all = vget_lane_u64::<0>(vreinterpret_u64_u8(widths));
        let places = (all << 8 | bit).wrapping_mul(0x0101_0101_0101_0101);
        Self { widths, all, places, end: (places >> 56) + (all >> 56) }
    }

    /// Eight of one width, `bit` is where the first one begins.
    #[target_feature(enable = "neon")]
    #[inline]
    fn of_width(width: u8, bit: u64) -> Self {
        let all = u64::from(width) * 0x0101_0101_0101_0101;
        let places = (all << 8 | bit).wrapping_mul(0x0101_0101_0101_0101);
        Self { widths: vcreate_u8(all), all, places, end: (places >> 56) + (all >> 56) }
    }

    /// The byte of each, and by how much it is to be shifted to begin with bit 7 of its lane.
    #[target_feature(enable = "neon")]
    #[inline]
    fn bytes_and_shifts(&self) -> (uint8x16_t, uint8x16_t) {
        let places = vreinterpretq_u8_u64(vdupq_n_u64(self.places));
        (vshrq_n_u8::<3>(places), vbicq_u8(vdupq_n_u8(7), places))
    }
}

impl Nodes {
    /// # Safety
    /// There are eight nodes.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) unsafe fn load(nodes: *const Node) -> Self {
        // SAFETY: the caller's promise: 64 bytes.
        Self([0, 2, 4, 6].map(|i| unsafe { vld1q_u8(nodes.add(i).cast()) }))
    }

    /// The upper halves.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn payloads(self) -> [uint32x4_t; 2] {
        let [a, b, c, d] = self.0.map(|two| vreinterpretq_u32_u8(two));
        [vuzp2q_u32(a, b), vuzp2q_u32(c, d)]
    }

    /// Offsets of up to [`EIGHTS`] bits.
    ///
    /// # Safety
    /// The stream goes on for sixteen bytes from that of the place on.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) unsafe fn offsets_by_eight(
        self,
        place: &mut Place,
        patterns: &Patterns,
    ) -> uint16x8_t {
        let eight = Eight::of(self, place.bit);
        let (bytes, shifts) = eight.bytes_and_shifts();
        // SAFETY: the caller's promise.
        let window = unsafe { vld1q_u8(place.bytes) };
        let low = vshrn_n_u32::<7>(patterns.lanes::<0>(window, bytes, shifts));
        let all = vshrn_high_n_u32::<7>(low, patterns.lanes::<1>(window, bytes, shifts));
        let widths = vreinterpretq_s16_u16(vmovl_u8(eight.widths));
        // SAFETY: the offsets belong to the stream.
        unsafe { place.go_on(eight.end) };
        whole(vbicq_u16(all, vshlq_u16(vdupq_n_u16(u16::MAX), widths)))
    }

    /// Offsets of up to [`FOURS`] bits.
    ///
    /// # Safety
    /// The stream goes on for sixteen bytes from that of either half's first offset on.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) unsafe fn offsets_by_four(
        self,
        place: &mut Place,
        patterns: &Patterns,
    ) -> [uint32x4_t; 2] {
        let eight = Eight::of(self, place.bit);
        let (first, shifts) = eight.bytes_and_shifts();
        let middle = eight.places >> 35 & 0x1f;
        let second = vsubq_u8(first, vdupq_n_u8(middle as u8));
        // SAFETY: the caller's promise.
        let windows =
            unsafe { [vld1q_u8(place.bytes), vld1q_u8(place.bytes.add(middle as usize))] };
        let widths = vreinterpretq_u8_u64(vdupq_n_u64(eight.all));
        let masked = |x: uint32x4_t, half: usize| {
            let widths = vreinterpretq_s32_u8(vqtbl1q_u8(widths, patterns.widened[half]));
            vbicq_u32(vshrq_n_u32::<7>(x), vshlq_u32(vdupq_n_u32(u32::MAX), widths))
        };
        // SAFETY: the offsets belong to the stream.
        unsafe { place.go_on(eight.end) };
        [
            masked(patterns.lanes::<0>(windows[0], first, shifts), 0),
            masked(patterns.lanes::<1>(windows[1], second, shifts), 1),
        ]
    }
}

/// Offsets of one width of up to [`FOURS`] bits, by eights: where they lie is the same for all.
#[derive(Clone, Copy)]
pub(super) struct Alike {
    patterns: Patterns,
    /// The bytes of either half's offsets in its window.
    first: uint8x16_t,
    second: uint8x16_t,
    shifts: uint8x16_t,
    mask: uint32x4_t,
    /// Where the second window begins.
    middle: usize,
}

impl Alike {
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn new(width: u8, bit: u64) -> Self {
        let eight = Eight::of_width(width, bit);
        let (first, shifts) = eight.bytes_and_shifts();
        let middle = eight.places >> 35 & 0x1f;
        let second = vsubq_u8(first, vdupq_n_u8(middle as u8));
        let mask = vdupq_n_u32((1 << width) - 1);
        Self { patterns: Patterns::new(), first, second, shifts, mask, middle: middle as usize }
    }

    /// The eight that begin in the byte at `bytes`.
    ///
    /// # Safety
    /// The stream goes on for sixteen bytes from that of either half's first offset on.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) unsafe fn eight(&self, bytes: *const u8) -> [uint32x4_t; 2] {
        // SAFETY: the caller's promise.
        let (low, high) = unsafe { (vld1q_u8(bytes), vld1q_u8(bytes.add(self.middle))) };
        let low = self.patterns.lanes::<0>(low, self.first, self.shifts);
        let high = self.patterns.lanes::<1>(high, self.second, self.shifts);
        [low, high].map(|x| vandq_u32(vshrq_n_u32::<7>(x), self.mask))
    }
}
