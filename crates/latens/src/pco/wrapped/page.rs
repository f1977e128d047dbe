//! Pages of a chunk by the width of its latents: numbers are bits, and how latents map to them.

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{Latent, NumberType};
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::decode::page::PageState;
use crate::pco::layout::BATCH_N;
use crate::watch::Watch;
use latens_kernels::tans::Map;
use std::sync::Arc;

/// Bytes up to which a page is copied: batches near its end would be, one by one.
const SHORT: usize = 1 << 14;
/// Numbers between two steps that a watch is told of.
pub(super) const STEP: usize = 1 << 18;

/// A chunk's metadata with its tables.
#[derive(Clone, Debug)]
pub(super) struct Chunk<L: Latent> {
    pub(super) tables: Arc<ChunkTables<L>>,
    pub(super) number_type: NumberType,
    pub(super) map: Map,
    pub(super) limits: Limits,
    pub(super) watch: Watch,
}

impl<L: Latent> Chunk<L> {
    /// Starts on a page of `n` numbers.
    pub(super) fn page<'a>(&self, src: &'a [u8], n: usize) -> Result<Page<'a, L>> {
        let (state, bit) = self.begin(src, n)?;
        Ok(Page { tables: Arc::clone(&self.tables), map: self.map, state, src, bit })
    }

    /// Reads the metadata of a page of `n` numbers; also returns where its batches begin.
    fn begin(&self, src: &[u8], n: usize) -> Result<(PageState<L>, usize)> {
        self.limits.check_output((n as u64).saturating_mul(self.number_type.bytes() as u64))?;
        let mut r = BitReader::new(src, 0);
        let state = PageState::read(&mut r, &self.tables, n)?;
        Ok((state, r.bit()))
    }

    /// Decodes a whole page of `dst.len()` numbers; returns how many bytes it takes.
    pub(super) fn decode_page(&self, src: &[u8], dst: &mut [L]) -> Result<usize> {
        if src.len() <= SHORT
            && self.watch == Watch::NONE
            && let Some(bytes) = self.decode_short(src, dst)?
        {
            return Ok(bytes);
        }
        let mut page = self.page(src, dst.len())?;
        match self.watch == Watch::NONE {
            true => page.read(dst).map(|_| ())?,
            false => self.read_watched(&mut page, dst)?,
        }
        let bytes = page.end().map_err(|e| e.after_values(dst.len() as u64))?;
        page.state.give_back(&self.tables);
        Ok(bytes)
    }

    /// Reads all of a page, telling the watch of each stretch.
    fn read_watched(&self, page: &mut Page<'_, L>, dst: &mut [L]) -> Result<()> {
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

    /// [`Chunk::decode_page`] by a copy of `src` with room behind it; `None` where anything
    /// is wrong, and `dst` then holds no more than right numbers and what it held.
    fn decode_short(&self, src: &[u8], dst: &mut [L]) -> Result<Option<usize>> {
        let (mut state, mut bit) = self.begin(src, dst.len())?;
        let tables = &*self.tables;
        let copy = state.copy(src);
        let mut filled = 0;
        while filled < dst.len() {
            let room = &mut dst[filled..];
            let end = 8 * src.len();
            let (n, result) = state.batches_into(tables, self.map, room, &copy, &mut bit, end);
            if result.is_err() || bit > end {
                return Ok(None);
            }
            filled += n;
            if filled == dst.len() {
                break;
            }
            let room = &mut dst[filled..];
            let n = state.batch_into(tables, self.map, room, &copy, &mut bit, end);
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
pub(super) struct Page<'a, L: Latent> {
    tables: Arc<ChunkTables<L>>,
    map: Map,
    state: PageState<L>,
    src: &'a [u8],
    bit: usize,
}

impl<L: Latent> Page<'_, L> {
    /// Numbers that [`Page::read`] still gives.
    pub(super) fn left(&self) -> usize {
        self.state.left() + self.state.ready()
    }

    /// Decodes the next numbers into `dst`; how many, fewer than `dst` holds only at the end.
    pub(super) fn read(&mut self, dst: &mut [L]) -> Result<usize> {
        let mut filled = 0;
        loop {
            filled += self.state.take(self.map, &mut dst[filled..]);
            if filled == dst.len() || self.state.left() == 0 {
                return Ok(filled);
            }
            let Self { tables, map, state, src, bit } = self;
            let room = &mut dst[filled..];
            let (n, result) = state.batches_into(tables, *map, room, src, bit, usize::MAX);
            filled += n;
            let after = |e: Error| e.after_values(filled as u64);
            result.map_err(after)?;
            if filled == dst.len() {
                return Ok(filled);
            }
            let room = &mut dst[filled..];
            if room.len() >= state.left().min(BATCH_N) {
                let n = state.batch_into(tables, *map, room, src, bit, usize::MAX);
                filled += n.map_err(after)?;
            } else {
                state.next_batch(tables, src, bit).map_err(after)?;
            }
        }
    }

    /// Checks the padding of a page that has been read to its end; how many bytes the page takes.
    pub(super) fn end(&self) -> Result<usize> {
        if !self.state.is_used_up() {
            return Err(Error::invalid(format!("a page has {} numbers left", self.left())));
        }
        let mut r = BitReader::new(self.src, self.bit);
        r.align("a page")?;
        Ok(r.bit() / 8)
    }
}
