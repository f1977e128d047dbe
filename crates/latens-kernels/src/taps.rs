//! Weighted sums over earlier columns of several rows at once, a row a lane.

pub(crate) mod column;

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_taps, avx512_taps};

pub use column::{Column, LANES};

/// For each lane the sum of the products of `weights` with what the lane has in `columns`, both in
/// pairs of neighbouring columns, mod 2^32. Weights beyond the columns, or columns beyond the
/// weights, are left out.
#[inline]
pub fn sums(present: Present, weights: &[[i16; 2]], columns: &[Column]) -> [i32; LANES] {
    #[cfg(target_arch = "x86_64")]
    match present.simd() {
        // SAFETY: `present` is what the processor has.
        Simd::Avx512 => return unsafe { avx512_taps::sums(weights, columns) },
        // SAFETY: as above.
        Simd::Avx2 => return unsafe { avx2_taps::sums(weights, columns) },
        _ => {}
    }
    let _ = present;
    scalar(weights, columns)
}

fn scalar(weights: &[[i16; 2]], columns: &[Column]) -> [i32; LANES] {
    let mut sums = [0i32; LANES];
    for ([w, x], column) in weights.iter().zip(columns) {
        for (sum, [a, b]) in sums.iter_mut().zip(&column.0) {
            let products = [i32::from(*w) * i32::from(*a), i32::from(*x) * i32::from(*b)];
            *sum = sum.wrapping_add(products[0].wrapping_add(products[1]));
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
        all_kernels_sum_alike,
        {
            let mut next = noise(21);
            let mut cases = Vec::new();
            for len in [0usize, 1, 2, 3, 7, 8, 100, 192] {
                for extreme in [false, true] {
                    let mut pick = || match (extreme, next() % 2) {
                        (true, 0) => i16::MIN,
                        (true, _) => i16::MAX,
                        (false, _) => (next() % 511) as i16 - 255,
                    };
                    let weights: Vec<[i16; 2]> = (0..len).map(|_| [pick(), pick()]).collect();
                    let column = |_| Column(std::array::from_fn(|_| [pick(), pick()]));
                    let columns: Vec<Column> = (0..len + 1).map(column).collect();
                    cases.push((weights, columns));
                }
            }
            cases
        },
        |simd, case| sums(Present::new(simd), &case.0, &case.1)
    );
}
