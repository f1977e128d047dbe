//! A row of a group: its slots are found, its symbols put out, and words given to the states that take them.

use std::arch::x86_64::*;

use crate::rans::state::{LANES, ROW_BYTES};

/// Vectors to a group.
pub(super) const VECTORS: usize = LANES / 8;

/// How symbols are decoded. A trait rather than closures: its functions are always inlined, without
/// which intrinsics are calls.
pub(in super::super) trait Row: Copy {
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

/// All symbols have one class.
pub(super) const ONE: u8 = 0;
/// Each symbol has a class.
pub(super) const PER_SYMBOL: u8 = 1;
/// Each row has one.
pub(super) const PER_ROW: u8 = 2;

/// What all rows are decoded by, among it the lowest bits of a state, and how many those are.
#[derive(Clone, Copy)]
pub(super) struct By<R> {
    pub(super) row: R,
    /// Bytes from a row of symbols to the next one.
    pub(super) step: usize,
    pub(super) mask: __m256i,
    pub(super) bits: __m128i,
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

/// Where the tables of vector `v` of a group's next row begin.
///
/// # Safety
/// Needs AVX2; where there are classes, those of the row.
#[inline(always)]
unsafe fn base<const CLASSES: u8>(
    fixed: __m256i,
    bits: __m128i,
    place: &Place,
    v: usize,
) -> __m256i {
    // SAFETY: as the caller vouches.
    unsafe {
        if CLASSES == PER_SYMBOL {
            let eight = _mm_loadl_epi64(place.classes.add(8 * v).cast());
            _mm256_sll_epi32(_mm256_cvtepu8_epi32(eight), bits)
        } else {
            fixed
        }
    }
}

/// The next row of a group up to where states take words, which those of the `other` one do meanwhile.
///
/// # Safety
/// Needs AVX2; 64 bytes to read from words on, 32 to write from `place.out` on, and slots for all
/// states of the classes of the row.
#[inline(always)]
pub(super) unsafe fn look_up<const CLASSES: u8, R: Row>(
    By { row, step, mask, bits }: By<R>,
    fixed: __m256i,
    x: &mut [__m256i; VECTORS],
    place: &mut Place,
    mut other: Option<(&mut [__m256i; VECTORS], &mut *const u8)>,
) {
    // SAFETY: as the caller vouches.
    unsafe {
        let byte = _mm256_set1_epi32(0xff);
        let mut fixed = fixed;
        if CLASSES == PER_ROW {
            let start: *const u16 = place.classes.cast();
            let class = _mm256_set1_epi32((*place.map.add(usize::from(*start))).into());
            fixed = _mm256_sll_epi32(class, bits);
        }
        let mut packed = [_mm256_setzero_si256(); 2];
        // Written out, as the compiler leaves a loop.
        macro_rules! half {
            ($half:literal) => {
                let (v, w) = (2 * $half, 2 * $half + 1);
                let a = _mm256_or_si256(
                    _mm256_and_si256(x[v], mask),
                    base::<CLASSES>(fixed, bits, place, v),
                );
                let b = _mm256_or_si256(
                    _mm256_and_si256(x[w], mask),
                    base::<CLASSES>(fixed, bits, place, w),
                );
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
                    y[v] = settled(refill(y[v], words));
                    y[w] = settled(refill(y[w], words));
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
        // None may follow.
        place.out = place.out.wrapping_add(step);
        match CLASSES {
            PER_SYMBOL => place.classes = place.classes.add(LANES),
            PER_ROW => place.classes = place.classes.add(size_of::<u16>()),
            _ => {}
        }
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

/// Gives words to the states of a group that take one.
///
/// # Safety
/// Needs AVX2, and 64 bytes to read from `words` on.
#[inline(always)]
pub(super) unsafe fn refill_all(states: &mut [__m256i; VECTORS], words: &mut *const u8) {
    // SAFETY: as the caller vouches; each vector moves `words` on by 16 bytes at most.
    unsafe {
        for x in states {
            *x = refill(*x, words);
        }
    }
}

/// The same, worked out before what follows: what the compiler puts off to where it is needed stands in the way of
/// what could begin, as little is in flight.
#[inline]
#[target_feature(enable = "avx2")]
fn settled(mut x: __m256i) -> __m256i {
    // SAFETY: no instruction. Not `pure`, as it is there for its place.
    unsafe {
        std::arch::asm!("/* {0} */", inout(ymm_reg) x, options(nomem, nostack, preserves_flags));
    }
    x
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
