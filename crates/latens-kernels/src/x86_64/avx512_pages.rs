//! Many pages walked at once.
//!
//! A vector has the four states of eight pages, in lanes of 16 bits, and two of them are looked up together: bytes by
//! slot, 128 of which a permutation takes out of two registers. Within the 64 bits of a page a multiplication sums up
//! the counts of bits before each state's own, and `vpmultishiftqb` brings these to its lane.
//!
//! Four vectors wait for each other's turns: a step takes some 45 cycles from states to states, most of it from the
//! counts to the place of the next bits and to these.

mod lanes;
mod offsets;
mod unpack;
mod words;

use crate::latent::Latent;
use crate::tans::pages::{
    COUNT_AT, DEALT_AT, Form, Kind, MOST_SLOTS, PAGES, PageCodes, PagePlace, PageTable, Plane,
    Slots, TOGETHER,
};
use lanes::{Eight, paired_bytes, words_at};
use std::arch::x86_64::*;

pub(crate) use unpack::unpack;

/// Vectors of eight pages each, and pairs of them.
const VECTORS: usize = PAGES / 8;
const PAIRS: usize = VECTORS / 2;
/// [`Form::Few`] with 2^7 slots, and with twice as many; the others.
const FEWEST: u8 = 0;
const FEW: u8 = 1;
const NEAR: u8 = 2;
const FAR: u8 = 3;
/// Bits before the end of a lane's own from which on its bytes are taken, without a sign.
const BYTES_BEFORE: i16 = 0x3830;
/// Steps of four codes whose bytes are brought in order together.
const STEPS: usize = 4;

/// Which page is in lane `lane` of 64 bits of a vector: so that, once two vectors' codes are packed to bytes and those of
/// four steps brought together, pages lie in order.
#[inline(always)]
fn page(vector: usize, lane: usize) -> usize {
    16 * (vector / 2) + 8 * (vector % 2) + 4 * (lane % 2) + lane / 2
}

/// See [`PageTable::walk`].
///
/// # Safety
/// States are slots of the table, which is closed; for all codes of each page there are bytes, and eight more.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")]
#[target_feature(enable = "avx512bitalg")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn walk<L: Latent>(
    table: &PageTable<L>,
    bytes: &[u8],
    pages: &mut [PagePlace; PAGES],
    n: usize,
    codes: &mut PageCodes,
) {
    let has_offsets = table.kind != Kind::Bounds;
    let slots = &table.slots;
    // SAFETY: the caller's promise.
    unsafe {
        match (slots.form, has_offsets) {
            (Form::Few, true) if table.log <= 7 => {
                steps::<FEWEST, true>(slots, bytes, pages, n, codes);
            }
            (Form::Few, false) if table.log <= 7 => {
                steps::<FEWEST, false>(slots, bytes, pages, n, codes);
            }
            (Form::Few, true) => steps::<FEW, true>(slots, bytes, pages, n, codes),
            (Form::Few, false) => steps::<FEW, false>(slots, bytes, pages, n, codes),
            (Form::Near, true) => steps::<NEAR, true>(slots, bytes, pages, n, codes),
            (Form::Near, false) => steps::<NEAR, false>(slots, bytes, pages, n, codes),
            (Form::Far, true) => steps::<FAR, true>(slots, bytes, pages, n, codes),
            (Form::Far, false) => steps::<FAR, false>(slots, bytes, pages, n, codes),
        }
    }
}

/// Bytes of 64 places of each pair out of the first 128 times `PARTS`: registers of the plane are loaded once for both.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn look_up<const PARTS: usize>(
    plane: &Plane,
    places: [__m512i; PAIRS],
    parts: [[__mmask64; 3]; PAIRS],
) -> [__m512i; PAIRS] {
    const { assert!(128 * PARTS <= MOST_SLOTS) };
    let at: *const __m512i = plane.0.as_ptr().cast();
    macro_rules! part {
        ($i:expr) => {{
            // SAFETY: `PARTS` times two registers, as just asserted, aligned as these are.
            let (low, high) = unsafe {
                (_mm512_load_si512(at.add(2 * $i)), _mm512_load_si512(at.add(2 * $i + 1)))
            };
            [
                _mm512_permutex2var_epi8(low, places[0], high),
                _mm512_permutex2var_epi8(low, places[1], high),
            ]
        }};
    }
    macro_rules! either {
        ($first:expr, $second:expr, $part:literal) => {{
            let ([a, b], [c, d]) = ($first, $second);
            [
                _mm512_mask_mov_epi8(a, parts[0][$part], c),
                _mm512_mask_mov_epi8(b, parts[1][$part], d),
            ]
        }};
    }
    macro_rules! two {
        ($i:expr) => {
            either!(part!($i), part!($i + 1), 0)
        };
    }
    macro_rules! four {
        ($i:expr) => {
            either!(two!($i), two!($i + 2), 1)
        };
    }
    match PARTS {
        1 => part!(0),
        2 => two!(0),
        _ => either!(four!(0), four!(4), 2),
    }
}

/// Which of each pair's bytes have their upper bit set.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn halves(bytes: [__m512i; PAIRS]) -> [[__mmask64; 3]; PAIRS] {
    let mut parts = [[0; 3]; PAIRS];
    for pair in 0..PAIRS {
        parts[pair][0] = _mm512_movepi8_mask(bytes[pair]);
    }
    parts
}

/// Symbols of slots as dealt: the first ones of the eights there, and as many further as begin up to the slot `within`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512bitalg")]
#[inline]
fn symbols_of(
    plane: &Plane,
    eights: [__m512i; PAIRS],
    within: [__m512i; PAIRS],
) -> [__m512i; PAIRS] {
    let (firsts, begins) = plane.0.split_at(128);
    let mut symbols = [_mm512_setzero_si512(); PAIRS];
    // SAFETY: as many bytes, aligned as the plane is.
    let at =
        |bytes: &[u8], i: usize| unsafe { _mm512_load_si512(bytes.as_ptr().add(64 * i).cast()) };
    let up_to = _mm512_set1_epi64(0xfe7e_3e1e_0e06_0200_u64.cast_signed());
    for pair in 0..PAIRS {
        let first = _mm512_permutex2var_epi8(at(firsts, 0), eights[pair], at(firsts, 1));
        let begin = _mm512_permutex2var_epi8(at(begins, 0), eights[pair], at(begins, 1));
        let up_to = _mm512_shuffle_epi8(up_to, _mm512_srli_epi16::<DEALT_AT>(within[pair]));
        let further = _mm512_popcnt_epi8(_mm512_and_si512(begin, up_to));
        symbols[pair] = _mm512_add_epi8(first, further);
    }
    symbols
}

/// # Safety
/// As [`walk`]; the table has the form, and no offsets but with `OFFSETS`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")]
#[target_feature(enable = "avx512bitalg")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
#[inline(never)]
unsafe fn steps<const FORM: u8, const OFFSETS: bool>(
    table: &Slots,
    bytes: &[u8],
    pages: &mut [PagePlace; PAGES],
    n: usize,
    codes: &mut PageCodes,
) {
    let zero = _mm512_setzero_si512();
    let (mut states, mut places) = ([zero; VECTORS], [zero; VECTORS]);
    for vector in 0..VECTORS {
        let (mut four, mut bits) = (Eight([0; 8]), Eight([0; 8]));
        for lane in 0..8 {
            let page = &pages[page(vector, lane)];
            let [a, b, c, d] = page.states.map(|s| s as usize);
            four.0[lane] = a | b << 16 | c << 32 | d << 48;
            bits.0[lane] = page.bit;
        }
        // SAFETY: 64 bytes, aligned.
        (states[vector], places[vector]) = unsafe {
            (_mm512_load_si512(four.0.as_ptr().cast()), _mm512_load_si512(bits.0.as_ptr().cast()))
        };
    }
    let [low_bytes, high_bytes] = [paired_bytes(0), paired_bytes(1)];
    let dealt = _mm512_set1_epi16(table.dealt.cast_signed());
    let mut sums = [zero; PAIRS];
    let mut at = [Eight([0; 8]); VECTORS];
    let (symbols, widths) = (&mut codes.symbols, &mut codes.widths);
    macro_rules! sixteen {
        ($sixteen:expr, |$step:ident| $left:expr, $kept:ident) => {{
            let (mut all_symbols, mut all_widths) =
                ([[zero; STEPS]; PAIRS], [[zero; STEPS]; PAIRS]);
            for $step in 0..STEPS {
                let left: u32 = $left;
                // Which of each four codes there are, in lanes of 8 and 16 bits.
                let are: __mmask64 = 0x1111_1111_1111_1111 * ((1 << left) - 1);
                #[expect(clippy::cast_possible_truncation, reason = "of half as many lanes")]
                let are_wide = are as __mmask32;
                let (mut slots, mut parts) = ([zero; PAIRS], [[0; 3]; PAIRS]);
                let mut within = [zero; PAIRS];
                for pair in 0..PAIRS {
                    let (a, b) = (states[2 * pair], states[2 * pair + 1]);
                    match FORM {
                        FEWEST => slots[pair] = _mm512_packus_epi16(a, b),
                        FEW => {
                            slots[pair] = _mm512_permutex2var_epi8(a, low_bytes, b);
                            parts[pair][0] = _mm512_movepi8_mask(slots[pair]);
                        }
                        _ => {
                            let (a, b) =
                                (_mm512_mullo_epi16(a, dealt), _mm512_mullo_epi16(b, dealt));
                            let low = _mm512_permutex2var_epi8(a, low_bytes, b);
                            slots[pair] = _mm512_permutex2var_epi8(a, high_bytes, b);
                            let bit = |bit| _mm512_test_epi8_mask(low, _mm512_set1_epi8(bit));
                            parts[pair] = [
                                bit(1 << DEALT_AT),
                                bit(1 << (DEALT_AT + 1)),
                                _mm512_movepi8_mask(low),
                            ];
                            within[pair] = low;
                        }
                    }
                }
                macro_rules! emit {
                    () => {
                let symbols = match FORM {
                    FEWEST => look_up::<1>(&table.symbols, slots, parts),
                    FEW => look_up::<2>(&table.symbols, slots, parts),
                    _ => symbols_of(&table.symbols, slots, within),
                };
                for pair in 0..PAIRS {
                    all_symbols[pair][$step] = symbols[pair];
                }
                if OFFSETS {
                    let widths = look_up::<2>(&table.widths, symbols, halves(symbols));
                    for pair in 0..PAIRS {
                        let widths = $kept!(_mm512_maskz_mov_epi8, are, widths[pair]);
                        sums[pair] = _mm512_dpbusd_epi32(sums[pair], widths, _mm512_set1_epi8(1));
                        all_widths[pair][$step] = widths;
                    }
                }
                    };
                }
                let (lows, highs) = match FORM {
                    FEWEST => (
                        look_up::<1>(&table.states, slots, parts),
                        look_up::<1>(&table.counts, slots, parts),
                    ),
                    FEW => (
                        look_up::<2>(&table.states, slots, parts),
                        look_up::<2>(&table.counts, slots, parts),
                    ),
                    NEAR => {
                        let lows = look_up::<8>(&table.states, slots, parts);
                        (lows, look_up::<2>(&table.counts, lows, halves(lows)))
                    }
                    _ => (
                        look_up::<8>(&table.states, slots, parts),
                        look_up::<8>(&table.counts, slots, parts),
                    ),
                };
                if FORM == FEWEST || FORM == FEW {
                    emit!();
                }
                for vector in 0..VECTORS {
                    let (low, high) = (lows[vector / 2], highs[vector / 2]);
                    let unpacked = |low, high| match vector % 2 {
                        0 => _mm512_unpacklo_epi8(low, high),
                        _ => _mm512_unpackhi_epi8(low, high),
                    };
                    let (from, counts) = if FORM == FAR {
                        let from = unpacked(low, high);
                        (from, _mm512_srli_epi16::<COUNT_AT>(from))
                    } else {
                        (unpacked(low, zero), unpacked(high, zero))
                    };
                    // SAFETY: the caller's promise.
                    let words = unsafe { words_at(bytes, places[vector], &mut at[vector]) };
                    let counts = $kept!(_mm512_maskz_mov_epi16, are_wide, counts);
                    // In each byte the bits up to the end of its lane's own.
                    let bit = _mm512_and_si512(places[vector], _mm512_set1_epi64(7));
                    let ends = _mm512_mullo_epi64(
                        _mm512_add_epi64(counts, bit),
                        _mm512_set1_epi64(0x0101_0101_0101_0101),
                    );
                    // The sixteen bits before that.
                    let before = _mm512_add_epi8(ends, _mm512_set1_epi16(BYTES_BEFORE));
                    let bits = _mm512_multishift_epi64_epi8(before, words);
                    let next = _mm512_shldv_epi16(from, bits, counts);
                    states[vector] = $kept!(_mm512_mask_mov_epi16, states[vector], are_wide, next);
                    let all = _mm512_sad_epu8(counts, zero);
                    places[vector] = _mm512_add_epi64(places[vector], all);
                }
                // It fills the time in which the next states are waited for, where more is looked up.
                if FORM == NEAR || FORM == FAR {
                    emit!();
                }
            }
            for pair in 0..PAIRS {
                store_in_order(&mut symbols[$sixteen].as_chunks_mut().0[pair], all_symbols[pair]);
                if OFFSETS {
                    store_in_order(&mut widths[$sixteen].as_chunks_mut().0[pair], all_widths[pair]);
                }
            }
        }};
    }
    // What is to be kept under a mask.
    macro_rules! all {
        ($f:ident, $are:expr, $x:expr) => {{
            let _ = $are;
            $x
        }};
        ($f:ident, $before:expr, $are:expr, $x:expr) => {{
            let _ = $are;
            $x
        }};
    }
    macro_rules! some {
        ($f:ident, $($x:expr),*) => {
            $f($($x),*)
        };
    }
    for sixteen in 0..n / TOGETHER {
        sixteen!(sixteen, |step| 4, all);
    }
    if !n.is_multiple_of(TOGETHER) {
        #[expect(clippy::cast_possible_truncation, reason = "at most four")]
        let left = |step: usize| (n % TOGETHER).saturating_sub(STEPS * step).min(4) as u32;
        sixteen!(n / TOGETHER, |step| left(step), some);
    }
    for vector in 0..VECTORS {
        let (mut four, mut bits, mut offsets) = (Eight([0; 8]), Eight([0; 8]), [0u32; 16]);
        // SAFETY: 64 bytes, aligned but for the last ones.
        unsafe {
            _mm512_store_si512(four.0.as_mut_ptr().cast(), states[vector]);
            _mm512_store_si512(bits.0.as_mut_ptr().cast(), places[vector]);
            _mm512_storeu_si512(offsets.as_mut_ptr().cast(), sums[vector / 2]);
        }
        for lane in 0..8 {
            let page = &mut pages[page(vector, lane)];
            let mask = (1 << table.log) - 1;
            #[expect(clippy::cast_possible_truncation, reason = "masked")]
            let states = [0, 16, 32, 48].map(|at| (four.0[lane] >> at) as u32 & mask);
            (page.states, page.bit) = (states, bits.0[lane]);
            // Two dwords of the first vector, then two of the second.
            page.offset_bits = offsets[lane / 2 * 4 + vector % 2 * 2 + lane % 2] as usize;
        }
    }
}

/// Four bytes of sixteen pages and four steps each, page by page.
#[target_feature(enable = "avx512f")]
#[inline]
fn store_in_order(dst: &mut [[u8; TOGETHER]; 16], [a, b, c, d]: [__m512i; STEPS]) {
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (upper_ab, upper_cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    let rows = [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(upper_ab, upper_cd),
        _mm512_unpackhi_epi64(upper_ab, upper_cd),
    ];
    for (dst, row) in dst.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
        // SAFETY: 64 bytes.
        unsafe { _mm512_storeu_si512(dst.as_mut_ptr().cast(), row) };
    }
}
