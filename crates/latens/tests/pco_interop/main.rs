//! Both directions against the reference: what latens writes, the crate pco 1.1.0 reads, and the
//! other way round, bit for bit.
//!
//! Types × modes × delta encodings are crossed in full; levels, sizes and shapes of the numbers
//! rotate through the crossing, at strides that are prime to each other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

#[path = "../common/mod.rs"]
mod common;
mod ours;
mod theirs;
mod wrapped;

use common::numbers::{Shape, make};
use common::{Both, difference, pco_decode, without_trailer};
use latens::pco::{Config, DeltaSpec, ModeSpec};
use latens::{Limits, NumberKind, NumberType};
use std::panic::AssertUnwindSafe;

/// Sizes that are cheap enough for the full crossing.
const SIZES: [usize; 9] = [0, 1, 2, 255, 256, 257, 600, 1021, 3000];

/// No encoder makes tables that its numbers do not earn.
fn earned() -> Limits {
    Limits::default().max_spare_slots(0)
}

/// Encodes with latens, decodes with both.
fn ours_to_both<T: Both>(numbers: &[T], config: &Config, what: &str) {
    let file = latens::pco::compress(numbers, config).unwrap_or_else(|e| panic!("{what}: {e}"));
    let ours = latens::pco::decompress_with::<T>(&file, earned(), 1, &latens::Watch::NONE)
        .unwrap_or_else(|e| panic!("{what}: ours: {e}"));
    if let Some(difference) = difference(&ours, numbers) {
        panic!("{what}: ours: {difference}");
    }
    let theirs = pco_decode::<T>(&file).unwrap_or_else(|e| panic!("{what}: pco: {e}"));
    if let Some(difference) = difference(&theirs, numbers) {
        panic!("{what}: pco: {difference}");
    }
}

/// Encodes with pco, decodes with latens. False where pco refuses or panics.
fn theirs_to_ours<T: Both>(numbers: &[T], config: &pco::ChunkConfig, what: &str) -> bool {
    let encode = || pco::standalone::simple_compress(numbers, config);
    let Ok(Ok(file)) = std::panic::catch_unwind(AssertUnwindSafe(encode)) else { return false };
    let ours = latens::pco::decompress_with::<T>(&file, earned(), 1, &latens::Watch::NONE)
        .unwrap_or_else(|e| panic!("{what}: {e}"));
    if let Some(difference) = difference(&ours, numbers) {
        panic!("{what}: {difference}");
    }
    true
}

fn pco_modes(ty: NumberType) -> Vec<pco::ModeSpec> {
    use pco::ModeSpec::{Auto, Classic, TryDict, TryFloatMult, TryFloatQuant, TryIntMult};
    let mut modes = vec![Auto, Classic, TryDict];
    if ty.kind() == NumberKind::Float {
        modes.extend([TryFloatMult(0.01), TryFloatMult(2.5), TryFloatQuant(3)]);
        modes.push(TryFloatQuant(ty.mantissa_bits()));
    } else {
        modes.extend([TryIntMult(7), TryIntMult(100)]);
    }
    modes
}

fn pco_deltas() -> Vec<pco::DeltaSpec> {
    use pco::DeltaSpec::{Auto, NoOp, TryConsecutive, TryConv1, TryLookback};
    let mut deltas = vec![Auto, NoOp, TryLookback];
    deltas.extend((1..=7).map(TryConsecutive));
    deltas.extend((1..=32).map(TryConv1));
    deltas
}

/// pco 1.1.0 panics on Conv1 of that order with that many numbers.
fn pco_panics(delta: &pco::DeltaSpec, n: usize) -> bool {
    matches!(delta, pco::DeltaSpec::TryConv1(order) if (1..*order).contains(&(n % 256)))
}

/// All NaNs, all subnormals of a half, and every special float of the wider ones in every mode.
#[test]
fn special_floats_keep_their_bits() {
    fn check<T: Both>(numbers: &[T], bases: &[f64]) {
        let mut specs: Vec<ModeSpec> = bases.iter().map(|&b| ModeSpec::FloatMult(b)).collect();
        specs.extend((1..=T::TYPE.mantissa_bits()).map(ModeSpec::FloatQuant));
        specs.extend([ModeSpec::Classic, ModeSpec::Dict, ModeSpec::Auto]);
        for (i, mode) in specs.into_iter().enumerate() {
            let delta = if i % 2 == 0 {
                DeltaSpec::None
            } else {
                DeltaSpec::Consecutive { order: 1 + i as u32 % 7, secondary: i % 4 == 1 }
            };
            let config = Config::default().mode(mode).delta(delta).checksum(false);
            ours_to_both(numbers, &config, &format!("{} {mode} {delta}", T::TYPE));
        }
    }
    let halves: Vec<latens::f16> = (0..=u16::MAX).map(latens::f16::from_bits).collect();
    check(&halves, &[1.0, 0.1, -0.25, 3.0, 6e4, 6.2e-5]);
    let bases = [1.0, 0.1, -0.1, 1e30, -3e-30, 1.2e-38];
    check(&make::<f32>(Shape::Special, 1500, 1), &bases);
    let wide = [1e300, -1e-300, 2.3e-308];
    check(&make::<f64>(Shape::Special, 1500, 1), &[&bases[..], &wide].concat());
    check(&make::<f32>(Shape::Random, 5000, 1), &bases);
    check(&make::<f64>(Shape::Random, 5000, 1), &[&bases[..], &wide].concat());
}

#[test]
fn pco_does_not_see_the_checksum_trailer() {
    let numbers = make::<i32>(Shape::Walk, 3000, 1);
    let config = Config::default().chunk_n(1000);
    let with = latens::pco::compress(&numbers, &config).unwrap();
    let without = latens::pco::compress(&numbers, &config.checksum(false)).unwrap();
    assert_eq!(without_trailer(&with, 3), without);
    assert!(with.ends_with(b"LATENSC1"));
    assert_eq!(pco_decode::<i32>(&with).unwrap(), numbers);
    assert_eq!(pco_decode::<i32>(&without).unwrap(), numbers);
    let mut damaged = with.clone();
    damaged[without.len()..].iter_mut().for_each(|byte| *byte ^= 0x55);
    assert_eq!(pco_decode::<i32>(&damaged).unwrap(), numbers);
    assert!(latens::pco::decompress::<i32>(&damaged).is_err());
}

/// Chunks of several types in one file: each reader of one type takes those of its type.
#[test]
fn files_that_name_no_type() {
    let config = pco::ChunkConfig::default().with_enable_8_bit(true);
    let encoder = pco::standalone::FileCompressor::default();
    let mut file = encoder.write_header(Vec::new()).unwrap();
    file = encoder.chunk_compressor(&[1u32, 2, 3], &config).unwrap().write(file).unwrap();
    file = encoder.chunk_compressor(&[-4i8, 5], &config).unwrap().write(file).unwrap();
    file = encoder.write_footer(file).unwrap();
    let mut decoder = latens::pco::standalone::Decoder::new(&file[..], Limits::default()).unwrap();
    assert_eq!(decoder.read_any(10).unwrap(), Some(vec![1u32, 2, 3].into()));
    assert_eq!(decoder.read_any(10).unwrap(), Some(vec![-4i8, 5].into()));
    assert_eq!(decoder.read_any(10).unwrap(), None);
    let error = latens::pco::decompress::<u32>(&file).unwrap_err();
    assert_eq!(error.kind(), latens::ErrorKind::InvalidArgument, "{error}");
    assert!(error.to_string().contains("i8"), "{error}");
}
