//! Eight nibbles of a word of 32 bits at a time, in a 64-bit register: one a byte, the first
//! lowest.

use latens_kernels::dispatch::Present;

/// Which nibble of four bytes comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NibbleOrder {
    /// The lowest of the word, or of each byte: the same in little-endian words.
    Low,
    /// The highest of the word.
    High,
    /// The higher one of each byte.
    HighInByte,
    /// AWQ's: even ones in the lower half of the word, odd ones in the upper half.
    Awq,
}

/// Nibbles 0 to 7 of a word, lowest first.
fn spread(word: u32) -> u64 {
    let mut x = u64::from(word);
    x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
    x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
    (x | (x << 4)) & 0x0f0f_0f0f_0f0f_0f0f
}

#[expect(clippy::cast_possible_truncation, reason = "the eight nibbles are in the lower half")]
fn gather(nibbles: u64) -> u32 {
    let mut x = nibbles & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | (x >> 4)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x >> 8)) & 0x0000_ffff_0000_ffff;
    (x | (x >> 16)) as u32
}

/// Four nibbles from the lowest 16 bits, 16 bits apart.
fn spread4(half: u64) -> u64 {
    let x = (half | (half << 24)) & 0x0000_00ff_0000_00ff;
    (x | (x << 12)) & 0x000f_000f_000f_000f
}

/// The inverse of [`spread4`].
fn gather4(nibbles: u64) -> u64 {
    let x = nibbles & 0x000f_000f_000f_000f;
    let x = (x | (x >> 12)) & 0x0000_00ff_0000_00ff;
    (x | (x >> 24)) & 0xffff
}

/// Even nibbles from the lower half of the word, odd ones from the upper half.
fn spread_awq(word: u32) -> u64 {
    spread4(u64::from(word & 0xffff)) | (spread4(u64::from(word >> 16)) << 8)
}

#[expect(clippy::cast_possible_truncation, reason = "two halves of 16 bits")]
fn gather_awq(nibbles: u64) -> u32 {
    (gather4(nibbles) | (gather4(nibbles >> 8) << 16)) as u32
}

/// The nibbles of whole words of four bytes, in logical order. `out` has twice as many bytes.
pub(super) fn unpack(words: &[u8], order: NibbleOrder, out: &mut [u8]) {
    #[inline(always)]
    fn words4(words: &[u8], out: &mut [u8], f: impl Fn(u32) -> u64) {
        for (word, out) in words.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<8>().0) {
            *out = f(u32::from_le_bytes(*word)).to_le_bytes();
        }
    }
    #[inline(always)]
    fn bytes(bytes: &[u8], out: &mut [u8], f: impl Fn(u16) -> u16) {
        for (byte, out) in bytes.iter().zip(out.as_chunks_mut::<2>().0) {
            *out = f(u16::from(*byte)).to_le_bytes();
        }
    }
    Present::in_use().call(
        #[inline(always)]
        || match order {
            NibbleOrder::Low => bytes(words, out, |b| (b & 15) | ((b & 0xf0) << 4)),
            NibbleOrder::HighInByte => bytes(words, out, |b| (b >> 4) | ((b & 15) << 8)),
            NibbleOrder::High => words4(words, out, |w| spread(w).swap_bytes()),
            NibbleOrder::Awq => words4(words, out, spread_awq),
        },
    );
}

/// The inverse of [`unpack`].
pub(super) fn pack(nibbles: &[u8], order: NibbleOrder, out: &mut [u8]) {
    #[inline(always)]
    fn words4(nibbles: &[u8], out: &mut [u8], f: impl Fn(u64) -> u32) {
        for (eight, out) in nibbles.as_chunks::<8>().0.iter().zip(out.as_chunks_mut::<4>().0) {
            *out = f(u64::from_le_bytes(*eight)).to_le_bytes();
        }
    }
    // Two nibbles as a word of 16 bits, so that the loop runs in vectors on every machine.
    #[inline(always)]
    fn bytes(nibbles: &[u8], out: &mut [u8], f: impl Fn(u16) -> u16) {
        for (two, out) in nibbles.as_chunks::<2>().0.iter().zip(out) {
            [*out, _] = (f(u16::from_le_bytes(*two)) & 0xff).to_le_bytes();
        }
    }
    Present::in_use().call(
        #[inline(always)]
        || match order {
            NibbleOrder::Low => bytes(nibbles, out, |x| (x & 15) | ((x >> 4) & 0xf0)),
            NibbleOrder::HighInByte => bytes(nibbles, out, |x| ((x & 15) << 4) | ((x >> 8) & 15)),
            NibbleOrder::High => words4(nibbles, out, |x| gather(x.swap_bytes())),
            NibbleOrder::Awq => words4(nibbles, out, gather_awq),
        },
    );
}

/// Bytes of two runs of nibbles, the first one low. Arrays by value: what is written may be where nothing else is read, and
/// vectors do it.
#[inline(always)]
pub(super) fn of_two<const N: usize>(low: &[u8; N], high: &[u8; N]) -> [u8; N] {
    let mut bytes = *low;
    for (byte, high) in bytes.iter_mut().zip(high) {
        *byte = (*byte & 15) | (high << 4);
    }
    bytes
}

/// Bits 4 to 3 + `count` of each weight, run after run of 32, behind one another in 32 bytes; `count` divides 8. Eight bytes
/// are shifted at once: none of the bits leaves its byte.
#[inline(always)]
pub(super) fn upper_bits(runs: &[[u8; 32]], count: usize) -> [u8; 32] {
    let mask = u64::from_le_bytes([(1 << count) - 1; 8]);
    let mut all = [0u64; 4];
    for (r, run) in runs.iter().enumerate() {
        for (all, eight) in all.iter_mut().zip(run.as_chunks().0) {
            *all |= ((u64::from_le_bytes(*eight) >> 4) & mask) << (r * count);
        }
    }
    let mut bytes = [0; 32];
    for (bytes, all) in bytes.as_chunks_mut().0.iter_mut().zip(all) {
        *bytes = all.to_le_bytes();
    }
    bytes
}

/// How far each of the eight rows that share a word of four bytes is shifted.
fn row_shifts(order: NibbleOrder) -> [u32; 8] {
    match order {
        NibbleOrder::Low => [0, 4, 8, 12, 16, 20, 24, 28],
        NibbleOrder::High => [28, 24, 20, 16, 12, 8, 4, 0],
        NibbleOrder::HighInByte => [4, 0, 12, 8, 20, 16, 28, 24],
        NibbleOrder::Awq => [0, 16, 4, 20, 8, 24, 12, 28],
    }
}

/// Eight rows of nibbles from a row of words of four bytes. `rows` has eight rows of as many
/// nibbles as there are words.
pub(super) fn unpack_rows(words: &[u8], order: NibbleOrder, rows: &mut [u8]) {
    let words = words.as_chunks::<4>().0;
    Present::in_use().call(
        #[inline(always)]
        || {
            let each = rows.chunks_exact_mut(words.len().max(1)).zip(row_shifts(order));
            for (row, shift) in each {
                for (out, word) in row.iter_mut().zip(words) {
                    *out = ((u32::from_le_bytes(*word) >> shift) & 15) as u8;
                }
            }
        },
    );
}

/// Columns of rows that are packed at once.
const BAND: usize = 32;

/// The inverse of [`unpack_rows`].
pub(super) fn pack_rows(rows: &[u8], order: NibbleOrder, words: &mut [u8]) {
    let words = words.as_chunks_mut::<4>().0;
    let n = words.len();
    let Some((rows, _)) = rows.split_at_checked(8 * n) else { return };
    // The rows of each byte of a word, the one of its lower half first.
    let mut halves = [[&rows[..0]; 2]; 4];
    for (row, shift) in rows.chunks_exact(n.max(1)).zip(row_shifts(order)) {
        halves[shift as usize / 8][shift as usize / 4 % 2] = row;
    }
    let (bands, rest) = words.as_chunks_mut::<BAND>();
    Present::in_use().call(
        #[inline(always)]
        || {
            for (i, words) in bands.iter_mut().enumerate() {
                let band = |row: &[u8]| row.as_chunks::<BAND>().0.get(i).copied();
                let [a, b, c, d] = halves.map(
                    #[inline(always)]
                    |of_byte| {
                        let [low, high] = of_byte.map(|row| band(row).unwrap_or([0; BAND]));
                        of_two(&low, &high)
                    },
                );
                for (i, word) in words.iter_mut().enumerate() {
                    *word = [a[i], b[i], c[i], d[i]];
                }
            }
        },
    );
    let done = n - rest.len();
    for (i, word) in (done..).zip(rest) {
        *word = halves.map(|[low, high]| (low[i] & 15) | (high[i] << 4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many columns there are, what is unpacked packs to the same words.
    #[test]
    fn rows_come_back() {
        for order in
            [NibbleOrder::Low, NibbleOrder::High, NibbleOrder::HighInByte, NibbleOrder::Awq]
        {
            for cols in [0, 1, 31, 32, 33, 100] {
                let words: Vec<u8> =
                    (0..4 * cols).map(|i: usize| (i * 89).to_le_bytes()[0]).collect();
                let mut rows = vec![0; 8 * cols];
                unpack_rows(&words, order, &mut rows);
                assert!(rows.iter().all(|&nibble| nibble < 16));
                // Higher bits are no nibble's.
                rows.iter_mut().for_each(|nibble| *nibble |= 0x50);
                let mut back = vec![0xee; words.len()];
                pack_rows(&rows, order, &mut back);
                assert_eq!(back, words, "{order:?} {cols}");
            }
        }
    }

    #[test]
    fn the_registers_agree_with_the_positions() {
        for (order, shifts) in [
            (NibbleOrder::Low, [0, 4, 8, 12, 16, 20, 24, 28]),
            (NibbleOrder::High, [28, 24, 20, 16, 12, 8, 4, 0]),
            (NibbleOrder::HighInByte, [4, 0, 12, 8, 20, 16, 28, 24]),
            (NibbleOrder::Awq, [0, 16, 4, 20, 8, 24, 12, 28]),
        ] {
            for (k, shift) in shifts.into_iter().enumerate() {
                for value in [1u32, 9, 15] {
                    let word = (value << shift).to_le_bytes();
                    let mut out = [0; 8];
                    unpack(&word, order, &mut out);
                    let mut want = [0; 8];
                    want[k] = u8::try_from(value).unwrap();
                    assert_eq!(out, want, "{order:?} nibble {k}");
                    let mut back = [0; 4];
                    pack(&out, order, &mut back);
                    assert_eq!(back, word, "{order:?} nibble {k}");
                    // The same word as a column of eight rows.
                    let mut out = [0; 8];
                    unpack_rows(&word, order, &mut out);
                    assert_eq!(out, want, "{order:?} row {k}");
                    pack_rows(&out, order, &mut back);
                    assert_eq!(back, word, "{order:?} row {k}");
                }
            }
        }
    }
}
