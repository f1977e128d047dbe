//! AVX2 kernels of [`crate::rans`]: four vectors of eight states to a group.
//!
//! Slots come by loads one by one. Which states take a word is known by their upper halves; the mask of
//! these eight bits leads to a byte shuffle that brings the next words of the stream, from one
//! load of 16 bytes, to the lanes that take them, and zeros to the others.

use std::arch::x86_64::*;

use crate::rans::classes::Classes;
use crate::rans::cursor::Cursor;
use crate::rans::state::{LANES, ROW_BYTES};
use crate::rans::tables::{NTH, Tables};

/// Vectors to a group.
pub(super) const VECTORS: usize = LANES / 8;

/// For each set of lanes the bytes of the words that they take, the lowest lane the first word.
#[repr(C, align(32))]
struct Deals([[u8; 32]; 256]);

static DEALS: Deals = {
    let mut all = [[0x80; 32]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut word) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                all[set][4 * lane] = 2 * word;
                all[set][4 * lane + 1] = 2 * word + 1;
                word += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    Deals(all)
};

/// Whole rows of one group, as long as its words do not run out.
///
/// # Safety
/// Each class of the group has a table, and there are as many classes as symbols.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rows_1(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 1]) {
    // SAFETY: as the caller vouches.
    unsafe { rows(tables, cursors) }
}

/// Whole rows of two groups, as long as neither's words or symbols run out.
///
/// # Safety
/// Each class of the groups has a table, and there are as many classes as symbols.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rows_2(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 2]) {
    // SAFETY: as the caller vouches.
    unsafe { rows(tables, cursors) }
}

/// # Safety
/// Needs AVX2; classes as above.
#[inline(always)]
unsafe fn rows<const G: usize>(tables: Tables<'_>, cursors: &mut [Cursor<'_>; G]) {
    // SAFETY: as the caller vouches.
    unsafe { rows_with(tables.bits(), cursors, tables.slots().as_ptr()) }
}

/// How a row of 32 symbols is decoded. A trait rather than a closure: its functions are always
/// inlined, without which intrinsics are calls.
pub(super) trait Row: Copy {
    /// Decodes a row.
    ///
    /// # Safety
    /// Needs AVX2; 64 bytes to read from `place.words` on, 32 to write from `place.out` on, and
    /// slots for what `base` or'ed with `mask` comes to.
    unsafe fn decode(
        self,
        mask: __m256i,
        bits: __m128i,
        base: [__m256i; VECTORS],
        states: &mut [__m256i; VECTORS],
        place: &mut Place,
    );
}

impl Row for *const u32 {
    #[inline(always)]
    unsafe fn decode(
        self,
        mask: __m256i,
        bits: __m128i,
        base: [__m256i; VECTORS],
        states: &mut [__m256i; VECTORS],
        place: &mut Place,
    ) {
        // SAFETY: as the caller vouches.
        unsafe { row(self, mask, bits, base, states, place) }
    }
}

/// Whole rows by `row`.
///
/// # Safety
/// Needs AVX2; as many classes as symbols, each with a table.
#[inline(always)]
pub(super) unsafe fn rows_with<const G: usize, R: Row>(
    table_bits: u32,
    cursors: &mut [Cursor<'_>; G],
    row: R,
) {
    if cursors.iter().any(|c| matches!(c.classes, Classes::Levels(_))) {
        // Callers write such classes down first.
        return;
    }
    let per_symbol = cursors.iter().any(|c| matches!(c.classes, Classes::PerSymbol(_)));
    // SAFETY: as the caller vouches.
    unsafe {
        if per_symbol {
            rows_by::<G, true, R>(table_bits, cursors, row);
        } else {
            rows_by::<G, false, R>(table_bits, cursors, row);
        }
    }
}

/// Where a group's next row comes from and goes to.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) words: *const u8,
    pub(super) classes: *const u8,
    pub(super) out: *mut u8,
}

/// # Safety
/// Needs AVX2; classes as above.
#[inline(always)]
unsafe fn rows_by<const G: usize, const PER_SYMBOL: bool, R: Row>(
    table_bits: u32,
    cursors: &mut [Cursor<'_>; G],
    row: R,
) {
    // SAFETY: the caller vouches for AVX2. Loads and stores of states are of whole arrays.
    unsafe {
        let mask = _mm256_set1_epi32((1 << table_bits) - 1);
        let bits = _mm_cvtsi32_si128(table_bits.cast_signed());
        let mut states = [[_mm256_setzero_si256(); VECTORS]; G];
        for (states, cursor) in states.iter_mut().zip(&*cursors) {
            for (x, from) in states.iter_mut().zip(cursor.states.as_chunks::<8>().0) {
                *x = _mm256_loadu_si256(from.as_ptr().cast());
            }
        }
        // Where all symbols of a group have one class, it is one number for all rows; a mixed
        // pair of groups has vectors of it in place of loads.
        let mut fixed = [_mm256_setzero_si256(); G];
        for (fixed, cursor) in fixed.iter_mut().zip(&*cursors) {
            if let Classes::One(class) = cursor.classes {
                *fixed = _mm256_set1_epi32(i32::from(class) << table_bits);
            }
        }
        loop {
            let rows = cursors.iter().map(Cursor::safe_rows).min().unwrap_or(0);
            if rows == 0 {
                break;
            }
            let mut places = cursors.each_mut().map(|cursor| Place {
                words: cursor.words[cursor.read..].as_ptr(),
                classes: match cursor.classes {
                    Classes::PerSymbol(classes) => classes[cursor.written..].as_ptr(),
                    Classes::One(_) | Classes::Levels(_) => std::ptr::null(),
                },
                out: cursor.out[cursor.written..].as_mut_ptr(),
            });
            let starts = places.map(|place| place.words);
            // `safe_rows` has found 64 bytes of words a row, and 32 symbols; there are as many
            // classes.
            if let ([s, t], [p, q], [f, g]) = (&mut states[..], &mut places[..], &fixed[..]) {
                // Written out, so that what changes stays in registers.
                let ((mut x, mut y), (mut at, mut to)) = ((*s, *t), (*p, *q));
                for _ in 0..rows {
                    step::<PER_SYMBOL, R>(row, mask, bits, *f, &mut x, &mut at);
                    step::<PER_SYMBOL, R>(row, mask, bits, *g, &mut y, &mut to);
                }
                ((*s, *t), (*p, *q)) = ((x, y), (at, to));
            } else {
                for _ in 0..rows {
                    for ((x, place), fixed) in states.iter_mut().zip(&mut places).zip(&fixed) {
                        step::<PER_SYMBOL, R>(row, mask, bits, *fixed, x, place);
                    }
                }
            }
            for ((cursor, place), start) in cursors.iter_mut().zip(&places).zip(starts) {
                cursor.read += place.words.offset_from_unsigned(start);
                cursor.written += rows * LANES;
            }
        }
        for (states, cursor) in states.iter().zip(cursors) {
            for (x, to) in states.iter().zip(cursor.states.as_chunks_mut::<8>().0) {
                _mm256_storeu_si256(to.as_mut_ptr().cast(), *x);
            }
        }
    }
}

/// The next row of a group.
///
/// # Safety
/// As [`Row::decode`] says; where there are classes, those of the row.
#[inline(always)]
unsafe fn step<const PER_SYMBOL: bool, R: Row>(
    row: R,
    mask: __m256i,
    bits: __m128i,
    fixed: __m256i,
    states: &mut [__m256i; VECTORS],
    place: &mut Place,
) {
    // SAFETY: as the caller vouches.
    unsafe {
        let base = if PER_SYMBOL && !place.classes.is_null() {
            let base = class_bases(place.classes, bits);
            place.classes = place.classes.add(LANES);
            base
        } else {
            [fixed; VECTORS]
        };
        row.decode(mask, bits, base, states, place);
    }
}

/// Where the tables of the next 32 symbols begin.
///
/// # Safety
/// Needs AVX2, and 32 bytes from `classes` on.
#[inline(always)]
pub(super) unsafe fn class_bases(classes: *const u8, bits: __m128i) -> [__m256i; VECTORS] {
    // SAFETY: as the caller vouches.
    unsafe {
        let base = |v: usize| {
            let eight = _mm_loadl_epi64(classes.add(8 * v).cast());
            _mm256_sll_epi32(_mm256_cvtepu8_epi32(eight), bits)
        };
        [base(0), base(1), base(2), base(3)]
    }
}

/// Eight slots, by eight loads: on Zen 3 a gather takes more steps, and inserts one after the other
/// wait longer than a tree of unpacks does.
///
/// # Safety
/// Needs AVX2, and slots for all lanes of `index`.
#[inline(always)]
unsafe fn look_up(slots: *const u32, index: __m256i) -> __m256i {
    // SAFETY: as the caller vouches.
    unsafe {
        let slot = |i: u64| _mm_loadu_si32(slots.add((i & 0xffff_ffff) as usize).cast());
        let two = |i: i64| {
            let i = i.cast_unsigned();
            _mm_unpacklo_epi32(slot(i), slot(i >> 32))
        };
        let four = |index: __m128i| {
            let high = two(_mm_extract_epi64::<1>(index));
            _mm_unpacklo_epi64(two(_mm_cvtsi128_si64(index)), high)
        };
        let low = four(_mm256_castsi256_si128(index));
        _mm256_set_m128i(four(_mm256_extracti128_si256::<1>(index)), low)
    }
}

/// One row of a group.
///
/// # Safety
/// Needs AVX2; 64 bytes to read from `place.words` on, 32 to write from `place.out` on, and slots
/// for what `base` or'ed with `mask` comes to.
#[inline(always)]
unsafe fn row(
    slots: *const u32,
    mask: __m256i,
    bits: __m128i,
    base: [__m256i; VECTORS],
    states: &mut [__m256i; VECTORS],
    place: &mut Place,
) {
    // SAFETY: slots, words and room for symbols are there as the caller vouches.
    unsafe {
        let mut entries = [_mm256_setzero_si256(); VECTORS];
        for ((x, entry), base) in states.iter_mut().zip(&mut entries).zip(base) {
            let index = _mm256_or_si256(_mm256_and_si256(*x, mask), base);
            *entry = look_up(slots, index);
            let product =
                _mm256_mullo_epi32(_mm256_srli_epi32::<20>(*entry), _mm256_srl_epi32(*x, bits));
            let nth = _mm256_and_si256(*entry, _mm256_set1_epi32(NTH.cast_signed()));
            *x = _mm256_add_epi32(product, nth);
        }
        refill(states, place);
        // Bytes of dwords, in three packs; the last step brings the quarters into order.
        let byte = _mm256_set1_epi32(0xff);
        let [a, b, c, d] =
            entries.map(|entry| _mm256_and_si256(_mm256_srli_epi32::<12>(entry), byte));
        let packed = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
        let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        let symbols = _mm256_permutevar8x32_epi32(packed, order);
        _mm256_storeu_si256(place.out.cast(), symbols);
        place.out = place.out.add(LANES);
    }
}

/// Gives words to the states that take one.
///
/// # Safety
/// Needs AVX2, and 64 bytes to read from `place.words` on.
#[inline(always)]
pub(super) unsafe fn refill(states: &mut [__m256i; VECTORS], place: &mut Place) {
    // SAFETY: each vector moves `words` on by at most 16 bytes, the bytes that it loads.
    unsafe {
        for x in states.iter_mut() {
            let low = _mm256_cmpeq_epi32(_mm256_srli_epi32::<16>(*x), _mm256_setzero_si256());
            let set = _mm256_movemask_ps(_mm256_castsi256_ps(low)).cast_unsigned();
            let words = _mm256_broadcastsi128_si256(_mm_loadu_si128(place.words.cast()));
            let deal = DEALS.0.as_ptr().add(set as usize);
            let dealt = _mm256_shuffle_epi8(words, _mm256_load_si256(deal.cast()));
            let shift = _mm256_and_si256(low, _mm256_set1_epi32(16));
            *x = _mm256_or_si256(_mm256_sllv_epi32(*x, shift), dealt);
            place.words = place.words.add(2 * set.count_ones() as usize);
        }
    }
    const { assert!(ROW_BYTES == 16 * VECTORS) };
}
