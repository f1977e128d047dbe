//! SHA-256 a few rounds at a time, in between of other work: each round waits for the one before, which leaves most
//! of a processor idle.

use super::avx512_rans_encode::Beside;
use crate::rans::encode::Block;
use crate::scalar::sha256::ROUND_CONSTANTS;
use std::arch::x86_64::*;
use std::sync::OnceLock;

/// Turns of eight rounds a block.
const TURNS: usize = 8;
/// Turns behind which words of the schedule are still wanted.
const SCHEDULED: usize = 6;

/// Whether this processor has the instructions.
pub(crate) fn is_available() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| is_x86_feature_detected!("sha"))
}

/// Blocks on their way into a state.
pub(crate) struct Hashing<'b> {
    /// The state, in the order that the instructions want, and as it was before the block at hand.
    abef: __m128i,
    cdgh: __m128i,
    before: [__m128i; 2],
    /// Sixteen words of the block's schedule.
    words: [__m128i; 4],
    /// The turn of the block that comes next.
    turn: usize,
    blocks: std::slice::Iter<'b, Block>,
    /// Whether there are so many blocks that a row has two turns.
    many: bool,
}

impl<'b> Hashing<'b> {
    /// Of `blocks` in so many rows.
    ///
    /// # Safety
    /// Needs SHA and SSE 4.1.
    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(crate) unsafe fn new(state: &[u32; 8], blocks: &'b [Block], rows: usize) -> Self {
        let zero = _mm_setzero_si128();
        // SAFETY: four numbers are loaded from each half of eight.
        let (dcba, hgfe) = unsafe {
            let at = state.as_ptr();
            (_mm_loadu_si128(at.cast()), _mm_loadu_si128(at.add(4).cast()))
        };
        let (cdab, efgh) = (_mm_shuffle_epi32::<0xb1>(dcba), _mm_shuffle_epi32::<0x1b>(hgfe));
        let (abef, cdgh) = (_mm_alignr_epi8::<8>(cdab, efgh), _mm_blend_epi16::<0xf0>(efgh, cdab));
        let (before, words) = ([abef, cdgh], [zero; 4]);
        let many = blocks.len() * TURNS > 2 * rows;
        Self { abef, cdgh, before, words, turn: 0, blocks: blocks.iter(), many }
    }

    /// Hashes what is left, and gives back the state.
    ///
    /// # Safety
    /// As [`Hashing::new`].
    #[inline]
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(crate) unsafe fn finish(mut self, state: &mut [u32; 8]) {
        // SAFETY: as the caller vouches; four numbers are stored to each half of eight.
        unsafe {
            while self.turn > 0 || self.blocks.len() > 0 {
                self.turn();
            }
            let feba = _mm_shuffle_epi32::<0x1b>(self.abef);
            let dchg = _mm_shuffle_epi32::<0xb1>(self.cdgh);
            let at = state.as_mut_ptr();
            _mm_storeu_si128(at.cast(), _mm_blend_epi16::<0xf0>(feba, dchg));
            _mm_storeu_si128(at.add(4).cast(), _mm_alignr_epi8::<8>(dchg, feba));
        }
    }

    /// Sixteen rounds, if there are any.
    ///
    /// # Safety
    /// As [`Hashing::new`].
    #[inline(always)]
    unsafe fn turn(&mut self) {
        // SAFETY: as the caller vouches; sixteen bytes are loaded four times from 64, and from the constants
        // of 64 rounds at one of four places.
        unsafe {
            if self.turn == 0 {
                let Some(block) = self.blocks.next() else { return };
                let swapped = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
                for (i, words) in self.words.iter_mut().enumerate() {
                    let bytes = _mm_loadu_si128(block.as_ptr().add(16 * i).cast());
                    *words = _mm_shuffle_epi8(bytes, swapped);
                }
                self.before = [self.abef, self.cdgh];
            }
            let constants = ROUND_CONSTANTS.as_ptr().add(8 * self.turn);
            let [a, b, c, d] = self.words;
            self.rounds(a, constants);
            self.rounds(b, constants.add(4));
            self.words = [c, d, a, b];
            if self.turn < SCHEDULED {
                let e = behind([a, b, c, d]);
                self.words = [c, d, e, behind([b, c, d, e])];
            }
            self.turn = (self.turn + 1) % TURNS;
            if self.turn == 0 {
                self.abef = _mm_add_epi32(self.abef, self.before[0]);
                self.cdgh = _mm_add_epi32(self.cdgh, self.before[1]);
            }
        }
    }

    /// Four rounds, by four words and constants.
    ///
    /// # Safety
    /// As [`Hashing::new`]; there are four constants.
    #[inline(always)]
    unsafe fn rounds(&mut self, words: __m128i, constants: *const u32) {
        // SAFETY: as the caller vouches.
        unsafe {
            let sum = _mm_add_epi32(words, _mm_loadu_si128(constants.cast()));
            self.cdgh = _mm_sha256rnds2_epu32(self.cdgh, self.abef, sum);
            let sum = _mm_shuffle_epi32::<0x0e>(sum);
            self.abef = _mm_sha256rnds2_epu32(self.abef, self.cdgh, sum);
        }
    }
}

/// The four words of a schedule behind sixteen.
///
/// # Safety
/// As [`Hashing::new`].
#[inline(always)]
unsafe fn behind([a, b, c, d]: [__m128i; 4]) -> __m128i {
    // SAFETY: as the caller vouches.
    unsafe {
        let next = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8::<4>(d, c));
        _mm_sha256msg2_epu32(next, d)
    }
}

impl Beside for Hashing<'_> {
    #[inline(always)]
    unsafe fn some(&mut self) {
        // SAFETY: as the caller vouches.
        unsafe {
            self.turn();
            if self.many {
                self.turn();
            }
        }
    }
}
