//! What stands behind the last chunk.

use super::Engine;
use crate::error::Result;
use crate::pco::layout::trailer::Trailer;
use crate::pco::standalone::info::{Checksum, Ending};
use crate::pco::standalone::source::Supply;

/// Of bytes behind the end so many are looked at for a trailer out of place: the rows of 4000 chunks.
const LAST: usize = 1 << 16;

impl<S: Supply> Engine<S> {
    /// Reads what stands behind the last chunk, to the end of the input, and verifies the checksum
    /// trailer. Numbers not read yet are decoded and dropped.
    ///
    /// # Errors
    /// When a chunk or the trailer is not sound; a failed checksum names its chunk. A trailer at the
    /// end of the input that is not that of the chunks is not sound either. Other bytes behind the end
    /// are no error here: see [`Ending::trailing`].
    pub(crate) fn finish(&mut self) -> Result<Ending> {
        if let Some(ending) = self.ending {
            return Ok(ending);
        }
        while self.read_any(65536)?.is_some() {}
        let start = self.source.position();
        // A trailer is as long as its chunks make it.
        let expected = self.seen.len();
        self.source.fill(expected)?;
        let in_place = self.source.bytes().get(..expected);
        let told = match in_place.filter(|bytes| Trailer::is_at_end_of(bytes)) {
            Some(bytes) => Trailer::read_end(bytes, start)?,
            None => None,
        };
        let mut ending = Ending {
            checksum: Checksum::Absent,
            consumed: start,
            trailing: false,
            trailing_bytes: 0,
        };
        if let Some(told) = &told {
            told.check(&self.seen, start, self.checks)?;
            if self.checks {
                ending.checksum = Checksum::Verified;
            }
            self.source.consume(expected);
            ending.consumed += expected as u64;
        }
        self.source.skip_to_end(expected + LAST)?;
        let rest = self.source.bytes();
        let end = self.source.position() + rest.len() as u64;
        if told.is_none() && Trailer::is_at_end_of(rest) {
            return Err(Trailer::misplaced(rest, self.source.position(), &self.seen, start));
        }
        ending.trailing_bytes = end - ending.consumed;
        ending.trailing = ending.trailing_bytes > 0;
        self.ending = Some(ending);
        Ok(ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::limits::Limits;
    use crate::pco::layout::trailer::ChunkEntry;
    use crate::pco::standalone::{Decoder, Slice};
    use crate::pco::{Config, compress, decompress, decompress_any};

    /// From memory and from a reader, with checksums and without: all say the same of the end.
    fn ends(file: &[u8]) -> Result<Ending> {
        let limits = Limits::default();
        let ending = Engine::new(Slice::starting_at(file, 0), limits)?.finish();
        let mut decoder = Decoder::new(file, limits)?;
        let read = decoder.finish();
        if let Ok(ending) = &read {
            assert_eq!(decoder.position(), ending.consumed);
        }
        let unchecked = Decoder::new(file, limits)?.without_checks().finish();
        let shown =
            |ending: &Result<Ending>| format!("{:?}", ending.as_ref().map_err(Error::to_string));
        assert_eq!(shown(&ending), shown(&read));
        assert_eq!(ending.is_ok(), unchecked.is_ok(), "{}", shown(&unchecked));
        ending
    }

    #[track_caller]
    fn refused(file: &[u8], at: u64, said: &str) {
        for error in [ends(file).unwrap_err(), decompress::<u16>(file).unwrap_err()] {
            assert_eq!((error.kind(), error.at()), (ErrorKind::Corrupt, Some(at)), "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    fn sample() -> (Vec<u8>, Vec<ChunkEntry>, Vec<u8>) {
        let numbers: Vec<u16> = (0..3000u32).map(|i| (i * i % 977) as u16).collect();
        let config = Config::default().chunk_n(1000);
        let bare = compress(&numbers, &config.clone().checksum(false)).unwrap();
        let whole = compress(&numbers, &config).unwrap();
        let trailer = Trailer::read_end(&whole, 0).unwrap().unwrap();
        let tail = whole[bare.len()..].to_vec();
        (bare, trailer.chunks, tail)
    }

    /// What a trailer with these rows looks like behind `bare`.
    fn with_rows(bare: &[u8], tail: &[u8], chunks: &[ChunkEntry]) -> Vec<u8> {
        let header_crc = Trailer::read_end(&[bare, tail].concat(), 0).unwrap().unwrap().header_crc;
        [bare, &Trailer { header_crc, chunks: chunks.to_vec() }.bytes()].concat()
    }

    /// The rest then ends with a trailer of more chunks than were read.
    #[test]
    fn a_chunk_whose_type_byte_became_0_is_missed() {
        let (bare, chunks, tail) = sample();
        for (i, chunk) in chunks.iter().enumerate() {
            let mut file = [&bare[..], &tail].concat();
            let at = usize::try_from(chunk.offset).unwrap();
            file[at] = 0;
            refused(
                &file,
                chunk.offset,
                &format!("chunk {i}: the checksum trailer has a chunk here"),
            );
            // Nothing tells where there is no trailer.
            let ending = ends(&file[..bare.len()]).unwrap();
            assert_eq!(ending.trailing_bytes, (bare.len() - at - 1) as u64);
        }
    }

    #[test]
    fn a_trailer_that_is_not_that_of_the_chunks_is_refused() {
        let (bare, chunks, tail) = sample();
        let end = bare.len() as u64;
        for len in 8..20 {
            refused(&[&bare, &tail[tail.len() - len..]].concat(), end, "and are none");
        }
        let more = "more chunks than the file has room for";
        refused(&[&bare, &tail[tail.len() - 20..]].concat(), end, more);
        for junk in [1, 35, 36, 37, 300_000] {
            let said = format!("{junk} bytes stand between");
            refused(&[&bare[..], &vec![7; junk], &tail].concat(), end, &said);
        }
        let more = [&chunks[..], &chunks[2..]].concat();
        refused(&with_rows(&bare, &tail, &more), end, "longer than the file before it");
        let small = ChunkEntry { bytes: 1, ..chunks[2] };
        let file = with_rows(&bare, &tail, &[&chunks[..], &[small]].concat());
        refused(&file, chunks[0].offset, "chunk 0: the checksum trailer has it at another place");
        let file = with_rows(&bare, &tail, &chunks[..2]);
        refused(&file, chunks[0].offset, "chunk 0: the checksum trailer has it at another place");
        refused(&with_rows(&bare, &tail, &[]), end, "counts 0 chunks, the file has 3");
        // Another file behind it, which has a trailer where it has none.
        assert!(ends(&[&bare[..], &bare, &tail].concat()).is_err());
    }

    /// A table that is longer than what is looked at.
    #[test]
    fn a_long_trailer_out_of_place_is_refused() {
        let (bare, chunks, tail) = sample();
        let rows: Vec<ChunkEntry> = (0..9000).map(|_| chunks[0]).collect();
        let trailer = &with_rows(&bare, &tail, &rows)[bare.len()..];
        refused(&[&bare, &[1, 2, 3][..], trailer].concat(), bare.len() as u64, "and are none");
    }

    #[test]
    fn bytes_behind_the_end_are_counted() {
        let (bare, _, tail) = sample();
        for (trailer, checksum) in [(&[][..], Checksum::Absent), (&tail, Checksum::Verified)] {
            for junk in [0, 1, 19, 68, 300_000] {
                let file = [&bare[..], trailer, &vec![9; junk]].concat();
                let consumed = (bare.len() + trailer.len()) as u64;
                let (trailing, trailing_bytes) = (junk > 0, junk as u64);
                let ending = Ending { checksum, consumed, trailing, trailing_bytes };
                assert_eq!(ends(&file).unwrap(), ending);
                assert_eq!(decompress_any(&file, Limits::default()).is_err(), trailing);
            }
        }
        // A trailer in its place counts, whatever follows.
        for behind in [&tail[..], &[&bare[..], &tail].concat()] {
            let ending = ends(&[&bare[..], &tail, behind].concat()).unwrap();
            assert_eq!(ending.trailing_bytes, behind.len() as u64);
            assert_eq!(ending.checksum, Checksum::Verified);
        }
    }
}
