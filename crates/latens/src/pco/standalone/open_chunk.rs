//! The chunk that a decoder stands in, whatever the width of its latents.
//!
//! Behind one trait, so that the four widths are compiled in this crate once and not again
//! wherever a [`Decoder`](super::Decoder) is used with some reader.

use crate::bits::reader::BitReader;
use crate::error::Result;
use crate::limits::Limits;
use crate::number::{AnySliceMut, Latent, with_latent};
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::decode::page::PageState;
use crate::pco::decode::workshop::Workshop;
use crate::pco::inspect::chunk::{self, LatentInspection};
use crate::pco::layout::chunk_head::ChunkHead;
use crate::pco::layout::chunk_meta::ChunkMeta;
use crate::pco::layout::header::FormatVersion;
use crate::pco::standalone::info::ChunkInfo;
use crate::pco::{DeltaEncoding, Mode};
use latens_kernels::tans::Map;

/// A chunk of any latent width.
pub(super) trait OpenChunk: Send {
    /// Reads the page's metadata; returns its bytes.
    fn start(&mut self, bytes: &[u8]) -> Result<usize>;
    /// [`PageState::take`]; `dst`, here and below, is of the chunk's width.
    fn take(&mut self, map: Map, dst: AnySliceMut<'_>) -> Result<usize>;
    /// [`PageState::batches_into`].
    fn batches_into(
        &mut self,
        map: Map,
        dst: AnySliceMut<'_>,
        bytes: &[u8],
        bit: &mut usize,
    ) -> (usize, Result<()>);
    /// [`PageState::batch_into`].
    fn batch_into(
        &mut self,
        map: Map,
        dst: AnySliceMut<'_>,
        bytes: &[u8],
        bit: &mut usize,
    ) -> Result<usize>;
    /// Decodes the next batch.
    fn next_batch(&mut self, bytes: &[u8], bit: &mut usize) -> Result<()>;
    /// Moves past the next batch, failing where it cannot be decoded.
    fn check_batch(&mut self, bytes: &[u8], bit: &mut usize) -> Result<()>;
    /// Moves past the next batch.
    fn skip_batch(&mut self, bytes: &[u8], bit: &mut usize) -> Result<()>;
    /// Numbers not yet decoded.
    fn left(&self) -> usize;
    /// Numbers decoded and not yet taken.
    fn ready(&self) -> usize;
    /// Where the chunk's bits went so far.
    fn inspect(&self) -> Vec<LatentInspection>;
}

/// A chunk with latents of one width.
struct Chunk<L: Latent> {
    n: usize,
    tables: ChunkTables<L>,
    page: Option<PageState<L>>,
    workshop: Workshop,
}

impl<L: Latent> Drop for Chunk<L> {
    fn drop(&mut self) {
        self.tables.give_back(&self.workshop);
    }
}

impl<L: Latent> OpenChunk for Chunk<L> {
    fn start(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut r = BitReader::new(bytes, 0);
        self.page = Some(PageState::read(&mut r, &self.tables, self.n)?);
        Ok(r.bit() / 8)
    }

    fn take(&mut self, map: Map, dst: AnySliceMut<'_>) -> Result<usize> {
        let dst = dst.of_width()?;
        Ok(self.page.as_mut().map_or(0, |page| page.take(map, dst)))
    }

    fn batches_into(
        &mut self,
        map: Map,
        dst: AnySliceMut<'_>,
        bytes: &[u8],
        bit: &mut usize,
    ) -> (usize, Result<()>) {
        match (&mut self.page, dst.of_width()) {
            (Some(page), Ok(dst)) => {
                page.batches_into(&self.tables, map, dst, bytes, bit, usize::MAX)
            }
            (None, Ok(_)) => (0, Ok(())),
            (_, Err(e)) => (0, Err(e)),
        }
    }

    fn batch_into(
        &mut self,
        map: Map,
        dst: AnySliceMut<'_>,
        bytes: &[u8],
        bit: &mut usize,
    ) -> Result<usize> {
        let dst = dst.of_width()?;
        match &mut self.page {
            Some(page) => page.batch_into(&self.tables, map, dst, bytes, bit, usize::MAX),
            None => Ok(0),
        }
    }

    fn next_batch(&mut self, bytes: &[u8], bit: &mut usize) -> Result<()> {
        match &mut self.page {
            Some(page) => page.next_batch(&self.tables, bytes, bit),
            None => Ok(()),
        }
    }

    fn check_batch(&mut self, bytes: &[u8], bit: &mut usize) -> Result<()> {
        match &mut self.page {
            Some(page) => page.check_batch(&self.tables, bytes, bit),
            None => Ok(()),
        }
    }

    fn skip_batch(&mut self, bytes: &[u8], bit: &mut usize) -> Result<()> {
        match &mut self.page {
            Some(page) => page.skip_batch(&self.tables, bytes, bit),
            None => Ok(()),
        }
    }

    fn left(&self) -> usize {
        self.page.as_ref().map_or(0, PageState::left)
    }

    fn ready(&self) -> usize {
        self.page.as_ref().map_or(0, PageState::ready)
    }

    fn inspect(&self) -> Vec<LatentInspection> {
        let spent = self.page.as_ref().map(PageState::spent).unwrap_or_default();
        chunk::latents(&self.tables.meta, spent, self.n)
    }
}

/// Reads the metadata of a chunk; also returns its bytes.
pub(super) fn read(
    bytes: &[u8],
    head: ChunkHead,
    version: FormatVersion,
    limits: Limits,
    workshop: &Workshop,
) -> Result<(ChunkInfo, Box<dyn OpenChunk>, usize)> {
    fn typed<L: Latent>(
        bytes: &[u8],
        head: ChunkHead,
        version: FormatVersion,
        limits: Limits,
        workshop: &Workshop,
    ) -> Result<(ChunkInfo, Box<dyn OpenChunk>, usize)> {
        let ChunkHead { number_type, n } = head;
        let mut r = BitReader::new(bytes, 0);
        let meta = ChunkMeta::<L>::read(&mut r, number_type, version, limits)?;
        let info = ChunkInfo {
            number_type,
            n,
            mode: Mode::of(&meta.mode),
            delta: DeltaEncoding::of(&meta.delta),
        };
        workshop.count(meta.slots(), n, limits)?;
        let tables = ChunkTables::new(meta, n, limits, workshop)?;
        let chunk = Chunk { n, tables, page: None, workshop: workshop.clone() };
        Ok((info, Box::new(chunk), r.bit() / 8))
    }
    with_latent!(head.number_type, L => typed::<L>(bytes, head, version, limits, workshop))
}

/// Bytes of a chunk behind its head, at the start of `bytes`: found by a walk through its codes.
pub(crate) fn len(
    bytes: &[u8],
    head: ChunkHead,
    version: FormatVersion,
    limits: Limits,
    workshop: &Workshop,
) -> Result<usize> {
    let (_, mut chunk, meta) = read(bytes, head, version, limits, workshop)?;
    let page = bytes.get(meta..).unwrap_or_default();
    let mut bit = 8 * chunk.start(page)?;
    while chunk.left() > 0 {
        chunk.skip_batch(page, &mut bit)?;
    }
    let mut r = BitReader::new(page, bit);
    r.align("a page")?;
    Ok(meta + r.bit() / 8)
}
