//! Reading the parts of a wrapped file.

mod pages;

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::Number;
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::decode::page::PageState;
use crate::pco::decode::workshop::Workshop;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::ChunkMeta;
use crate::pco::layout::header::FormatVersion;
use crate::pco::{DeltaEncoding, Mode};
use crate::watch::Watch;
use std::sync::Arc;

/// Knows the format version of a wrapped file.
#[derive(Clone, Debug)]
pub struct FileDecoder {
    version: FormatVersion,
    limits: Limits,
    watch: Watch,
}

impl FileDecoder {
    /// Reads the wrapped header at the start of `src`; also returns how many bytes it takes.
    ///
    /// # Errors
    /// When the version is newer than any known, or `src` too short.
    pub fn new(src: &[u8], limits: Limits) -> Result<(Self, usize)> {
        let mut r = BitReader::new(src, 0);
        let version = FormatVersion::read(&mut r)?;
        Ok((Self { version, limits, watch: Watch::NONE }, r.bit() / 8))
    }

    /// The same, whose chunks tell `watch` of numbers in [`ChunkDecoder::decode_page`], of 2^18 at most
    /// at once.
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..self.clone() }
    }

    /// The version of the format.
    pub fn format_version(&self) -> FormatVersion {
        self.version
    }

    /// Reads the metadata of a chunk at the start of `src`; also returns how many bytes it takes.
    ///
    /// # Errors
    /// When the metadata is not sound for numbers of type `T`; offsets count from `src`.
    pub fn chunk_decoder<T: Number>(&self, src: &[u8]) -> Result<(ChunkDecoder<T>, usize)> {
        let mut r = BitReader::new(src, 0);
        let meta = ChunkMeta::<T::L>::read(&mut r, T::TYPE, self.version, self.limits)?;
        let tables = ChunkTables::new(meta, usize::MAX / 2, self.limits, &Workshop::default())?;
        let (limits, watch) = (self.limits, self.watch.clone());
        Ok((ChunkDecoder { tables: Arc::new(tables), limits, watch }, r.bit() / 8))
    }
}

/// A chunk's metadata with its tables. Cheap to clone; several threads may decode its pages.
#[derive(Clone, Debug)]
pub struct ChunkDecoder<T: Number> {
    tables: Arc<ChunkTables<T::L>>,
    limits: Limits,
    watch: Watch,
}

impl<T: Number> ChunkDecoder<T> {
    /// The same, by the same tables, whose pages tell `watch` of numbers, of 2^18 at most at once.
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..self.clone() }
    }

    /// How numbers split into latents.
    pub fn mode(&self) -> Mode {
        Mode::of(&self.tables.meta.mode)
    }

    /// How latents are predicted.
    pub fn delta_encoding(&self) -> DeltaEncoding {
        DeltaEncoding::of(&self.tables.meta.delta)
    }

    /// Starts on a page of `n` numbers at the start of `src`. `n` is the container's word; bytes
    /// behind the page do no harm.
    ///
    /// # Errors
    /// When the page's metadata is not sound, offsets counted from `src`; invalid argument when
    /// the page passes [`Limits::max_output`].
    pub fn page_decoder<'a>(&self, src: &'a [u8], n: usize) -> Result<PageDecoder<'a, T>> {
        let (state, bit) = self.begin(src, n)?;
        Ok(PageDecoder { tables: Arc::clone(&self.tables), state, src, bit })
    }

    /// Reads the metadata of a page of `n` numbers; also returns where its batches begin.
    fn begin(&self, src: &[u8], n: usize) -> Result<(PageState<T::L>, usize)> {
        self.limits.check_output((n as u64).saturating_mul(T::TYPE.bytes() as u64))?;
        let mut r = BitReader::new(src, 0);
        let state = PageState::read(&mut r, &self.tables, n)?;
        Ok((state, r.bit()))
    }

    /// Decodes a whole page of `dst.len()` numbers; returns how many bytes it takes.
    ///
    /// # Errors
    /// As [`ChunkDecoder::page_decoder`], and when the page is not sound; that of the watch. Of `dst`
    /// then only the first [`Error::values_before`] numbers have changed.
    pub fn decode_page(&self, src: &[u8], dst: &mut [T]) -> Result<usize> {
        if src.len() <= SHORT
            && self.watch == Watch::NONE
            && let Some(bytes) = self.decode_short(src, dst)?
        {
            return Ok(bytes);
        }
        let mut page = self.page_decoder(src, dst.len())?;
        match self.watch == Watch::NONE {
            true => page.read(dst).map(|_| ())?,
            false => self.read_watched(&mut page, dst)?,
        }
        let bytes = page.end().map_err(|e| e.after_values(dst.len() as u64))?;
        page.state.give_back(&self.tables);
        Ok(bytes)
    }
}

/// Bytes up to which a page is copied: batches near its end would be, one by one.
const SHORT: usize = 1 << 14;
/// Numbers between two steps that a watch is told of.
const STEP: usize = 1 << 18;

impl<T: Number> ChunkDecoder<T> {
    /// Reads all of a page, telling the watch of each stretch.
    fn read_watched(&self, page: &mut PageDecoder<'_, T>, dst: &mut [T]) -> Result<()> {
        let mut done = 0;
        for piece in dst.chunks_mut(STEP) {
            page.read(piece).map_err(|e| {
                let before = e.values_before().unwrap_or(0);
                e.after_values(done + before)
            })?;
            done += piece.len() as u64;
            self.watch.done(piece.len() as u64).map_err(|e| e.after_values(done))?;
        }
        Ok(())
    }

    /// [`ChunkDecoder::decode_page`] by a copy of `src` with room behind it; `None` where anything
    /// is wrong, and `dst` then holds no more than right numbers and what it held.
    fn decode_short(&self, src: &[u8], dst: &mut [T]) -> Result<Option<usize>> {
        let (mut state, mut bit) = self.begin(src, dst.len())?;
        let tables = &*self.tables;
        let copy = state.copy(src);
        let mut filled = 0;
        while filled < dst.len() {
            let room = T::bits_mut(&mut dst[filled..]);
            let end = 8 * src.len();
            let (n, result) = state.batches_into(tables, T::MAP, room, &copy, &mut bit, end);
            if result.is_err() || bit > end {
                return Ok(None);
            }
            filled += n;
            if filled == dst.len() {
                break;
            }
            let room = T::bits_mut(&mut dst[filled..]);
            let n = state.batch_into(tables, T::MAP, room, &copy, &mut bit, end);
            let (Ok(n), true) = (n, bit <= end) else { return Ok(None) };
            filled += n;
        }
        state.keep_copy(copy);
        let mut r = BitReader::new(src, bit);
        if r.align("a page").is_err() {
            return Ok(None);
        }
        state.give_back(tables);
        Ok(Some(r.bit() / 8))
    }
}

/// Decodes the numbers of a page in order.
#[derive(Clone, Debug)]
pub struct PageDecoder<'a, T: Number> {
    tables: Arc<ChunkTables<T::L>>,
    state: PageState<T::L>,
    src: &'a [u8],
    bit: usize,
}

impl<T: Number> PageDecoder<'_, T> {
    /// Numbers that [`PageDecoder::read`] still gives.
    pub fn left(&self) -> usize {
        self.state.left() + self.state.ready()
    }

    /// Decodes the next numbers into `dst`; how many, fewer than `dst` holds only at the end.
    ///
    /// # Errors
    /// When the page is not sound; of `dst` then only the first [`Error::values_before`] numbers
    /// have changed.
    pub fn read(&mut self, dst: &mut [T]) -> Result<usize> {
        let mut filled = 0;
        loop {
            filled += self.state.take(&mut dst[filled..]);
            if filled == dst.len() || self.state.left() == 0 {
                return Ok(filled);
            }
            let Self { tables, state, src, bit } = self;
            let room = T::bits_mut(&mut dst[filled..]);
            let (n, result) = state.batches_into(tables, T::MAP, room, src, bit, usize::MAX);
            filled += n;
            let after = |e: Error| e.after_values(filled as u64);
            result.map_err(after)?;
            if filled == dst.len() {
                return Ok(filled);
            }
            let room = T::bits_mut(&mut dst[filled..]);
            if room.len() >= state.left().min(BATCH_N) {
                let n = state.batch_into(tables, T::MAP, room, src, bit, usize::MAX);
                filled += n.map_err(after)?;
            } else {
                state.next_batch(tables, src, bit).map_err(after)?;
            }
        }
    }

    /// Checks the padding of a page that has been read to its end; returns how many bytes the
    /// page takes.
    ///
    /// # Errors
    /// Invalid argument when numbers are left, corrupt when bits of the padding are set.
    pub fn finish(self) -> Result<usize> {
        self.end()
    }

    fn end(&self) -> Result<usize> {
        if !self.state.is_used_up() {
            return Err(Error::invalid(format!("a page has {} numbers left", self.left())));
        }
        let mut r = BitReader::new(self.src, self.bit);
        r.align("a page")?;
        Ok(r.bit() / 8)
    }
}

#[cfg(test)]
mod pages_tests;
#[cfg(test)]
mod tests;
