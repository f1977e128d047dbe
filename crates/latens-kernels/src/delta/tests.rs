use super::*;
use crate::testing::noise;
use crate::twin_test;

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) bytes: Vec<u8>,
    pub(crate) widths: Vec<u8>,
    pub(crate) step: usize,
    pub(crate) count: usize,
    pub(crate) min: u64,
    pub(crate) last: u64,
}

impl Case {
    fn decode<L: DeltaLane>(&self, simd: Simd) -> (Vec<L>, L) {
        let mut out = vec![L::default(); self.count];
        let last = Kernel::new(simd).decode_block(
            self.bodies(),
            L::truncate(self.min),
            L::truncate(self.last),
            &mut out,
        );
        (out, last)
    }

    pub(crate) fn bodies(&self) -> Bodies<'_> {
        Bodies { bytes: &self.bytes, widths: &self.widths, values_per_miniblock: self.step }
    }
}

/// All widths, alone, doubled and mixed; with bytes after the bodies, with just the bodies, with
/// a body cut short; whole groups and not.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut next = noise(1);
    for width in 0..=64u8 {
        for (n, widths) in [vec![width], vec![width, width, 0, width], vec![3, width, 64 - width]]
            .into_iter()
            .enumerate()
        {
            for step in [32, 64, 256] {
                let full = step * widths.len();
                let bits: usize = widths.iter().map(|&w| usize::from(w) * step).sum();
                for (count, bytes) in [
                    (full, bits / 8 + 100),
                    (full, bits / 8),
                    (full - 5, bits / 8),
                    (full - 24, (bits / 8).saturating_sub(7)),
                    (1 + n, bits / 8),
                    (0, 0),
                ] {
                    let bytes = (0..bytes).map(|_| next().to_le_bytes()[0]).collect();
                    let (min, last) = (next() >> (next() % 64), next());
                    cases.push(Case { bytes, widths: widths.clone(), step, count, min, last });
                }
            }
        }
    }
    cases
}

twin_test!(all_kernels_decode_u32_alike, cases(), |simd, case| case.decode::<u32>(simd));
twin_test!(all_kernels_decode_u64_alike, cases(), |simd, case| case.decode::<u64>(simd));

#[test]
fn scalar_agrees_with_one_field_at_a_time() {
    for case in cases() {
        let (out, last) = case.decode::<u64>(Simd::Scalar);
        let mut bytes = &case.bytes[..];
        let mut expected = vec![0u64; case.count];
        let mut value = case.last;
        for (chunk, &width) in expected.chunks_mut(case.step).zip(&case.widths) {
            let split = chunk.len() / 3;
            let (first, rest) = chunk.split_at_mut(split);
            value = decode_from(bytes, width, 0, case.min, value, first);
            value = decode_from(bytes, width, split, case.min, value, rest);
            bytes = bytes.get(case.step / 8 * usize::from(width)..).unwrap_or_default();
        }
        assert_eq!(out, expected, "{case:?}");
        assert_eq!(last, value);
    }
}

fn packed<L: DeltaLane>(simd: Simd, values: &[u64]) -> (Vec<u8>, u8, L, Vec<L>) {
    let values: Vec<L> = values.iter().map(|&v| L::truncate(v)).collect();
    let mut fields = vec![L::default(); values.len()];
    let kernel = Kernel::new(simd);
    let min = deltas(kernel, L::truncate(7), &values, &mut fields);
    let width = subtract(kernel, min, &mut fields);
    let mut bytes = vec![0xaa];
    pack(&fields, width, &mut bytes);
    (bytes, width, min, fields)
}

fn value_cases() -> Vec<Vec<u64>> {
    let mut next = noise(2);
    let mut cases = vec![vec![], vec![5], vec![u64::MAX; 33]];
    for bits in 0..64 {
        for count in [1, 31, 32, 64, 100] {
            cases.push((0..count).map(|_| next() >> bits).collect());
        }
    }
    cases
}

twin_test!(all_packers_write_u32_alike, value_cases(), |simd, case| packed::<u32>(simd, case));
twin_test!(all_packers_write_u64_alike, value_cases(), |simd, case| packed::<u64>(simd, case));

#[test]
fn packing_is_undone_by_decoding() {
    for values in value_cases() {
        let (bytes, width, min, _) = packed::<u64>(Simd::Scalar, &values);
        let mut out = vec![0; values.len()];
        decode_from(&bytes[1..], width, 0, min, 7, &mut out);
        assert_eq!(out, values);
    }
}
