//! Entries that explain others, such as their scales: decoded once, though they are wanted twice.

use super::MOST;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Entries whose bytes are kept at most.
const ENTRIES: usize = 4;

/// The bytes of some entries, with these: of those that were sources of others, until somebody wants them, as most often
/// scales are read when their weights have been; where scales come first, of those that may be sources.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    kept: Mutex<Vec<(usize, Vec<u8>)>>,
    /// Whether a source was wanted that stands before what it explains, and was not kept.
    come_first: AtomicBool,
}

impl Sources {
    /// Bytes of an entry that is kept before it is known to be a source, at most.
    pub(crate) const MOST_DECODED: usize = MOST / ENTRIES;

    /// Keeps the bytes of entry `holder`, in place of those of others where these are too many.
    pub(crate) fn keep(&self, holder: usize, bytes: Vec<u8>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(of, _)| *of != holder);
        kept.push((holder, bytes));
        let all = |kept: &[(usize, Vec<u8>)]| kept.iter().map(|k| k.1.len()).sum::<usize>();
        while kept.len() > ENTRIES || all(&kept) > MOST {
            kept.remove(0);
        }
    }

    /// The bytes of entry `holder`, if so many were kept; they are no more.
    pub(crate) fn take(&self, holder: usize, length: usize) -> Option<Vec<u8>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(of, bytes)| *of == holder && bytes.len() == length)?;
        Some(kept.remove(at).1)
    }

    /// Takes in that a source was wanted which stands before what it explains, and was not kept.
    pub(crate) fn missed(&self) {
        self.come_first.store(true, Relaxed);
    }

    /// Keeps what was decoded of entry `holder`, if it may be a source of one to come.
    pub(crate) fn decoded(&self, holder: usize, bytes: &[u8]) {
        if self.come_first.load(Relaxed) && bytes.len() <= Self::MOST_DECODED {
            self.keep(holder, bytes.to_vec());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::wcodec::{Config, Reader, compress_checkpoint, made};

    #[test]
    fn what_is_kept_is_given_once() {
        let sources = Sources::default();
        sources.decoded(1, &[1; 10]);
        assert!(sources.take(1, 10).is_none());
        sources.missed();
        (1..=6).for_each(|n| sources.decoded(n, &[7; 10]));
        assert!(sources.take(2, 10).is_none() && sources.take(3, 9).is_none());
        assert_eq!(sources.take(3, 10), Some(vec![7; 10]));
        assert!(sources.take(3, 10).is_none());
        sources.decoded(9, &vec![0; Sources::MOST_DECODED + 1]);
        assert!(sources.take(9, Sources::MOST_DECODED + 1).is_none());
        sources.keep(9, vec![0; MOST]);
        assert!(sources.take(4, 10).is_none());
    }

    /// Scales before their weights: the first ones are decoded twice, and those of the next layer once.
    #[test]
    fn scales_that_come_first_are_kept() {
        let layers = [
            ("0.weight_scale", "BF16", "[64,4]", 512),
            ("0.weight_packed", "I32", "[64,32]", 8192),
            ("1.weight_scale", "BF16", "[64,4]", 512),
            ("1.weight_packed", "I32", "[64,32]", 8192),
        ];
        // Groups of 64 nibbles are as wide as their scales are small.
        let random = made::noise(40_000, 5).into_iter().map(usize::from).collect::<Vec<_>>();
        let source = made::safetensors(&layers, |name, start, i| match name.ends_with("scale") {
            true => [0x80, 0x3f - random[start + i / 2] % 3][i % 2],
            false => {
                let wide = random[start - 512 + i / 32] % 3;
                let nibble = |i: usize| 8 + random[20_000 + (start + i) % 20_000] % (1 + 3 * wide);
                nibble(2 * i) | nibble(2 * i + 1) << 4
            }
        });
        let config = Config::default();
        let file =
            compress_checkpoint(&made::checkpoint(source.clone()), None, &config, Vec::new());
        let reader = Reader::open(file.unwrap(), Limits::default()).unwrap().threads(1);
        let kept = |number: usize| {
            let found = reader.last.sources.take(number, 512);
            found.map(|bytes| reader.last.sources.keep(number, bytes)).is_some()
        };
        let numbers = Vec::from_iter(reader.tensors().map(|(number, _)| number));
        let is_kept = numbers.iter().map(|&number| {
            reader.tensor(number).unwrap();
            [numbers[0], numbers[2]].map(kept)
        });
        let is_kept = Vec::from_iter(is_kept);
        assert_eq!(is_kept, [[false; 2], [true, false], [true; 2], [true; 2]]);
        let mut out = Vec::new();
        reader.write_file(0, &mut out).unwrap();
        assert!(out == source);
    }
}
