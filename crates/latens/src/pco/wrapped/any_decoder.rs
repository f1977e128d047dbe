//! Pages of a chunk whose number type is known only at run time.

use super::page::{Chunk, Page, STEP};
use super::widths::{Widths, map_width, of_width, with_width};
use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::sealed::Sealed;
use crate::number::{AnyNumbers, AnySliceMut, NumberType};
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::decode::workshop::Workshop;
use crate::pco::layout::chunk_meta::ChunkMeta;
use crate::pco::layout::header::FormatVersion;
use crate::pco::{DeltaEncoding, Mode};
use crate::watch::Watch;
use std::sync::Arc;

/// A [`ChunkDecoder`](super::ChunkDecoder) of numbers of a type known only at run time:
/// [`FileDecoder::any_chunk_decoder`](super::FileDecoder::any_chunk_decoder) makes it. Cheap to clone;
/// several threads may decode its pages.
///
/// ```
/// use latens::pco::{Config, wrapped::{FileDecoder, FileEncoder}};
/// use latens::{AnyNumbers, Limits};
///
/// let numbers = AnyNumbers::from((0..1000).map(|i| i * i).collect::<Vec<i64>>());
/// let encoder = FileEncoder::new(Config::default());
/// let chunk = encoder.any_chunk_encoder(numbers.as_any_slice(), &[1000])?;
/// let (mut header, mut meta, mut page) = (Vec::new(), Vec::new(), Vec::new());
/// encoder.write_header(&mut header)?;
/// chunk.write_meta(&mut meta)?;
/// chunk.write_page(0, &mut page)?;
///
/// let (decoder, _) = FileDecoder::new(&header, Limits::default())?;
/// let (chunk, _) = decoder.any_chunk_decoder(numbers.number_type(), &meta)?;
/// assert_eq!(chunk.read_page(&page, 1000)?, (numbers.clone(), page.len()));
/// let mut back = AnyNumbers::from(vec![0i64; 1000]);
/// chunk.decode_page(&page, back.as_any_slice_mut())?;
/// assert_eq!(back, numbers);
/// # Ok::<(), latens::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AnyChunkDecoder {
    chunk: Widths<Chunk<u8>, Chunk<u16>, Chunk<u32>, Chunk<u64>>,
}

/// A page that has been started.
#[derive(Clone, Debug)]
pub(super) struct AnyPage<'a>(Widths<Page<'a, u8>, Page<'a, u16>, Page<'a, u32>, Page<'a, u64>>);

impl AnyChunkDecoder {
    /// Reads the metadata of a chunk at the start of `src`; also returns how many bytes it takes.
    pub(super) fn read(
        src: &[u8],
        number_type: NumberType,
        version: FormatVersion,
        limits: Limits,
        watch: &Watch,
    ) -> Result<(Self, usize)> {
        let mut r = BitReader::new(src, 0);
        let chunk = of_width!(number_type, L => {
            let meta = ChunkMeta::<L>::read(&mut r, number_type, version, limits)?;
            let tables = ChunkTables::new(meta, usize::MAX / 2, limits, &Workshop::default())?;
            let (tables, map, watch) = (Arc::new(tables), number_type.map(), watch.clone());
            Chunk { tables, number_type, map, limits, watch }
        });
        Ok((Self { chunk }, r.bit() / 8))
    }

    /// The same, by the same tables, whose pages tell `watch` of numbers, of 2^18 at most at once.
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        let watch = watch.clone();
        Self { chunk: map_width!(&self.chunk, chunk => Chunk { watch, ..chunk.clone() }) }
    }

    /// The type of the numbers.
    pub fn number_type(&self) -> NumberType {
        with_width!(&self.chunk, chunk => chunk.number_type)
    }

    /// How numbers split into latents.
    pub fn mode(&self) -> Mode {
        with_width!(&self.chunk, chunk => Mode::of(&chunk.tables.meta.mode))
    }

    /// How latents are predicted.
    pub fn delta_encoding(&self) -> DeltaEncoding {
        with_width!(&self.chunk, chunk => DeltaEncoding::of(&chunk.tables.meta.delta))
    }

    /// [`ChunkDecoder::decode_page`](super::ChunkDecoder::decode_page).
    ///
    /// # Errors
    /// Its own, and invalid argument where `dst` is of another type than the chunk.
    pub fn decode_page(&self, src: &[u8], dst: AnySliceMut<'_>) -> Result<usize> {
        let dst = self.bits(dst)?;
        with_width!(&self.chunk, chunk => chunk.decode_page(src, dst.of_width()?))
    }

    /// All numbers of a page of which the container says that it has `n`, and how many bytes it takes;
    /// bytes behind it do no harm. Memory grows with what is decoded, not by that word.
    ///
    /// # Errors
    /// As [`ChunkDecoder::decode_page`](super::ChunkDecoder::decode_page); invalid argument where there is
    /// no memory for so many.
    pub fn read_page(&self, src: &[u8], n: usize) -> Result<(AnyNumbers, usize)> {
        let watch = with_width!(&self.chunk, chunk => &chunk.watch);
        let mut page = self.page(src, n)?;
        crate::with_number_type!(self.number_type(), T => {
            let mut numbers = Vec::<T>::new();
            while page.left() > 0 {
                let (have, now) = (numbers.len(), page.left().min(STEP));
                numbers.try_reserve(now).map_err(|_| {
                    Error::invalid(format!("there is no memory for the {n} numbers of the page"))
                })?;
                numbers.resize(have + now, T::default());
                let got = page.read(T::any_mut(&mut numbers[have..]))?;
                numbers.truncate(have + got);
                watch.done(got as u64)?;
            }
            Ok((numbers.into(), page.end()?))
        })
    }

    /// [`ChunkDecoder::decode_pages_into`](super::ChunkDecoder::decode_pages_into).
    ///
    /// # Errors
    /// Its own, and invalid argument where `dst` is of another type than the chunk.
    pub fn decode_pages_into(
        &self,
        pages: &[&[u8]],
        lens: &[usize],
        dst: AnySliceMut<'_>,
    ) -> Result<Vec<usize>> {
        let dst = self.bits(dst)?;
        with_width!(&self.chunk, chunk => chunk.decode_pages_into(pages, lens, dst.of_width()?))
    }

    /// [`ChunkDecoder::decode_pages`](super::ChunkDecoder::decode_pages).
    pub(super) fn decode_pages(&self, pages: Vec<(&[u8], AnySliceMut<'_>)>) -> Result<Vec<usize>> {
        let bits = pages.into_iter().map(|(src, dst)| Ok((src, self.bits(dst)?)));
        with_width!(&self.chunk, chunk => {
            let pages = bits.map(|page| page.and_then(|(src, dst)| Ok((src, dst.of_width()?))));
            chunk.decode_pages(&mut pages.collect::<Result<Vec<_>>>()?)
        })
    }

    /// Starts on a page of `n` numbers at the start of `src`.
    pub(super) fn page<'a>(&self, src: &'a [u8], n: usize) -> Result<AnyPage<'a>> {
        Ok(AnyPage(map_width!(&self.chunk, chunk => chunk.page(src, n)?)))
    }

    /// Numbers of this chunk's type as bits.
    fn bits<'d>(&self, dst: AnySliceMut<'d>) -> Result<AnySliceMut<'d>> {
        let (found, wanted) = (self.number_type(), dst.number_type());
        if found != wanted {
            return Err(Error::invalid(format!("the chunk holds {found}, not {wanted}")));
        }
        Ok(dst.into_bits())
    }
}

impl AnyPage<'_> {
    pub(super) fn left(&self) -> usize {
        with_width!(&self.0, page => page.left())
    }

    /// Decodes the next numbers into `dst`, which is of the chunk's width.
    pub(super) fn read(&mut self, dst: AnySliceMut<'_>) -> Result<usize> {
        let dst = dst.into_bits();
        with_width!(&mut self.0, page => page.read(dst.of_width()?))
    }

    pub(super) fn end(&self) -> Result<usize> {
        with_width!(&self.0, page => page.end())
    }
}
