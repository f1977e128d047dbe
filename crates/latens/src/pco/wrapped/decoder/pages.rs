//! Many pages of a chunk in one call.

use super::{ChunkDecoder, STEP};
use crate::error::{Error, Result};
use crate::number::Number;
use crate::pco::decode::side_by_side::SideBySide;
use crate::watch::Watch;

impl<T: Number> ChunkDecoder<T> {
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
    /// nothing else has changed: [`Error::values_before`] counts the numbers of all of these. A watch may end the
    /// call between two pages, or stretches of long ones.
    pub fn decode_pages(&self, pages: &mut [(&[u8], &mut [T])]) -> Result<Vec<usize>> {
        let mut sizes = Vec::with_capacity(pages.len());
        let mut room = None;
        let result = self.decode_all(pages, &mut sizes, &mut room);
        if let Some(room) = room {
            self.tables.side_by_side.keep(room);
        }
        result.map(|()| sizes)
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
        let sum = lens.iter().try_fold(0usize, |sum, &len| sum.checked_add(len));
        if pages.len() != lens.len() || sum != Some(dst.len()) {
            let n = dst.len();
            return Err(Error::invalid(format!("the pages do not have {n} numbers in all")));
        }
        let mut rest = dst;
        let mut places = Vec::with_capacity(pages.len());
        for (&page, &len) in pages.iter().zip(lens) {
            let (own, others) = rest.split_at_mut(len);
            places.push((page, own));
            rest = others;
        }
        self.decode_pages(&mut places)
    }

    fn decode_all(
        &self,
        pages: &mut [(&[u8], &mut [T])],
        sizes: &mut Vec<usize>,
        room: &mut Option<Box<SideBySide<T::L>>>,
    ) -> Result<()> {
        let tables = &*self.tables;
        let mut done = 0;
        while sizes.len() < pages.len() {
            let first = sizes.len();
            let (_, rest) = pages.split_at_mut(first);
            let mut one_by_one = 1;
            if let Some(count) = SideBySide::count(tables, rest)
                && self.is_allowed(rest[0].1.len())
            {
                let room = room.get_or_insert_with(|| tables.side_by_side.room(SideBySide::new));
                room.decode(tables, &mut rest[..count], sizes);
                let decoded = sizes.len() - first;
                let numbers = (decoded * rest[0].1.len()) as u64;
                done += numbers;
                if decoded > 0 {
                    self.watch.done(numbers).map_err(|e| e.after_values(done))?;
                }
                one_by_one = count - decoded;
            }
            for _ in 0..one_by_one {
                let number = sizes.len();
                let (src, dst) = &mut pages[number];
                let size = self.decode_page(src, dst).map_err(|e: Error| {
                    let before = done + e.values_before().unwrap_or(0);
                    e.within(format!("page {number}")).after_values(before)
                })?;
                sizes.push(size);
                done += dst.len() as u64;
            }
        }
        Ok(())
    }

    /// Whether pages of `n` numbers are within the limits, and a watch need not be told of them in pieces.
    fn is_allowed(&self, n: usize) -> bool {
        let bytes = (n as u64).saturating_mul(T::TYPE.bytes() as u64);
        let is_told = self.watch == Watch::NONE || n <= STEP / latens_kernels::tans::PAGES;
        self.limits.check_output(bytes).is_ok() && is_told
    }
}
