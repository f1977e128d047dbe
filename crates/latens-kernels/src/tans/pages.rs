//! Many pages side by side: their codes are walked at once, each page's offsets are added by themselves.
//!
//! A walk waits for itself: a state is known once its predecessor's bits are, and where these lie once the counts of
//! those before are. Pages do not wait for each other, so that four states of eight pages fill a vector, and
//! tables of a few hundred slots are looked up by permutations.

mod kind;
mod slots;

use super::slot::Lowers;
use super::stream::{BATCH, LANES, SLACK, WIDE_SLACK};
use super::{Latent, Stream, Table};
use crate::dispatch::{Present, Simd};
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx512_pages;
pub(crate) use kind::Kind;
pub(crate) use slots::Slots;
#[cfg(target_arch = "x86_64")]
pub(crate) use slots::{COUNT_AT, DEALT_AT, Form, Plane};

/// Pages that are walked at once.
pub const PAGES: usize = 32;
/// log2 of the largest table that is taken.
const MOST_LOG: u32 = 10;
pub(crate) const MOST_SLOTS: usize = 1 << MOST_LOG;
/// Symbols at most: a byte says which one.
pub(crate) const MOST_SYMBOLS: usize = 256;
/// Codes of a page that lie one behind the other.
pub(crate) const TOGETHER: usize = 16;
/// Most bits of an offset.
const MOST_OFFSET_BITS: u8 = 63;
/// Most bits of an offset that comes in a word, or in a lane of 32 bits.
const WORD_BITS: u8 = 15;
pub(crate) const SHORT_BITS: u8 = 31;

/// Halves of lower bounds by symbol.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Bounds(pub(crate) [u32; MOST_SYMBOLS]);

/// A table whose slots are few enough.
#[derive(Clone, Debug)]
pub struct PageTable<L> {
    pub(crate) slots: Slots,
    /// Lower bounds less `least`: low and high halves.
    pub(crate) lowers: [Bounds; 2],
    pub(crate) least: L,
    max_bits: u8,
    pub(crate) max_offset_bits: u8,
    pub(crate) kind: Kind,
}

/// The codes of a batch of each page: which symbols, and how many bits their offsets have. Sixteen codes of a page lie
/// one behind the other, and behind them those of the next one.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct PageCodes {
    pub(crate) symbols: [[[u8; TOGETHER]; PAGES]; BATCH / TOGETHER],
    pub(crate) widths: [[[u8; TOGETHER]; PAGES]; BATCH / TOGETHER],
    n: usize,
    pub(crate) max_offset_bits: u8,
    /// Of each page, in all.
    pub(crate) offset_bits: [u32; PAGES],
}

impl PageCodes {
    /// Bits that the offsets of each page take.
    #[inline]
    pub fn offset_bits(&self) -> &[u32; PAGES] {
        &self.offset_bits
    }
}

impl Default for PageCodes {
    fn default() -> Self {
        let bytes = [[[0; TOGETHER]; PAGES]; BATCH / TOGETHER];
        Self { symbols: bytes, widths: bytes, n: 0, max_offset_bits: 0, offset_bits: [0; PAGES] }
    }
}

/// Where the walk over a page's codes stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagePlace {
    /// The next bit.
    pub bit: usize,
    /// Slots of the table.
    pub states: [u32; LANES],
}

impl<L: Latent> PageTable<L> {
    /// That of a table, where it pays: none where it has too many slots or too long offsets, or there is nothing to walk
    /// over.
    pub fn of(table: &Table<L>, present: Present) -> Option<Box<Self>> {
        (present.simd() == Simd::Avx512).then(|| Self::any(table)).flatten()
    }

    /// The same for any instruction set.
    pub(super) fn any(table: &Table<L>) -> Option<Box<Self>> {
        let slots = table.nodes.len();
        if table.single.is_some() || slots > MOST_SLOTS || table.max_offset_bits > MOST_OFFSET_BITS
        {
            return None;
        }
        let (slots, symbols) = Slots::of(&table.nodes)?;
        let bounds = || Bounds([0; MOST_SYMBOLS]);
        let least = match table.lowers {
            Lowers::Near(least) => least,
            Lowers::Far(_) => L::default(),
        };
        let mut of = Box::new(Self {
            slots,
            lowers: [bounds(), bounds()],
            least,
            max_bits: table.max_bits,
            max_offset_bits: table.max_offset_bits,
            kind: Kind::Bounds,
        });
        let mut greatest = 0;
        for (symbol, node) in symbols.iter().enumerate() {
            let lower = match &table.lowers {
                Lowers::Near(_) => node.payload().into(),
                Lowers::Far(lowers) => lowers[node.payload() as usize].widen(),
            };
            #[expect(clippy::cast_possible_truncation, reason = "halves")]
            {
                of.lowers[0].0[symbol] = lower as u32;
                of.lowers[1].0[symbol] = (lower >> 32) as u32;
            }
            greatest = greatest.max(lower.saturating_add((1 << node.offset_bits()) - 1));
        }
        let fit = |width: u32, bits| {
            (L::WIDTH <= width || greatest < 1 << width) && table.max_offset_bits <= bits
        };
        of.kind = match table.lowers {
            Lowers::Far(_) => Kind::Far,
            // Where nothing is added, wide ones come sooner out of lanes of 32 bits.
            Lowers::Near(_) if table.max_offset_bits == 0 && L::WIDTH >= 32 => Kind::Bounds,
            Lowers::Near(_) if fit(16, WORD_BITS) => Kind::Words,
            // An offset as wide as they are.
            Lowers::Near(_) if L::WIDTH < 32 => return None,
            Lowers::Near(_) if fit(32, SHORT_BITS) => Kind::Short,
            Lowers::Near(_) => Kind::Near,
        };
        if of.kind == Kind::Words {
            let dwords = of.lowers[0].0;
            of.lowers[0].0 = [0; MOST_SYMBOLS];
            for (to, from) in of.lowers[0].0.iter_mut().zip(dwords.as_chunks::<2>().0) {
                *to = from[0] | from[1] << 16;
            }
        }
        Some(of)
    }

    /// Of a symbol.
    fn lower(&self, symbol: usize) -> u64 {
        let [low, high] = &self.lowers;
        match self.kind {
            Kind::Words => (low.0[symbol / 2] >> (16 * (symbol % 2)) & 0xffff).into(),
            _ => u64::from(low.0[symbol]) | u64::from(high.0[symbol]) << 32,
        }
    }

    /// Bytes that a page must have from that of its next bit on, for so many codes.
    pub fn codes_window(&self, n: usize) -> usize {
        (n * usize::from(self.max_bits)).div_ceil(8) + SLACK
    }

    /// Reads `n` codes, a batch at most, of each page, whose bits are counted from the beginning of its `bytes`. Whether
    /// all have bytes enough, [`PageTable::codes_window`]: if not, nothing has changed.
    ///
    /// # Panics
    /// Where states are none of the table's.
    #[must_use]
    pub fn walk(
        &self,
        present: Present,
        bytes: &[&[u8]; PAGES],
        pages: &mut [PagePlace; PAGES],
        n: usize,
        codes: &mut PageCodes,
    ) -> bool {
        assert!(n <= BATCH);
        let window = self.codes_window(n);
        let (mut are_enough, mut slots) = (true, 0);
        for (page, bytes) in pages.iter().zip(bytes) {
            are_enough &= page.bit / 8 + window <= bytes.len();
            let [a, b, c, d] = page.states;
            slots |= a | b | c | d;
        }
        assert!(slots >> self.slots.log == 0, "no such slots");
        if !are_enough {
            return false;
        }
        (codes.n, codes.max_offset_bits) = (n, self.max_offset_bits);
        match present.simd() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the set is present; bytes are enough, as just checked, and states slots of the table, which is
            // closed.
            Simd::Avx512 => unsafe { avx512_pages::walk(self, bytes, pages, n, codes) },
            _ => self.walk_one_by_one(bytes, pages, n, codes),
        }
        true
    }

    fn walk_one_by_one(
        &self,
        bytes: &[&[u8]; PAGES],
        pages: &mut [PagePlace; PAGES],
        n: usize,
        codes: &mut PageCodes,
    ) {
        for (p, (page, bytes)) in pages.iter_mut().zip(bytes).enumerate() {
            codes.offset_bits[p] = 0;
            for i in 0..n.next_multiple_of(TOGETHER) {
                let (sixteen, at, lane) = (i / TOGETHER, i % TOGETHER, i % LANES);
                let slot = page.states[lane] as usize;
                let (symbol, x, count) = self.slots.look_up(slot);
                let width = if i < n { self.slots.widths.0[usize::from(symbol)] } else { 0 };
                codes.symbols[sixteen][p][at] = symbol;
                codes.widths[sixteen][p][at] = width;
                if i >= n {
                    continue;
                }
                codes.offset_bits[p] += u32::from(width);
                let word =
                    bytes[page.bit / 8..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
                let bits = word >> (page.bit % 8) & ((1 << count) - 1);
                page.states[lane] = self.slots.next(x, count, bits);
                page.bit += count as usize;
            }
        }
    }

    /// The latents of as many of a page's codes as `dst` has room for, whose offsets lie in `stream`, with `shift` added to each.
    ///
    /// # Panics
    /// Where there are fewer codes, or too few bytes: those of all offsets of the page, and [`WIDE_SLACK`] more.
    pub fn unpack(
        &self,
        present: Present,
        codes: &PageCodes,
        page: usize,
        stream: Stream<'_>,
        shift: L,
        dst: &mut [L],
    ) {
        assert!(dst.len() <= codes.n && page < PAGES);
        let least = self.least.plus_low(shift.widen());
        stream.check(codes.offset_bits[page] as usize / 8 + WIDE_SLACK);
        match present.simd() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the set is present; bytes are enough, as just checked.
            Simd::Avx512 => unsafe { avx512_pages::unpack(self, codes, page, stream, least, dst) },
            _ => self.unpack_one_by_one(codes, page, stream, least, dst),
        }
    }

    fn unpack_one_by_one(
        &self,
        codes: &PageCodes,
        page: usize,
        stream: Stream<'_>,
        least: L,
        dst: &mut [L],
    ) {
        let mut bit = stream.bit;
        for (i, x) in dst.iter_mut().enumerate() {
            let [symbol, width] =
                [&codes.symbols, &codes.widths].map(|of| of[i / TOGETHER][page][i % TOGETHER]);
            let lower = self.lower(symbol.into());
            let bytes: [u8; 16] = *stream.bytes[bit / 8..].first_chunk().unwrap_or(&[0; 16]);
            let offset = u128::from_le_bytes(bytes) >> (bit % 8) & ((1 << width) - 1);
            #[expect(clippy::cast_possible_truncation, reason = "at most 63 bits")]
            let offset = offset as u64;
            *x = least.plus_low(lower.wrapping_add(offset));
            bit += usize::from(width);
        }
    }
}
