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

/// Bytes of words of 16 bits up to which the search for differences would take most of the time of a group:
/// biases, norms and scales, of which models have hundreds.
const SMALL: usize = 1 << 14;
/// How near neighbours are, as a share of how near words are that lie far apart, where order says nothing.
const UNORDERED: (f64, f64) = (0.7, 1.4);
/// Of so many words one is unlike all others, at least, or of 64 neighbouring values so many occur, where nothing
/// is gained by a dictionary: more than of multiples of three.
const OF_MANY: usize = 4;
const DENSE: u64 = 24;
/// Levels from which on all is tried.
pub(crate) const SLOW: u32 = 9;
/// The level that such words are given at most where not all is tried: their bins are hardly larger.
const QUICK: u32 = 7;
/// What words of several elements take more, at first, than the best of other views, as a share, where all that
/// can be tried would not make them smaller than that.
const HOPELESS: f64 = 0.25;

/// How words of text are encoded, of which most were there before: all that is tried else takes five times as long
/// for one byte less in a hundred.
pub(crate) fn of_text(config: pco::Config) -> pco::Config {
    let delta = DeltaSpec::Lookback { window_log: None, state_log: 2, secondary: false };
    config.delta(delta).mode(ModeSpec::Classic)
}

/// Whether words take so many bytes more than `best` at first, that nothing that can be tried makes up for it:
/// those of several elements, of which some were there before.
pub(crate) fn are_hopeless(
    words: &[u8],
    width: usize,
    best: usize,
    config: pco::Config,
) -> Result<bool> {
    if config.level >= SLOW {
        return Ok(false);
    }
    let level = config.level.min(QUICK);
    let at_first = group(words, width, false, &of_text(config).level(level))?.len();
    Ok(at_first as f64 > best as f64 * (1.0 + HOPELESS))
}

/// Encodes a group, a Pco file.
pub(crate) fn group(
    group: &[u8],
    width: usize,
    float: bool,
    config: &pco::Config,
) -> Result<Vec<u8>> {
    let mut config = Cow::Borrowed(config);
    if width == 2 && config.is_auto() && config.level < SLOW {
        config = Cow::Owned(of_halves(group, config.into_owned()));
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

/// How words of 16 bits are encoded where not all is tried.
fn of_halves(group: &[u8], mut config: pco::Config) -> pco::Config {
    if is_plain(group) {
        config = config.mode(ModeSpec::Classic);
    }
    if group.len() > SMALL {
        return config;
    }
    if is_unordered(group) {
        config = config.delta(DeltaSpec::None);
    }
    let level = config.level.min(QUICK);
    config.level(level)
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

/// Whether neither a dictionary nor a divisor gains anything for words of 16 bits, floats or not: most of them are unlike all others, or
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

    /// Floats of a grid keep their modes, others need none; what takes most of the time is not tried for few.
    #[test]
    fn floats_are_searched_where_there_is_something_to_find() {
        let halves = |of: &dyn Fn(f32) -> f32, n: usize| -> Vec<u8> {
            let mut seed = 3u32;
            let mut next = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f16::from_f32(of((seed >> 8) as f32))
            };
            (0..n).flat_map(|_| next().to_le_bytes()).collect()
        };
        let (noise, grid) = (|x: f32| x.sqrt(), |x: f32| (x % 50.0) / 10.0);
        let config = pco::Config::default().level(8);
        let of = |bytes: &[u8]| of_halves(bytes, config.clone());
        let (few, many) = (halves(&noise, 900), halves(&noise, 9000));
        assert_eq!(
            of(&few),
            config.clone().delta(DeltaSpec::None).mode(ModeSpec::Classic).level(QUICK)
        );
        assert_eq!(of(&many), config.clone().mode(ModeSpec::Classic));
        assert_eq!(of(&halves(&grid, 9000)), config);
    }

    #[test]
    fn wide_words_are_given_up_only_where_they_are_far_behind() {
        let words: Vec<u8> =
            (0..4096u64).flat_map(|i| (i % 16 * 0x0101_0101).to_le_bytes()).collect();
        let config = pco::Config::default().level(8).checksum(false);
        let size = group(&words, 8, false, &of_text(config.clone())).unwrap().len();
        assert!(!are_hopeless(&words, 8, size, config.clone()).unwrap());
        assert!(are_hopeless(&words, 8, size / 2, config.clone()).unwrap());
        assert!(!are_hopeless(&words, 8, size / 2, config.level(9)).unwrap());
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
