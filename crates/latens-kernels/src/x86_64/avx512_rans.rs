//! AVX-512 kernels of [`crate::rans`]: two vectors of sixteen states to a group.
//!
//! Slots come by gather; the states below 2^16 make a mask, and one expansion under it brings the
//! next words of the stream to the lanes that take them.
//!
//! All of it is generic over [`Lanes`] and tested through the portable model of its operations.
//! It has not been timed by us: no processor with these instructions was at hand.

use crate::rans::{Classes, Cursor, LANES, LOWER, Tables};

/// Vectors to a group.
const VECTORS: usize = LANES / WIDTH;
/// Lanes of a vector.
const WIDTH: usize = 16;

/// The operations on sixteen lanes of `u32` that the kernel is made of.
///
/// # Safety
/// All functions need what [`crate::dispatch::Simd::Avx512`] stands for, but those of the model.
pub(crate) trait Lanes: Copy {
    /// Sixteen numbers from memory.
    unsafe fn load(from: &[u32; WIDTH]) -> Self;
    /// To memory.
    unsafe fn store(self, to: &mut [u32; WIDTH]);
    /// `x` in every lane.
    unsafe fn splat(x: u32) -> Self;
    /// Sixteen bytes, widened.
    unsafe fn widen_bytes(from: &[u8; WIDTH]) -> Self;
    /// For each lane its number in `slots`, which has that many.
    unsafe fn gather(self, slots: &[u32]) -> Self;
    /// Bits of both.
    unsafe fn and(self, other: Self) -> Self;
    /// Bits of either.
    unsafe fn or(self, other: Self) -> Self;
    /// Sums mod 2^32.
    unsafe fn add(self, other: Self) -> Self;
    /// Differences mod 2^32.
    unsafe fn sub(self, other: Self) -> Self;
    /// Products mod 2^32.
    unsafe fn mul(self, other: Self) -> Self;
    /// Shifted right by `by`, which is below 32.
    unsafe fn shift_right(self, by: u32) -> Self;
    /// Shifted left by `by`, which is below 32.
    unsafe fn shift_left(self, by: u32) -> Self;
    /// The lanes that are below those of `other`, as numbers without sign; lane 0 is bit 0.
    unsafe fn below(self, other: Self) -> u16;
    /// `words`, widened, one after the other to the lanes of `to`; the other lanes are those of
    /// `self`, shifted left by 16 and or'ed with the words in the lanes of `to`.
    unsafe fn take_words(self, to: u16, words: &[u8; 2 * WIDTH]) -> Self;
    /// The lowest byte of each lane.
    unsafe fn store_bytes(self, to: &mut [u8; WIDTH]);
}

/// Whole rows of `G` groups, as long as none's words or symbols run out.
///
/// # Safety
/// As [`Lanes`] says; each class of the groups has a table, and there are as many classes as
/// symbols.
#[inline(always)]
unsafe fn rows<V: Lanes, const G: usize>(tables: Tables<'_>, cursors: &mut [Cursor<'_>; G]) {
    let (slots, bits) = (tables.slots(), tables.bits());
    // SAFETY: the caller vouches for the instructions and for the slots that are looked up.
    unsafe {
        let mask = V::splat((1 << bits) - 1);
        let lower = V::splat(LOWER);
        let byte_12 = V::splat(0xfff);
        let mut states = [[V::splat(0); VECTORS]; G];
        for (states, cursor) in states.iter_mut().zip(&*cursors) {
            for (x, from) in states.iter_mut().zip(cursor.states.as_chunks().0) {
                *x = V::load(from);
            }
        }
        loop {
            let rows = cursors.iter().map(Cursor::safe_rows).min().unwrap_or(0);
            if rows == 0 {
                break;
            }
            for _ in 0..rows {
                for (states, cursor) in states.iter_mut().zip(&mut *cursors) {
                    let mut entries = [V::splat(0); VECTORS];
                    for (v, (x, entry)) in states.iter_mut().zip(&mut entries).enumerate() {
                        let first = cursor.written + v * WIDTH;
                        let base = match cursor.classes {
                            Classes::One(class) => V::splat(u32::from(class) << bits),
                            Classes::PerSymbol(classes) => {
                                let Some(classes) = classes[first..].first_chunk() else { return };
                                V::widen_bytes(classes).shift_left(bits)
                            }
                        };
                        *entry = x.and(mask).or(base).gather(slots);
                        let product = entry.shift_right(20).mul(x.shift_right(bits));
                        *x = x.sub(product.add(entry.shift_right(8).and(byte_12)));
                    }
                    for (v, (x, entry)) in states.iter_mut().zip(&entries).enumerate() {
                        let first = cursor.written + v * WIDTH;
                        let out = cursor.out[first..].first_chunk_mut();
                        let words = cursor.words[cursor.read..].first_chunk();
                        // Both are there: `safe_rows` has counted.
                        let (Some(out), Some(words)) = (out, words) else { return };
                        entry.store_bytes(out);
                        let to = x.below(lower);
                        *x = x.take_words(to, words);
                        cursor.read += 2 * to.count_ones() as usize;
                    }
                    cursor.written += LANES;
                }
            }
        }
        for (states, cursor) in states.iter().zip(cursors) {
            for (x, to) in states.iter().zip(cursor.states.as_chunks_mut().0) {
                x.store(to);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use real::{rows_1, rows_2};

#[cfg(target_arch = "x86_64")]
mod real {
    use std::arch::x86_64::*;

    use super::{Cursor, Lanes, Tables, WIDTH, rows};

    /// An expression of intrinsics that touch no memory but whole arrays.
    macro_rules! intrinsics {
        ($e:expr) => {
            // SAFETY: the caller vouches for the instructions; arrays are as long as what is
            // loaded and stored.
            unsafe { $e }
        };
    }

    impl Lanes for __m512i {
        #[inline(always)]
        unsafe fn load(from: &[u32; WIDTH]) -> Self {
            intrinsics!(_mm512_loadu_si512(from.as_ptr().cast()))
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [u32; WIDTH]) {
            intrinsics!(_mm512_storeu_si512(to.as_mut_ptr().cast(), self));
        }
        #[inline(always)]
        unsafe fn splat(x: u32) -> Self {
            intrinsics!(_mm512_set1_epi32(x.cast_signed()))
        }
        #[inline(always)]
        unsafe fn widen_bytes(from: &[u8; WIDTH]) -> Self {
            intrinsics!(_mm512_cvtepu8_epi32(_mm_loadu_si128(from.as_ptr().cast())))
        }
        #[inline(always)]
        unsafe fn gather(self, slots: &[u32]) -> Self {
            // SAFETY: the caller vouches for the instruction, and that the slots are there.
            unsafe { _mm512_i32gather_epi32::<4>(self, slots.as_ptr().cast()) }
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            intrinsics!(_mm512_and_si512(self, other))
        }
        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            intrinsics!(_mm512_or_si512(self, other))
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            intrinsics!(_mm512_add_epi32(self, other))
        }
        #[inline(always)]
        unsafe fn sub(self, other: Self) -> Self {
            intrinsics!(_mm512_sub_epi32(self, other))
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            intrinsics!(_mm512_mullo_epi32(self, other))
        }
        #[inline(always)]
        unsafe fn shift_right(self, by: u32) -> Self {
            intrinsics!(_mm512_srl_epi32(self, _mm_cvtsi32_si128(by.cast_signed())))
        }
        #[inline(always)]
        unsafe fn shift_left(self, by: u32) -> Self {
            intrinsics!(_mm512_sll_epi32(self, _mm_cvtsi32_si128(by.cast_signed())))
        }
        #[inline(always)]
        unsafe fn below(self, other: Self) -> u16 {
            intrinsics!(_mm512_cmplt_epu32_mask(self, other))
        }
        #[inline(always)]
        unsafe fn take_words(self, to: u16, words: &[u8; 2 * WIDTH]) -> Self {
            intrinsics!({
                let words = _mm512_cvtepu16_epi32(_mm256_loadu_si256(words.as_ptr().cast()));
                let raised = _mm512_mask_slli_epi32::<16>(self, to, self);
                _mm512_or_si512(raised, _mm512_maskz_expand_epi32(to, words))
            })
        }
        #[inline(always)]
        unsafe fn store_bytes(self, to: &mut [u8; WIDTH]) {
            intrinsics!(_mm_storeu_si128(to.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(self)));
        }
    }

    /// Whole rows of one group, as long as its words do not run out.
    ///
    /// # Safety
    /// Each class of the group has a table, and there are as many classes as symbols.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt"
    )]
    pub(crate) unsafe fn rows_1(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 1]) {
        // SAFETY: as the caller vouches.
        unsafe { rows::<__m512i, 1>(tables, cursors) }
    }

    /// Whole rows of two groups, as long as neither's words or symbols run out.
    ///
    /// # Safety
    /// Each class of the groups has a table, and there are as many classes as symbols.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt"
    )]
    pub(crate) unsafe fn rows_2(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 2]) {
        // SAFETY: as the caller vouches.
        unsafe { rows::<__m512i, 2>(tables, cursors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rans::tests::{cases, with_group, with_two};
    use crate::scalar::rans::finish;

    /// The operations in portable code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Model([u32; WIDTH]);

    impl Model {
        fn zip(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
            Model(std::array::from_fn(|i| f(self.0[i], other.0[i])))
        }
    }

    impl Lanes for Model {
        unsafe fn load(from: &[u32; WIDTH]) -> Self {
            Model(*from)
        }
        unsafe fn store(self, to: &mut [u32; WIDTH]) {
            *to = self.0;
        }
        unsafe fn splat(x: u32) -> Self {
            Model([x; WIDTH])
        }
        unsafe fn widen_bytes(from: &[u8; WIDTH]) -> Self {
            Model(from.map(u32::from))
        }
        unsafe fn gather(self, slots: &[u32]) -> Self {
            Model(self.0.map(|i| slots[i as usize]))
        }
        unsafe fn and(self, other: Self) -> Self {
            self.zip(other, |a, b| a & b)
        }
        unsafe fn or(self, other: Self) -> Self {
            self.zip(other, |a, b| a | b)
        }
        unsafe fn add(self, other: Self) -> Self {
            self.zip(other, u32::wrapping_add)
        }
        unsafe fn sub(self, other: Self) -> Self {
            self.zip(other, u32::wrapping_sub)
        }
        unsafe fn mul(self, other: Self) -> Self {
            self.zip(other, u32::wrapping_mul)
        }
        unsafe fn shift_right(self, by: u32) -> Self {
            Model(self.0.map(|x| x >> by))
        }
        unsafe fn shift_left(self, by: u32) -> Self {
            Model(self.0.map(|x| x << by))
        }
        unsafe fn below(self, other: Self) -> u16 {
            (0..WIDTH).map(|i| u16::from(self.0[i] < other.0[i]) << i).sum()
        }
        unsafe fn take_words(self, to: u16, words: &[u8; 2 * WIDTH]) -> Self {
            let mut words = words.as_chunks::<2>().0.iter();
            Model(std::array::from_fn(|i| match to >> i & 1 {
                0 => self.0[i],
                _ => self.0[i] << 16 | u32::from(u16::from_le_bytes(*words.next().unwrap())),
            }))
        }
        unsafe fn store_bytes(self, to: &mut [u8; WIDTH]) {
            *to = self.0.map(|x| x.to_le_bytes()[0]);
        }
    }

    #[test]
    fn the_kernels_on_the_model_agree_with_scalar() {
        for case in cases() {
            let scalar = case.decode(crate::dispatch::Simd::Scalar);
            let tables = Tables::new(&case.slots, case.bits).unwrap();
            let one = with_group(&case, |group| {
                let mut cursors = [Cursor::new(group)];
                // SAFETY: the model needs no instructions, and looks up what is there.
                unsafe { rows::<Model, 1>(tables, &mut cursors) };
                let [cursor] = cursors;
                assert_eq!(cursor.safe_rows(), 0, "the vectors did their part");
                finish(tables, cursor)
            });
            assert_eq!(one, scalar, "{case:?}");
            let two = with_two(&case, &case, |first, second| {
                let mut cursors = [Cursor::new(first), Cursor::new(second)];
                // SAFETY: as above.
                unsafe { rows::<Model, 2>(tables, &mut cursors) };
                cursors.map(|cursor| finish(tables, cursor))
            });
            assert_eq!(two, [scalar.clone(), scalar], "{case:?}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2")]
    unsafe fn compare() {
        use std::arch::x86_64::__m512i;
        let mut next = crate::delta::tests::noise(77);
        #[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers")]
        for _ in 0..2000 {
            let mut numbers = || std::array::from_fn(|_| (next() as u32) >> (next() % 32));
            let (a, b): ([u32; WIDTH], [u32; WIDTH]) = (numbers(), numbers());
            let bytes: [u8; WIDTH] = std::array::from_fn(|_| next() as u8);
            let words: [u8; 2 * WIDTH] = std::array::from_fn(|_| next() as u8);
            let (by, to) = ((next() % 32) as u32, next() as u16);
            let slots: Vec<u32> = (0..64).map(|_| next() as u32).collect();
            // SAFETY: the caller vouches for the instructions; 64 slots are there.
            unsafe {
                let (x, y) = (__m512i::load(&a), __m512i::load(&b));
                let (mx, my) = (Model::load(&a), Model::load(&b));
                let few = (x.and(__m512i::splat(63)), mx.and(Model::splat(63)));
                let pairs = [
                    (few.0.gather(&slots), few.1.gather(&slots)),
                    (__m512i::widen_bytes(&bytes), Model::widen_bytes(&bytes)),
                    (x.or(y), mx.or(my)),
                    (x.add(y), mx.add(my)),
                    (x.sub(y), mx.sub(my)),
                    (x.mul(y), mx.mul(my)),
                    (x.shift_right(by), mx.shift_right(by)),
                    (x.shift_left(by), mx.shift_left(by)),
                    (x.take_words(to, &words), mx.take_words(to, &words)),
                ];
                assert_eq!(x.below(y), mx.below(my));
                let mut low = [[0; WIDTH]; 2];
                x.store_bytes(&mut low[0]);
                mx.store_bytes(&mut low[1]);
                assert_eq!(low[0], low[1]);
                for (i, (real, model)) in pairs.into_iter().enumerate() {
                    let mut out = [0; WIDTH];
                    real.store(&mut out);
                    assert_eq!(out, model.0, "operation {i}");
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_instructions_do_what_the_model_does() {
        if crate::dispatch::Simd::Avx512.is_available() {
            // SAFETY: as just asked.
            unsafe { compare() };
        } else {
            println!("no AVX-512 on this processor: nothing was compared");
        }
    }
}
