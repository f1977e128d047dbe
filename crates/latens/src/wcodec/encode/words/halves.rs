//! Words of 16 bits: what is not worth trying for them.

use crate::pco::{self, DeltaSpec, ModeSpec};

/// Words up to which the search for bins would take most of the time of a group: biases, norms and scales, of which models
/// have hundreds. Of more, so many tell what the others are like, and some rows at least.
pub(super) const FEW: usize = 1 << 13;
const ROWS: usize = 4;
/// How near neighbours are, as a share of how near words are that lie far apart, where order says nothing; and where
/// there are so many words that what it says is worth the time.
const UNORDERED: [f64; 2] = [0.7, 1.4];
const UNORDERED_OF_MANY: [f64; 2] = [0.93, 1.08];
/// Of so many words one is unlike all others, at least, or of 64 neighbouring values so many occur, where nothing
/// is gained by a dictionary: more than of multiples of three.
const OF_MANY: usize = 4;
const DENSE: u64 = 24;
/// The level that such words are given at most where not all is tried: their bins are hardly larger.
pub(super) const QUICK: u32 = 7;

/// How words of 16 bits, in rows of `a_row`, are encoded where not all is tried.
pub(super) fn of_halves(group: &[u8], a_row: usize, mut config: pco::Config) -> pco::Config {
    let (words, sample) = looked_at(group, a_row);
    if is_plain(sample) {
        config = config.mode(ModeSpec::Classic);
    }
    let few = words.len() <= FEW;
    if !in_order(sample, a_row, if few { UNORDERED } else { UNORDERED_OF_MANY }) {
        config = config.delta(DeltaSpec::None);
    }
    let level = if few { config.level.min(QUICK) } else { config.level };
    config.level(level)
}

/// Whether neighbours in rows of `a_row`, or in columns, are nearer to each other than words of 16 bits that lie far apart.
pub(crate) fn have_order(words: &[u8], a_row: usize) -> bool {
    in_order(looked_at(words, a_row).1, a_row, UNORDERED_OF_MANY)
}

/// All words of 16 bits, and those of them that are looked at.
fn looked_at(group: &[u8], a_row: usize) -> (&[[u8; 2]], &[[u8; 2]]) {
    let words = group.as_chunks::<2>().0;
    let count = FEW.max(a_row.saturating_mul(ROWS)).min(words.len());
    (words, &words[(words.len() - count) / 2..][..count])
}

fn in_order(sample: &[[u8; 2]], a_row: usize, alike: [f64; 2]) -> bool {
    let unordered = |by| is_unordered(sample, by, alike);
    !(unordered(1) && (a_row >= sample.len() || unordered(a_row)))
}

/// Whether words are as near to those half of all away as to the ones that are `by` words away, as `alike` has it.
/// What comes again after so many is nearer.
fn is_unordered(words: &[[u8; 2]], by: usize, alike: [f64; 2]) -> bool {
    let distance = |(a, b): (&[u8; 2], &[u8; 2])| {
        u64::from(u16::from_le_bytes(*a).abs_diff(u16::from_le_bytes(*b)))
    };
    let apart = |by: usize| -> f64 {
        let (before, behind) = words.split_at(by.min(words.len()));
        let within: u64 = words.iter().zip(behind).map(distance).sum();
        let around: u64 = words[behind.len()..].iter().zip(before).map(distance).sum();
        within as f64 + around as f64
    };
    let (near, far) = (apart(by), apart(words.len() / 2));
    near >= alike[0] * far && near <= alike[1] * far && near > 0.0
}

/// Whether neither a dictionary nor a divisor gains anything for words, floats or not: most of them are unlike all
/// others, or lie where most values occur; and they are not all, or nearly all, multiples of something, a number aside.
fn is_plain(words: &[[u8; 2]]) -> bool {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::number::f16;

    fn words(of: &[u16]) -> Vec<[u8; 2]> {
        of.iter().map(|word| word.to_le_bytes()).collect()
    }

    /// Numbers without order.
    fn noise(n: usize) -> impl Iterator<Item = u16> {
        let mut seed = 1u64;
        let next = move |_| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            u16::try_from(seed >> 50).unwrap()
        };
        (0..n).map(next)
    }

    /// Words keep their differences where these are small.
    #[test]
    fn order_is_seen_where_there_is_some() {
        let is_unordered = |of: &[u16], by| is_unordered(&words(of), by, UNORDERED);
        let noise: Vec<u16> = noise(999).collect();
        assert!(is_unordered(&noise, 1) && is_unordered(&noise, 37));
        let rising: Vec<u16> = (0..999).map(|i| 40 * i).collect();
        let waves: Vec<u16> = (0..999).map(|i| (i % 64) * (64 - i % 64)).collect();
        for ordered in [&[][..], &[7], &[7; 500], &rising, &waves, &noise[..400].repeat(2)] {
            assert!(!is_unordered(ordered, 1), "{ordered:?}");
        }
        // Rows that go on, of columns that have nothing in common.
        let row = &noise[..37];
        let rows = (0..201).flat_map(|r| row.iter().map(move |n| n + 3 * r)).collect::<Vec<u16>>();
        assert!(is_unordered(&rows, 1) && !is_unordered(&rows, 37));
        let config = pco::Config::default();
        let of = |a_row| of_halves(words(&rows).as_flattened(), a_row, config.clone()).delta;
        assert_eq!(
            (of(1), of(37), of(rows.len())),
            (DeltaSpec::None, config.delta, DeltaSpec::None)
        );
    }

    #[test]
    fn words_of_a_kind_are_seen() {
        let mixed: Vec<u16> = (0..999u16).map(|i| i.wrapping_mul(i).wrapping_mul(77)).collect();
        assert!(is_plain(&words(&mixed)));
        let fives: Vec<u16> = mixed.iter().map(|word| word / 5 * 5 + 3).collect();
        let few: Vec<u16> = mixed.iter().map(|word| word % 100).collect();
        assert!(is_plain(&words(&few)));
        let mostly_even: Vec<u16> =
            few.iter().zip(0..).map(|(word, i)| word & !1 | u16::from(i % 8 == 0)).collect();
        let apart: Vec<u16> = few.iter().map(|word| word * word * 6).collect();
        for of_a_kind in [&[][..], &[7], &[7; 500], &fives, &mostly_even, &apart] {
            assert!(!is_plain(&words(of_a_kind)), "{of_a_kind:?}");
        }
    }

    /// Floats of a grid keep their modes, others need none; what takes most of the time is not tried for few.
    #[test]
    fn floats_are_searched_where_there_is_something_to_find() {
        let halves = |of: &dyn Fn(f32) -> f32, n: usize| -> Vec<u8> {
            let numbers = noise(n).map(|x| f16::from_f32(of(f32::from(x))));
            numbers.flat_map(f16::to_le_bytes).collect()
        };
        let (any, grid) = (|x: f32| x.sqrt(), |x: f32| (x % 50.0) / 10.0);
        let config = pco::Config::default().level(8);
        let of = |bytes: &[u8]| of_halves(bytes, 1, config.clone());
        let plain = config.clone().delta(DeltaSpec::None).mode(ModeSpec::Classic);
        assert_eq!(of(&halves(&any, 900)), plain.clone().level(QUICK));
        assert_eq!(of(&halves(&any, 90_000)), plain);
        assert_eq!(of(&halves(&grid, 90_000)), config.delta(DeltaSpec::None));
    }
}
