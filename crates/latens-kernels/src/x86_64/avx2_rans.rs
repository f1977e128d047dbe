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
    unsafe {
        let slots = tables.slots().as_ptr();
        match tables.bits() {
            // What nearly all tables have.
            12 => rows_with(12, cursors, Slots::<12>(slots)),
            bits => rows_with(bits, cursors, Slots::<0>(slots)),
        }
    }
}

/// How symbols are decoded. A trait rather than closures: its functions are always inlined, without
/// which intrinsics are calls.
pub(super) trait Row: Copy {
    /// log2 of the size of a table where that is known: shifts by it take no register then. Or 0.
    const BITS: u32;
    /// Whether [`Row::four`] writes symbols; otherwise they are bits 12 to 19 of what it finds.
    const WRITES: bool = false;

    /// What four slots say, whose numbers are the halves of `a` and `b`.
    ///
    /// # Safety
    /// Needs AVX2; such slots, and four bytes to write from `out` on.
    unsafe fn four(self, a: u64, b: u64, out: *mut u8) -> __m128i;

    /// The states that follow, before words are taken.
    ///
    /// # Safety
    /// Needs AVX2.
    unsafe fn next(self, entry: __m256i, bits: __m128i, x: __m256i) -> __m256i;
}

/// Slots of all tables.
#[derive(Clone, Copy)]
struct Slots<const BITS: u32>(*const u32);

impl<const BITS: u32> Row for Slots<BITS> {
    const BITS: u32 = BITS;

    #[inline(always)]
    unsafe fn four(self, a: u64, b: u64, _: *mut u8) -> __m128i {
        // SAFETY: as the caller vouches.
        unsafe { four(self.0, a, b) }
    }

    #[inline(always)]
    unsafe fn next(self, entry: __m256i, bits: __m128i, x: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let product =
                _mm256_mullo_epi32(_mm256_srli_epi32::<20>(entry), _mm256_srl_epi32(x, bits));
            let nth = _mm256_and_si256(entry, _mm256_set1_epi32(NTH.cast_signed()));
            _mm256_add_epi32(product, nth)
        }
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
    // Others, and such as differ, are written down first or decoded one by one: the caller goes on.
    let all = |of: fn(&Classes<'_>) -> bool| cursors.iter().all(|cursor| of(&cursor.classes));
    // SAFETY: as the caller vouches.
    unsafe {
        if all(|classes| matches!(classes, Classes::PerSymbol(_))) {
            rows_by::<G, PER_SYMBOL, R>(table_bits, cursors, row);
        } else if all(|classes| matches!(classes, Classes::One(_))) {
            rows_by::<G, ONE, R>(table_bits, cursors, row);
        } else if all(|classes| matches!(classes, Classes::Levels(levels) if levels.highest == 0)) {
            rows_by::<G, PER_ROW, R>(table_bits, cursors, row);
        }
    }
}

/// All symbols have one class.
const ONE: u8 = 0;
/// Each symbol has a class.
const PER_SYMBOL: u8 = 1;
/// Each row has one.
const PER_ROW: u8 = 2;

/// What all rows are decoded by: the lowest bits of a state, and how many those are.
#[derive(Clone, Copy)]
struct By<R> {
    row: R,
    mask: __m256i,
    bits: __m128i,
}

/// Where a group's next row comes from and goes to.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) words: *const u8,
    /// Classes of symbols, or 16 bits for each row: where its class is in the map.
    pub(super) classes: *const u8,
    pub(super) map: *const u8,
    pub(super) out: *mut u8,
}

/// # Safety
/// Needs AVX2; classes as above.
#[inline(always)]
unsafe fn rows_by<const G: usize, const CLASSES: u8, R: Row>(
    table_bits: u32,
    cursors: &mut [Cursor<'_>; G],
    row: R,
) {
    let table_bits = if R::BITS > 0 { R::BITS } else { table_bits };
    // SAFETY: the caller vouches for AVX2. Loads and stores of states are of whole arrays.
    unsafe {
        let mask = _mm256_set1_epi32((1 << table_bits) - 1);
        let bits = _mm_cvtsi32_si128(table_bits.cast_signed());
        let by = By { row, mask, bits };
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
                    Classes::Levels(levels) => {
                        levels.starts[cursor.written / LANES..].as_ptr().cast()
                    }
                    Classes::One(_) => std::ptr::null(),
                },
                map: match cursor.classes {
                    Classes::Levels(levels) => levels.map.as_ptr(),
                    _ => std::ptr::null(),
                },
                out: cursor.out[cursor.written..].as_mut_ptr(),
            });
            let starts = places.map(|place| place.words);
            // `safe_rows` has found 64 bytes of words a row, and 32 symbols; there are as many
            // classes.
            if let ([s, t], [p, q], [f, g]) = (&mut states[..], &mut places[..], &fixed[..]) {
                // Written out, so that what changes stays in registers. What a processor has in
                // flight is little more than a row: while one group waits for its slots, the other
                // one takes its words.
                let ((mut x, mut y), (mut at, mut to)) = ((*s, *t), (*p, *q));
                look_up::<CLASSES, R>(by, *f, &mut x, &mut at, None);
                for _ in 1..rows {
                    look_up::<CLASSES, R>(by, *g, &mut y, &mut to, Some((&mut x, &mut at.words)));
                    look_up::<CLASSES, R>(by, *f, &mut x, &mut at, Some((&mut y, &mut to.words)));
                }
                look_up::<CLASSES, R>(by, *g, &mut y, &mut to, Some((&mut x, &mut at.words)));
                refill_all(&mut y, &mut to.words);
                ((*s, *t), (*p, *q)) = ((x, y), (at, to));
            } else {
                for _ in 0..rows {
                    for ((x, place), fixed) in states.iter_mut().zip(&mut places).zip(&fixed) {
                        look_up::<CLASSES, R>(by, *fixed, x, place, None);
                        refill_all(x, &mut place.words);
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

/// Where the tables of a group's next row begin.
///
/// # Safety
/// Needs AVX2; where there are classes, those of the row.
#[inline(always)]
unsafe fn bases<const CLASSES: u8>(
    fixed: __m256i,
    bits: __m128i,
    place: &mut Place,
) -> [__m256i; VECTORS] {
    // SAFETY: as the caller vouches.
    unsafe {
        if CLASSES == PER_SYMBOL {
            let classes = place.classes;
            place.classes = classes.add(LANES);
            let mut bases = [_mm256_setzero_si256(); VECTORS];
            for (v, base) in bases.iter_mut().enumerate() {
                let eight = _mm_loadl_epi64(classes.add(8 * v).cast());
                *base = _mm256_sll_epi32(_mm256_cvtepu8_epi32(eight), bits);
            }
            bases
        } else if CLASSES == PER_ROW {
            let start: *const u16 = place.classes.cast();
            let class = _mm256_set1_epi32((*place.map.add(usize::from(*start))).into());
            place.classes = start.add(1).cast();
            [_mm256_sll_epi32(class, bits); VECTORS]
        } else {
            [fixed; VECTORS]
        }
    }
}

/// The next row of a group up to where states take words, which those of the `other` one do meanwhile.
///
/// # Safety
/// Needs AVX2; 64 bytes to read from words on, 32 to write from `place.out` on, and slots for all
/// states of the classes of the row.
#[inline(always)]
unsafe fn look_up<const CLASSES: u8, R: Row>(
    By { row, mask, bits }: By<R>,
    fixed: __m256i,
    x: &mut [__m256i; VECTORS],
    place: &mut Place,
    mut other: Option<(&mut [__m256i; VECTORS], &mut *const u8)>,
) {
    // SAFETY: as the caller vouches.
    unsafe {
        let byte = _mm256_set1_epi32(0xff);
        let base = bases::<CLASSES>(fixed, bits, place);
        let mut packed = [_mm256_setzero_si256(); 2];
        // Written out, as the compiler leaves a loop.
        macro_rules! half {
            ($half:literal) => {
                let (v, w) = (2 * $half, 2 * $half + 1);
                let a = _mm256_or_si256(_mm256_and_si256(x[v], mask), base[v]);
                let b = _mm256_or_si256(_mm256_and_si256(x[w], mask), base[w]);
                let a = eight(row, a, place.out.add(8 * v));
                let b = eight(row, b, place.out.add(8 * w));
                if !R::WRITES {
                    packed[$half] = _mm256_packus_epi32(
                        _mm256_and_si256(_mm256_srli_epi32::<12>(a), byte),
                        _mm256_and_si256(_mm256_srli_epi32::<12>(b), byte),
                    );
                }
                [x[v], x[w]] = [row.next(a, bits, x[v]), row.next(b, bits, x[w])];
                if let Some((y, words)) = &mut other {
                    y[v] = refill(y[v], words);
                    y[w] = refill(y[w], words);
                }
            };
        }
        half!(0);
        half!(1);
        if !R::WRITES {
            // Bytes of dwords came in packs; the last step brings the quarters into order.
            let packed = _mm256_packus_epi16(packed[0], packed[1]);
            let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            let symbols = _mm256_permutevar8x32_epi32(packed, order);
            _mm256_storeu_si256(place.out.cast(), symbols);
        }
        place.out = place.out.add(LANES);
    }
}

/// What eight slots say.
///
/// # Safety
/// Needs AVX2; slots for all lanes of `index`, and eight bytes to write from `out` on.
#[inline(always)]
unsafe fn eight<R: Row>(row: R, index: __m256i, out: *mut u8) -> __m256i {
    // SAFETY: as the caller vouches.
    unsafe {
        let (low, high) = (_mm256_castsi256_si128(index), _mm256_extracti128_si256::<1>(index));
        let (a, b) = (_mm_cvtsi128_si64(low), _mm_extract_epi64::<1>(low));
        let (c, d) = (_mm_cvtsi128_si64(high), _mm_extract_epi64::<1>(high));
        let low = row.four(a.cast_unsigned(), b.cast_unsigned(), out);
        _mm256_set_m128i(row.four(c.cast_unsigned(), d.cast_unsigned(), out.add(4)), low)
    }
}

/// Four slots, whose numbers are the halves of `a` and `b`: on Zen 3 and 4 a gather takes more steps. In assembly,
/// as the compiler joins them by steps that one port alone can do, and loads all before it joins any.
///
/// # Safety
/// Needs AVX, and such slots.
#[inline(always)]
pub(crate) unsafe fn four(slots: *const u32, a: u64, b: u64) -> __m128i {
    let found;
    // SAFETY: four slots are loaded, which are there as the caller vouches.
    unsafe {
        std::arch::asm!(
            "mov {i:e}, {a:e}",
            "shr {a}, 32",
            "vmovd {found}, dword ptr [{slots} + 4 * {i}]",
            "mov {i:e}, {b:e}",
            "vpinsrd {found}, {found}, dword ptr [{slots} + 4 * {a}], 1",
            "shr {b}, 32",
            "vpinsrd {found}, {found}, dword ptr [{slots} + 4 * {i}], 2",
            "vpinsrd {found}, {found}, dword ptr [{slots} + 4 * {b}], 3",
            slots = in(reg) slots,
            a = inout(reg) a => _,
            b = inout(reg) b => _,
            i = out(reg) _,
            found = out(xmm_reg) found,
            options(pure, readonly, nostack),
        );
    }
    found
}

/// Gives words to the states of a group that take one.
///
/// # Safety
/// Needs AVX2, and 64 bytes to read from `words` on.
#[inline(always)]
unsafe fn refill_all(states: &mut [__m256i; VECTORS], words: &mut *const u8) {
    // SAFETY: as the caller vouches; each vector moves `words` on by 16 bytes at most.
    unsafe {
        for x in states {
            *x = refill(*x, words);
        }
    }
}

/// Gives words to the states that take one.
///
/// # Safety
/// Needs AVX2, and 16 bytes to read from `words` on.
#[inline(always)]
unsafe fn refill(x: __m256i, words: &mut *const u8) -> __m256i {
    // SAFETY: 16 bytes are there, of which at most those are taken.
    unsafe {
        let low = _mm256_cmpeq_epi32(_mm256_srli_epi32::<16>(x), _mm256_setzero_si256());
        let set = _mm256_movemask_ps(_mm256_castsi256_ps(low)).cast_unsigned();
        let next = _mm256_broadcastsi128_si256(_mm_loadu_si128((*words).cast()));
        let deal = DEALS.0.as_ptr().add(set as usize);
        let dealt = _mm256_shuffle_epi8(next, _mm256_load_si256(deal.cast()));
        let shift = _mm256_and_si256(low, _mm256_set1_epi32(16));
        *words = words.add(2 * set.count_ones() as usize);
        _mm256_or_si256(_mm256_sllv_epi32(x, shift), dealt)
    }
}
const _: () = assert!(ROW_BYTES == 16 * VECTORS);
