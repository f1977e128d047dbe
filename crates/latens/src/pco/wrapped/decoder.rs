//! Reading the parts of a wrapped file.

use super::any_decoder::{AnyChunkDecoder, AnyPage};
use crate::bits::reader::BitReader;
use crate::error::Result;
use crate::limits::Limits;
use crate::number::{Number, NumberType};
use crate::pco::layout::header::FormatVersion;
use crate::pco::{DeltaEncoding, Mode};
use crate::watch::Watch;
use std::marker::PhantomData;

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
        let (any, bytes) = self.any_chunk_decoder(T::TYPE, src)?;
        Ok((ChunkDecoder { any, numbers: PhantomData }, bytes))
    }

    /// [`FileDecoder::chunk_decoder`] for numbers of a type known only at run time.
    ///
    /// # Errors
    /// When the metadata is not sound for numbers of that type; offsets count from `src`.
    pub fn any_chunk_decoder(
        &self,
        number_type: NumberType,
        src: &[u8],
    ) -> Result<(AnyChunkDecoder, usize)> {
        AnyChunkDecoder::read(src, number_type, self.version, self.limits, &self.watch)
    }
}

/// A chunk's metadata with its tables. Cheap to clone; several threads may decode its pages.
#[derive(Clone, Debug)]
pub struct ChunkDecoder<T: Number> {
    any: AnyChunkDecoder,
    numbers: PhantomData<T>,
}

impl<T: Number> ChunkDecoder<T> {
    /// The same, by the same tables, whose pages tell `watch` of numbers, of 2^18 at most at once.
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        Self { any: self.any.watched(watch), numbers: PhantomData }
    }

    /// How numbers split into latents.
    pub fn mode(&self) -> Mode {
        self.any.mode()
    }

    /// How latents are predicted.
    pub fn delta_encoding(&self) -> DeltaEncoding {
        self.any.delta_encoding()
    }

    /// Starts on a page of `n` numbers at the start of `src`. `n` is the container's word; bytes
    /// behind the page do no harm.
    ///
    /// # Errors
    /// When the page's metadata is not sound, offsets counted from `src`; invalid argument when
    /// the page passes [`Limits::max_output`].
    pub fn page_decoder<'a>(&self, src: &'a [u8], n: usize) -> Result<PageDecoder<'a, T>> {
        Ok(PageDecoder { any: self.any.page(src, n)?, numbers: PhantomData })
    }

    /// Decodes a whole page of `dst.len()` numbers; returns how many bytes it takes.
    ///
    /// # Errors
    /// As [`ChunkDecoder::page_decoder`], and when the page is not sound; that of the watch. Of `dst`
    /// then only the first [`Error::values_before`](crate::Error::values_before) numbers have changed.
    pub fn decode_page(&self, src: &[u8], dst: &mut [T]) -> Result<usize> {
        self.any.decode_page(src, dst.into())
    }

    /// Decodes whole pages, each from its bytes to its numbers' place, and returns how many bytes each takes: what
    /// [`ChunkDecoder::decode_page`] does page by page, in less time where a dozen or more short pages of as many numbers each
    /// follow one another (with AVX-512, and where the chunk's tables are not too large).
    ///
    /// ```
    /// use latens::Limits;
    /// use latens::pco::{Config, wrapped::{FileDecoder, FileEncoder}};
    ///
    /// let numbers: Vec<u32> = (0..4096).map(|i| i * i % 1000).collect();
    /// let encoder = FileEncoder::new(Config::default());
    /// let chunk = encoder.chunk_encoder(&numbers, &[1024; 4])?;
    /// let (mut header, mut meta) = (Vec::new(), Vec::new());
    /// encoder.write_header(&mut header)?;
    /// chunk.write_meta(&mut meta)?;
    /// let mut pages = vec![Vec::new(); 4];
    /// for (i, page) in pages.iter_mut().enumerate() {
    ///     chunk.write_page(i, page)?;
    /// }
    ///
    /// let (decoder, _) = FileDecoder::new(&header, Limits::default())?.0.chunk_decoder::<u32>(&meta)?;
    /// let mut back = vec![0; 4096];
    /// let mut places: Vec<_> =
    ///     pages.iter().map(|page| &page[..]).zip(back.chunks_mut(1024)).collect();
    /// decoder.decode_pages(&mut places)?;
    /// assert_eq!(back, numbers);
    /// # Ok::<(), latens::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of the first page that [`ChunkDecoder::decode_page`] refuses, which it names by its place among these pages;
    /// offsets count from that page's bytes. Pages before it are decoded, of its own numbers those that come before what is wrong, and
    /// nothing else has changed: [`Error::values_before`](crate::Error::values_before) counts the numbers of all of these. A watch may end the
    /// call between two pages, or stretches of long ones.
    pub fn decode_pages(&self, pages: &mut [(&[u8], &mut [T])]) -> Result<Vec<usize>> {
        let any = pages.iter_mut().map(|(src, dst)| (*src, (&mut **dst).into()));
        self.any.decode_pages(any.collect())
    }

    /// The same for pages of `lens` numbers each, one behind the other to `dst`, which has as many as all of them.
    ///
    /// # Errors
    /// Those of [`ChunkDecoder::decode_pages`], and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) where
    /// the lengths are not those of the pages and of `dst`.
    pub fn decode_pages_into(
        &self,
        pages: &[&[u8]],
        lens: &[usize],
        dst: &mut [T],
    ) -> Result<Vec<usize>> {
        self.any.decode_pages_into(pages, lens, dst.into())
    }
}

/// Decodes the numbers of a page in order.
#[derive(Clone, Debug)]
pub struct PageDecoder<'a, T: Number> {
    any: AnyPage<'a>,
    numbers: PhantomData<T>,
}

impl<T: Number> PageDecoder<'_, T> {
    /// Numbers that [`PageDecoder::read`] still gives.
    pub fn left(&self) -> usize {
        self.any.left()
    }

    /// Decodes the next numbers into `dst`; how many, fewer than `dst` holds only at the end.
    ///
    /// # Errors
    /// When the page is not sound; of `dst` then only the first
    /// [`Error::values_before`](crate::Error::values_before) numbers have changed.
    pub fn read(&mut self, dst: &mut [T]) -> Result<usize> {
        self.any.read(dst.into())
    }

    /// Checks the padding of a page that has been read to its end; returns how many bytes the
    /// page takes.
    ///
    /// # Errors
    /// Invalid argument when numbers are left, corrupt when bits of the padding are set.
    pub fn finish(self) -> Result<usize> {
        self.any.end()
    }
}

#[cfg(test)]
mod pages_tests;
#[cfg(test)]
mod tests;
