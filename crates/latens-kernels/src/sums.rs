//! Undoing differences of neighbours: running sums, several times over.

#[cfg(target_arch = "aarch64")]
use crate::aarch64::neon_sums as neon;
use crate::dispatch::Present;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::dispatch::Simd;
use crate::latent::Latent;
use crate::scalar::sums as scalar;
#[cfg(target_arch = "x86_64")]
use crate::tans::Map;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_sums as avx2, avx512_sums as avx512};

/// Replaces differences of order `moments.len()` by the latents that they are differences of.
///
/// The moments are the next latent, the difference behind it, the difference of those, and so on,
/// and are moved on by as many latents as there are.
pub fn undo<L: Latent>(present: Present, moments: &mut [L], latents: &mut [L]) {
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 if are_faster_one_by_one::<L>(moments.len()) => scalar::undo(moments, latents),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => {
            let (n, at) = (latents.len(), latents.as_mut_ptr());
            for moment in moments.iter_mut().rev() {
                // SAFETY: the set is present; latents take their own place.
                unsafe { avx512::running(moment, at, Map::NONE, at, n) };
            }
        }
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => {
            for moment in moments.iter_mut().rev() {
                // SAFETY: the set is present.
                unsafe { avx2::running(moment, latents) };
            }
        }
        #[cfg(target_arch = "aarch64")]
        Simd::Neon if L::WIDTH < 64 => {
            for moment in moments.iter_mut().rev() {
                // SAFETY: the set is present.
                unsafe { neon::running(moment, latents) };
            }
        }
        _ => scalar::undo(moments, latents),
    }
}

/// Whether vectors, which take a pass for each sum, are slower than one addition after the other, in which several sums
/// wait for each other in turn.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn are_faster_one_by_one<L: Latent>(sums: usize) -> bool {
    L::WIDTH == 64 && sums > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Simd;

    fn mix(x: u64) -> u64 {
        let x = (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x ^ x >> 31
    }

    fn read<L: Latent>(simd: Simd, order: u64, n: u64, seed: u64) -> (Vec<L>, Vec<L>) {
        let random = |i: u64| L::from_low(mix(i ^ seed << 20));
        let mut moments: Vec<L> = (0..order).map(random).collect();
        let mut latents: Vec<L> = (0..n).map(|i| random(i + 9)).collect();
        undo(Present::new(simd), &mut moments, &mut latents);
        (latents, moments)
    }

    fn cases() -> impl Iterator<Item = (u64, u64)> {
        (0..=7).flat_map(|order| {
            [0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 255, 256].map(|n| (order, n))
        })
    }

    crate::twin_test!(sums_agree, cases(), |simd, case| {
        let &(order, n) = case;
        let small = (read::<u8>(simd, order, n, 1), read::<u16>(simd, order, n, 2));
        (small, read::<u32>(simd, order, n, 3), read::<u64>(simd, order, n, 4))
    });

    #[test]
    fn by_definition() {
        let mut latents = [0u32, 10, 0, 7, 7];
        let mut moments = [1, 2];
        undo(Present::new(Simd::Scalar), &mut moments, &mut latents);
        assert_eq!((latents, moments), ([1, 3, 5, 17, 29], [48, 26]));
    }
}
