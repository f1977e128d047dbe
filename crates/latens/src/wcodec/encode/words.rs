//! Words by Pco.

mod halves;

use crate::error::Result;
use crate::number::{Number, f16};
use crate::pco::{self, DeltaSpec, ModeSpec};
use crate::wcodec::layout::symbols::MOST_EXPANSION;
use halves::{FEW, QUICK, of_halves};
use std::borrow::Cow;

pub(crate) use halves::have_order;

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

/// Levels from which on all is tried.
pub(crate) const SLOW: u32 = 9;
/// What words of several elements take more, at first, than the best of other views, as a share, where all that
/// can be tried would not make them smaller than that.
const HOPELESS: f64 = 0.25;

/// Words, and how groups of them are encoded.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// Bytes of each.
    pub(crate) width: usize,
    pub(crate) float: bool,
    /// Whether they are floats, be it as integers of the same order.
    pub(crate) of_floats: bool,
    /// How many a row has.
    pub(crate) a_row: usize,
    pub(crate) config: pco::Config,
}

impl Words {
    /// Integers without rows.
    pub(crate) fn unsigned(width: u8, config: pco::Config) -> Self {
        Self { width: width.into(), float: false, of_floats: false, a_row: 1, config }
    }

    /// Words of text, of which most were there before: all that is tried else takes five times as long for one byte
    /// less in a hundred.
    pub(crate) fn of_text(self) -> Self {
        let delta = DeltaSpec::Lookback { window_log: None, state_log: 2, secondary: false };
        Self { config: self.config.delta(delta).mode(ModeSpec::Classic), ..self }
    }

    /// Whether they take so many bytes more than `best` at first, that nothing that can be tried makes up for it:
    /// words of several elements, of which some were there before.
    pub(crate) fn are_hopeless(self, words: &[u8], best: usize) -> Result<bool> {
        if self.config.level >= SLOW {
            return Ok(false);
        }
        let mut at_first = self.of_text();
        at_first.config.level = at_first.config.level.min(QUICK);
        Ok(at_first.group(words)?.len() as f64 > best as f64 * (1.0 + HOPELESS))
    }

    /// Encodes a group, a Pco file.
    pub(crate) fn group(&self, group: &[u8]) -> Result<Vec<u8>> {
        let mut config = Cow::Borrowed(&self.config);
        // Integers may have been there before, in whatever order.
        let fits = self.width == 2 && (self.of_floats || group.len() <= 2 * FEW);
        if fits && config.is_auto() && config.level < SLOW {
            config = Cow::Owned(of_halves(group, self.a_row, config.into_owned()));
        }
        match (self.width, self.float) {
            (1, _) => compress(group, u8::from_le_bytes, &config),
            (2, false) => compress(group, u16::from_le_bytes, &config),
            (4, false) => compress(group, u32::from_le_bytes, &config),
            (8, false) => compress(group, u64::from_le_bytes, &config),
            (2, true) => compress(group, f16::from_le_bytes, &config),
            (4, true) => compress(group, f32::from_le_bytes, &config),
            _ => compress(group, f64::from_le_bytes, &config),
        }
    }
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

    #[test]
    fn wide_words_are_given_up_only_where_they_are_far_behind() {
        let bytes: Vec<u8> =
            (0..4096u64).flat_map(|i| (i % 16 * 0x0101_0101).to_le_bytes()).collect();
        let words = |level| Words::unsigned(8, pco::Config::default().level(level).checksum(false));
        let size = words(8).of_text().group(&bytes).unwrap().len();
        assert!(!words(8).are_hopeless(&bytes, size).unwrap());
        assert!(words(8).are_hopeless(&bytes, size / 2).unwrap());
        assert!(!words(9).are_hopeless(&bytes, size / 2).unwrap());
    }

    /// Integers without order may have been there before; floats of 16 bits are not searched for that.
    #[test]
    fn many_integers_are_searched_for_what_was_there_before() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            seed.to_le_bytes()[7]
        };
        let some: Vec<u8> = (0..6000).map(|_| next()).collect();
        let bytes = some.repeat(4);
        let integers = Words::unsigned(2, pco::Config::default().level(8).checksum(false));
        let floats = Words { of_floats: true, ..integers.clone() };
        let size = |words: Words| words.group(&bytes).unwrap().len();
        assert!(2 * size(integers) < size(floats));
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
                let stored = Words { width, float, of_floats: float, a_row: 64, config }
                    .group(&bytes)
                    .unwrap();
                assert!(
                    stored.len() <= bytes.len() + MOST_MORE,
                    "{width} {level}: {}",
                    stored.len()
                );
            }
        }
    }
}
