//! Decoding 32 interleaved rANS states with static tables.
//!
//! Symbol `i` belongs to lane `i mod 32`. A lane's state is a `u32` x; its symbol is that of slot
//! `x mod 2^t` in the table of its class, and the next state is `f · ⌊x / 2^t⌋ + slot − C`, f being
//! the symbol's frequency and C the sum of frequencies of smaller symbols. After each row of 32
//! symbols, and after the last one, lanes 0, 1, … 31 whose state is below 2^16 take one word of
//! 16 bits each, little-endian: `x · 2^16 + word`. The rules are those of `specs/wcodec.md`.
//!
//! The state is computed as `x − (g · ⌊x / 2^t⌋ + C)` with `g = 2^t − f`: so g and C have 12 bits
//! each where t is at most 12, and a slot is one `u32` ([`entry`]).

pub mod encode;

use crate::dispatch::Simd;
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_rans, avx2_rans_wide, avx512_rans};

/// Symbols decoded side by side.
pub const LANES: usize = 32;
/// Bytes that a row of symbols reads at most: a word a lane.
pub(crate) const ROW_BYTES: usize = 2 * LANES;
/// States below this take a word.
pub const LOWER: u32 = 1 << 16;
/// log2 of the largest table for [`Tables`].
pub const MAX_BITS: u32 = 12;
/// log2 of the largest table for [`WideTables`].
pub const MAX_WIDE_BITS: u32 = 14;

/// A slot of a table of `2^bits` slots: those from `cumulative` on, as many as `frequency`, are
/// `symbol`'s.
///
/// # Panics
/// Where `bits` is above [`MAX_BITS`] or the slots are not within the table.
#[inline]
pub const fn entry(symbol: u8, frequency: u32, cumulative: u32, bits: u32) -> u32 {
    assert!(bits <= MAX_BITS && frequency >= 1);
    let size = 1u32 << bits;
    assert!(frequency <= size && cumulative <= size - frequency);
    (size - frequency) << 20 | cumulative << 8 | symbol as u32
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

/// Tables of any size up to 14 bits, one for each class: a slot names a symbol of a class, which
/// has one step. That takes half the memory of [`Tables`], and one look-up more.
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
    /// they do not, `bits` is not 1 to [`MAX_WIDE_BITS`], or there are not 1 to 256 tables.
    pub fn new<'a>(bits: u32, tables: impl Iterator<Item = &'a [u16]>) -> Option<Self> {
        (1..=MAX_WIDE_BITS).contains(&bits).then_some(())?;
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
}

impl Classes<'_> {
    /// Whether there are `symbols` classes, all below `tables`.
    fn fit(self, tables: usize, symbols: usize) -> bool {
        match self {
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

    /// Decodes `group.out.len()` symbols and returns the bytes of the words read. `None` where
    /// words were lacking: then zeros were read for them, and all of `out` is written none the
    /// less.
    ///
    /// # Panics
    /// Where a class has no table, or there are not as many classes as symbols.
    pub fn decode(self, tables: Tables<'_>, group: &mut Group<'_>) -> Option<usize> {
        check(tables.slots.len() >> tables.bits, group);
        let mut cursors = [Cursor::new(group)];
        self.rows(tables, &mut cursors);
        let [cursor] = cursors;
        scalar::rans::finish(tables, cursor)
    }

    /// As [`Kernel::decode`] for two groups at a time, which takes less than twice the time of
    /// one: each waits for its own table only.
    ///
    /// # Panics
    /// As [`Kernel::decode`] does.
    pub fn decode_two(
        self,
        tables: Tables<'_>,
        first: &mut Group<'_>,
        second: &mut Group<'_>,
    ) -> [Option<usize>; 2] {
        check(tables.slots.len() >> tables.bits, first);
        check(tables.slots.len() >> tables.bits, second);
        let mut cursors = [Cursor::new(first), Cursor::new(second)];
        self.rows_of_two(tables, &mut cursors);
        cursors.map(|cursor| {
            let mut alone = [cursor];
            self.rows(tables, &mut alone);
            let [cursor] = alone;
            scalar::rans::finish(tables, cursor)
        })
    }

    /// As [`Kernel::decode`], with tables of up to 14 bits.
    ///
    /// # Panics
    /// As [`Kernel::decode`] does.
    pub fn decode_wide(self, tables: &WideTables, group: &mut Group<'_>) -> Option<usize> {
        check(tables.count(), group);
        let mut cursors = [Cursor::new(group)];
        self.wide_rows(tables, &mut cursors);
        let [cursor] = cursors;
        scalar::rans::finish_wide(tables, cursor)
    }

    /// As [`Kernel::decode_two`], with tables of up to 14 bits.
    ///
    /// # Panics
    /// As [`Kernel::decode`] does.
    pub fn decode_wide_two(
        self,
        tables: &WideTables,
        first: &mut Group<'_>,
        second: &mut Group<'_>,
    ) -> [Option<usize>; 2] {
        check(tables.count(), first);
        check(tables.count(), second);
        let mut cursors = [Cursor::new(first), Cursor::new(second)];
        #[cfg(target_arch = "x86_64")]
        if matches!(self.0, Simd::Avx2 | Simd::Avx512) {
            // SAFETY: a `Kernel` is made for what the processor has alone, AVX2 is there where
            // AVX-512 is, and classes are checked.
            unsafe { avx2_rans_wide::rows_2(tables, &mut cursors) };
        }
        cursors.map(|cursor| {
            let mut alone = [cursor];
            self.wide_rows(tables, &mut alone);
            let [cursor] = alone;
            scalar::rans::finish_wide(tables, cursor)
        })
    }

    /// Whole rows as long as words do not run out.
    fn wide_rows(self, tables: &WideTables, cursors: &mut [Cursor<'_>; 1]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `decode_wide_two`.
            Simd::Avx2 | Simd::Avx512 => unsafe { avx2_rans_wide::rows_1(tables, cursors) },
            _ => scalar::rans::wide_rows(tables, &mut cursors[0]),
        }
    }

    /// Whole rows as long as words do not run out.
    fn rows(self, tables: Tables<'_>, cursors: &mut [Cursor<'_>; 1]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernel` is made for what the processor has alone; classes are checked.
            Simd::Avx512 => unsafe { avx512_rans::rows_1(tables, cursors) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Simd::Avx2 => unsafe { avx2_rans::rows_1(tables, cursors) },
            _ => scalar::rans::rows(tables, &mut cursors[0]),
        }
    }

    /// Whole rows of both, as long as neither's words or symbols run out.
    fn rows_of_two(self, tables: Tables<'_>, cursors: &mut [Cursor<'_>; 2]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernel` is made for what the processor has alone; classes are checked.
            Simd::Avx512 => unsafe { avx512_rans::rows_2(tables, cursors) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Simd::Avx2 => unsafe { avx2_rans::rows_2(tables, cursors) },
            // In scalar code a row is work enough to fill the time.
            _ => {}
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
