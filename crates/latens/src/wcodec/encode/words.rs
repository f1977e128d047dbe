//! Words by Pco.

use crate::error::Result;
use crate::number::{Number, f16};
use crate::pco::{self, DeltaSpec, ModeSpec};
use crate::wcodec::layout::symbols::MOST_EXPANSION;
use std::borrow::Cow;

/// Words and bytes that a group of Pco holds, at most. Equal words take some 30 bytes in all, which
/// may stand for no more than [`MOST_EXPANSION`] times as many.
const GROUP_WORDS: usize = 1 << 18;
const GROUP_BYTES: usize = 1 << 20;
const _: () = assert!(GROUP_BYTES <= 16 * MOST_EXPANSION);

/// Bytes by which a group may be larger than its words.
pub(crate) const MOST_MORE: usize = 256;

/// Words of `width` bytes that a group holds.
pub(crate) fn per_group(width: usize) -> usize {
    GROUP_WORDS.min(GROUP_BYTES / width.max(1))
}

/// Bytes of words of 16 bits up to which the search for differences and modes would take most of the time of a
/// group: biases, norms and scales, of which models have hundreds.
const SMALL: usize = 1 << 14;
/// How near neighbours are, as a share of how near words are that lie far apart, where order says nothing.
const UNORDERED: (f64, f64) = (0.7, 1.4);
/// Of so many words one is unlike all others, at least, or of 64 neighbouring values so many occur, where nothing
/// is gained by a dictionary: more than of multiples of three.
const OF_MANY: usize = 4;
const DENSE: u64 = 24;
/// Levels from which on all is tried, and the one that such words are given at most below that: their bins are hardly
/// larger.
const SLOW: u32 = 9;
const QUICK: u32 = 7;

/// How words of text are encoded, of which most were there before: all that is tried else takes five times as long
/// for one byte less in a hundred.
pub(crate) fn of_text(config: pco::Config) -> pco::Config {
    let delta = DeltaSpec::Lookback { window_log: None, state_log: 2, secondary: false };
    config.delta(delta).mode(ModeSpec::Classic)
}

/// Encodes a group, a Pco file.
pub(crate) fn group(
    group: &[u8],
    width: usize,
    float: bool,
    config: &pco::Config,
) -> Result<Vec<u8>> {
    let mut config = Cow::Borrowed(config);
    let level = config.level;
    let is_open = config.is_auto() && level < SLOW;
    if width == 2 && group.len() <= SMALL && is_open && is_unordered(group) {
        let mode = if !float && is_plain(group) { ModeSpec::Classic } else { ModeSpec::Auto };
        let of_few = config.into_owned().delta(DeltaSpec::None).mode(mode);
        config = Cow::Owned(if level > QUICK { of_few.level(QUICK) } else { of_few });
    }
    let config = &*config;
    match (width, float) {
        (1, _) => compress(group, u8::from_le_bytes, config),
        (2, false) => compress(group, u16::from_le_bytes, config),
        (4, false) => compress(group, u32::from_le_bytes, config),
        (8, false) => compress(group, u64::from_le_bytes, config),
        (2, true) => compress(group, f16::from_le_bytes, config),
        (4, true) => compress(group, f32::from_le_bytes, config),
        _ => compress(group, f64::from_le_bytes, config),
    }
}

/// Whether words of 16 bits are as near to those half of the group away as to their neighbours. What
/// comes again after so many is nearer.
fn is_unordered(group: &[u8]) -> bool {
    let words = group.as_chunks::<2>().0;
    let distance = |(a, b): (&[u8; 2], &[u8; 2])| {
        u32::from(u16::from_le_bytes(*a).abs_diff(u16::from_le_bytes(*b)))
    };
    // Of so few words a sum is not too large.
    let apart = |by: usize| -> f64 {
        let (before, behind) = words.split_at(by.min(words.len()));
        let within: u32 = words.iter().zip(behind).map(distance).sum();
        let around: u32 = words[behind.len()..].iter().zip(before).map(distance).sum();
        f64::from(within) + f64::from(around)
    };
    let (near, far) = (apart(1), apart(words.len() / 2));
    near >= UNORDERED.0 * far && near <= UNORDERED.1 * far && near > 0.0
}

/// Whether neither a dictionary nor a divisor gains anything for words of 16 bits: most of them are unlike all others, or
/// lie where most values occur; and they are not all, or nearly all, multiples of something, a number aside.
fn is_plain(group: &[u8]) -> bool {
    let words = group.as_chunks::<2>().0;
    let first = words.first().map_or(0, |&word| u16::from_le_bytes(word));
    let (mut seen, mut different, mut divisor, mut odd) = ([0u64; 1 << 10], 0, 0, 0);
    for &word in words {
        let word = u16::from_le_bytes(word);
        let (seen, bit) = (&mut seen[usize::from(word >> 6)], 1 << (word & 63));
        different += usize::from(*seen & bit == 0);
        *seen |= bit;
        if divisor != 1 {
            divisor = common_divisor(word.abs_diff(first), divisor);
        }
        odd += usize::from((word ^ first) & 1);
    }
    let n = words.len();
    if divisor != 1 || different * OF_MANY >= n {
        return divisor == 1;
    }
    let around = |&word: &[u8; 2]| seen[usize::from(u16::from_le_bytes(word) >> 6)].count_ones();
    let all_around: u64 = words.iter().map(|word| u64::from(around(word))).sum();
    all_around >= DENSE * n as u64 && (n / 4..=n - n / 4).contains(&odd)
}

/// The greatest common divisor.
fn common_divisor(mut a: u16, mut b: u16) -> u16 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn compress<T: Number, const WIDTH: usize>(
    bytes: &[u8],
    from: impl Fn([u8; WIDTH]) -> T,
    config: &pco::Config,
) -> Result<Vec<u8>> {
    let numbers: Vec<T> = bytes.as_chunks::<WIDTH>().0.iter().map(|&word| from(word)).collect();
    pco::compress(&numbers, config)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Words of a small group keep their differences where these are small.
    #[test]
    fn order_is_seen_where_there_is_some() {
        let mut seed = 1u64;
        let noise: Vec<u16> = (0..999)
            .map(|_| {
                seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                u16::try_from(seed >> 50).unwrap()
            })
            .collect();
        let bytes = |words: &[u16]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        assert!(is_unordered(&bytes(&noise)));
        let rising: Vec<u16> = (0..999).map(|i| 40 * i).collect();
        let waves: Vec<u16> = (0..999).map(|i| (i % 64) * (64 - i % 64)).collect();
        for words in [&[][..], &[7], &[7; 500], &rising, &waves, &noise[..400].repeat(2)] {
            assert!(!is_unordered(&bytes(words)), "{words:?}");
        }
    }

    #[test]
    fn words_of_a_kind_are_seen() {
        let bytes = |words: &[u16]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let mixed: Vec<u16> = (0..999u16).map(|i| i.wrapping_mul(i).wrapping_mul(77)).collect();
        assert!(is_plain(&bytes(&mixed)));
        let fives: Vec<u16> = mixed.iter().map(|word| word / 5 * 5 + 3).collect();
        let few: Vec<u16> = mixed.iter().map(|word| word % 100).collect();
        assert!(is_plain(&bytes(&few)));
        let mostly_even: Vec<u16> =
            few.iter().zip(0..).map(|(word, i)| word & !1 | u16::from(i % 8 == 0)).collect();
        let apart: Vec<u16> = few.iter().map(|word| word * word * 6).collect();
        for words in [&[][..], &[7], &[7; 500], &fives, &mostly_even, &apart] {
            assert!(!is_plain(&bytes(words)), "{words:?}");
        }
    }

    /// What nothing is known of grows by less than a group may grow.
    #[test]
    fn noise_grows_little() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 56).to_le_bytes()[0]
        };
        for (width, float) in [(2, false), (2, true), (4, false), (4, true), (8, false), (8, true)]
        {
            let bytes: Vec<u8> = (0..per_group(width) * width).map(|_| next()).collect();
            for level in [0, 1, 8, 12] {
                let config = pco::Config::default().level(level).checksum(false);
                let stored = group(&bytes, width, float, &config).unwrap();
                assert!(
                    stored.len() <= bytes.len() + MOST_MORE,
                    "{width} {level}: {}",
                    stored.len()
                );
            }
        }
    }
}
