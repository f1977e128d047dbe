//! Bytes through a table of 256 bytes.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_lookup, avx512_lookup};

/// Replaces each of `bytes` by what `table` has for it.
pub fn replace(present: Present, table: &[u8; 256], bytes: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    let bytes = if matches!(present.simd(), Simd::Avx512) {
        let (vectors, rest) = bytes.as_chunks_mut::<{ avx512_lookup::WIDTH }>();
        // SAFETY: `present` is what the processor has.
        unsafe { avx512_lookup::replace(table, vectors) };
        rest
    } else {
        bytes
    };
    #[cfg(target_arch = "x86_64")]
    if matches!(present.simd(), Simd::Avx2 | Simd::Avx512) && bytes.len() >= 32 {
        // SAFETY: `present` is what the processor has, and AVX2 is there where AVX-512 is.
        let done = unsafe { avx2_lookup::replace(table, bytes) };
        return scalar(table, &mut bytes[done..]);
    }
    let _ = present;
    scalar(table, bytes);
}

fn scalar(table: &[u8; 256], bytes: &mut [u8]) {
    bytes.iter_mut().for_each(|byte| *byte = table[usize::from(*byte)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    twin_test!(
        all_kernels_look_up_alike,
        {
            let mut next = noise(8);
            let mut cases = Vec::new();
            for len in [0usize, 1, 31, 32, 33, 64, 100, 1000] {
                for (least, range) in [(0, 256), (0, 1), (17, 3), (100, 60), (255, 1), (240, 16)] {
                    let bytes: Vec<u8> =
                        (0..len).map(|_| (least + next() % range).to_le_bytes()[0]).collect();
                    let table: Vec<u8> = (0..256).map(|_| next().to_le_bytes()[0]).collect();
                    cases.push((table, bytes));
                }
            }
            cases
        },
        |simd, case| {
            let mut bytes = case.1.clone();
            replace(Present::new(simd), case.0.as_slice().try_into().unwrap(), &mut bytes);
            bytes
        }
    );
}
