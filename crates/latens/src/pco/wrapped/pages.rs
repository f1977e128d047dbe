//! Many pages of a chunk in one call.

use super::page::{Chunk, STEP};
use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::side_by_side::SideBySide;
use crate::watch::Watch;

impl<L: Latent> Chunk<L> {
    /// Decodes whole pages, each from its bytes to its numbers' place; how many bytes each takes.
    pub(super) fn decode_pages(&self, pages: &mut [(&[u8], &mut [L])]) -> Result<Vec<usize>> {
        let mut sizes = Vec::with_capacity(pages.len());
        let mut room = None;
        let result = self.decode_all(pages, &mut sizes, &mut room);
        if let Some(room) = room {
            self.tables.side_by_side.keep(room);
        }
        result.map(|()| sizes)
    }

    /// The same for pages of `lens` numbers each, one behind the other to `dst`.
    pub(super) fn decode_pages_into(
        &self,
        pages: &[&[u8]],
        lens: &[usize],
        dst: &mut [L],
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
        pages: &mut [(&[u8], &mut [L])],
        sizes: &mut Vec<usize>,
        room: &mut Option<Box<SideBySide<L>>>,
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
                room.decode(tables, self.map, &mut rest[..count], sizes);
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
        let bytes = (n as u64).saturating_mul(self.number_type.bytes() as u64);
        let is_told = self.watch == Watch::NONE || n <= STEP / latens_kernels::tans::PAGES;
        self.limits.check_output(bytes).is_ok() && is_told
    }
}
