//! How bytes are damaged.
//!
//! Four strategies go through all there is, two are drawn at random. All are pure functions: a case
//! is told, and made again, by its target, seed and index.

use crate::random::{Random, noise};

/// Runs of bytes that make a field large, small, or negative.
pub const BLOWS: [&[u8]; 16] = [
    b"\xff",
    b"\xff\xff",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\0",
    b"\0\0\0\0",
    b"\0\0\0\0\0\0\0\0",
    b"\x7f",
    b"\x80",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\0\0\0\0\0\0\0\x80",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xfe\xff\xff\xff",
];

/// Bytes from the front in which fields are blown up: most structure stands there.
const HEAD: usize = 96;
/// Cases of [`Strategy::Append`] a file.
const APPENDS: usize = 12;

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Cut behind every byte.
    Truncation,
    /// Every single bit flipped.
    Bit,
    /// Every place of the first bytes overwritten with each of [`BLOWS`].
    BlowUp,
    /// Bytes after the end: the file again, zeros, noise.
    Append,
    /// The front of one file, the back of another.
    Splice,
    /// One to eight changes, anywhere.
    Havoc,
}

impl Strategy {
    /// Those that go through all there is, in order.
    pub const THOROUGH: [Self; 4] = [Self::Truncation, Self::Bit, Self::BlowUp, Self::Append];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Truncation => "truncation",
            Self::Bit => "bit",
            Self::BlowUp => "blow-up",
            Self::Append => "append",
            Self::Splice => "splice",
            Self::Havoc => "havoc",
        }
    }

    /// How many cases of it a file of `len` bytes has; 0 of those that are drawn.
    pub fn cases(self, len: usize) -> usize {
        match self {
            Self::Truncation => len,
            Self::Bit => 8 * len,
            Self::BlowUp => len.min(HEAD) * BLOWS.len(),
            Self::Append => APPENDS,
            Self::Splice | Self::Havoc => 0,
        }
    }
}

/// Case `index` of a strategy on `file`. `other` and `random` serve those that are drawn.
pub fn damage(
    strategy: Strategy,
    file: &[u8],
    other: &[u8],
    index: usize,
    random: &mut Random,
) -> Vec<u8> {
    let mut bytes = file.to_vec();
    match strategy {
        Strategy::Truncation => bytes.truncate(index),
        Strategy::Bit => bytes[index / 8] ^= 1 << (index % 8),
        Strategy::BlowUp => put(&mut bytes, index / BLOWS.len(), BLOWS[index % BLOWS.len()]),
        Strategy::Append => match index % 3 {
            0 => bytes.extend_from_slice(&file[..file.len() >> (index / 3)]),
            1 => bytes.resize(file.len() + 1 + index * index, 0),
            _ => bytes.extend(noise(random, 1 + index)),
        },
        Strategy::Splice => {
            let cut = random.below(file.len() + 1);
            bytes.truncate(cut);
            let from = if random.below(2) == 0 { cut } else { random.below(other.len() + 1) };
            bytes.extend_from_slice(other.get(from..).unwrap_or(&[]));
            if random.below(2) == 0 {
                havoc(&mut bytes, random, 2);
            }
        }
        Strategy::Havoc => havoc(&mut bytes, random, 8),
    }
    bytes
}

fn put(bytes: &mut [u8], at: usize, what: &[u8]) {
    for (byte, &new) in bytes.iter_mut().skip(at).zip(what) {
        *byte = new;
    }
}

/// One to `most` changes.
pub fn havoc(bytes: &mut Vec<u8>, random: &mut Random, most: usize) {
    for _ in 0..1 + random.below(most) {
        if bytes.is_empty() {
            bytes.push(random.word() as u8);
            continue;
        }
        let reach = if random.below(2) == 0 { bytes.len().min(48) } else { bytes.len() };
        let at = random.below(reach);
        let end = (at + 1 + random.below(9)).min(bytes.len());
        match random.below(11) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.word() as u8,
            3 => bytes[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff, 0xfe, 32, 33, 64, 65]),
            4 => put(bytes, at, BLOWS[random.below(BLOWS.len())]),
            5 => bytes[at] = bytes[at].wrapping_add(random.below(9) as u8).wrapping_sub(4),
            6 => drop(bytes.drain(at..end)),
            7 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            8 => bytes.insert(at, random.word() as u8),
            9 => {
                let from = random.below(bytes.len());
                let n = (bytes.len() - from.max(at)).min(16);
                bytes.copy_within(from..from + n, at);
            }
            _ if random.below(4) == 0 => bytes.truncate(at),
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
}
