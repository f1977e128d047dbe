//! The chunk that an engine stands in: opened, read or checked batch by batch, closed.

use super::{Current, Engine};
use crate::bits::checksum::{Crc32c, TOGETHER};
use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::number::{Latent, NumberType, with_latent};
use crate::pco::decode::batch::LOOKAHEAD;
use crate::pco::inspect::chunk::ChunkInspection;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_head::ChunkHead;
use crate::pco::layout::trailer::ChunkEntry;
use crate::pco::standalone::info::ChunkInfo;
use crate::pco::standalone::open_chunk::{self, OpenChunk};
use crate::pco::standalone::source::Supply;

impl<S: Supply> Engine<S> {
    /// Reads the head, metadata and page metadata of the next chunk, or the terminator.
    #[inline]
    pub(super) fn open_chunk(&mut self) -> Result<()> {
        let index = self.index();
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
            let (info, chunk, used) = open_chunk::read(bytes, head, version, limits, workshop)?;
            Ok(((info, chunk), used))
        })?;
        self.source.parse(|bytes| Ok(((), chunk.start(bytes)?)))?;
        Ok((info, chunk))
    }

    /// Numbers of the current chunk, which is closed behind its last one.
    #[inline]
    pub(super) fn read_chunk<L: Latent>(
        &mut self,
        ty: NumberType,
        dst: &mut [L],
        filled: &mut usize,
    ) -> Result<()> {
        self.read_chunk_keeping_open(ty, dst, filled)?;
        let used_up = |current: &Current| current.chunk.left() + current.chunk.ready() == 0;
        if self.current.as_ref().is_some_and(used_up) {
            self.close_chunk()?;
        }
        Ok(())
    }

    /// Numbers of the current chunk.
    #[inline]
    fn read_chunk_keeping_open<L: Latent>(
        &mut self,
        ty: NumberType,
        dst: &mut [L],
        filled: &mut usize,
    ) -> Result<()> {
        let mut summed = *filled;
        let result = self.read_batches(ty, dst, filled, &mut summed);
        if let Some(current) = self.current.as_mut().filter(|_| self.checks) {
            current.numbers_crc.update_numbers(&dst[summed..*filled]);
        }
        result
    }

    /// Numbers of the current chunk, those up to `summed` already in its checksum.
    #[inline]
    fn read_batches<L: Latent>(
        &mut self,
        ty: NumberType,
        dst: &mut [L],
        filled: &mut usize,
        summed: &mut usize,
    ) -> Result<()> {
        let (together, map) = (TOGETHER / size_of::<L>(), ty.map());
        let Some(current) = &mut self.current else { return Ok(()) };
        let chunk = &mut current.chunk;
        let width = size_of::<L>() as u64;
        loop {
            *filled += chunk.take(map, L::any_mut(&mut dst[*filled..]))?;
            let n = together.min(dst.len() - *filled);
            let mut straight = 0;
            if n >= BATCH_N
                && self.limits.check_output(self.emitted_bytes + n as u64 * width).is_ok()
            {
                let dst = L::any_mut(&mut dst[*filled..*filled + n]);
                let from = self.source.position();
                let result;
                (straight, result) = advance(&mut self.source, &mut current.bit, |bytes, bit| {
                    Ok(chunk.batches_into(map, dst, bytes, bit))
                })?;
                *filled += straight;
                self.emitted_bytes += straight as u64 * width;
                result.map_err(|e| e.offset_by(from))?;
            }
            if *filled == dst.len() || chunk.left() == 0 {
                return Ok(());
            }
            if self.checks && *filled - *summed >= together {
                current.numbers_crc.update_numbers(&dst[*summed..*filled]);
                *summed = *filled;
            }
            if straight > 0 {
                continue;
            }
            let n = chunk.left().min(BATCH_N);
            let emitted_bytes = self.emitted_bytes + n as u64 * width;
            if n <= dst.len() - *filled && self.limits.check_output(emitted_bytes).is_ok() {
                let dst = L::any_mut(&mut dst[*filled..*filled + n]);
                advance(&mut self.source, &mut current.bit, |bytes, bit| {
                    chunk.batch_into(map, dst, bytes, bit)
                })?;
                *filled += n;
                self.emitted_bytes = emitted_bytes;
                continue;
            }
            advance(&mut self.source, &mut current.bit, |bytes, bit| chunk.next_batch(bytes, bit))?;
            self.emitted_bytes += chunk.ready() as u64 * width;
            self.limits.check_output(self.emitted_bytes)?;
        }
    }

    /// Reads the padding of a page that is used up and files the chunk's checksums.
    #[inline]
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

    /// Moves past the current chunk, and finds what cannot be decoded. How many numbers that were.
    #[inline]
    pub(super) fn check_chunk(&mut self, ty: NumberType) -> Result<usize> {
        let n = self.current.as_ref().map_or(0, |c| c.chunk.left() + c.chunk.ready());
        while let Some(Current { chunk, bit, .. }) = &mut self.current {
            let left = chunk.left();
            if left == 0 {
                self.close_chunk()?;
                break;
            }
            advance(&mut self.source, bit, |bytes, bit| chunk.check_batch(bytes, bit))?;
            self.emitted_bytes += ((left - chunk.left()) * ty.bytes()) as u64;
            self.limits.check_output(self.emitted_bytes)?;
        }
        Ok(n)
    }

    /// Decodes the numbers of the current chunk, drops them, and tells where its bits went.
    pub(crate) fn inspect_chunk(&mut self) -> Result<Option<ChunkInspection>> {
        fn typed<S: Supply, L: Latent>(decoder: &mut Engine<S>) -> Result<ChunkInspection> {
            let Some(current) = &decoder.current else {
                return Err(Error::invalid("no chunk to inspect"));
            };
            let (info, offset) = (current.info.clone(), current.offset);
            let mut buffer = [L::ZERO; 4096];
            let (ty, mut left) = (info.number_type, info.n);
            let mut latents = Vec::new();
            while left > 0 {
                // The last batch closes the chunk: look at it while it is still open.
                let next = left.min(buffer.len());
                let mut got = 0;
                decoder.read_chunk_keeping_open(ty, &mut buffer[..next], &mut got)?;
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
                let index = self.index();
                let inspected = with_latent!(ty, L => typed::<S, L>(self));
                inspected.map(Some).map_err(|e| e.within(format!("chunk {index}")))
            }
            None => Ok(None),
        }
    }
}

/// Takes a batch from bit `bit` of the bytes at hand on.
#[inline]
fn advance<R>(
    source: &mut impl Supply,
    bit: &mut usize,
    batch: impl FnOnce(&[u8], &mut usize) -> Result<R>,
) -> Result<R> {
    source.fill(LOOKAHEAD)?;
    let got = batch(source.bytes(), bit).map_err(|e| e.offset_by(source.position()))?;
    source.consume(*bit / 8);
    *bit %= 8;
    Ok(got)
}
