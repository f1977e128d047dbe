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

mod bands;
pub(crate) mod classes;
pub(crate) mod cursor;
pub mod encode;
mod end;
pub(crate) mod state;
pub(crate) mod tables;

#[cfg(target_arch = "aarch64")]
use crate::aarch64::neon_rans;
use crate::dispatch::{Present, Simd};
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_rans, avx2_rans_wide, avx512_rans};
use cursor::Cursor;

pub use classes::{Classes, Levels, WINDOW};
pub use cursor::{Group, Spacing};
pub use state::{LANES, LOWER};
pub use tables::{MAX_BITS, MAX_FREQUENCY, Tables, WideTables, entry, slots_of};

/// The decoding kernels of one instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Simd);

impl Kernel {
    /// Those of `simd` where this processor has it, the scalar ones elsewhere.
    pub fn new(simd: Simd) -> Self {
        Self(if simd.is_available() { simd } else { Simd::Scalar })
    }

    /// Decodes all symbols of each group, and returns the bytes of the words read of
    /// each. `None` where words were lacking: then zeros were read for them, and all of `out` is
    /// written none the less. Some groups at a time take less time than one by one, as each waits
    /// for its own table only: up to [`Kernel::groups`], and one more with them than alone.
    ///
    /// # Panics
    /// Where a class has no table, or there are not as many classes as symbols, or `out` ends between rows.
    pub fn decode<const G: usize>(
        self,
        tables: Tables<'_>,
        groups: [&mut Group<'_>; G],
    ) -> [Option<usize>; G] {
        groups.iter().for_each(|group| check(tables.slots().len() >> tables.bits(), group));
        let mut cursors = groups.map(Cursor::new);
        self.rows(tables, &mut cursors);
        cursors.map(|mut cursor| {
            let complete = end::padded(&mut cursor, |cursors| self.rows(tables, cursors));
            scalar::rans::finish(tables, cursor).filter(|_| complete)
        })
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
        cursors.map(|mut cursor| {
            let complete = end::padded(&mut cursor, |cursors| self.wide_rows(tables, cursors));
            scalar::rans::finish_wide(tables, cursor).filter(|_| complete)
        })
    }

    /// How many groups are best decoded at a time.
    pub fn groups(self) -> usize {
        match self.0 {
            Simd::Avx512 => 4,
            Simd::Avx2 => 2,
            // In scalar code a row is work enough to fill the time; with NEON two have more vectors than there are.
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
                let together = |cursors: &mut [Cursor<'_>]| {
                    // SAFETY: a `Kernel` is made for what the processor has alone; classes are checked.
                    unsafe { avx512_rans::together(tables, cursors) };
                };
                together(cursors);
                // Where there are too many classes for that.
                self.in_bands(bands::TOGETHER, cursors, together);
            }
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => {
                // SAFETY: as for AVX-512.
                let together = |cursors: &mut [Cursor<'_>]| unsafe {
                    let twos = cursors.as_chunks_mut().0;
                    twos.iter_mut().for_each(|two| avx2_rans::rows_2(tables, two));
                    let ones = cursors.as_chunks_mut().0;
                    ones.iter_mut().for_each(|one| avx2_rans::rows_1(tables, one));
                };
                together(cursors);
                // Where rows have many classes.
                self.in_bands(2, cursors, together);
            }
            #[cfg(target_arch = "aarch64")]
            Simd::Neon => self.in_bands(1, cursors, |cursors| {
                // SAFETY: as for AVX-512.
                cursors.iter_mut().for_each(|cursor| unsafe { neon_rans::rows(tables, cursor) });
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
            Simd::Avx2 | Simd::Avx512 => {
                // SAFETY: a `Kernel` is made for what the processor has alone, AVX2 is there where
                // AVX-512 is, and classes are checked.
                let together = |cursors: &mut [Cursor<'_>]| unsafe {
                    let twos = cursors.as_chunks_mut().0;
                    twos.iter_mut().for_each(|two| avx2_rans_wide::rows_2(tables, two));
                    let ones = cursors.as_chunks_mut().0;
                    ones.iter_mut().for_each(|one| avx2_rans_wide::rows_1(tables, one));
                };
                together(cursors);
                self.in_bands(2, cursors, together);
            }
            #[cfg(target_arch = "aarch64")]
            Simd::Neon => self.in_bands(1, cursors, |cursors| {
                // SAFETY: as for AVX2.
                cursors.iter_mut().for_each(|cursor| unsafe {
                    neon_rans::wide_rows(tables, cursor);
                });
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
            // What is done needs no memory for classes.
            if some.iter().all(|cursor| cursor.safe_rows() == 0) {
                continue;
            }
            bands::in_bands(present, some, &mut decode);
        }
    }
}

/// # Panics
/// Where a class has no table, or there are not as many classes as symbols, or not room for these.
fn check(tables: usize, group: &Group<'_>) {
    assert!(group.spacing.bytes(group.symbols()) <= group.out.len(), "an end between rows");
    assert!(group.classes.fit(tables, group.symbols()), "classes without a table or a symbol");
}

#[cfg(test)]
pub(crate) mod tests;
