//! Portable kernels of [`crate::delta`]: the twins that every other kernel is held against.

use crate::delta::bodies::{Bodies, Runs};
use crate::lane::Lane;

/// See [`crate::delta::Kernel::decode_block`].
pub(crate) fn decode_block<L: Lane>(
    bodies: Bodies<'_>,
    min_delta: L,
    mut last: L,
    out: &mut [L],
) -> L {
    let mut out = out;
    for run in Runs::new(bodies, out.len()) {
        let (now, rest) = out.split_at_mut(run.values);
        last = decode_run(run.bytes, run.width, min_delta, last, now);
        out = rest;
    }
    last
}

/// Decodes `out.len()` values whose fields begin at the first bit of `src`.
pub(crate) fn decode_run<L: Lane>(src: &[u8], width: u32, min: L, last: L, out: &mut [L]) -> L {
    macro_rules! by_width {
        ($($w:literal)*) => {
            match width {
                0 => ramp(min, last, out),
                $($w => decode_width::<L, $w>(src, min, last, out),)*
                _ => unreachable!("a width above 64"),
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
              33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
              62 63 64)
}

/// Width 0: every step is the minimum.
fn ramp<L: Lane>(min: L, mut last: L, out: &mut [L]) -> L {
    for value in out {
        last = last.plus(min);
        *value = last;
    }
    last
}

/// Eight fields are `W` bytes; a window of eight more bytes lets each be loaded whole.
#[inline]
fn decode_width<L: Lane, const W: usize>(src: &[u8], min: L, mut last: L, out: &mut [L]) -> L {
    // Groups whose windows are there come first: a loop with another case in it takes longer.
    let windows = src.len().saturating_sub(8) / W;
    let (groups, rest) = out.split_at_mut(8 * windows.min(out.len() / 8));
    let mut src = src;
    for group in groups.as_chunks_mut::<8>().0 {
        *group = sums::<L, W>(&src[..W + 8], min, last);
        last = group[7];
        src = &src[W..];
    }
    for group in rest.chunks_mut(8) {
        let mut padded = [0u8; 72];
        let have = src.len().min(W);
        padded[..have].copy_from_slice(&src[..have]);
        for (value, sum) in group.iter_mut().zip(sums::<L, W>(&padded[..W + 8], min, last)) {
            *value = sum;
        }
        last = group.last().copied().unwrap_or(last);
        src = src.get(W..).unwrap_or_default();
    }
    last
}

/// Eight values. By pairs, fours and eights: added one after the other they take longer.
#[inline(always)]
fn sums<L: Lane, const W: usize>(window: &[u8], min: L, last: L) -> [L; 8] {
    let mut sums: [L; 8] = std::array::from_fn(|i| min.plus(L::truncate(field::<W>(window, i))));
    for (i, before) in [(1, 0), (3, 2), (5, 4), (7, 6), (2, 1), (3, 1), (6, 5), (7, 5)] {
        sums[i] = sums[i].plus(sums[before]);
    }
    for i in 4..8 {
        sums[i] = sums[i].plus(sums[3]);
    }
    sums.map(|sum| sum.plus(last))
}

/// Field `i` of a group of eight fields of `W` bits.
#[inline(always)]
fn field<const W: usize>(window: &[u8], i: usize) -> u64 {
    let (byte, shift) = (i * W / 8, i * W % 8);
    let mut bits = [0u8; 8];
    bits.copy_from_slice(&window[byte..byte + 8]);
    let mut x = u64::from_le_bytes(bits) >> shift;
    if W + shift > 64 {
        x |= u64::from(window[byte + 8]) << (64 - shift);
    }
    if W == 64 { x } else { x & ((1 << W) - 1) }
}

/// See [`crate::delta::decode_from`].
pub(crate) fn decode_from<L: Lane>(
    body: &[u8],
    width: u32,
    first: usize,
    min: L,
    mut last: L,
    out: &mut [L],
) -> L {
    let w = width as usize;
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    for (i, value) in (first..).zip(out) {
        // Eight values take `w` bytes: the product of `i` and `w` itself might overflow.
        let bit = i % 8 * w;
        let from = (i / 8).saturating_mul(w).saturating_add(bit / 8);
        let mut window = [0u8; 16];
        let have = body.get(from..).unwrap_or_default();
        let have = &have[..have.len().min(9)];
        window[..have.len()].copy_from_slice(have);
        let bits = u128::from_le_bytes(window) >> (bit % 8);
        #[expect(clippy::cast_possible_truncation, reason = "a field has at most 64 bits")]
        let field = bits as u64 & mask;
        last = last.plus(min).plus(L::truncate(field));
        *value = last;
    }
    last
}
