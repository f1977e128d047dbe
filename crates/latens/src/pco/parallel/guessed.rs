//! Where a chunk may end: at the next bytes that look like the head of another one.
//!
//! Whoever decodes a chunk finds out whether it ends where it was said to, so that a guess need not be
//! right. Heads are four bytes of which all are known, or nearly: files are cut into chunks of like
//! length. Metadata that can be read follows.

use crate::bits::reader::BitReader;
use crate::limits::Limits;
use crate::number::Latent;
use crate::pco::layout::chunk_head::{BYTES, ChunkHead};
use crate::pco::layout::chunk_meta::ChunkMeta;
use crate::pco::layout::header::FormatVersion;

/// So many heads may be none, in all of a file: what does not lead further must not take long.
const TRIES: usize = 16;

/// What is left of the guesses in a file.
pub(super) struct Guesses {
    version: FormatVersion,
    limits: Limits,
    tries: usize,
}

impl Guesses {
    pub(super) fn new(version: FormatVersion, limits: Limits) -> Self {
        Self { version, limits, tries: TRIES }
    }

    /// How long the chunk of that head may be, at the start of `bytes`, where `rest` more numbers than its
    /// own are to come. `None` from the first time on that nothing looks like a chunk.
    pub(super) fn len<L: Latent>(
        &mut self,
        bytes: &[u8],
        head: ChunkHead,
        rest: usize,
    ) -> Option<usize> {
        let behind = bytes.get(BYTES..).filter(|_| self.tries > 0 && rest > 0)?;
        // Where chunks are made as long as each other, the first ones may have one number more.
        let lens = [head.n, head.n - 1, rest].map(|n| n.min(rest).max(1));
        let number_type = head.number_type;
        let heads = lens.map(|n| ChunkHead { number_type, n }.bytes());
        for at in memchr::memchr_iter(number_type.pco_byte(), behind) {
            // One byte in some hundreds is that of the type: most are told from a head by a comparison.
            let Some((next, meta)) = behind[at..].split_first_chunk() else { break };
            if !heads.contains(next) {
                continue;
            }
            let mut r = BitReader::new(meta, 0);
            if ChunkMeta::<L>::read(&mut r, number_type, self.version, self.limits).is_ok() {
                return Some(BYTES + at);
            }
            self.tries -= 1;
            if self.tries == 0 {
                break;
            }
        }
        self.tries = 0;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Watch;
    use crate::number::NumberType;
    use crate::pco::layout::preamble::Preamble;
    use crate::pco::parallel::decompress_with;
    use crate::pco::{Config, DeltaSpec, ModeSpec, compress};

    /// Guesses, and where the first chunk begins.
    fn opened(file: &[u8]) -> (Guesses, usize) {
        let mut r = BitReader::new(file, 0);
        Preamble::read(&mut r).unwrap();
        let version = FormatVersion::read(&mut r).unwrap();
        (Guesses::new(version, Limits::default()), r.bit() / 8)
    }

    fn head(bytes: &[u8]) -> ChunkHead {
        ChunkHead::read(&mut BitReader::new(bytes, 0), None).unwrap().unwrap()
    }

    #[test]
    fn chunks_of_like_length_are_found_and_no_more_than_these() {
        let numbers: Vec<u16> = (0..3000u32).map(|i| (i * i % 977) as u16).collect();
        for (chunk_n, found) in [(700, 4), (1000, 2), (1500, 1)] {
            let config = Config::default().chunk_n(chunk_n).checksum(false);
            let file = compress(&numbers, &config).unwrap();
            let (mut guesses, mut at) = opened(&file);
            let (mut rest, mut count) = (numbers.len(), 0);
            loop {
                let bytes = &file[at..];
                let head = head(bytes);
                rest -= head.n;
                let Some(len) = guesses.len::<u16>(bytes, head, rest) else { break };
                (at, count) = (at + len, count + 1);
            }
            assert_eq!((count, rest), (found, 0), "{chunk_n}");
        }
    }

    /// The second chunk's head and metadata among the numbers of the first.
    #[test]
    fn a_wrong_guess_is_found_out() {
        let config = Config::default().chunk_n(1500).checksum(false).level(0);
        let config = config.mode(ModeSpec::Classic).delta(DeltaSpec::None);
        // All bits of a number are its offset.
        let mut numbers: Vec<u16> = (0..3000u16).map(|i| i.wrapping_mul(40_503)).collect();
        (numbers[0], numbers[1]) = (0, u16::MAX);
        let file = compress(&numbers, &config).unwrap();
        let (mut guesses, at) = opened(&file);
        let len = guesses.len::<u16>(&file[at..], head(&file[at..]), 1500).unwrap();
        for (number, bytes) in
            numbers[100..].iter_mut().zip(file[at + len..].as_chunks().0).take(20)
        {
            *number = u16::from_le_bytes(*bytes);
        }
        let file = compress(&numbers, &config).unwrap();
        let (mut guesses, at) = opened(&file);
        let wrong = guesses.len::<u16>(&file[at..], head(&file[at..]), 1500).unwrap();
        assert!(wrong < len, "{wrong} bytes of {len}");
        let read = decompress_with::<u16>(&file, Limits::default(), 2, &Watch::NONE);
        assert_eq!(read.unwrap(), numbers);
    }

    /// A file of nothing but heads is not looked through for ever.
    #[test]
    fn guesses_are_few() {
        let head = ChunkHead { number_type: NumberType::U16, n: 256 };
        // What follows each head is no mode.
        let bytes: Vec<u8> =
            (0..1000).flat_map(|_| [&head.bytes()[..], &[0xff; 4]].concat()).collect();
        let mut guesses = Guesses::new(FormatVersion::WRITTEN, Limits::default());
        assert_eq!(guesses.len::<u16>(&bytes, head, 1 << 20), None);
        assert_eq!(guesses.tries, 0);
    }
}
