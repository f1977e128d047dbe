//! Decoding 32 interleaved rANS states with static tables.
//!
//! Symbol `i` belongs to lane `i mod 32`. A lane's state is a `u32` x; its symbol is that of slot
//! `x mod 2^t` in the table of its class, and the next state is `f · ⌊x / 2^t⌋ + slot − C`, f being
//! the symbol's frequency and C the sum of frequencies of smaller symbols. After each row of 32
//! symbols, and after the last one, lanes 0, 1, … 31 whose state is below 2^16 take one word of
//! 16 bits each, little-endian: `x · 2^16 + word`. The rules are those of `specs/wcodec.md`.
//!
//! What a slot has to say is f, the slot's distance from C, and the symbol. Where no symbol has a
//! frequency above 4095, that is one `u32` ([`entry`]).

pub mod encode;
mod levels;

use crate::dispatch::{Present, Simd};
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_rans, avx2_rans_wide, avx512_rans};
pub use levels::{Levels, WINDOW};

/// Symbols decoded side by side.
pub const LANES: usize = 32;
/// Bytes that a row of symbols reads at most: a word a lane.
pub(crate) const ROW_BYTES: usize = 2 * LANES;
/// States below this take a word.
pub const LOWER: u32 = 1 << 16;
/// log2 of the largest table.
pub const MAX_BITS: u32 = 14;
/// The largest frequency in [`Tables`].
pub const MAX_FREQUENCY: u32 = (1 << 12) - 1;

/// The bits of a slot that hold how many of its symbol come before.
pub(crate) const NTH: u32 = 0xfff;

/// A slot of `symbol`, which has so many of them; `nth` counts those before it.
///
/// # Panics
/// Where `frequency` is not 1 to [`MAX_FREQUENCY`], or `nth` is not below it.
#[inline]
pub const fn entry(symbol: u8, frequency: u32, nth: u32) -> u32 {
    assert!(frequency <= MAX_FREQUENCY && nth < frequency);
    frequency << 20 | (symbol as u32) << 12 | nth
}

/// Tables of one size, one for each class, one after the other; slots are made by [`entry`].
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    slots: &'a [u32],
    bits: u32,
}

impl<'a> Tables<'a> {
    /// `None` where `bits` is not 1 to [`MAX_BITS`], or `slots` are not 1 to 256 tables.
    pub fn new(slots: &'a [u32], bits: u32) -> Option<Self> {
        let fits = (1..=MAX_BITS).contains(&bits) && whole_tables(slots.len(), bits);
        fits.then_some(Self { slots, bits })
    }

    /// All slots.
    #[inline(always)]
    pub(crate) fn slots(self) -> &'a [u32] {
        self.slots
    }

    /// log2 of the size of a table.
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.bits
    }
}

/// Tables with any frequencies, one for each class: a slot names a symbol of a class, which has one
/// step. That takes half the memory of [`Tables`], and one look-up more.
#[derive(Clone, Debug)]
pub struct WideTables {
    /// Class · 256 + symbol.
    slots: Vec<u16>,
    /// By class · 256 + symbol: (2^bits − frequency) · 2^16 + sum of the frequencies before.
    steps: Vec<u32>,
    bits: u32,
}

impl WideTables {
    /// Frequencies of at most 256 symbols a table, those of each summing to `2^bits`; `None` where
    /// they do not, `bits` is not 1 to [`MAX_BITS`], or there are not 1 to 256 tables.
    pub fn new<'a>(bits: u32, tables: impl Iterator<Item = &'a [u16]>) -> Option<Self> {
        (1..=MAX_BITS).contains(&bits).then_some(())?;
        let (mut slots, mut steps) = (Vec::new(), Vec::new());
        for (class, table) in tables.enumerate() {
            let class = u8::try_from(class).ok()?;
            (table.len() <= 256).then_some(())?;
            let mut before = 0;
            for (symbol, &f) in (0u8..=255).zip(table) {
                let f = u32::from(f);
                // No more than the table: what is left out is found below.
                let f = f.min((1 << bits) - before);
                let slot = u16::from_le_bytes([symbol, class]);
                slots.resize(slots.len() + f as usize, slot);
                steps.push(((1 << bits) - f) << 16 | before);
                before += f;
            }
            let sum: u64 = table.iter().map(|&f| u64::from(f)).sum();
            (sum == 1 << bits).then_some(())?;
            steps.resize(steps.len().next_multiple_of(256), 0);
        }
        (!slots.is_empty()).then_some(Self { slots, steps, bits })
    }

    /// All slots: each below the number of steps.
    #[inline(always)]
    pub(crate) fn slots(&self) -> &[u16] {
        &self.slots
    }

    /// All steps.
    #[inline(always)]
    pub(crate) fn steps(&self) -> &[u32] {
        &self.steps
    }

    #[inline(always)]
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// How many tables.
    fn count(&self) -> usize {
        self.slots.len() >> self.bits
    }
}

/// Whether `len` slots are 1 to 256 whole tables.
fn whole_tables(len: usize, bits: u32) -> bool {
    len > 0 && len.is_multiple_of(1 << bits) && len >> bits <= 256
}

/// Which table each symbol is coded with.
#[derive(Clone, Copy, Debug)]
pub enum Classes<'a> {
    /// All with this one.
    One(u8),
    /// Each its own; as many as symbols.
    PerSymbol(&'a [u8]),
    /// Each by its row and column.
    Levels(Levels<'a>),
}

impl Classes<'_> {
    /// Whether there are `symbols` classes, all below `tables`.
    fn fit(self, tables: usize, symbols: usize) -> bool {
        match self {
            Classes::Levels(levels) => levels.fit(tables, symbols),
            Classes::One(class) => usize::from(class) < tables,
            Classes::PerSymbol(classes) => {
                let most = classes.iter().fold(0, |most, &class| most.max(class));
                classes.len() == symbols && usize::from(most) < tables
            }
        }
    }
}

/// A stream of words and what is decoded from it.
#[derive(Debug)]
pub struct Group<'a> {
    /// Words of two bytes, little-endian.
    pub words: &'a [u8],
    /// Before decoding the states to begin with, after it those at the end.
    pub states: [u32; LANES],
    /// The tables of the symbols.
    pub classes: Classes<'a>,
    /// Takes as many symbols as it is long.
    pub out: &'a mut [u8],
}

/// A [`Group`] on its way: what is left of its bytes and symbols.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) words: &'a [u8],
    pub(crate) states: &'a mut [u32; LANES],
    pub(crate) classes: Classes<'a>,
    pub(crate) out: &'a mut [u8],
    /// Bytes of words read.
    pub(crate) read: usize,
    /// Symbols written.
    pub(crate) written: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(group: &'a mut Group<'_>) -> Self {
        let Group { words, states, classes, out } = group;
        Self { words, states, classes: *classes, out, read: 0, written: 0 }
    }

    /// Rows of 32 symbols that can be decoded with neither symbols nor words running out,
    /// however many words they take.
    pub(crate) fn safe_rows(&self) -> usize {
        let symbols = (self.out.len() - self.written) / LANES;
        symbols.min(self.words.len().saturating_sub(self.read) / ROW_BYTES)
    }
}

/// The decoding kernels of one instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Simd);

impl Kernel {
    /// Those of `simd` where this processor has it, the scalar ones elsewhere.
    pub fn new(simd: Simd) -> Self {
        Self(if simd.is_available() { simd } else { Simd::Scalar })
    }

    /// Decodes `group.out.len()` symbols of each group, and returns the bytes of the words read of
    /// each. `None` where words were lacking: then zeros were read for them, and all of `out` is
    /// written none the less. Some groups at a time take less time than one by one, as each waits
    /// for its own table only: up to [`Kernel::groups`].
    ///
    /// # Panics
    /// Where a class has no table, or there are not as many classes as symbols.
    pub fn decode<const G: usize>(
        self,
        tables: Tables<'_>,
        groups: [&mut Group<'_>; G],
    ) -> [Option<usize>; G] {
        groups.iter().for_each(|group| check(tables.slots.len() >> tables.bits, group));
        let mut cursors = groups.map(Cursor::new);
        self.rows(tables, &mut cursors);
        cursors.map(|cursor| scalar::rans::finish(tables, cursor))
    }

    /// As [`Kernel::decode`], with tables of any frequencies.
    ///
    /// # Panics
    /// As [`Kernel::decode`] does.
    pub fn decode_wide<const G: usize>(
        self,
        tables: &WideTables,
        groups: [&mut Group<'_>; G],
    ) -> [Option<usize>; G] {
        groups.iter().for_each(|group| check(tables.count(), group));
        let mut cursors = groups.map(Cursor::new);
        self.wide_rows(tables, &mut cursors);
        cursors.map(|cursor| scalar::rans::finish_wide(tables, cursor))
    }

    /// How many groups are best decoded at a time.
    pub fn groups(self) -> usize {
        match self.0 {
            Simd::Avx512 => 4,
            Simd::Avx2 => 2,
            // In scalar code a row is work enough to fill the time.
            _ => 1,
        }
    }

    /// log2 of the largest tables that are faster as [`Tables`] than as [`WideTables`], which take
    /// half the memory and a look-up more.
    pub fn most_bits(self) -> u32 {
        if self.0 == Simd::Avx512 { MAX_BITS } else { 12 }
    }

    /// Whole rows as long as words do not run out: first of many groups together, then of what is
    /// left of each.
    fn rows(self, tables: Tables<'_>, cursors: &mut [Cursor<'_>]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => {
                // SAFETY: a `Kernel` is made for what the processor has alone; classes are checked.
                let together = |cursors: &mut [Cursor<'_>]| unsafe {
                    let fours = cursors.as_chunks_mut().0;
                    fours.iter_mut().for_each(|four| avx512_rans::rows_4(tables, four));
                    let twos = cursors.as_chunks_mut().0;
                    twos.iter_mut().for_each(|two| avx512_rans::rows_2(tables, two));
                    let ones = cursors.as_chunks_mut().0;
                    ones.iter_mut().for_each(|one| avx512_rans::rows_1(tables, one));
                };
                together(cursors);
                // Where there are too many classes for that.
                self.in_bands(levels::TOGETHER, cursors, together);
            }
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => self.in_bands(2, cursors, |cursors| {
                let twos = cursors.as_chunks_mut().0;
                // SAFETY: as for AVX-512.
                twos.iter_mut().for_each(|two| unsafe { avx2_rans::rows_2(tables, two) });
                let ones = cursors.as_chunks_mut().0;
                // SAFETY: as above.
                ones.iter_mut().for_each(|one| unsafe { avx2_rans::rows_1(tables, one) });
            }),
            _ => self.in_bands(1, cursors, |cursors| {
                cursors.iter_mut().for_each(|cursor| scalar::rans::rows(tables, cursor));
            }),
        }
    }

    /// As [`Kernel::rows`].
    fn wide_rows(self, tables: &WideTables, cursors: &mut [Cursor<'_>]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 | Simd::Avx512 => self.in_bands(2, cursors, |cursors| {
                let twos = cursors.as_chunks_mut().0;
                // SAFETY: a `Kernel` is made for what the processor has alone, AVX2 is there where
                // AVX-512 is, and classes are checked.
                twos.iter_mut().for_each(|two| unsafe { avx2_rans_wide::rows_2(tables, two) });
                let ones = cursors.as_chunks_mut().0;
                // SAFETY: as above.
                ones.iter_mut().for_each(|one| unsafe { avx2_rans_wide::rows_1(tables, one) });
            }),
            _ => self.in_bands(1, cursors, |cursors| {
                cursors.iter_mut().for_each(|cursor| scalar::rans::wide_rows(tables, cursor));
            }),
        }
    }

    /// `decode` for so many cursors at a time, whose classes are each with its symbol.
    fn in_bands(
        self,
        together: usize,
        cursors: &mut [Cursor<'_>],
        mut decode: impl FnMut(&mut [Cursor<'_>]),
    ) {
        let present = Present::new(self.0);
        for some in cursors.chunks_mut(together) {
            levels::in_bands(present, some, &mut decode);
        }
    }
}

/// # Panics
/// Where a class has no table, or there are not as many classes as symbols.
fn check(tables: usize, group: &Group<'_>) {
    assert!(group.classes.fit(tables, group.out.len()), "classes without a table or a symbol");
}

#[cfg(test)]
pub(crate) mod tests;
