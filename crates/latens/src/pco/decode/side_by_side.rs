//! Pages of one chunk side by side: batch after batch, the codes of all of them are walked at once.
//!
//! Whatever is wrong is told by the way for single pages: here it is only found out, and the caller's memory is put
//! back as it was.

use super::batch::LOOKAHEAD;
use super::chunk::ChunkTables;
use super::join::Join;
use super::page::Decoders;
use super::table::Table;
use super::variable::VariableDecoder;
use crate::bits::reader::BitReader;
use crate::number::{Latent, Number};
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::mode::variables::{Place, Secondary, Variables};
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self, PAGES, PageCodes, PagePlace, Stream, WINDOW};

/// Fewer pages than so many take longer side by side than one by one.
const FEWEST: usize = 12;
/// Most numbers of a page, and most bytes: longer ones are decoded as fast by themselves.
const MOST_N: usize = 1 << 13;
const MOST_BYTES: usize = 1 << 14;

/// A page's bytes, behind which others may follow, and where its numbers go.
pub(crate) type Page<'s, 'd, T> = (&'s [u8], &'d mut [T]);

/// Room for pages that are decoded at once.
pub(crate) struct SideBySide<L> {
    /// Those of all pages, and room behind them.
    bytes: Vec<u8>,
    /// What pages are written over.
    before: Vec<L>,
    delta: Codes,
    primary: Codes,
    secondary: Codes,
    lookbacks: [u32; BATCH_N],
    indices: [u32; BATCH_N],
    room: Box<tans::Room<L>>,
}

/// What has been walked of a variable.
#[derive(Default)]
struct Codes {
    codes: PageCodes,
    places: [PagePlace; PAGES],
}

/// Where pages stand.
struct Bits {
    /// The next bit of each.
    at: [usize; PAGES],
    ends: [usize; PAGES],
}

impl<L: Latent> SideBySide<L> {
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self {
            bytes: Vec::new(),
            before: Vec::new(),
            delta: Codes::default(),
            primary: Codes::default(),
            secondary: Codes::default(),
            lookbacks: [0; BATCH_N],
            indices: [0; BATCH_N],
            room: tans::Room::new(),
        })
    }

    /// How many of the first pages come at once, if any do.
    pub(crate) fn count<T: Number<L = L>>(
        tables: &ChunkTables<L>,
        pages: &[Page<'_, '_, T>],
    ) -> Option<usize> {
        let n = pages.first()?.1.len();
        let fit = |(src, dst): &&Page<'_, '_, T>| dst.len() == n && src.len() <= MOST_BYTES;
        let count = pages.iter().take(PAGES).take_while(fit).count();
        let can_be = (FEWEST..=PAGES).contains(&count)
            && (BATCH_N / 2..=MOST_N).contains(&n)
            && tables.delta.as_ref().is_none_or(|table| is_fast(table))
            && tables.secondary.as_ref().is_none_or(|table| is_fast(table))
            && match &tables.primary {
                Primary::Latents(table) => is_fast(table),
                Primary::Indices(table) => is_fast(table),
            };
        can_be.then_some(count)
    }

    /// Decodes the pages, as many as [`SideBySide::count`] says at most, and adds how many bytes each takes to `sizes`.
    /// `None` where anything is wrong: then nothing has changed.
    pub(crate) fn decode<T: Number<L = L>>(
        &mut self,
        tables: &ChunkTables<L>,
        pages: &mut [Page<'_, '_, T>],
        sizes: &mut Vec<usize>,
    ) -> Option<()> {
        let known = sizes.len();
        self.before.clear();
        for (_, dst) in &mut *pages {
            self.before.extend_from_slice(T::bits_mut(dst));
        }
        let done = self.read(tables, pages, sizes);
        if done.is_none() {
            sizes.truncate(known);
            let mut before = &*self.before;
            for (_, dst) in pages {
                let (own, others) = before.split_at(dst.len());
                T::bits_mut(dst).copy_from_slice(own);
                before = others;
            }
        }
        done
    }

    fn read<T: Number<L = L>>(
        &mut self,
        tables: &ChunkTables<L>,
        pages: &mut [Page<'_, '_, T>],
        sizes: &mut Vec<usize>,
    ) -> Option<()> {
        let n = pages.first()?.1.len();
        let mut bits = Bits { at: [0; PAGES], ends: [0; PAGES] };
        let mut starts = [0; PAGES];
        let mut decoders = Vec::with_capacity(pages.len());
        self.bytes.clear();
        for (i, (src, _)) in pages.iter().enumerate() {
            let mut r = BitReader::new(src, 0);
            let mut page = Decoders::read(&mut r, tables).ok()?;
            starts[i] = 8 * self.bytes.len();
            bits.at[i] = starts[i] + r.bit();
            bits.ends[i] = starts[i] + 8 * src.len();
            self.bytes.extend_from_slice(src);
            if let Some(delta) = &mut page.delta {
                self.delta.places[i].states = *delta.slots();
            }
            self.primary.places[i].states = match &mut page.primary {
                Primary::Latents(primary) => *primary.slots(),
                Primary::Indices(primary) => *primary.slots(),
            };
            if let Some(secondary) = &mut page.secondary {
                self.secondary.places[i].states = *secondary.slots();
            }
            decoders.push(page);
        }
        // The others go with the first one.
        for i in pages.len()..PAGES {
            (bits.at[i], bits.ends[i]) = (bits.at[0], bits.ends[0]);
            for codes in [&mut self.delta, &mut self.primary, &mut self.secondary] {
                codes.places[i].states = codes.places[0].states;
            }
        }
        self.bytes.resize(self.bytes.len() + LOOKAHEAD, 0);
        for start in (0..n).step_by(BATCH_N) {
            self.batch(tables, pages, &mut decoders, start, &mut bits)?;
        }
        for (i, (src, _)) in pages.iter().enumerate() {
            let mut r = BitReader::new(src, bits.at[i] - starts[i]);
            r.align("a page").ok()?;
            sizes.push(r.bit() / 8);
        }
        Some(())
    }

    /// The batch of each page that begins with number `start`.
    fn batch<T: Number<L = L>>(
        &mut self,
        tables: &ChunkTables<L>,
        pages: &mut [Page<'_, '_, T>],
        decoders: &mut [Decoders<L>],
        start: usize,
        bits: &mut Bits,
    ) -> Option<()> {
        let left = pages.first()?.1.len() - start;
        let n = left.min(BATCH_N);
        let with_deltas = n.min(left.saturating_sub(tables.meta.delta.state_n()));
        let Self { bytes, delta, primary, secondary, lookbacks, indices, room, .. } = self;
        if let Some(table) = &tables.delta {
            delta.walk(table, bytes, with_deltas, bits)?;
        }
        match &tables.primary {
            Primary::Latents(table) => primary.walk(table, bytes, with_deltas, bits)?,
            Primary::Indices(table) => primary.walk(table, bytes, with_deltas, bits)?,
        }
        let constant = tables.constant();
        let second = tables.secondary.as_ref().filter(|_| constant.is_none());
        let second_n = if tables.meta.delta.covers_secondary() { with_deltas } else { n };
        if let Some(table) = second {
            secondary.walk(table, bytes, second_n, bits)?;
        }
        let lookbacks_n = if tables.delta.is_some() { with_deltas } else { 0 };
        let lookbacks = &mut lookbacks[..lookbacks_n];
        for (i, ((_, dst), page)) in pages.iter_mut().zip(decoders).enumerate() {
            if let Some(table) = &tables.delta {
                delta.unpack(table, bytes, i, lookbacks);
            }
            let latents = &mut room.primary[..n];
            let indices = &mut indices[..n];
            match (&tables.primary, &mut page.primary) {
                (Primary::Latents(table), Primary::Latents(decoder)) => {
                    primary.unpack(table, bytes, i, &mut latents[..with_deltas]);
                    undo(decoder, lookbacks, with_deltas, latents)?;
                }
                (Primary::Indices(table), Primary::Indices(decoder)) => {
                    primary.unpack(table, bytes, i, &mut indices[..with_deltas]);
                    undo(decoder, lookbacks, with_deltas, indices)?;
                }
                _ => return None,
            }
            let others = &mut room.secondary[..n];
            let others = match (second, &mut page.secondary) {
                (Some(table), Some(decoder)) => {
                    secondary.unpack(table, bytes, i, &mut others[..second_n]);
                    undo(decoder, lookbacks, second_n, others)?;
                    Secondary::Latents(others)
                }
                _ => Secondary::Constant(constant.unwrap_or(L::ZERO)),
            };
            let bits = T::bits_mut(&mut dst[start..start + n]);
            let place = Some(Place { map: T::MAP, bits });
            let variables = Variables { primary: latents, secondary: others, place };
            let join = Join { mode: &tables.meta.mode, indices, variables, values: true };
            Present::in_use().run(join).ok()?;
        }
        Some(())
    }
}

/// Whether a variable's pages come at once.
fn is_fast<L: Latent>(table: &Table<L>) -> bool {
    table.kernel().is_some_and(|kernel| kernel.single().is_some()) || table.pages().is_some()
}

fn undo<L: Latent>(
    decoder: &mut VariableDecoder<L>,
    lookbacks: &[u32],
    stored: usize,
    latents: &mut [L],
) -> Option<()> {
    decoder.undo(lookbacks, 0, stored, latents).ok()
}

impl Codes {
    /// Reads `n` codes of each page, and moves past their offsets. `None` where pages end before.
    fn walk<L: Latent>(
        &mut self,
        table: &Table<L>,
        bytes: &[u8],
        n: usize,
        bits: &mut Bits,
    ) -> Option<()> {
        for (place, &at) in self.places.iter_mut().zip(&bits.at) {
            place.bit = at;
        }
        if let Some((_, width)) = table.kernel()?.single() {
            for place in &mut self.places {
                place.offset_bits = n * usize::from(width);
            }
        } else {
            table.pages()?.walk(Present::in_use(), bytes, &mut self.places, n, &mut self.codes);
        }
        let mut are_whole = true;
        for ((at, end), place) in bits.at.iter_mut().zip(&bits.ends).zip(&self.places) {
            *at = place.bit + place.offset_bits;
            are_whole &= *at <= *end;
        }
        are_whole.then_some(())
    }

    /// The latents of as many codes of a page as `dst` has room for.
    fn unpack<L: Latent>(&self, table: &Table<L>, bytes: &[u8], page: usize, dst: &mut [L]) {
        let PagePlace { bit, .. } = self.places[page];
        let present = Present::in_use();
        let stream = Stream { bytes: &bytes[bit / 8..], bit: bit % 8 };
        if let Some(pages) = table.pages() {
            pages.unpack(present, &self.codes, page, stream, dst);
        } else if let Some((lower, width)) = table.kernel().and_then(tans::Table::single) {
            tans::unpack_single(present, lower, width, stream, dst);
        }
    }
}

const _: () = assert!(LOOKAHEAD >= 2 * WINDOW);
