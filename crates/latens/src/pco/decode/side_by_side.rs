//! Pages of one chunk side by side: the codes of all of them are walked at once, batch after batch; then each page is
//! unpacked by itself.
//!
//! So where pages end is known before any number is written. Whatever is wrong is told by the way for single pages:
//! here it is only found out, and of that page nothing is written but the batches, or fours of them, before it.

mod sources;
mod walked;

use super::chunk::ChunkTables;
use super::join::Join;
use super::page::Decoders;
use crate::bits::reader::BitReader;
use crate::number::Latent;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::mode::ModePayload;
use crate::pco::layout::{BATCH_N, LANES};
use crate::pco::mode::variables::{Place, Secondary, Variables};
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{Finish, Map, PAGES};
use sources::Sources;
use walked::{Bits, Codes, Walked, is_fast, unpack, walk};

/// Fewer pages than so many take longer side by side than one by one.
const FEWEST: usize = 12;
/// Most numbers of a page, and most bytes: codes of longer ones pass the second cache.
const MOST_N: usize = 1 << 12;
const MOST_BYTES: usize = 1 << 14;

/// A page's bytes, behind which others may follow, and where its numbers go.
pub(crate) type Page<'s, 'd, L> = (&'s [u8], &'d mut [L]);

/// Room for pages that are decoded at once.
#[derive(Debug)]
pub(crate) struct SideBySide<L> {
    /// For the ends of pages.
    room: Vec<u8>,
    decoders: Vec<Decoders<L>>,
    walked: Walked,
    batch: Batch<L>,
}

/// Numbers of a page that are decoded in one go where nothing but sums is undone: four batches, whose latents stay in the
/// nearest cache.
const STRETCH: usize = 4 * BATCH_N;

/// Latents of a batch or stretch of a page. Stores across lines of the cache take longer than others.
#[derive(Debug)]
#[repr(C, align(64))]
struct Batch<L> {
    primary: [L; STRETCH],
    secondary: [L; STRETCH],
    lookbacks: [u32; BATCH_N],
    indices: [u32; STRETCH],
}

/// How many latents of a batch are stored.
struct Stored {
    n: usize,
    /// Of variables with deltas.
    with_deltas: usize,
    secondary: usize,
}

impl Stored {
    /// Of the first `most` numbers of those that are `left`.
    fn of<L: Latent>(tables: &ChunkTables<L>, left: usize, most: usize) -> Self {
        let delta = &tables.meta.delta;
        let n = left.min(most);
        let with_deltas = n.min(left.saturating_sub(delta.state_n()));
        let secondary = if delta.covers_secondary() { with_deltas } else { n };
        Self { n, with_deltas, secondary }
    }
}

impl<L: Latent> SideBySide<L> {
    pub(crate) fn new() -> Box<Self> {
        let batch = Batch {
            primary: [L::ZERO; STRETCH],
            secondary: [L::ZERO; STRETCH],
            lookbacks: [0; BATCH_N],
            indices: [0; STRETCH],
        };
        let (room, decoders, walked) = (Vec::new(), Vec::new(), Walked::default());
        Box::new(Self { room, decoders, walked, batch })
    }

    /// How many of the first pages come at once, if any do.
    pub(crate) fn count(tables: &ChunkTables<L>, pages: &[Page<'_, '_, L>]) -> Option<usize> {
        let n = pages.first()?.1.len();
        let fit = |(src, dst): &&Page<'_, '_, L>| dst.len() == n && src.len() <= MOST_BYTES;
        let count = pages.iter().take(PAGES).take_while(fit).count();
        let can_be = (FEWEST..=PAGES).contains(&count)
            && (BATCH_N / 2..=MOST_N).contains(&n)
            && tables.delta.as_ref().is_none_or(is_fast)
            && tables.secondary.as_ref().is_none_or(is_fast)
            && match &tables.primary {
                Primary::Latents(table) => is_fast(table),
                Primary::Indices(table) => is_fast(table),
            };
        can_be.then_some(count)
    }

    /// Decodes the pages, as many as [`SideBySide::count`] says at most, and adds how many bytes each takes to `sizes`:
    /// of all that come before one with which anything is wrong. Of that one right numbers may have been written, behind it
    /// nothing has changed.
    pub(crate) fn decode(
        &mut self,
        tables: &ChunkTables<L>,
        map: Map,
        pages: &mut [Page<'_, '_, L>],
        sizes: &mut Vec<usize>,
    ) {
        let Self { room, decoders, walked, batch } = self;
        let mut own = [&[][..]; PAGES];
        for (own, (src, _)) in own.iter_mut().zip(&*pages) {
            *own = src;
        }
        let mut sources = Sources::new(&own[..pages.len()], room);
        let Some(ends) = walk_all(tables, pages, decoders, walked, &mut sources) else { return };
        let are_sums =
            matches!(tables.meta.delta, DeltaPayload::None | DeltaPayload::Consecutive { .. });
        let stretch = if are_sums { STRETCH } else { BATCH_N };
        for (i, ((src, dst), page)) in pages.iter_mut().zip(decoders).enumerate() {
            let mut r = BitReader::new(src, ends[i]);
            if r.align("a page").is_err() {
                return;
            }
            let mut left = dst.len();
            let is_sound = dst.chunks_mut(stretch).enumerate().all(|(number, bits)| {
                let at = At { walked, batch: number * (stretch / BATCH_N), page: i, left };
                left -= bits.len();
                batch.decode(tables, at, page, &mut sources, Place { map, bits }).is_some()
            });
            if !is_sound {
                return;
            }
            sizes.push(r.bit() / 8);
        }
    }
}

/// Reads the metadata of all pages and walks over all of their codes; where their bits end. `None` where pages end before.
fn walk_all<L: Latent>(
    tables: &ChunkTables<L>,
    pages: &[Page<'_, '_, L>],
    decoders: &mut Vec<Decoders<L>>,
    walked: &mut Walked,
    sources: &mut Sources<'_>,
) -> Option<[usize; PAGES]> {
    let n = pages.first()?.1.len();
    let batches = n.div_ceil(BATCH_N);
    let constant = tables.constant();
    let second = tables.secondary.as_ref().filter(|_| constant.is_none());
    walked.make_room(batches, tables.delta.is_some(), second.is_some());
    let mut bits = Bits { at: [0; PAGES], ends: [0; PAGES] };
    for (i, (src, _)) in pages.iter().enumerate() {
        let mut r = BitReader::new(src, 0);
        if let Some(page) = decoders.get_mut(i) {
            page.read_again(&mut r, tables).ok()?;
        } else {
            decoders.push(Decoders::read(&mut r, tables).ok()?);
        }
        let page = &mut decoders[i];
        (bits.at[i], bits.ends[i]) = (r.bit(), 8 * src.len());
        let set = |codes: &mut [Codes], slots: Option<&[u32; LANES]>| {
            if let (Some(codes), Some(slots)) = (codes.first_mut(), slots) {
                codes.places[i].states = *slots;
            }
        };
        set(&mut walked.delta, page.delta.as_mut().map(|of| &*of.slots()));
        set(
            &mut walked.primary,
            match &mut page.primary {
                Primary::Latents(primary) => Some(primary.slots()),
                Primary::Indices(primary) => Some(primary.slots()),
            },
        );
        set(&mut walked.secondary, page.secondary.as_mut().map(|of| &*of.slots()));
    }
    // The others go with the first one.
    for i in pages.len()..PAGES {
        (bits.at[i], bits.ends[i]) = (bits.at[0], bits.ends[0]);
        for codes in [&mut walked.delta, &mut walked.primary, &mut walked.secondary] {
            if let Some(codes) = codes.first_mut() {
                codes.places[i].states = codes.places[0].states;
            }
        }
    }
    for at in 0..batches {
        let stored = Stored::of(tables, n - at * BATCH_N, BATCH_N);
        if let Some(table) = &tables.delta {
            walk(&mut walked.delta, at, table, sources, stored.with_deltas, &mut bits)?;
        }
        let (primary, n) = (&mut walked.primary, stored.with_deltas);
        match &tables.primary {
            Primary::Latents(table) => walk(primary, at, table, sources, n, &mut bits)?,
            Primary::Indices(table) => walk(primary, at, table, sources, n, &mut bits)?,
        }
        if let Some(table) = second {
            walk(&mut walked.secondary, at, table, sources, stored.secondary, &mut bits)?;
        }
    }
    Some(bits.at)
}

/// Where a page whose codes have been walked is decoded.
struct At<'a> {
    walked: &'a Walked,
    /// The first batch.
    batch: usize,
    page: usize,
    /// Numbers of the page from it on.
    left: usize,
}

impl<L: Latent> Batch<L> {
    /// Decodes as many numbers as have their place, a batch or stretch; `None` where these are not sound.
    fn decode(
        &mut self,
        tables: &ChunkTables<L>,
        At { walked, batch, page, left }: At<'_>,
        decoders: &mut Decoders<L>,
        sources: &mut Sources<'_>,
        place: Place<'_, L>,
    ) -> Option<()> {
        let Stored { n, with_deltas, secondary } = Stored::of(tables, left, place.bits.len());
        let codes = &walked.primary[batch..];
        if let (ModePayload::Classic, None) = (&tables.meta.mode, &tables.delta)
            && let (Primary::Latents(table), Primary::Latents(decoder)) =
                (&tables.primary, &mut decoders.primary)
            && let (_, moments, true) = decoder.slots_and_moments()
            && (!moments.is_empty() || place.map.shift::<L>().is_some())
        {
            // Numbers by the last pass over latents, whichever that is.
            let Place { map, bits } = place;
            if let (true, Some(shift)) = (moments.is_empty(), map.shift()) {
                unpack(codes, table, sources, page, shift, bits);
                return Some(());
            }
            let latents = &mut self.primary[..n];
            unpack(codes, table, sources, page, L::ZERO, &mut latents[..with_deltas]);
            latents[with_deltas..].fill(L::ZERO);
            let finish = Finish { moments, multiples: None, map };
            finish.run_to(Present::in_use(), latents, bits);
            return Some(());
        }
        let lookbacks = match &tables.delta {
            Some(table) => {
                let lookbacks = self.lookbacks.get_mut(..with_deltas)?;
                unpack(&walked.delta[batch..], table, sources, page, 0, lookbacks);
                &*lookbacks
            }
            None => &[],
        };
        let (latents, indices) = (&mut self.primary[..n], &mut self.indices[..n]);
        match (&tables.primary, &mut decoders.primary) {
            (Primary::Latents(table), Primary::Latents(decoder)) => {
                unpack(codes, table, sources, page, L::ZERO, &mut latents[..with_deltas]);
                decoder.undo(lookbacks, 0, with_deltas, latents).ok()?;
            }
            (Primary::Indices(table), Primary::Indices(decoder)) => {
                unpack(codes, table, sources, page, 0, &mut indices[..with_deltas]);
                decoder.undo(lookbacks, 0, with_deltas, indices).ok()?;
            }
            _ => return None,
        }
        let second = match (&tables.secondary, &mut decoders.secondary, tables.constant()) {
            (Some(table), Some(decoder), None) => {
                let latents = &mut self.secondary[..n];
                let codes = &walked.secondary[batch..];
                unpack(codes, table, sources, page, L::ZERO, &mut latents[..secondary]);
                decoder.undo(lookbacks, 0, secondary, latents).ok()?;
                Secondary::Latents(latents)
            }
            (_, _, constant) => Secondary::Constant(constant.unwrap_or(L::ZERO)),
        };
        let variables = Variables { primary: latents, secondary: second, place: Some(place) };
        let join = Join { tables, indices, variables, values: true };
        Present::in_use().run(join).ok()
    }
}
