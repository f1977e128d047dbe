use super::tables::step;
use super::*;
use crate::rans::MAX_BITS;
use crate::rans::tests::{Case, cases};
use crate::twin_test;

/// Frequencies of the tables of a case.
fn frequencies(case: &Case) -> Vec<Vec<u16>> {
    let mut out = Vec::new();
    for table in case.slots.chunks(1 << case.bits) {
        let mut f = vec![0u16; ALPHABET];
        table.iter().for_each(|slot| f[(slot >> 12 & 255) as usize] += 1);
        out.push(f);
    }
    out
}

/// States and words.
fn encode(simd: Simd, case: &Case) -> Option<([u32; LANES], Vec<u8>)> {
    let symbols = case.symbols.as_deref()?;
    let frequencies = frequencies(case);
    let tables = EncodeTables::new(case.bits, frequencies.iter().map(Vec::as_slice)).unwrap();
    let mut buffer = Vec::new();
    let kernel = Kernel::new(simd);
    let mut encode = |loads| {
        let (classes, last) = (case.classes(), case.last);
        let stream = kernel.encode_with(loads, &tables, symbols, classes, last, &mut buffer);
        (stream.states, stream.words.to_vec())
    };
    let by_gathers = encode(false);
    assert_eq!(by_gathers, encode(true));
    Some(by_gathers)
}

twin_test!(all_kernels_encode_alike, cases(), |simd, case| encode(simd, case));

#[test]
fn as_the_specification_says() {
    let mut seen = 0;
    for case in cases() {
        let Some((states, words)) = encode(Simd::Scalar, &case) else { continue };
        assert_eq!((states, &words), (case.states, &case.words));
        seen += words.len();
    }
    assert!(seen > 100_000);
}

#[test]
fn every_quotient_is_exact() {
    let mut x = 1u32;
    for bits in 1..=MAX_BITS {
        for f in (1..=1u32 << bits).filter(|f| *f < 300 || f % 61 == 0 || f.is_power_of_two()) {
            let (reciprocal, packed) = (step(f, 0) & 0xffff_ffff, step(f, 0) >> 32);
            let most = (u64::from(f) << (32 - bits)) - 1;
            for i in 0..200u64 {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let edge = [0, u64::from(f) - 1, u64::from(f), most][(i % 4) as usize];
                let x = if i < 8 { most.min(edge + i / 4) } else { u64::from(x) % (most + 1) };
                let low = (x * reciprocal) >> 32 >> (packed >> 28);
                let right = x / u64::from(f);
                assert!(low == right || low + 1 == right, "{x} / {f}: {low}");
            }
        }
    }
}

#[test]
fn tables_that_do_not_sum_are_not_made() {
    let make = |bits, table: &[u16]| EncodeTables::new(bits, [table].into_iter());
    assert!(make(3, &[4, 4]).is_some());
    assert!(make(3, &[4, 5]).is_none());
    assert!(make(3, &[4, 3]).is_none());
    assert!(make(0, &[1]).is_none());
    assert!(make(15, &[1 << 15]).is_none());
    assert!(make(4, &[]).is_none());
    assert!(make(14, &[1 << 14]).is_some());
}
