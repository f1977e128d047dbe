//! What has been walked of many pages: codes of each batch and variable, and where their offsets begin.

use crate::number::Latent;
use crate::pco::decode::batch::LOOKAHEAD;
use crate::pco::decode::table::Table;
use crate::pco::layout::BATCH_N;
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self, PAGES, PageCodes, PagePlace, Stream, WINDOW};

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
    bytes: &[u8],
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
    if let Some((_, width)) = table.kernel()?.single() {
        for place in &mut *places {
            place.offset_bits = n * usize::from(width);
        }
    } else {
        table.pages()?.walk(Present::in_use(), bytes, places, n, codes);
    }
    let mut are_whole = true;
    for ((at, end), place) in bits.at.iter_mut().zip(&bits.ends).zip(places) {
        *at = place.bit + place.offset_bits;
        are_whole &= *at <= *end;
    }
    are_whole.then_some(())
}

/// The latents of as many codes of a page as `dst` has room for, of batches one after the other, with `shift` added to each.
pub(super) fn unpack<L: Latent>(
    batches: &[Codes],
    table: &Table<L>,
    bytes: &[u8],
    page: usize,
    shift: L,
    dst: &mut [L],
) {
    let present = Present::in_use();
    let batches = batches.iter().zip(dst.chunks_mut(BATCH_N));
    let stream = |place: &PagePlace| Stream { bytes: &bytes[place.bit / 8..], bit: place.bit % 8 };
    if let Some(pages) = table.pages() {
        for (Codes { codes, places }, dst) in batches {
            pages.unpack(present, codes, page, stream(&places[page]), shift, dst);
        }
    } else if let Some((lower, width)) = table.kernel().and_then(tans::Table::single) {
        for (Codes { places, .. }, dst) in batches {
            tans::unpack_single(present, lower.add(shift), width, stream(&places[page]), dst);
        }
    }
}

const _: () = assert!(LOOKAHEAD >= 2 * WINDOW);
