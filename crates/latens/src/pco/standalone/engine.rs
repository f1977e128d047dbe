//! Reading a standalone file, wherever its bytes come from.

use super::info::{Checksum, ChunkInfo, Ending};
use super::open_chunk::{self, Chunk, OpenChunk};
use super::source::Supply;
use crate::bits::checksum::{Crc32c, TOGETHER};
use crate::bits::reader::BitReader;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::number::{AnyNumbers, Number, NumberType};
use crate::pco::decode::batch::LOOKAHEAD;
use crate::pco::decode::workshop::Workshop;
use crate::pco::inspect::chunk::ChunkInspection;
use crate::pco::layout::chunk_head::ChunkHead;
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::preamble::Preamble;
use crate::pco::layout::trailer::{ChunkEntry, Trailer};

/// The chunk that is being read.
struct Current {
    info: ChunkInfo,
    offset: u64,
    /// Bits of the first byte at hand that are used up.
    bit: usize,
    numbers_crc: Crc32c,
    chunk: Box<dyn OpenChunk>,
}

/// Decodes a standalone file, batch by batch; see [`Decoder`](super::Decoder).
pub(crate) struct Engine<S> {
    source: S,
    limits: Limits,
    preamble: Preamble,
    version: FormatVersion,
    checks: bool,
    current: Option<Current>,
    seen: Trailer,
    emitted_bytes: u64,
    workshop: Workshop,
    terminated: bool,
    ending: Option<Ending>,
}

impl<S: Supply> Engine<S> {
    /// Reads the file's header.
    ///
    /// # Errors
    /// When the header is not that of a Pco file, or the reader fails.
    pub(crate) fn new(mut source: S, limits: &Limits) -> Result<Self> {
        let (preamble, version) = source.parse(|bytes| {
            let mut r = BitReader::new(bytes, 0);
            let preamble = Preamble::read(&mut r)?;
            let version = FormatVersion::read(&mut r)?;
            Ok(((preamble, version), r.bit() / 8))
        })?;
        let seen = Trailer { header_crc: source.take_crc(), chunks: Vec::new() };
        Ok(Self {
            source,
            limits: *limits,
            preamble,
            version,
            checks: true,
            current: None,
            seen,
            emitted_bytes: 0,
            workshop: Workshop::default(),
            terminated: false,
            ending: None,
        })
    }

    /// Begins at a chunk of a file whose header is known; `reader` gives its bytes from there on,
    /// `offset` is where that is.
    pub(crate) fn at_chunk(
        source: S,
        preamble: Preamble,
        version: FormatVersion,
        limits: &Limits,
    ) -> Self {
        Self {
            source,
            limits: *limits,
            preamble,
            version,
            checks: true,
            current: None,
            seen: Trailer { header_crc: 0, chunks: Vec::new() },
            emitted_bytes: 0,
            workshop: Workshop::default(),
            terminated: false,
            ending: None,
        }
    }

    /// The chunks that are read to their ends.
    pub(crate) fn seen(&self) -> &[ChunkEntry] {
        &self.seen.chunks
    }

    /// Leaves checksums aside: faster, and [`Engine::finish`] only looks whether a trailer is there.
    #[must_use]
    pub(crate) fn without_checks(mut self) -> Self {
        self.checks = false;
        self.source.forget_crc();
        self
    }

    /// Makes tables together with others that decode this file.
    #[must_use]
    pub(crate) fn working_in(mut self, workshop: &Workshop) -> Self {
        self.workshop = workshop.clone();
        self
    }

    /// 0 to 3.
    pub(crate) fn standalone_version(&self) -> u8 {
        self.preamble.standalone_version
    }

    /// The version of the wrapped format inside.
    pub(crate) fn format_version(&self) -> FormatVersion {
        self.version
    }

    /// How many numbers the header announces. A hint: it may be wrong, never allocate by it.
    pub(crate) fn n_hint(&self) -> u64 {
        self.preamble.n_hint
    }

    /// Bytes taken from the reader and understood so far.
    pub(crate) fn position(&self) -> u64 {
        self.source.position()
    }

    /// The type of the numbers that come next; `None` at the end of the file.
    ///
    /// Of an empty file that announces a type for all its chunks, that type.
    ///
    /// # Errors
    /// When the next chunk's head or metadata is not sound.
    pub(crate) fn number_type(&mut self) -> Result<Option<NumberType>> {
        Ok(self.chunk()?.map(|info| info.number_type).or(self.preamble.uniform_type))
    }

    /// The chunk of the numbers that come next, `None` at the end of the file.
    ///
    /// # Errors
    /// When its head or metadata is not sound.
    pub(crate) fn chunk(&mut self) -> Result<Option<&ChunkInfo>> {
        if self.current.is_none() && !self.terminated {
            self.open_chunk()?;
        }
        Ok(self.current.as_ref().map(|current| &current.info))
    }

    /// Decodes the numbers of the current chunk, drops them, and tells where its bits went.
    pub(crate) fn inspect_chunk(&mut self) -> Result<Option<ChunkInspection>> {
        fn typed<S: Supply, T: Number>(decoder: &mut Engine<S>) -> Result<ChunkInspection> {
            let Some(current) = &decoder.current else {
                return Err(Error::invalid("no chunk to inspect"));
            };
            let (info, offset) = (current.info.clone(), current.offset);
            let mut buffer = [T::default(); 4096];
            let mut left = info.n;
            let mut latents = Vec::new();
            while left > 0 {
                // The last batch closes the chunk: look at it while it is still open.
                let next = left.min(buffer.len());
                let mut got = 0;
                decoder.read_chunk_keeping_open(&mut buffer[..next], &mut got)?;
                left -= got;
            }
            if let Some(current) = &decoder.current {
                latents = current.chunk.inspect();
            }
            decoder.close_chunk()?;
            Ok(ChunkInspection { info, offset, bytes: decoder.position() - offset, latents })
        }
        match self.chunk()?.map(|info| info.number_type) {
            Some(ty) => {
                let index = self.seen.chunks.len();
                let inspected = crate::with_number_type!(ty, T => typed::<S, T>(self));
                inspected.map(Some).map_err(|e| e.within(format!("chunk {index}")))
            }
            None => Ok(None),
        }
    }

    /// Decodes numbers into `dst` and says how many; fewer than `dst` holds only at the end of
    /// the file or before a chunk of another type, 0 at the end of the file.
    ///
    /// # Errors
    /// Invalid argument when the numbers are not of type `T` or a limit is passed, else what is
    /// wrong with the file and where. Of `dst` then only the first [`Error::values_before`]
    /// numbers have changed, and they are sound.
    pub(crate) fn read<T: Number>(&mut self, dst: &mut [T]) -> Result<usize> {
        let mut filled = 0;
        match self.read_into(dst, &mut filled) {
            Ok(()) => Ok(filled),
            Err(e) => Err(e.after_values(filled as u64)),
        }
    }

    /// [`Engine::read`], counting in `filled`.
    fn read_into<T: Number>(&mut self, dst: &mut [T], filled: &mut usize) -> Result<()> {
        while *filled < dst.len() {
            match self.chunk()? {
                None => break,
                Some(info) if info.number_type != T::TYPE && *filled > 0 => break,
                Some(info) if info.number_type != T::TYPE => {
                    return Err(other_type(info.number_type, T::TYPE));
                }
                Some(_) => {}
            }
            let index = self.seen.chunks.len();
            self.read_chunk(dst, filled).map_err(|e| {
                if e.kind() == ErrorKind::Io { e } else { e.within(format!("chunk {index}")) }
            })?;
        }
        Ok(())
    }

    /// How many numbers follow, all of them of type `ty`: [`Engine::read`] up to the end of the
    /// file, with its errors, in less time.
    pub(crate) fn count(&mut self, ty: NumberType) -> Result<u64> {
        let mut n = 0;
        while let Some(info) = self.chunk()? {
            if info.number_type != ty {
                return Err(other_type(info.number_type, ty));
            }
            n += info.n as u64;
            let index = self.seen.chunks.len();
            self.check_chunk(ty).map_err(|e| e.within(format!("chunk {index}")))?;
        }
        Ok(n)
    }

    /// Moves past the current chunk, and finds what cannot be decoded.
    fn check_chunk(&mut self, ty: NumberType) -> Result<()> {
        while let Some(Current { chunk, bit, .. }) = &mut self.current {
            let left = chunk.left();
            if left == 0 {
                return self.close_chunk();
            }
            advance(&mut self.source, bit, |bytes, bit| chunk.check_batch(bytes, bit))?;
            self.emitted_bytes += ((left - chunk.left()) * ty.bytes()) as u64;
            self.limits.check_output(self.emitted_bytes)?;
        }
        Ok(())
    }

    /// Like [`Engine::read`] for a type known only at run time: at most `most` numbers, `None`
    /// at the end of the file.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub(crate) fn read_any(&mut self, most: usize) -> Result<Option<AnyNumbers>> {
        fn typed<S: Supply, T: Number>(
            decoder: &mut Engine<S>,
            most: usize,
        ) -> Result<Option<AnyNumbers>>
        where
            AnyNumbers: From<Vec<T>>,
        {
            let mut numbers = Vec::new();
            while numbers.len() < most {
                let have = numbers.len();
                numbers.resize(most.min(have + 65536), T::default());
                let got = decoder.read(&mut numbers[have..])?;
                numbers.truncate(have + got);
                if got == 0 || decoder.chunk()?.is_none_or(|info| info.number_type != T::TYPE) {
                    break;
                }
            }
            Ok(Some(numbers.into()))
        }
        match self.chunk()?.map(|info| info.number_type) {
            Some(ty) => crate::with_number_type!(ty, T => typed::<S, T>(self, most)),
            None => Ok(None),
        }
    }

    /// Reads what stands behind the last chunk and verifies the checksum trailer. Numbers not
    /// read yet are decoded and dropped.
    ///
    /// # Errors
    /// When a chunk or the trailer is not sound; a failed checksum names its chunk. Other bytes
    /// behind the end are no error here: see [`Ending::trailing`].
    pub(crate) fn finish(&mut self) -> Result<Ending> {
        if let Some(ending) = self.ending {
            return Ok(ending);
        }
        while self.read_any(65536)?.is_some() {}
        let start = self.source.position();
        // A trailer is as long as its chunks make it: more need not be kept.
        let expected = self.seen.len();
        self.source.fill(expected + 1)?;
        let rest = self.source.bytes();
        let trailer = match rest.get(..expected) {
            Some(bytes) if Trailer::is_at_end_of(bytes) => Some(bytes),
            _ if rest.len() <= expected && Trailer::is_at_end_of(rest) => Some(rest),
            _ => None,
        };
        let mut ending = Ending { checksum: Checksum::Absent, consumed: start, trailing: false };
        if let Some(bytes) = trailer {
            let used = bytes.len();
            let told = Trailer::read_end(bytes, start)?;
            // Without a whole tail it is no trailer, whatever its last bytes: trailing bytes then.
            if let Some(told) = told {
                if self.checks {
                    told.check(&self.seen, start)?;
                    ending.checksum = Checksum::Verified;
                }
                self.source.consume(used);
                ending.consumed += used as u64;
            }
        }
        ending.trailing = !self.source.bytes().is_empty();
        self.ending = Some(ending);
        Ok(ending)
    }

    /// Reads the head, metadata and page metadata of the next chunk, or the terminator.
    fn open_chunk(&mut self) -> Result<()> {
        let index = self.seen.chunks.len();
        let offset = self.source.position();
        self.source.take_crc();
        let uniform = self.preamble.uniform_type;
        let head = self.source.parse(|bytes| {
            let mut r = BitReader::new(bytes, 0);
            Ok((ChunkHead::read(&mut r, uniform)?, r.bit() / 8))
        });
        let Some(head) = head.map_err(|e| e.within(format!("chunk {index}")))? else {
            self.terminated = true;
            return Ok(());
        };
        let (info, chunk) = self.open(head).map_err(|e| e.within(format!("chunk {index}")))?;
        self.current = Some(Current { info, offset, bit: 0, numbers_crc: Crc32c::new(), chunk });
        Ok(())
    }

    /// Reads the metadata of a chunk and of its page.
    fn open(&mut self, head: ChunkHead) -> Result<(ChunkInfo, Box<dyn OpenChunk>)> {
        let (version, limits, workshop) = (self.version, self.limits, &self.workshop);
        let (info, mut chunk) = self.source.parse(|bytes| {
            let (info, chunk, used) = open_chunk::read(bytes, head, version, &limits, workshop)?;
            Ok(((info, chunk), used))
        })?;
        self.source.parse(|bytes| Ok(((), chunk.start(bytes)?)))?;
        Ok((info, chunk))
    }

    /// Numbers of the current chunk, which is closed behind its last one.
    fn read_chunk<T: Number>(&mut self, dst: &mut [T], filled: &mut usize) -> Result<()> {
        self.read_chunk_keeping_open(dst, filled)?;
        let used_up = |current: &Current| current.chunk.left() + current.chunk.ready() == 0;
        if self.current.as_ref().is_some_and(used_up) {
            self.close_chunk()?;
        }
        Ok(())
    }

    /// Numbers of the current chunk.
    fn read_chunk_keeping_open<T: Number>(
        &mut self,
        dst: &mut [T],
        filled: &mut usize,
    ) -> Result<()> {
        let mut summed = *filled;
        let result = self.read_batches(dst, filled, &mut summed);
        if let Some(current) = self.current.as_mut().filter(|_| self.checks) {
            current.numbers_crc.update_numbers(&dst[summed..*filled]);
        }
        result
    }

    /// Numbers of the current chunk, those up to `summed` already in its checksum.
    fn read_batches<T: Number>(
        &mut self,
        dst: &mut [T],
        filled: &mut usize,
        summed: &mut usize,
    ) -> Result<()> {
        let together = TOGETHER / T::TYPE.bytes();
        let Some(current) = &mut self.current else { return Ok(()) };
        let chunk = &mut current.chunk;
        loop {
            let Some(page) = chunk.as_any().downcast_mut::<Chunk<T::L>>().and_then(Chunk::page)
            else {
                return Err(Error::invalid("a chunk of another type"));
            };
            *filled += page.take(&mut dst[*filled..]);
            if *filled == dst.len() || chunk.left() == 0 {
                return Ok(());
            }
            if self.checks && *filled - *summed >= together {
                current.numbers_crc.update_numbers(&dst[*summed..*filled]);
                *summed = *filled;
            }
            advance(&mut self.source, &mut current.bit, |bytes, bit| chunk.next_batch(bytes, bit))?;
            let width = T::TYPE.bytes() as u64;
            self.emitted_bytes += chunk.ready() as u64 * width;
            self.limits.check_output(self.emitted_bytes)?;
        }
    }

    /// Reads the padding of a page that is used up and files the chunk's checksums.
    fn close_chunk(&mut self) -> Result<()> {
        let Some(current) = self.current.take() else { return Ok(()) };
        let mut r = BitReader::new(self.source.bytes(), current.bit);
        r.align("a page").map_err(|e| e.offset_by(self.source.position()))?;
        let used = r.bit() / 8;
        self.source.consume(used);
        #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 numbers at most")]
        self.seen.chunks.push(ChunkEntry {
            offset: current.offset,
            // A longer chunk has no trailer that knows it.
            bytes: u32::try_from(self.source.position() - current.offset).unwrap_or(u32::MAX),
            n: current.info.n as u32,
            stored_crc: self.source.take_crc(),
            numbers_crc: current.numbers_crc.value(),
        });
        Ok(())
    }
}

/// Takes a batch from bit `bit` of the bytes at hand on.
fn advance(
    source: &mut impl Supply,
    bit: &mut usize,
    batch: impl FnOnce(&[u8], &mut usize) -> Result<()>,
) -> Result<()> {
    source.fill(LOOKAHEAD)?;
    batch(source.bytes(), bit).map_err(|e| e.offset_by(source.position()))?;
    source.consume(*bit / 8);
    *bit %= 8;
    Ok(())
}

#[cold]
fn other_type(found: NumberType, wanted: NumberType) -> Error {
    Error::invalid(format!("the file holds {found}, not {wanted}"))
}
