//! The few operations on 512 bits that the AVX-512 kernels are made of, twice: as instructions,
//! and as a portable model. The kernels are generic over them, so that their constants and their
//! control flow are tested on processors that do not have the instructions.

#[cfg(test)]
mod model;
#[cfg(target_arch = "x86_64")]
mod real;

use crate::lane::Lane;
#[cfg(test)]
pub(crate) use model::Model;

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
