//! The few operations on 512 bits that the AVX-512 kernels are made of, twice: as instructions,
//! and as a portable model. The kernels are generic over them, so that their constants and their
//! control flow are tested on processors that do not have the instructions.

use crate::lane::Lane;

/// 512 bits: 64 bytes, 16 lanes of `u32` or 8 of `u64`, the lowest first.
///
/// # Safety
/// All functions need what [`crate::dispatch::Simd::Avx512`] stands for, but those of [`Model`].
pub(crate) trait Vector: Copy {
    /// 64 bytes from memory.
    unsafe fn load(bytes: &[u8; 64]) -> Self;
    /// As many bytes as there are, up to 64, and zeros above.
    unsafe fn load_part(bytes: &[u8]) -> Self;
    /// The lowest lanes to memory, as many as `out` takes, all of them at most.
    unsafe fn store<L: Lane>(self, out: &mut [L]);
    /// `x` in every lane.
    unsafe fn splat<L: Lane>(x: L) -> Self;
    /// For each byte the byte of `self` that the low six bits of `index` name.
    unsafe fn permute_bytes(self, index: Self) -> Self;
    /// Each lane shifted right by the same lane of `by`; 0 where that is the width or more.
    unsafe fn shift_right<L: Lane>(self, by: Self) -> Self;
    /// Each lane shifted left by the same lane of `by`; 0 where that is the width or more.
    unsafe fn shift_left<L: Lane>(self, by: Self) -> Self;
    /// Bits of both.
    unsafe fn and(self, other: Self) -> Self;
    /// Bits of either.
    unsafe fn or(self, other: Self) -> Self;
    /// Lanes added up mod 2^width.
    unsafe fn add<L: Lane>(self, other: Self) -> Self;
    /// Lanes multiplied mod 2^width.
    unsafe fn multiply<L: Lane>(self, other: Self) -> Self;
    /// For each byte the eight bits of its 64 bits that begin with bit `begin` mod 64; bit 0 comes
    /// after bit 63.
    unsafe fn take_bits(self, begin: Self) -> Self;
    /// For each 64 bits the sum of their eight bytes.
    unsafe fn sum_bytes(self) -> Self;
    /// Of every 2 N lanes, the upper N get the highest of the lower N, which become 0; `N` is 1, 2,
    /// 4 or 8. A step of adding up all lanes before each.
    unsafe fn below<L: Lane, const N: usize>(self) -> Self;
    /// The lowest lane.
    unsafe fn first<L: Lane>(self) -> L;
    /// The highest lane in every lane.
    unsafe fn broadcast_last<L: Lane>(self) -> Self;
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod real {
    use std::arch::x86_64::*;

    use super::Vector;
    use crate::lane::Lane;

    /// An instruction for lanes of 32 bits, or the one for 64.
    macro_rules! by_lane {
        ($l:ty, $for32:expr, $for64:expr) => {
            // SAFETY: the caller vouches for the instructions; they touch no memory.
            unsafe { if <$l>::BITS == 32 { $for32 } else { $for64 } }
        };
    }

    /// The lowest `count` bits, all for 64 and more.
    #[inline(always)]
    fn lowest(count: usize) -> u64 {
        if count >= 64 { u64::MAX } else { (1 << count) - 1 }
    }

    impl Vector for __m512i {
        #[inline(always)]
        unsafe fn load(bytes: &[u8; 64]) -> Self {
            // SAFETY: the caller vouches for the instruction; 64 bytes are there.
            unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
        }
        #[inline(always)]
        unsafe fn load_part(bytes: &[u8]) -> Self {
            let mask = lowest(bytes.len());
            // SAFETY: the caller vouches for the instruction; it reads the bytes of the mask
            // alone, and these are there.
            unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
        }
        #[inline(always)]
        unsafe fn store<L: Lane>(self, out: &mut [L]) {
            let size = size_of_val(out);
            if size >= 64 {
                // SAFETY: the caller vouches for the instruction; `out` has the 64 bytes.
                return unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), self) };
            }
            // SAFETY: the caller vouches for the instruction; it writes the bytes of the mask
            // alone, and these are within `out`.
            unsafe { _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), lowest(size), self) }
        }
        #[inline(always)]
        unsafe fn splat<L: Lane>(x: L) -> Self {
            let x = x.to_signed();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a lane of 32 bits, widened before"
            )]
            let low = x as i32;
            by_lane!(L, _mm512_set1_epi32(low), _mm512_set1_epi64(x))
        }
        #[inline(always)]
        unsafe fn permute_bytes(self, index: Self) -> Self {
            // SAFETY: the caller vouches for the instruction.
            unsafe { _mm512_permutexvar_epi8(index, self) }
        }
        #[inline(always)]
        unsafe fn shift_right<L: Lane>(self, by: Self) -> Self {
            by_lane!(L, _mm512_srlv_epi32(self, by), _mm512_srlv_epi64(self, by))
        }
        #[inline(always)]
        unsafe fn shift_left<L: Lane>(self, by: Self) -> Self {
            by_lane!(L, _mm512_sllv_epi32(self, by), _mm512_sllv_epi64(self, by))
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            // SAFETY: the caller vouches for the instruction.
            unsafe { _mm512_and_si512(self, other) }
        }
        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            // SAFETY: the caller vouches for the instruction.
            unsafe { _mm512_or_si512(self, other) }
        }
        #[inline(always)]
        unsafe fn add<L: Lane>(self, other: Self) -> Self {
            by_lane!(L, _mm512_add_epi32(self, other), _mm512_add_epi64(self, other))
        }
        #[inline(always)]
        unsafe fn multiply<L: Lane>(self, other: Self) -> Self {
            by_lane!(L, _mm512_mullo_epi32(self, other), _mm512_mullo_epi64(self, other))
        }
        #[inline(always)]
        unsafe fn take_bits(self, begin: Self) -> Self {
            // SAFETY: the caller vouches for the instruction.
            unsafe { _mm512_multishift_epi64_epi8(begin, self) }
        }
        #[inline(always)]
        unsafe fn sum_bytes(self) -> Self {
            // SAFETY: the caller vouches for the instruction.
            unsafe { _mm512_sad_epu8(self, _mm512_setzero_si512()) }
        }
        #[inline(always)]
        unsafe fn below<L: Lane, const N: usize>(self) -> Self {
            // SAFETY: the caller vouches for the instructions; they touch no memory.
            unsafe {
                match (L::BITS, N) {
                    (32, 1) => _mm512_slli_epi64::<32>(self),
                    (32, 2) => _mm512_maskz_shuffle_epi32::<0x55>(0xcccc, self),
                    (32, 4) => {
                        let third = _mm512_setr_epi32(
                            3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11,
                        );
                        _mm512_maskz_permutexvar_epi32(0xf0f0, third, self)
                    }
                    (32, _) => _mm512_maskz_permutexvar_epi32(0xff00, _mm512_set1_epi32(7), self),
                    (_, 1) => _mm512_bslli_epi128::<8>(self),
                    (_, 2) => _mm512_maskz_permutex_epi64::<0x55>(0xcc, self),
                    (_, _) => _mm512_maskz_permutexvar_epi64(0xf0, _mm512_set1_epi64(3), self),
                }
            }
        }
        #[inline(always)]
        unsafe fn first<L: Lane>(self) -> L {
            // SAFETY: the caller vouches for the instructions; they touch no memory.
            let low = unsafe { _mm_cvtsi128_si64(_mm512_castsi512_si128(self)) };
            L::truncate(low.cast_unsigned())
        }
        #[inline(always)]
        unsafe fn broadcast_last<L: Lane>(self) -> Self {
            by_lane!(
                L,
                _mm512_permutexvar_epi32(_mm512_set1_epi32(15), self),
                _mm512_permutexvar_epi64(_mm512_set1_epi64(7), self)
            )
        }
    }
}

/// The operations in portable code, for tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Model(pub(crate) [u8; 64]);

#[cfg(test)]
impl Model {
    fn lane<L: Lane>(self, i: usize) -> u64 {
        let size = L::BITS as usize / 8;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.0[i * size..][..size]);
        u64::from_le_bytes(bytes)
    }

    fn each<L: Lane>(f: impl Fn(usize) -> u64) -> Self {
        let size = L::BITS as usize / 8;
        let mut all = [0; 64];
        for (i, lane) in all.chunks_exact_mut(size).enumerate() {
            lane.copy_from_slice(&L::truncate(f(i)).widen().to_le_bytes()[..size]);
        }
        Model(all)
    }
}

#[cfg(test)]
impl Vector for Model {
    unsafe fn load(bytes: &[u8; 64]) -> Self {
        Model(*bytes)
    }
    unsafe fn load_part(bytes: &[u8]) -> Self {
        let mut all = [0; 64];
        let have = bytes.len().min(64);
        all[..have].copy_from_slice(&bytes[..have]);
        Model(all)
    }
    unsafe fn store<L: Lane>(self, out: &mut [L]) {
        for (i, value) in out.iter_mut().take(512 / L::BITS as usize).enumerate() {
            *value = L::truncate(self.lane::<L>(i));
        }
    }
    unsafe fn splat<L: Lane>(x: L) -> Self {
        Self::each::<L>(|_| x.widen())
    }
    unsafe fn permute_bytes(self, index: Self) -> Self {
        Model(index.0.map(|i| self.0[usize::from(i % 64)]))
    }
    unsafe fn shift_right<L: Lane>(self, by: Self) -> Self {
        let shift = |x: u64, by: u64| if by < L::BITS.into() { x >> by } else { 0 };
        Self::each::<L>(|i| shift(self.lane::<L>(i), by.lane::<L>(i)))
    }
    unsafe fn shift_left<L: Lane>(self, by: Self) -> Self {
        let shift = |x: u64, by: u64| if by < L::BITS.into() { x << by } else { 0 };
        Self::each::<L>(|i| shift(self.lane::<L>(i), by.lane::<L>(i)))
    }
    unsafe fn and(self, other: Self) -> Self {
        Self::each::<u64>(|i| self.lane::<u64>(i) & other.lane::<u64>(i))
    }
    unsafe fn or(self, other: Self) -> Self {
        Self::each::<u64>(|i| self.lane::<u64>(i) | other.lane::<u64>(i))
    }
    unsafe fn add<L: Lane>(self, other: Self) -> Self {
        Self::each::<L>(|i| self.lane::<L>(i).wrapping_add(other.lane::<L>(i)))
    }
    unsafe fn multiply<L: Lane>(self, other: Self) -> Self {
        Self::each::<L>(|i| self.lane::<L>(i).wrapping_mul(other.lane::<L>(i)))
    }
    unsafe fn take_bits(self, begin: Self) -> Self {
        let byte = |i: usize| {
            let bits = self.lane::<u64>(i / 8);
            bits.rotate_right(u32::from(begin.0[i]) % 64).to_le_bytes()[0]
        };
        Model(std::array::from_fn(byte))
    }
    unsafe fn sum_bytes(self) -> Self {
        Self::each::<u64>(|i| self.0[8 * i..8 * i + 8].iter().map(|&b| u64::from(b)).sum())
    }
    unsafe fn below<L: Lane, const N: usize>(self) -> Self {
        Self::each::<L>(|i| if i & N == 0 { 0 } else { self.lane::<L>((i & !(N - 1)) - 1) })
    }
    unsafe fn first<L: Lane>(self) -> L {
        L::truncate(self.lane::<L>(0))
    }
    unsafe fn broadcast_last<L: Lane>(self) -> Self {
        Self::each::<L>(|_| self.lane::<L>(512 / L::BITS as usize - 1))
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::arch::x86_64::__m512i;

    use super::*;
    use crate::dispatch::Simd;
    use crate::testing::noise;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2")]
    fn compare<L: Lane>() {
        let mut next = noise(5);
        for round in 0..200usize {
            let mut bytes = [[0u8; 64]; 2];
            bytes.as_flattened_mut().fill_with(|| next().to_le_bytes()[0]);
            let shifts = std::array::from_fn(|i| {
                let low = i % (L::BITS as usize / 8) == 0;
                if low { (next() % (u64::from(L::BITS) + 3)).to_le_bytes()[0] } else { 0 }
            });
            // SAFETY: this function is called where the processor has the instructions.
            unsafe {
                let (a, b, s) =
                    (__m512i::load(&bytes[0]), __m512i::load(&bytes[1]), __m512i::load(&shifts));
                let (ma, mb, ms) = (Model(bytes[0]), Model(bytes[1]), Model(shifts));
                let part = &bytes[0][..round % 65];
                let x = L::truncate(next());
                let pairs = [
                    (a, ma),
                    (__m512i::load_part(part), Model::load_part(part)),
                    (__m512i::splat(x), Model::splat(x)),
                    (a.permute_bytes(b), ma.permute_bytes(mb)),
                    (a.shift_right::<L>(s), ma.shift_right::<L>(ms)),
                    (a.shift_left::<L>(s), ma.shift_left::<L>(ms)),
                    (a.and(b), ma.and(mb)),
                    (a.or(b), ma.or(mb)),
                    (a.add::<L>(b), ma.add::<L>(mb)),
                    (a.multiply::<L>(b), ma.multiply::<L>(mb)),
                    (a.take_bits(b), ma.take_bits(mb)),
                    (a.sum_bytes(), ma.sum_bytes()),
                    (a.below::<L, 1>(), ma.below::<L, 1>()),
                    (a.below::<L, 2>(), ma.below::<L, 2>()),
                    (a.below::<L, 4>(), ma.below::<L, 4>()),
                    (a.below::<u32, 8>(), ma.below::<u32, 8>()),
                    (__m512i::splat(a.first::<L>()), Model::splat(ma.first::<L>())),
                    (a.broadcast_last::<L>(), ma.broadcast_last::<L>()),
                ];
                for (i, (real, model)) in pairs.into_iter().enumerate() {
                    let mut out = [[L::default(); 16]; 2];
                    let n = 1 + round % (512 / L::BITS as usize);
                    real.store(&mut out[0][..n]);
                    model.store(&mut out[1][..n]);
                    assert_eq!(out[0], out[1], "operation {i}");
                }
            }
        }
    }

    #[test]
    fn the_instructions_do_what_the_model_does() {
        if Simd::Avx512.is_available() {
            // SAFETY: as just asked.
            unsafe {
                compare::<u32>();
                compare::<u64>();
            }
        } else {
            println!("no AVX-512 on this processor: nothing was compared");
        }
    }
}
