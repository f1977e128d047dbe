//! One batch of tANS codes and offsets: four interleaved states walked over a table, then a
//! variable number of offset bits added to each symbol's lower bound.
//!
//! There is one body for all instruction sets. On x86-64 it is compiled a second time with BMI1,
//! BMI2 and AVX2, whose shifts and masks by a register take one step instead of three.

use crate::dispatch::Simd;

/// Latents of a batch, at most.
pub const BATCH: usize = 256;
/// States that share the stream.
pub const LANES: usize = 4;
/// log2 of the largest table.
pub const MAX_LOG: u32 = 14;
/// Bytes that a batch may touch: 14 bits of code and 64 of offset for each latent and what the
/// last loads read beyond come to 2,520. A power of two and the width of a load let the compiler
/// see that no load leaves the window.
pub const WINDOW: usize = 4096 + 8;

mod sealed {
    pub trait Sealed {}
}

/// An unsigned integer of 8 to 64 bits.
pub trait Latent: sealed::Sealed + Copy + Default + std::fmt::Debug + Eq {
    /// `self` plus the low bits of `offset`, wrapping.
    #[must_use]
    fn plus_low(self, offset: u64) -> Self;
}

macro_rules! impl_latent {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}
        impl Latent for $t {
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "low bits")]
            fn plus_low(self, offset: u64) -> Self {
                self.wrapping_add(offset as $t)
            }
        }
    )*};
}
impl_latent!(u8 u16 u32 u64);

/// A slot of a table: a state. Four bytes, for the walk touches nothing else of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The next slot if all bits read are zero.
    pub base: u16,
    /// Bits of the stream that lead to the next slot, at most [`MAX_LOG`].
    pub bits: u8,
    /// Bits of the stream that are added to the slot's lower bound, at most 64.
    pub offset_bits: u8,
}

/// A table, by slot.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a, L> {
    /// What each slot does.
    pub nodes: &'a [Node],
    /// The smallest latent of each slot's symbol; as many as nodes.
    pub lowers: &'a [L],
    /// The greatest of the nodes' offset bits.
    pub max_offset_bits: u32,
}

/// Where a batch is read from.
#[derive(Debug)]
pub struct Stream<'a> {
    /// Bytes from the batch's first on.
    pub window: &'a [u8; WINDOW],
    /// The next bit, below 8 at first.
    pub bit: usize,
}

/// Reads `dst.len()` latents, at most [`BATCH`].
///
/// Slots that the table does not have end the walk in a panic, never in memory that is not the
/// table's: callers check tables when they build them, so that no stream leads there.
///
/// # Panics
/// When the processor lacks `simd`, `dst` is too long, or the table is not closed in itself.
#[inline]
pub fn read_batch<L: Latent>(
    simd: Simd,
    table: Table<'_, L>,
    slots: &mut [u32; LANES],
    stream: &mut Stream<'_>,
    dst: &mut [L],
) {
    assert!(dst.len() <= BATCH && simd.is_available());
    match simd {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => {
            // SAFETY: the assertion above has found AVX2, BMI1 and BMI2 on this processor
            // (`Simd::Avx512` is available only where they are too).
            unsafe { read_batch_bmi2(table, slots, stream, dst) }
        }
        _ => body(table, slots, stream, dst),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn read_batch_bmi2<L: Latent>(
    table: Table<'_, L>,
    slots: &mut [u32; LANES],
    stream: &mut Stream<'_>,
    dst: &mut [L],
) {
    body(table, slots, stream, dst);
}

#[inline(always)]
fn body<L: Latent>(
    table: Table<'_, L>,
    slots: &mut [u32; LANES],
    stream: &mut Stream<'_>,
    dst: &mut [L],
) {
    let Table { nodes, lowers, max_offset_bits } = table;
    assert!(nodes.len() == lowers.len());
    if let ([node], [lower]) = (nodes, lowers) {
        dst.fill(*lower);
        return match node.offset_bits {
            0 => {}
            1..=57 => add_constant::<L, false>(stream, dst, node.offset_bits),
            _ => add_constant::<L, true>(stream, dst, node.offset_bits),
        };
    }
    let mut visited = [0u16; BATCH];
    let visited = &mut visited[..dst.len()];
    walk(nodes, slots, stream, visited);
    match max_offset_bits {
        0 => {
            for (x, &slot) in dst.iter_mut().zip(&*visited) {
                *x = lowers[usize::from(slot)];
            }
        }
        // A load from any of eight bit positions has 57 bits of use.
        1..=57 => add_offsets::<L, false>(nodes, lowers, stream, dst, visited),
        _ => add_offsets::<L, true>(nodes, lowers, stream, dst, visited),
    }
}

/// The eight bytes from `byte` on, little endian.
#[inline(always)]
fn load(window: &[u8; WINDOW], byte: usize) -> u64 {
    let at = byte & (WINDOW - 9);
    let bytes: &[u8] = &window[at..at + 8];
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// `width` bits from bit `at` on; at most 57 unless `WIDE`.
#[inline(always)]
fn field<const WIDE: bool>(window: &[u8; WINDOW], at: usize, width: u8) -> u64 {
    let shift = at % 8;
    let mut word = load(window, at / 8) >> shift;
    if WIDE {
        // In two shifts, so that a shift by 64 comes out as zero.
        word |= (load(window, at / 8 + 8) << 1) << (63 - shift);
        if width >= 64 {
            return word;
        }
    }
    word & ((1 << (width & 63)) - 1)
}

/// The four states stay scalars, each with its own chain of loads: one load of the stream serves
/// a step of all four.
#[inline(always)]
fn walk(nodes: &[Node], slots: &mut [u32; LANES], stream: &mut Stream<'_>, visited: &mut [u16]) {
    let mut at = stream.bit;
    let [mut s0, mut s1, mut s2, mut s3] = *slots;
    let step = |slot: &mut u32, word: &mut u64, place: &mut u16| {
        let Node { base, bits, .. } = nodes[*slot as usize];
        #[expect(clippy::cast_possible_truncation, reason = "slots are below 2^14")]
        let here = *slot as u16;
        *place = here;
        let bits = u32::from(bits & 15);
        #[expect(clippy::cast_possible_truncation, reason = "at most 15 bits")]
        let low = (*word & ((1 << bits) - 1)) as u32;
        *slot = u32::from(base) + low;
        *word >>= bits;
        bits as usize
    };
    let mut groups = visited.chunks_exact_mut(LANES);
    for group in &mut groups {
        let mut word = load(stream.window, at / 8) >> (at % 8);
        let [p0, p1, p2, p3] = group else { break };
        at += step(&mut s0, &mut word, p0);
        at += step(&mut s1, &mut word, p1);
        at += step(&mut s2, &mut word, p2);
        at += step(&mut s3, &mut word, p3);
    }
    *slots = [s0, s1, s2, s3];
    let mut word = load(stream.window, at / 8) >> (at % 8);
    for (place, slot) in groups.into_remainder().iter_mut().zip(slots.iter_mut()) {
        at += step(slot, &mut word, place);
    }
    stream.bit = at;
}

/// From slots to latents.
#[inline(always)]
fn add_offsets<L: Latent, const WIDE: bool>(
    nodes: &[Node],
    lowers: &[L],
    stream: &mut Stream<'_>,
    dst: &mut [L],
    visited: &[u16],
) {
    let mut at = stream.bit;
    for (x, &slot) in dst.iter_mut().zip(visited) {
        let width = nodes[usize::from(slot)].offset_bits;
        *x = lowers[usize::from(slot)].plus_low(field::<WIDE>(stream.window, at, width));
        at += usize::from(width);
    }
    stream.bit = at;
}

/// The same where all slots are one.
#[inline(always)]
fn add_constant<L: Latent, const WIDE: bool>(stream: &mut Stream<'_>, dst: &mut [L], width: u8) {
    let mut at = stream.bit;
    for x in dst {
        *x = x.plus_low(field::<WIDE>(stream.window, at, width));
        at += usize::from(width);
    }
    stream.bit = at;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed table with entries of every kind, and a stream of pseudo-random bits.
    fn case(log: u32, max_offset: u32, seed: u64) -> (Vec<Node>, Vec<u64>, Vec<u8>) {
        let mix = |x: u64| {
            let x = (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (x ^ x >> 31).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 8
        };
        let size = 1u64 << log;
        let node = |i: u64| {
            let bits = (mix(i ^ seed) % u64::from(log + 1)) as u8;
            let base = (mix(i + 7 * seed) % (size - (1 << bits) + 1)) as u16;
            let offset_bits = (mix(i ^ seed << 9) % u64::from(max_offset + 1)) as u8;
            Node { base, bits, offset_bits }
        };
        let lowers = (0..size).map(|i| mix(i) << 17).collect();
        let bytes = (0..WINDOW as u64).map(|i| mix(i + seed * 31) as u8).collect();
        ((0..size).map(node).collect(), lowers, bytes)
    }

    fn cases() -> Vec<(u32, u32, usize, u64)> {
        let mut cases = Vec::new();
        for log in [0, 1, 4, 9, 14] {
            for max_offset in [0, 1, 13, 57, 58, 64] {
                for n in [0, 1, 3, 4, 5, 255, 256] {
                    cases.push((log, max_offset, n, u64::from(log * 77 + max_offset) + n as u64));
                }
            }
        }
        cases
    }

    crate::twin_test!(batches_agree, cases(), |simd, case| {
        let &(log, max_offset, n, seed) = case;
        let (nodes, lowers, bytes) = self::case(log, max_offset, seed);
        let table = Table { nodes: &nodes, lowers: &lowers, max_offset_bits: max_offset };
        let window: &[u8; WINDOW] = bytes.as_slice().try_into().unwrap();
        let mut stream = Stream { window, bit: (seed % 8) as usize };
        let mut slots = [0, 0, 0, (1u32 << log) - 1];
        let mut wide = vec![0u64; n];
        read_batch(simd, table, &mut slots, &mut stream, &mut wide);
        (wide, slots, stream.bit)
    });

    #[test]
    fn a_batch_bit_by_bit() {
        for (log, max_offset, n, seed) in cases() {
            let (nodes, lowers, bytes) = case(log, max_offset, seed);
            let table = Table { nodes: &nodes, lowers: &lowers, max_offset_bits: max_offset };
            let window: &[u8; WINDOW] = bytes.as_slice().try_into().unwrap();
            let mut stream = Stream { window, bit: 3 };
            let mut slots = [0; LANES];
            let mut found = vec![0u64; n];
            read_batch(Simd::Scalar, table, &mut slots, &mut stream, &mut found);
            let mut bit = 3;
            let mut take = |count: u8| {
                let value = (0..u64::from(count)).map(|i| {
                    let at = bit + i as usize;
                    u64::from(bytes[at / 8] >> (at % 8) & 1) << i
                });
                let value = value.fold(0, |a, b| a | b);
                bit += usize::from(count);
                value
            };
            let mut expected_slots = [0u32; LANES];
            let mut expected: Vec<(u64, u8)> = Vec::new();
            for t in 0..n {
                let slot = expected_slots[t % LANES] as usize;
                expected.push((lowers[slot], nodes[slot].offset_bits));
                if log > 0 {
                    expected_slots[t % LANES] =
                        u32::from(nodes[slot].base) + take(nodes[slot].bits) as u32;
                }
            }
            let expected: Vec<u64> =
                expected.iter().map(|&(x, w)| x.wrapping_add(take(w))).collect();
            assert_eq!(
                (found, slots, stream.bit),
                (expected, expected_slots, bit),
                "{log} {max_offset} {n}"
            );
        }
    }
}
