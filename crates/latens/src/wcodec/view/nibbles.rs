//! Eight nibbles of a word of 32 bits at a time, in a 64-bit register: one a byte, the first
//! lowest.

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

/// Even nibbles from the lower half of the word, odd ones from the upper half.
fn spread_awq(word: u32) -> u64 {
    let mut x = (u64::from(word & 0xffff)) | (u64::from(word >> 16) << 32);
    x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    // Now bytes 0 to 3 are nibbles 0, 2, 4, 6 and bytes 4 to 7 are 1, 3, 5, 7.
    interleave(x)
}

fn interleave(x: u64) -> u64 {
    let [a, b, c, d, e, f, g, h] = x.to_le_bytes();
    u64::from_le_bytes([a, e, b, f, c, g, d, h])
}

fn gather_awq(nibbles: u64) -> u32 {
    let [a, b, c, d, e, f, g, h] = nibbles.to_le_bytes();
    gather(u64::from_le_bytes([a, c, e, g, b, d, f, h]))
}

fn swap_pairs(x: u64) -> u64 {
    ((x & 0x00ff_00ff_00ff_00ff) << 8) | ((x >> 8) & 0x00ff_00ff_00ff_00ff)
}

/// The nibbles of whole words of four bytes, in logical order. `out` has twice as many bytes.
pub(super) fn unpack(words: &[u8], order: NibbleOrder, out: &mut [u8]) {
    fn each(words: &[u8], out: &mut [u8], f: impl Fn(u32) -> u64) {
        for (word, out) in words.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<8>().0) {
            *out = f(u32::from_le_bytes(*word)).to_le_bytes();
        }
    }
    match order {
        NibbleOrder::Low => each(words, out, spread),
        NibbleOrder::High => each(words, out, |w| spread(w).swap_bytes()),
        NibbleOrder::HighInByte => each(words, out, |w| swap_pairs(spread(w))),
        NibbleOrder::Awq => each(words, out, spread_awq),
    }
}

/// The inverse of [`unpack`].
pub(super) fn pack(nibbles: &[u8], order: NibbleOrder, out: &mut [u8]) {
    fn each(nibbles: &[u8], out: &mut [u8], f: impl Fn(u64) -> u32) {
        for (eight, out) in nibbles.as_chunks::<8>().0.iter().zip(out.as_chunks_mut::<4>().0) {
            *out = f(u64::from_le_bytes(*eight)).to_le_bytes();
        }
    }
    match order {
        NibbleOrder::Low => each(nibbles, out, gather),
        NibbleOrder::High => each(nibbles, out, |x| gather(x.swap_bytes())),
        NibbleOrder::HighInByte => each(nibbles, out, |x| gather(swap_pairs(x))),
        NibbleOrder::Awq => each(nibbles, out, gather_awq),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                }
            }
        }
    }
}
