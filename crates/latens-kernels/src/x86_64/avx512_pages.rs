//! Many pages walked at once.
//!
//! A vector has the four states of eight pages, in lanes of 16 bits, and two of them are looked up together: bytes by
//! slot, 128 of which a permutation takes out of two registers. Within the 64 bits of a page a multiplication sums up
//! the counts of bits up to the end of each state's own; `vpmultishiftqb` brings the sixteen before that end to its lane,
//! and a double shift by the count joins as many to the state.
//!
//! Symbols are looked up last where look-ups are many: they fill the time in which the next states are waited for.

mod lanes;
mod look_ups;
mod offsets;
mod unpack;
mod words;

use crate::latent::Latent;
use crate::tans::pages::{
    COUNT_AT, DEALT_AT, Form, Kind, PAGES, PageCodes, PagePlace, PageTable, Slots, TOGETHER,
};
use lanes::{Eight, paired_bytes, store_in_order, words_at};
use look_ups::{halves, look_up, symbols_of};
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

/// In bits from the beginning of memory, of which programs have no more than 2^57 bytes.
#[inline(always)]
fn first_bit(bytes: &[u8]) -> usize {
    bytes.as_ptr().expose_provenance() * 8
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
    bytes: &[&[u8]; PAGES],
    pages: &mut [PagePlace; PAGES],
    n: usize,
    codes: &mut PageCodes,
) {
    // Bounds that are far have widths whatever these are.
    let has_offsets = table.max_offset_bits > 0 || table.kind == Kind::Far;
    let slots = &table.slots;
    // SAFETY: the caller's promise.
    unsafe {
        match (slots.form, has_offsets) {
            (Form::Few, true) if slots.log <= 7 => {
                steps::<FEWEST, true>(slots, bytes, pages, n, codes);
            }
            (Form::Few, false) if slots.log <= 7 => {
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

/// # Safety
/// As [`walk`]; the table has the form, and no offsets but with `OFFSETS`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")]
#[target_feature(enable = "avx512bitalg")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
#[inline(never)]
unsafe fn steps<const FORM: u8, const OFFSETS: bool>(
    table: &Slots,
    bytes: &[&[u8]; PAGES],
    pages: &mut [PagePlace; PAGES],
    n: usize,
    codes: &mut PageCodes,
) {
    let zero = _mm512_setzero_si512();
    let (mut states, mut places) = ([zero; VECTORS], [zero; VECTORS]);
    for vector in 0..VECTORS {
        let (mut four, mut bits) = (Eight([0; 8]), Eight([0; 8]));
        for lane in 0..8 {
            let number = page(vector, lane);
            let page = &pages[number];
            let [a, b, c, d] = page.states.map(|s| s as usize);
            four.0[lane] = a | b << 16 | c << 32 | d << 48;
            bits.0[lane] = first_bit(bytes[number]) + page.bit;
        }
        // SAFETY: 64 bytes, aligned.
        (states[vector], places[vector]) = unsafe {
            (_mm512_load_si512(four.0.as_ptr().cast()), _mm512_load_si512(bits.0.as_ptr().cast()))
        };
    }
    let [low_bytes, high_bytes] = [paired_bytes(0), paired_bytes(1)];
    let dealt = _mm512_set1_epi16(table.dealt.cast_signed());
    // For a look-up of one part.
    let are_few = table.symbol_count <= 128;
    let mut sums = [zero; PAIRS];
    let mut at = [Eight([0; 8]); VECTORS];
    let begin = places;
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
                            let widths = if FORM == FEWEST || FORM == FEW && are_few {
                                look_up::<1>(&table.widths, symbols, parts)
                            } else {
                                look_up::<2>(&table.widths, symbols, halves(symbols))
                            };
                            for pair in 0..PAIRS {
                                let widths = $kept!(_mm512_maskz_mov_epi8, are, widths[pair]);
                                let one = _mm512_set1_epi8(1);
                                sums[pair] = _mm512_dpbusd_epi32(sums[pair], widths, one);
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
                let mut all_words = [zero; VECTORS];
                for vector in 0..VECTORS {
                    // SAFETY: the caller's promise.
                    all_words[vector] = unsafe { words_at(places[vector], &mut at[vector]) };
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
                    let counts = $kept!(_mm512_maskz_mov_epi16, are_wide, counts);
                    // In each byte the bits up to the end of its lane's own.
                    let bit = _mm512_and_si512(places[vector], _mm512_set1_epi64(7));
                    let ends = _mm512_mullo_epi64(
                        _mm512_add_epi64(counts, bit),
                        _mm512_set1_epi64(0x0101_0101_0101_0101),
                    );
                    // The sixteen bits before that.
                    let before = _mm512_add_epi8(ends, _mm512_set1_epi16(BYTES_BEFORE));
                    let bits = _mm512_multishift_epi64_epi8(before, all_words[vector]);
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
            let taken = _mm512_sub_epi64(places[vector], begin[vector]);
            _mm512_store_si512(bits.0.as_mut_ptr().cast(), taken);
            _mm512_storeu_si512(offsets.as_mut_ptr().cast(), sums[vector / 2]);
        }
        for lane in 0..8 {
            let number = page(vector, lane);
            let page = &mut pages[number];
            let mask = (1 << table.log) - 1;
            #[expect(clippy::cast_possible_truncation, reason = "masked")]
            let states = [0, 16, 32, 48].map(|at| (four.0[lane] >> at) as u32 & mask);
            page.states = states;
            page.bit += bits.0[lane];
            // Two dwords of the first vector, then two of the second.
            codes.offset_bits[number] = offsets[lane / 2 * 4 + vector % 2 * 2 + lane % 2];
        }
    }
}
