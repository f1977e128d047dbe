//! Where the bits of pages are read from: their own bytes, and near their ends copies with room behind them.

use latens_kernels::tans::{PAGES, PagePlace, Stream, WIDE_SLACK, WINDOW};
use std::mem;

/// Pages of so many bytes, on the average, are copied as they are: that takes less than to look where they end.
const SHORT: usize = 1 << 10;
/// Copies of several pages each that there is room for: pages end in about the same batch.
const COPIES: usize = 8;

/// The bytes of each page. Where there are fewer, the others go with the first one.
pub(super) struct Sources<'a> {
    pages: [&'a [u8]; PAGES],
    count: usize,
    /// The same, or copies of what is left of them, each byte in its place.
    codes: [&'a [u8]; PAGES],
    /// From which byte on these have what the pages have.
    from: [usize; PAGES],
    /// Room for such copies.
    free: &'a mut [u8],
    /// Room for the offsets of a batch.
    offsets: &'a mut [u8],
}

impl<'a> Sources<'a> {
    /// `room` grows as far as copies may take.
    pub(super) fn new(own: &[&'a [u8]], room: &'a mut Vec<u8>) -> Self {
        let (mut all, mut longest) = (0, 0);
        for page in own {
            (all, longest) = (all + page.len(), longest.max(page.len()));
        }
        let most = WINDOW + all + COPIES * (longest + WINDOW);
        if room.len() < most {
            room.resize(most, 0);
        }
        let (offsets, free) = room.split_at_mut(WINDOW);
        let (count, from) = (own.len(), [0; PAGES]);
        let mut pages = [own.first().copied().unwrap_or_default(); PAGES];
        pages[..count].copy_from_slice(own);
        let mut sources = Self { pages, count, codes: pages, from, free, offsets };
        if all < count * SHORT {
            sources.copy([0; PAGES], |_| true);
        }
        sources
    }

    /// What codes are read from.
    pub(super) fn codes(&self) -> &[&'a [u8]; PAGES] {
        &self.codes
    }

    /// Has all pages go on for so many bytes, [`WINDOW`] at most, from their next bits on. Codes before are not read again.
    /// `None` where there is no room.
    pub(super) fn lengthen(&mut self, places: &[PagePlace; PAGES], window: usize) -> Option<()> {
        let at = places.map(|place| place.bit / 8);
        let codes = self.codes;
        self.copy(at, |page| codes[page].len() < at[page] + window)
    }

    /// Copies what is left of these pages from there on, one behind the other and [`WINDOW`] bytes behind the last one.
    #[inline(always)]
    fn copy(&mut self, from: [usize; PAGES], is_one: impl Fn(usize) -> bool) -> Option<()> {
        let (mut first, mut len) = (0, WINDOW);
        for page in (0..self.count).filter(|&page| is_one(page)) {
            (first, len) = (first.max(from[page]), len + self.pages[page].len() - from[page]);
        }
        let (copies, free) = mem::take(&mut self.free).split_at_mut_checked(first + len)?;
        self.free = free;
        let mut starts = [0; PAGES];
        let mut end = first;
        for page in (0..self.count).filter(|&page| is_one(page)) {
            let rest = &self.pages[page][from[page]..];
            copies[end..][..rest.len()].copy_from_slice(rest);
            starts[page] = end - from[page];
            end += rest.len();
        }
        let copies = &*copies;
        for page in (0..self.count).filter(|&page| is_one(page)) {
            (self.codes[page], self.from[page]) = (&copies[starts[page]..], from[page]);
        }
        for page in self.count..PAGES {
            (self.codes[page], self.from[page]) = (self.codes[0], self.from[0]);
        }
        Some(())
    }

    /// So many bits of offsets of a batch, within its page, from the place that the walk over their codes has come to.
    #[inline(always)]
    pub(super) fn offsets(&mut self, page: usize, place: &PagePlace, bits: usize) -> Stream<'_> {
        let (at, window) = (place.bit / 8, bits / 8 + WIDE_SLACK);
        let is_there = at >= self.from[page];
        let mut bytes = &(if is_there { self.codes[page] } else { self.pages[page] })[at..];
        if bytes.len() < window {
            self.offsets[..bytes.len()].copy_from_slice(bytes);
            bytes = &self.offsets[..window];
        }
        Stream { bytes, bit: place.bit % 8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(byte: usize) -> PagePlace {
        PagePlace { bit: 8 * byte + 3, ..PagePlace::default() }
    }

    /// Pages of which the `i`-th has so many bytes, all of them `i`.
    fn pages(lens: impl Iterator<Item = usize>) -> Vec<Vec<u8>> {
        lens.zip(1..).map(|(len, i)| vec![i; len]).collect()
    }

    #[test]
    fn whatever_is_copied_lies_in_its_place() {
        // Copied as they are, and where they end.
        for len in [10, 2 * SHORT] {
            let all = pages((0..20).map(|i| len + i));
            let own: Vec<&[u8]> = all.iter().map(|page| &page[..]).collect();
            let mut room = Vec::new();
            let mut sources = Sources::new(&own, &mut room);
            for back in [10, 7, 0] {
                let at = |i: usize| own.get(i).unwrap_or(&own[0]).len() - back;
                let places: [PagePlace; PAGES] = std::array::from_fn(|i| place(at(i)));
                sources.lengthen(&places, 100).unwrap();
                for i in 0..PAGES {
                    let page = own.get(i).unwrap_or(&own[0]);
                    let codes = sources.codes()[i];
                    assert!(codes.len() >= at(i) + 100);
                    assert_eq!(codes[at(i)..page.len()], page[at(i)..]);
                }
                for from in [0, 5] {
                    for (i, page) in own.iter().enumerate() {
                        let from = if from == 0 { at(i) } else { from };
                        let bits = 8 * (page.len() - from).min(WINDOW - WIDE_SLACK);
                        let Stream { bytes, bit } = sources.offsets(i, &place(from), bits);
                        assert!(bit == 3 && bytes.len() >= bits / 8 + WIDE_SLACK);
                        assert_eq!(bytes[..bits / 8], page[from..][..bits / 8]);
                    }
                }
            }
        }
    }

    #[test]
    fn room_for_copies_ends() {
        let all = pages((0..32).map(|_| 2 * SHORT));
        let own: Vec<&[u8]> = all.iter().map(|page| &page[..]).collect();
        let mut room = Vec::new();
        let mut sources = Sources::new(&own, &mut room);
        // One page after the other.
        let lengthened = (0..PAGES).take_while(|&n| {
            let places = std::array::from_fn(|i| place(if i <= n { own[i].len() } else { 0 }));
            sources.lengthen(&places, 1).is_some()
        });
        assert!((COPIES..PAGES).contains(&lengthened.count()));
    }
}
