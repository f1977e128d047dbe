//! Sums of products of numbers with several others at once, such as those before them.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_products, avx512_products};

/// Sums of every eighth product, which do not wait for each other. As many everywhere: rounded sums depend on their
/// order, and what is made from them shall not depend on the machine.
pub(crate) const APART: usize = 8;

/// The products of as many numbers, summed apart.
pub(crate) type Apart = [f64; APART];

/// The sums of the products of `xs` with each of `others`.
///
/// # Panics
/// Where one of the others is shorter.
#[inline]
pub fn sums<const N: usize>(present: Present, xs: &[f64], others: [&[f64]; N]) -> [f64; N] {
    let others = others.map(|ys| &ys[..xs.len()]);
    let (eights, rest) = xs.as_chunks::<APART>();
    let of_eights = others.map(|ys| ys.as_chunks::<APART>().0);
    let sums = match present.simd() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `present` is what the processor has, and all have as many eights.
        Simd::Avx512 => unsafe { avx512_products::apart(eights, of_eights) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Simd::Avx2 => unsafe { avx2_products::apart(eights, of_eights) },
        _ => of_eights.map(|ys| scalar(eights, ys)),
    };
    std::array::from_fn(|k| {
        let last = &others[k][eights.len() * APART..];
        let last: f64 = rest.iter().zip(last).map(|(x, y)| x * y).sum();
        sums[k].iter().sum::<f64>() + last
    })
}

fn scalar(xs: &[Apart], ys: &[Apart]) -> Apart {
    let mut sums = [0.0; APART];
    for (xs, ys) in xs.iter().zip(ys) {
        for (sum, (x, y)) in sums.iter_mut().zip(xs.iter().zip(ys)) {
            *sum += x * y;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    twin_test!(
        all_kernels_round_alike,
        {
            let mut next = noise(5);
            let mut cases = Vec::new();
            for len in [0usize, 1, 7, 8, 9, 16, 100, 1023] {
                for extreme in [false, true] {
                    let mut pick = || match (extreme, next() % 4) {
                        (true, 0) => 1e300,
                        (true, 1) => -1e-300,
                        (_, bits) => ((next() >> 20) as f64 - 8e12) / (bits + 1) as f64,
                    };
                    cases.push((len, (0..len + 40).map(|_| pick()).collect::<Vec<f64>>()));
                }
            }
            cases
        },
        |simd, case| {
            let (len, numbers) = case;
            let xs = &numbers[..*len];
            let four = sums(Present::new(simd), xs, [1, 2, 33, 40].map(|k| &numbers[k..]));
            let one = sums(Present::new(simd), xs, [&numbers[1..]]);
            assert!(one[0].to_bits() == four[0].to_bits(), "each sum is its own");
            four.map(f64::to_bits)
        }
    );

    #[test]
    fn small_integers_are_summed_exactly() {
        let xs: Vec<f64> = (0..100u32).map(f64::from).collect();
        let expected: f64 = (1..100u32).map(|i| f64::from(i * (i - 1))).sum();
        assert_eq!(sums(Present::in_use(), &xs[..99], [&xs[1..]]), [expected]);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn shorter_ones_are_refused() {
        sums(Present::in_use(), &[1.0, 2.0], [&[1.0, 2.0, 3.0], &[1.0]]);
    }
}
