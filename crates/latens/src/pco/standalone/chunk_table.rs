//! Files whose chunks can be found without reading what is before them: their checksum trailer is the table.

use super::engine::Engine;
use super::source::Slice;
use super::start::trailer;
use crate::bits::checksum::Crc32c;
use crate::bits::reader::BitReader;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::number::{AnyNumbers, Latent, Number, NumberType, with_latent};
use crate::pco::layout::chunk_head::TERMINATOR;
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::preamble::Preamble;
use crate::pco::layout::trailer::{ChunkEntry, Trailer};
use crate::pco::simple::earned;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

/// Bytes before the first chunk are fewer.
const MOST_BEFORE: u64 = 64;

/// Where the chunks of a standalone file are, as its checksum trailer says, so that each can be read and decoded by
/// itself, on whichever thread.
///
/// A table is only what a file claims. Each chunk proves its part of it when it is decoded; where one does not, a
/// [`Decoder`](super::Decoder) tells what is wrong.
///
/// ```
/// # fn main() -> latens::Result<()> {
/// use latens::pco::{self, standalone::ChunkTable};
/// use latens::Limits;
/// let numbers: Vec<u32> = (0..600_000).map(|i| i % 1009).collect();
/// let file = pco::compress(&numbers, &pco::Config::default())?;
/// let table = ChunkTable::read(&mut std::io::Cursor::new(&file))?.expect("chunks in good order");
/// let place = table.place(1);
/// let bytes = &file[place.start as usize..place.end as usize];
/// let from = table.numbers(0);
/// assert_eq!(table.decode::<u32>(1, bytes, Limits::default())?, numbers[from..][..table.numbers(1)]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ChunkTable {
    preamble: Preamble,
    version: FormatVersion,
    chunks: Vec<ChunkEntry>,
}

impl ChunkTable {
    /// Reads both ends of a file. `None` where there is no table, or where the file's beginning or what it says of its
    /// chunks is not in order.
    ///
    /// # Errors
    /// I/O.
    pub fn read<F: Read + Seek>(file: &mut F) -> Result<Option<Self>> {
        let found = match trailer(file) {
            Err(e) if e.kind() != ErrorKind::Io => None,
            found => found?,
        };
        let Some((trailer, at)) = found else { return Ok(None) };
        let Some(start) = trailer.chunks.first().map(|chunk| chunk.offset) else { return Ok(None) };
        if start > MOST_BEFORE || at == 0 {
            return Ok(None);
        }
        let mut head = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.by_ref().take(start).read_to_end(&mut head)?;
        let mut last = [0];
        file.seek(SeekFrom::Start(at - 1))?;
        file.read_exact(&mut last)?;
        Ok(Self::found(&head, trailer, last[0]))
    }

    /// That of a file in memory.
    pub(crate) fn of(file: &[u8]) -> Option<Self> {
        let trailer = Trailer::read_end(file, 0).ok()??;
        let before = usize::try_from(trailer.chunks.first()?.offset).ok()?;
        let last = file.len().checked_sub(trailer.len() + 1)?;
        Self::found(file.get(..before)?, trailer, *file.get(last)?)
    }

    /// Of what is before the first chunk, the trailer, and the byte before that. The trailer has places that follow
    /// each other up to that byte.
    fn found(head: &[u8], trailer: Trailer, last: u8) -> Option<Self> {
        let mut r = BitReader::new(head, 0);
        let preamble = Preamble::read(&mut r).ok()?;
        let version = FormatVersion::read(&mut r).ok()?;
        let mut crc = Crc32c::new();
        crc.update(head);
        let is_sound = r.bit() == 8 * head.len()
            && trailer.header_crc == crc.value()
            && last == TERMINATOR
            && trailer.chunks.iter().all(|chunk| chunk.bytes > 0);
        is_sound.then_some(Self { preamble, version, chunks: trailer.chunks })
    }

    /// How many chunks there are, at least one.
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Where the bytes of a chunk are in the file.
    ///
    /// # Panics
    /// Where there is no such chunk.
    pub fn place(&self, index: usize) -> Range<u64> {
        let chunk = &self.chunks[index];
        chunk.offset..chunk.offset + u64::from(chunk.bytes)
    }

    /// How many numbers a chunk is said to hold.
    ///
    /// # Panics
    /// Where there is no such chunk.
    pub fn numbers(&self, index: usize) -> usize {
        self.chunks[index].n as usize
    }

    /// The numbers of a chunk, whose `bytes` may be followed by others of the file: the last batches are faster with
    /// them.
    ///
    /// # Errors
    /// Corrupt where it is damaged or not as the table says, invalid argument where a limit is passed or it holds
    /// numbers of another type.
    ///
    /// # Panics
    /// Where there is no such chunk.
    pub fn decode<T: Number>(&self, index: usize, bytes: &[u8], limits: Limits) -> Result<Vec<T>> {
        let numbers = self.decode_any(index, bytes, T::TYPE, limits)?;
        numbers.into_vec().ok_or_else(|| Error::invalid("numbers of another type"))
    }

    /// [`ChunkTable::decode`] for numbers whose type is known only at run time.
    ///
    /// # Errors
    /// Those of [`ChunkTable::decode`].
    ///
    /// # Panics
    /// As it.
    pub fn decode_any(
        &self,
        index: usize,
        bytes: &[u8],
        number_type: NumberType,
        limits: Limits,
    ) -> Result<AnyNumbers> {
        with_latent!(number_type, L => {
            let bits = self.decode_bits::<L>(index, bytes, number_type, limits)?;
            Ok(AnyNumbers::of_bits(number_type, bits))
        })
    }

    fn decode_bits<L: Latent>(
        &self,
        index: usize,
        bytes: &[u8],
        ty: NumberType,
        limits: Limits,
    ) -> Result<Vec<L>> {
        let chunk = self.chunks[index];
        let wrong = || {
            Error::corrupt(chunk.offset, "it is not what the checksum trailer says")
                .within(format!("chunk {index}"))
        };
        let room = u64::from(chunk.n) * ty.bytes() as u64;
        limits.check_output(room)?;
        if room > earned(chunk.bytes.into()) || bytes.len() < chunk.bytes as usize {
            return Err(wrong());
        }
        let mut numbers = vec![L::ZERO; self.numbers(index)];
        let mut decoder = self.engine(index, bytes, limits);
        let got = decoder.read_bits(ty, &mut numbers)?;
        match got == numbers.len() && self.is_read(index, &decoder) {
            true => Ok(numbers),
            false => Err(wrong()),
        }
    }

    /// Numbers of all of them.
    pub(crate) fn n(&self) -> usize {
        self.chunks.iter().fold(0, |n, chunk| n.saturating_add(chunk.n as usize))
    }

    /// Bytes before the first.
    pub(crate) fn start(&self) -> usize {
        usize::try_from(self.chunks[0].offset).unwrap_or(usize::MAX)
    }

    /// At the beginning of a chunk.
    pub(crate) fn engine<'a>(
        &self,
        index: usize,
        bytes: &'a [u8],
        limits: Limits,
    ) -> Engine<Slice<'a>> {
        let source = Slice::starting_at(bytes, self.chunks[index].offset);
        Engine::at_chunk(source, index, self.preamble, self.version, limits)
    }

    /// Whether a decoder has read a chunk, this and no other, and it is in all points as the table says.
    pub(crate) fn is_read(&self, index: usize, decoder: &Engine<Slice<'_>>) -> bool {
        decoder.seen() == [self.chunks[index]] && decoder.position() == self.place(index).end
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]
mod tests {
    use super::*;
    use crate::pco::{Config, compress};
    use std::io::Cursor;

    fn file(checksum: bool) -> (Vec<i32>, Vec<u8>) {
        let numbers: Vec<i32> = (0..5000).map(|i| i * i % 977 - 300).collect();
        let config = Config::default().chunk_n(2000).checksum(checksum);
        let file = compress(&numbers, &config).unwrap();
        (numbers, file)
    }

    fn table(file: &[u8]) -> Option<ChunkTable> {
        let table = ChunkTable::read(&mut Cursor::new(file)).unwrap();
        assert_eq!(table.is_some(), ChunkTable::of(file).is_some());
        table
    }

    fn bytes<'a>(table: &ChunkTable, index: usize, file: &'a [u8]) -> &'a [u8] {
        let place = table.place(index);
        &file[place.start as usize..place.end as usize]
    }

    #[test]
    fn chunks_come_by_themselves() {
        let (numbers, file) = file(true);
        let table = table(&file).unwrap();
        let limits = Limits::default();
        let mut from = 0;
        for index in 0..table.len() {
            let own = bytes(&table, index, &file);
            let all = &numbers[from..from + table.numbers(index)];
            assert_eq!(table.decode::<i32>(index, own, limits).unwrap(), all);
            let behind = &file[table.place(index).start as usize..];
            assert_eq!(table.decode::<i32>(index, behind, limits).unwrap(), all);
            assert!(table.decode::<i32>(index, &own[..own.len() - 1], limits).is_err());
            assert!(table.decode::<u32>(index, own, limits).is_err());
            assert!(table.decode::<i32>(index, own, limits.max_output(100)).is_err());
            from += all.len();
        }
        assert_eq!(from, numbers.len());
        // The bytes of another chunk, and where it is.
        let error = table.decode::<i32>(2, bytes(&table, 1, &file), limits).unwrap_err();
        assert!(error.to_string().contains("chunk 2"), "{error}");
    }

    #[test]
    fn each_flipped_bit_is_told() {
        let (numbers, sound) = file(true);
        let lens = table(&sound).map(|table| [0, 1, 2].map(|i| table.numbers(i))).unwrap();
        let (first, rest) = numbers.split_at(lens[0]);
        let numbers = [first, &rest[..lens[1]], &rest[lens[1]..]];
        for bit in 0..8 * sound.len() {
            let mut file = sound.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            let Some(table) = table(&file) else { continue };
            let damaged = (0..table.len()).find(|&i| table.place(i).contains(&(bit as u64 / 8)));
            for (index, numbers) in numbers.iter().enumerate() {
                let found =
                    table.decode::<i32>(index, bytes(&table, index, &file), Limits::default());
                assert_eq!(found.is_err(), damaged == Some(index), "bit {bit}, chunk {index}");
                assert!(found.is_err() || found.unwrap() == *numbers);
            }
        }
    }

    #[test]
    fn files_without_one() {
        let (_, sound) = file(true);
        for short in [&b""[..], b"pco!", &sound[..sound.len() - 1], &file(false).1] {
            assert!(table(short).is_none());
        }
        assert!(table(&compress::<u8>(&[], &Config::default()).unwrap()).is_none());
        assert!(table(&[&sound[..], b"more"].concat()).is_none());
    }
}
