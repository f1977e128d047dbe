//! What has been walked of many pages: codes of each batch and variable, and where their offsets begin.

use super::sources::Sources;
use crate::number::Latent;
use crate::pco::decode::table::Table;
use crate::pco::layout::BATCH_N;
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self, PAGES, PageCodes, PagePlace};

/// Codes of each batch, as far as the chunk has such.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) delta: Vec<Codes>,
    pub(super) primary: Vec<Codes>,
    pub(super) secondary: Vec<Codes>,
}

/// What has been walked of a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Codes {
    codes: PageCodes,
    pub(super) places: [PagePlace; PAGES],
}

/// Where pages stand.
pub(super) struct Bits {
    /// The next bit of each.
    pub(super) at: [usize; PAGES],
    pub(super) ends: [usize; PAGES],
}

impl Walked {
    /// Room for so many batches, of variables that there are.
    pub(super) fn make_room(&mut self, batches: usize, has_delta: bool, has_secondary: bool) {
        let make = |all: &mut Vec<Codes>, are_wanted: bool| {
            if are_wanted && all.len() < batches {
                all.resize_with(batches, Codes::default);
            }
        };
        make(&mut self.delta, has_delta);
        make(&mut self.primary, true);
        make(&mut self.secondary, has_secondary);
    }
}

/// Whether a variable's pages come at once.
pub(super) fn is_fast<L: Latent>(table: &Table<L>) -> bool {
    table.kernel().is_some_and(|kernel| kernel.single().is_some()) || table.pages().is_some()
}

/// Reads `n` codes of each page, batch `at`, and moves past their offsets. `None` where pages end before.
pub(super) fn walk<L: Latent>(
    all: &mut [Codes],
    at: usize,
    table: &Table<L>,
    sources: &mut Sources<'_>,
    n: usize,
    bits: &mut Bits,
) -> Option<()> {
    let (walked, rest) = all.split_at_mut(at);
    let Codes { codes, places } = rest.first_mut()?;
    if let Some(before) = walked.last() {
        *places = before.places;
    }
    for (place, &at) in places.iter_mut().zip(&bits.at) {
        place.bit = at;
    }
    let mut are_whole = true;
    if let Some((_, width)) = table.kernel()?.single() {
        for (at, end) in bits.at.iter_mut().zip(&bits.ends) {
            *at += n * usize::from(width);
            are_whole &= *at <= *end;
        }
        return are_whole.then_some(());
    }
    let (pages, present) = (table.pages()?, Present::in_use());
    if !pages.walk(present, sources.codes(), places, n, codes) {
        sources.lengthen(places, pages.codes_window(n))?;
        pages.walk(present, sources.codes(), places, n, codes).then_some(())?;
    }
    let all = bits.at.iter_mut().zip(&bits.ends).zip(&*places).zip(codes.offset_bits());
    for (((at, end), place), &offset_bits) in all {
        *at = place.bit + offset_bits as usize;
        are_whole &= *at <= *end;
    }
    are_whole.then_some(())
}

/// The latents of as many codes of a page as `dst` has room for, of batches one after the other, with `shift` added to each.
pub(super) fn unpack<L: Latent>(
    batches: &[Codes],
    table: &Table<L>,
    sources: &mut Sources<'_>,
    page: usize,
    shift: L,
    dst: &mut [L],
) {
    let present = Present::in_use();
    let batches = batches.iter().zip(dst.chunks_mut(BATCH_N));
    if let Some(pages) = table.pages() {
        for (Codes { codes, places }, dst) in batches {
            let bits = codes.offset_bits()[page] as usize;
            let stream = sources.offsets(page, &places[page], bits);
            pages.unpack(present, codes, page, stream, shift, dst);
        }
    } else if let Some((lower, width)) = table.kernel().and_then(tans::Table::single) {
        for (Codes { places, .. }, dst) in batches {
            let bits = dst.len() * usize::from(width);
            let stream = sources.offsets(page, &places[page], bits);
            tans::unpack_single(present, lower.add(shift), width, stream, dst);
        }
    }
}
