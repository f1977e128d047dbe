//! The operations on sixteen lanes of `u32` that the AVX-512 kernels of rANS are made of, twice: as
//! instructions, and as a portable model, as `vector512` has them for other kernels.

use crate::rans::classes::WINDOW;

/// Lanes of a vector.
pub(crate) const WIDTH: usize = 16;
/// The second byte of each lane.
pub(crate) const SECOND: u64 = 0x2222_2222_2222_2222;

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
    /// For each lane the byte of `window` that its second byte names, below 64, as its second byte;
    /// the others are 0. `second` is [`SECOND`].
    unsafe fn look_up(self, window: &[u8; WINDOW], second: u64) -> Self;
    /// For each lane its number in `slots`; by `SINGLE` loads or together.
    unsafe fn gather<const SINGLE: bool>(self, slots: *const u32) -> Self;
    /// Bits of both.
    unsafe fn and(self, other: Self) -> Self;
    /// Its bits in `mask`, and those of `other`.
    unsafe fn within_or(self, mask: Self, other: Self) -> Self;
    /// Sums mod 2^32.
    unsafe fn add(self, other: Self) -> Self;
    /// Products mod 2^32.
    unsafe fn mul(self, other: Self) -> Self;
    /// Shifted right by `N`.
    unsafe fn down<const N: u32>(self) -> Self;
    /// Shifted right by as much as `by` says in each lane, which is below 32.
    unsafe fn shift_right(self, by: Self) -> Self;
    /// Shifted left by 8.
    unsafe fn byte_up(self) -> Self;
    /// Shifted left by as much as `by` says in each lane, which is below 32.
    unsafe fn shift_left(self, by: Self) -> Self;
    /// The lanes that are below those of `other`, as numbers without sign; lane 0 is bit 0.
    unsafe fn below(self, other: Self) -> u16;
    /// `words`, widened, one after the other to the lanes of `to`; the other lanes are those of
    /// `self`, shifted left by 16 and or'ed with the words in the lanes of `to`.
    unsafe fn take_words(self, to: u16, words: &[u8; 2 * WIDTH]) -> Self;
    /// Bits 12 to 19 of the lanes of `self`, then of `other`.
    unsafe fn store_symbols(self, other: Self, to: &mut [u8; 2 * WIDTH]);
    /// The same, worked out before what follows: what the compiler puts off to where it is needed stands in the
    /// way of what could begin, as little is in flight.
    unsafe fn settled(self) -> Self;
    /// Has memory at `place`, if there is any, come to the second cache.
    unsafe fn bring_near(place: *const u8);
}

#[cfg(target_arch = "x86_64")]
mod real {
    use std::arch::x86_64::*;

    use super::{Lanes, WIDTH, WINDOW};

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
        unsafe fn look_up(self, window: &[u8; WINDOW], second: u64) -> Self {
            intrinsics!({
                let window = _mm512_loadu_si512(window.as_ptr().cast());
                _mm512_maskz_permutexvar_epi8(second, self, window)
            })
        }
        #[inline(always)]
        unsafe fn gather<const SINGLE: bool>(self, slots: *const u32) -> Self {
            // SAFETY: the caller vouches for the instructions, and that the slots are there.
            unsafe {
                if !SINGLE {
                    return _mm512_i32gather_epi32::<4>(self, slots.cast());
                }
                sixteen(slots, self)
            }
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            intrinsics!(_mm512_and_si512(self, other))
        }
        #[inline(always)]
        unsafe fn within_or(self, mask: Self, other: Self) -> Self {
            intrinsics!(_mm512_ternarylogic_epi32::<0xf8>(other, self, mask))
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            intrinsics!(_mm512_add_epi32(self, other))
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            intrinsics!(_mm512_mullo_epi32(self, other))
        }
        #[inline(always)]
        unsafe fn down<const N: u32>(self) -> Self {
            intrinsics!(_mm512_srli_epi32::<N>(self))
        }
        #[inline(always)]
        unsafe fn shift_right(self, by: Self) -> Self {
            intrinsics!(_mm512_srlv_epi32(self, by))
        }
        #[inline(always)]
        unsafe fn byte_up(self) -> Self {
            intrinsics!(_mm512_slli_epi32::<8>(self))
        }
        #[inline(always)]
        unsafe fn shift_left(self, by: Self) -> Self {
            intrinsics!(_mm512_sllv_epi32(self, by))
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
        unsafe fn store_symbols(self, other: Self, to: &mut [u8; 2 * WIDTH]) {
            intrinsics!({
                // Those of `other` beside those of `self`, then both kinds together.
                let (first, second) =
                    (_mm512_srli_epi32::<12>(self), _mm512_srli_epi32::<4>(other));
                let low = _mm512_set1_epi32(0xff);
                let both = _mm512_ternarylogic_epi32::<0xca>(low, first, second);
                let bytes =
                    _mm512_permutexvar_epi8(_mm512_load_si512((&raw const ORDER).cast()), both);
                _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm512_castsi512_si256(bytes));
            });
        }
        #[inline(always)]
        unsafe fn settled(self) -> Self {
            intrinsics!(settle(self))
        }
        #[inline(always)]
        unsafe fn bring_near(place: *const u8) {
            // That is a hint, which no address can make wrong.
            intrinsics!(_mm_prefetch::<_MM_HINT_T1>(place.cast()));
        }
    }

    /// As [`Lanes::settled`]. A function of its own, as registers of 512 bits are asked for where they surely are.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn settle(mut lanes: __m512i) -> __m512i {
        // SAFETY: no instruction. Not `pure`, as it is there for its place.
        unsafe {
            std::arch::asm!("/* {0} */", inout(zmm_reg) lanes, options(nomem, nostack, preserves_flags));
        }
        lanes
    }

    /// Sixteen slots by single loads, four after four. In assembly, as the compiler mixes the fours, so that the first
    /// ones wait for the last; not `pure`, so that it keeps its place among what is settled.
    ///
    /// # Safety
    /// Needs AVX-512 as the trait has it, and such slots.
    #[inline(always)]
    unsafe fn sixteen(slots: *const u32, numbers: __m512i) -> __m512i {
        let (mut a, mut b, mut c, mut d): (__m128i, __m128i, __m128i, __m128i);
        // SAFETY: the caller vouches for the instructions and the slots, which are all that is read.
        unsafe {
            let low = _mm512_castsi512_si256(numbers);
            let high = _mm512_extracti64x4_epi64::<1>(numbers);
            (a, b) = (_mm256_castsi256_si128(low), _mm256_extracti128_si256::<1>(low));
            (c, d) = (_mm256_castsi256_si128(high), _mm256_extracti128_si256::<1>(high));
            macro_rules! four {
                ($four:ident) => {
                    concat!(
                        "vmovq {p}, {",
                        stringify!($four),
                        "}\n",
                        "vpextrq {q}, {",
                        stringify!($four),
                        "}, 1\n",
                        "mov {i:e}, {p:e}\n",
                        "shr {p}, 32\n",
                        "vmovd {",
                        stringify!($four),
                        "}, dword ptr [{slots} + 4 * {i}]\n",
                        "mov {i:e}, {q:e}\n",
                        "vpinsrd {",
                        stringify!($four),
                        "}, {",
                        stringify!($four),
                        "}, dword ptr [{slots} + 4 * {p}], 1\n",
                        "shr {q}, 32\n",
                        "vpinsrd {",
                        stringify!($four),
                        "}, {",
                        stringify!($four),
                        "}, dword ptr [{slots} + 4 * {i}], 2\n",
                        "vpinsrd {",
                        stringify!($four),
                        "}, {",
                        stringify!($four),
                        "}, dword ptr [{slots} + 4 * {q}], 3",
                    )
                };
            }
            std::arch::asm!(
                four!(a),
                four!(b),
                four!(c),
                four!(d),
                slots = in(reg) slots,
                p = out(reg) _,
                q = out(reg) _,
                i = out(reg) _,
                a = inout(xmm_reg) a,
                b = inout(xmm_reg) b,
                c = inout(xmm_reg) c,
                d = inout(xmm_reg) d,
                options(nostack),
            );
            let low = _mm512_castsi256_si512(_mm256_set_m128i(b, a));
            _mm512_inserti64x4::<1>(low, _mm256_set_m128i(d, c))
        }
    }

    /// Where the bytes 4i and 4i + 1 go.
    static ORDER: Order = {
        let mut order = [0; 64];
        let (mut i, mut byte) = (0, 0);
        while i < WIDTH {
            (order[i], order[WIDTH + i]) = (byte, byte + 1);
            (i, byte) = (i + 1, byte + 4);
        }
        Order(order)
    };

    #[repr(C, align(64))]
    struct Order([u8; 64]);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The operations in portable code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Model([u32; WIDTH]);

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
        unsafe fn look_up(self, window: &[u8; WINDOW], second: u64) -> Self {
            assert_eq!(second, SECOND);
            Model(self.0.map(|i| u32::from(window[(i >> 8 & 63) as usize]) << 8))
        }
        unsafe fn gather<const SINGLE: bool>(self, slots: *const u32) -> Self {
            // SAFETY: the caller vouches for the slots.
            Model(self.0.map(|i| unsafe { *slots.add(i as usize) }))
        }
        unsafe fn and(self, other: Self) -> Self {
            self.zip(other, |a, b| a & b)
        }
        unsafe fn within_or(self, mask: Self, other: Self) -> Self {
            self.zip(mask, |a, b| a & b).zip(other, |a, b| a | b)
        }
        unsafe fn add(self, other: Self) -> Self {
            self.zip(other, u32::wrapping_add)
        }
        unsafe fn mul(self, other: Self) -> Self {
            self.zip(other, u32::wrapping_mul)
        }
        unsafe fn down<const N: u32>(self) -> Self {
            Model(self.0.map(|x| x >> N))
        }
        unsafe fn shift_right(self, by: Self) -> Self {
            self.zip(by, |x, by| x >> by)
        }
        unsafe fn byte_up(self) -> Self {
            Model(self.0.map(|x| x << 8))
        }
        unsafe fn shift_left(self, by: Self) -> Self {
            self.zip(by, |x, by| x << by)
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
        unsafe fn store_symbols(self, other: Self, to: &mut [u8; 2 * WIDTH]) {
            let all = self.0.iter().chain(&other.0);
            to.iter_mut().zip(all).for_each(|(to, x)| *to = (x >> 12).to_le_bytes()[0]);
        }
        unsafe fn settled(self) -> Self {
            self
        }
        unsafe fn bring_near(_: *const u8) {}
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2")]
    unsafe fn compare() {
        use std::arch::x86_64::__m512i;
        let mut next = crate::testing::noise(77);
        #[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers")]
        for _ in 0..2000 {
            let mut numbers = || std::array::from_fn(|_| (next() as u32) >> (next() % 32));
            let (a, b): ([u32; WIDTH], [u32; WIDTH]) = (numbers(), numbers());
            let bytes: [u8; WIDTH] = std::array::from_fn(|_| next() as u8);
            let words: [u8; 2 * WIDTH] = std::array::from_fn(|_| next() as u8);
            let window: [u8; WINDOW] = std::array::from_fn(|_| next() as u8);
            let to = next() as u16;
            let slots: Vec<u32> = (0..64).map(|_| next() as u32).collect();
            // SAFETY: the caller vouches for the instructions; 64 slots are there.
            unsafe {
                let (x, y) = (__m512i::load(&a), __m512i::load(&b));
                let (mx, my) = (Model::load(&a), Model::load(&b));
                let few = (x.and(__m512i::splat(63)), mx.and(Model::splat(63)));
                let (by, mby) = (y.and(__m512i::splat(31)), my.and(Model::splat(31)));
                let pairs = [
                    (few.0.gather::<false>(slots.as_ptr()), few.1.gather::<false>(slots.as_ptr())),
                    (few.0.gather::<true>(slots.as_ptr()), few.1.gather::<true>(slots.as_ptr())),
                    (x.look_up(&window, SECOND), mx.look_up(&window, SECOND)),
                    (__m512i::widen_bytes(&bytes), Model::widen_bytes(&bytes)),
                    (x.within_or(y, few.0), mx.within_or(my, few.1)),
                    (x.add(y), mx.add(my)),
                    (x.down::<20>(), mx.down::<20>()),
                    (x.byte_up(), mx.byte_up()),
                    (x.mul(y), mx.mul(my)),
                    (x.shift_right(by), mx.shift_right(mby)),
                    (x.shift_left(by), mx.shift_left(mby)),
                    (x.take_words(to, &words), mx.take_words(to, &words)),
                ];
                assert_eq!(x.below(y), mx.below(my));
                let mut low = [[0; 2 * WIDTH]; 2];
                x.store_symbols(y, &mut low[0]);
                mx.store_symbols(my, &mut low[1]);
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
