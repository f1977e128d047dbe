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

mod common;

use common::numbers::{Shape, make};
use common::{Both, deltas, difference, is_possible, modes, pco_decode, without_trailer};
use latens::pco::wrapped::{FileDecoder, FileEncoder};
use latens::pco::{Config, DeltaEncoding, DeltaSpec, Mode, ModeSpec};
use latens::{Limits, NumberKind, NumberType, with_number_type};
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

fn cross_ours<T: Both>() -> usize {
    let mut count = 0usize;
    for mode in modes(T::TYPE) {
        for delta in deltas() {
            let turn = count;
            let config = Config::default()
                .mode(mode)
                .delta(delta)
                .level(turn as u32 % 13)
                .checksum(turn.is_multiple_of(3))
                .chunk_n(if turn % 11 == 5 { 500 } else { 1 << 18 });
            if !is_possible(T::TYPE, &config) {
                continue;
            }
            let shape = Shape::ALL[turn % Shape::ALL.len()];
            let numbers = make::<T>(shape, SIZES[turn * 5 % SIZES.len()], turn as u64);
            let what = format!("{} {shape:?} n={} {config:?}", T::TYPE, numbers.len());
            ours_to_both(&numbers, &config, &what);
            count += 1;
        }
    }
    count
}

#[test]
fn what_we_write_pco_reads() {
    let mut count = 0;
    for ty in NumberType::ALL {
        count += with_number_type!(ty, T => cross_ours::<T>());
    }
    println!("{count} files of latens");
    assert!(count > 1500, "{count} only");
}

/// Each shape at each size, level and mode with everything else left to the encoder.
#[test]
fn every_shape_and_size() {
    fn check<T: Both>() -> usize {
        let mut count = 0;
        for shape in Shape::ALL {
            for n in SIZES {
                let numbers = make::<T>(shape, n, 77);
                for mode in modes(T::TYPE) {
                    let config = Config::default().mode(mode).level(count as u32 % 13);
                    ours_to_both(&numbers, &config, &format!("{} {shape:?} {n} {mode}", T::TYPE));
                    count += 1;
                }
            }
        }
        count
    }
    let mut count = 0;
    for ty in NumberType::ALL {
        count += with_number_type!(ty, T => check::<T>());
    }
    println!("{count} files of latens");
}

/// Numbers without order that come again take what they take once, and not much more.
#[test]
fn repeats_are_stored_once() {
    fn check<T: Both>() {
        for (period, n) in [(24, 1000), (100, 1000), (365, 4000), (1000, 20_000), (1000, 200_000)] {
            let once = make::<T>(Shape::Random, period, 3);
            let numbers: Vec<T> = once.iter().copied().cycle().take(n).collect();
            let plain = period * (T::TYPE.bits() / 8) as usize;
            for level in [4, 8, 12] {
                let what = format!("{} {period} of {n} at level {level}", T::TYPE);
                let config = Config::default().level(level);
                ours_to_both(&numbers, &config, &what);
                let file = latens::pco::compress(&numbers, &config).unwrap();
                assert!(file.len() < plain + plain / 5 + 180, "{what}: {} bytes", file.len());
            }
        }
    }
    check::<i32>();
    check::<u64>();
    check::<f32>();
    check::<f64>();
}

/// Around the size of a chunk, and several chunks.
#[test]
fn large_and_many_chunks() {
    fn check<T: Both>(turn: usize) {
        let sizes = [(1 << 18) - 1, 1 << 18, (1 << 18) + 1];
        let all = modes(T::TYPE);
        let picks = [
            DeltaSpec::Auto,
            DeltaSpec::Consecutive { order: 2, secondary: true },
            DeltaSpec::Lookback { window_log: None, state_log: 2, secondary: true },
            DeltaSpec::Conv1 { order: 6 },
            DeltaSpec::None,
        ];
        for step in 0..4 {
            let turn = turn * 4 + step;
            let config = Config::default()
                .mode(all[turn % all.len()])
                .delta(picks[turn % picks.len()])
                .level([0, 1, 4, 8, 12][turn % 5]);
            if is_possible(T::TYPE, &config) {
                let shape = Shape::ALL[turn * 3 % Shape::ALL.len()];
                let numbers = make::<T>(shape, sizes[turn % 3], turn as u64);
                let what = format!("{} {shape:?} n={} {config:?}", T::TYPE, numbers.len());
                ours_to_both(&numbers, &config, &what);
            }
        }
        for chunk_n in [1, 255, 256, 1000] {
            let numbers = make::<T>(Shape::Smooth, chunk_n * 5 - chunk_n / 2, 5);
            let config = Config::default().chunk_n(chunk_n);
            ours_to_both(&numbers, &config, &format!("{} chunks of {chunk_n}", T::TYPE));
        }
    }
    for (turn, ty) in NumberType::ALL.into_iter().enumerate() {
        with_number_type!(ty, T => check::<T>(turn));
    }
}

/// What a caller forces is what the chunk says.
#[test]
fn forced_settings_are_kept() {
    let numbers = make::<f32>(Shape::Multiples, 1000, 3);
    let summary = |config: &Config| {
        *latens::pco::standalone::encode_chunk(&numbers, config).unwrap().summary()
    };
    for mode in modes(NumberType::F32) {
        for delta in deltas() {
            let config = Config::default().mode(mode).delta(delta);
            let chunk = summary(&config);
            assert!(
                match (mode, chunk.mode) {
                    (ModeSpec::Auto, _)
                    | (ModeSpec::Classic, Mode::Classic)
                    | (ModeSpec::Dict, Mode::Dict(_)) => true,
                    (ModeSpec::FloatMult(a), Mode::FloatMult(b)) => f64::from(a as f32) == b,
                    (ModeSpec::FloatQuant(a), Mode::FloatQuant(b)) => a == b,
                    _ => false,
                },
                "{config:?} gave {:?}",
                chunk.mode
            );
            assert!(
                match (delta, chunk.delta) {
                    (DeltaSpec::Auto, _) | (DeltaSpec::None, DeltaEncoding::None) => true,
                    (
                        DeltaSpec::Consecutive { order: a, secondary: b },
                        DeltaEncoding::Consecutive { order, secondary },
                    ) => (a, b) == (order, secondary),
                    (
                        DeltaSpec::Lookback { window_log: w, state_log: s, secondary: b },
                        DeltaEncoding::Lookback { window_log, state_log, secondary },
                    ) => w.is_none_or(|w| w == window_log) && (s, b) == (state_log, secondary),
                    (DeltaSpec::Conv1 { order: a }, DeltaEncoding::Conv1 { order }) => a == order,
                    _ => false,
                },
                "{config:?} gave {:?}",
                chunk.delta
            );
        }
    }
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

/// What `Limits::max_spare_slots` says of encoders: pco has 3.4 slots a number at most, of 8 that are
/// earned.
#[test]
fn pco_has_tables_that_few_numbers_earn() {
    fn check<T: Both>() {
        for (i, n) in (1..=96).chain([120, 127, 150, 200, 250, 255, 400, 777, 1500]).enumerate() {
            for level in 0..=12 {
                let shape = Shape::ALL[(i + level) % Shape::ALL.len()];
                let numbers = make::<T>(shape, n, (i + level) as u64);
                let config = pco::ChunkConfig::default()
                    .with_compression_level(level)
                    .with_enable_8_bit(true);
                let what = format!("{} {shape:?} n={n} level {level}", T::TYPE);
                assert!(theirs_to_ours(&numbers, &config, &what), "{what}: pco does not write it");
            }
        }
    }
    for ty in [NumberType::U8, NumberType::I16, NumberType::U32, NumberType::I64, NumberType::F64] {
        with_number_type!(ty, T => check::<T>());
    }
}

/// Bytes of ten numbers or fewer are hardly more than the reference's.
#[test]
fn few_numbers_take_few_bytes() {
    for ty in NumberType::ALL {
        with_number_type!(ty, T => for (i, n) in [1, 2, 5, 10].into_iter().enumerate() {
            for (level, shape) in [1, 4, 8].into_iter().cycle().zip(Shape::ALL) {
                let numbers = make::<T>(shape, n, i as u64);
                let config = Config::default().level(level).checksum(false);
                let ours = latens::pco::compress(&numbers, &config).unwrap().len();
                let config = pco::ChunkConfig::default()
                    .with_compression_level(level as usize)
                    .with_enable_8_bit(true);
                let theirs = pco::standalone::simple_compress(&numbers, &config).unwrap().len();
                let what = format!("{ty} {shape:?} n={n} level {level}");
                assert!(ours <= theirs + theirs / 50 + 4, "{what}: {ours} over {theirs}");
            }
        });
    }
}

#[test]
fn what_pco_writes_we_read() {
    fn check<T: Both>() -> (usize, usize) {
        let (mut turn, mut read) = (0, 0);
        for mode in pco_modes(T::TYPE) {
            for delta in pco_deltas() {
                turn += 1;
                let shape = Shape::ALL[turn % Shape::ALL.len()];
                let n = SIZES[turn * 5 % SIZES.len()];
                let too_wide = matches!(delta, pco::DeltaSpec::TryConv1(_)) && T::TYPE.bits() > 32;
                if pco_panics(&delta, n) || too_wide {
                    continue;
                }
                let config = pco::ChunkConfig::default()
                    .with_compression_level(turn % 13)
                    .with_mode_spec(mode.clone())
                    .with_delta_spec(delta)
                    .with_paging_spec(pco::PagingSpec::EqualPagesUpTo(if turn % 7 == 3 {
                        256
                    } else {
                        1 << 18
                    }))
                    .with_enable_8_bit(true);
                let numbers = make::<T>(shape, n, turn as u64);
                let what = format!("{} {shape:?} n={n} {config:?}", T::TYPE);
                read += usize::from(theirs_to_ours(&numbers, &config, &what));
            }
        }
        (turn, read)
    }
    std::panic::set_hook(Box::new(|info| {
        // Panics inside of pco are caught; those of this test are told.
        if !info.location().is_some_and(|l| l.file().contains("pco-")) {
            eprintln!("{info}");
        }
    }));
    let mut read = 0;
    for ty in NumberType::ALL {
        read += with_number_type!(ty, T => check::<T>()).1;
    }
    println!("{read} files of pco");
    assert!(read > 1000, "{read} only");
}

#[test]
fn large_files_of_pco() {
    fn check<T: Both>(turn: usize) {
        let modes = pco_modes(T::TYPE);
        for (step, n) in [(1 << 18) - 1, 1 << 18, (1 << 18) + 1].into_iter().enumerate() {
            let turn = turn * 3 + step;
            let config = pco::ChunkConfig::default()
                .with_compression_level([8, 12, 4][turn % 3])
                .with_mode_spec(modes[turn % modes.len()].clone())
                .with_delta_spec(if turn.is_multiple_of(2) {
                    pco::DeltaSpec::Auto
                } else {
                    pco::DeltaSpec::TryLookback
                })
                .with_enable_8_bit(true);
            let numbers = make::<T>(Shape::ALL[turn % 10], n, turn as u64);
            let what = format!("{} n={n} {config:?}", T::TYPE);
            assert!(theirs_to_ours(&numbers, &config, &what), "{what}: pco does not write it");
        }
    }
    for (turn, ty) in NumberType::ALL.into_iter().enumerate() {
        with_number_type!(ty, T => check::<T>(turn));
    }
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

/// The reference stops at its terminator.
/// Numbers that come back later than a stretch of a chunk shows, or far from 0 and close together.
#[test]
fn columns_that_repeat_are_no_larger_than_those_of_pco() {
    fn check<T: Both>(what: &str, numbers: &[T]) {
        let ours = latens::pco::compress(numbers, &Config::default()).unwrap().len();
        let theirs = pco::standalone::simple_compress(numbers, &pco::ChunkConfig::default());
        let theirs = theirs.unwrap().len();
        assert!(ours * 100 <= theirs * 101, "{what}: {ours} bytes, pco {theirs}");
        ours_to_both(numbers, &Config::default(), what);
    }
    const N: usize = 200_000;
    let mut state = 1u64;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
    };
    let mut uniform = |below: u64| noise() % below;
    let table: Vec<f64> = (0..1000).map(|_| uniform(1 << 30) as f64 / 7.0).collect();
    check("a table again and again", &table.repeat(N / 1000));
    let table: Vec<i32> = (0..30_000).map(|_| uniform(1 << 31) as i32).collect();
    check("a long table", &table.repeat(N / 30_000));
    let season: Vec<i32> = (0..1440).map(|_| uniform(10_000) as i32).collect();
    let noisy = (0..N).map(|i| season[i % 1440] + uniform(4) as i32).collect::<Vec<_>>();
    check("a season with noise", &noisy);
    let mut walks = [0.0f32; 3];
    let beside = (0..N).map(|i| {
        walks[i % 3] += (uniform(2001) as f32 - 1000.0) / 50_000.0;
        walks[i % 3]
    });
    check("walks side by side", &beside.collect::<Vec<_>>());
    let mut at = 1_700_000_000_000_000i64;
    let steps = (0..N).map(|_| {
        at += 1_000_000 + uniform(4000) as i64;
        at
    });
    let steps: Vec<i64> = steps.collect();
    check("steps with jitter", &steps);
    let chunk = latens::pco::standalone::encode_chunk(&steps, &Config::default()).unwrap();
    let chosen = chunk.summary().delta;
    assert!(matches!(chosen, DeltaEncoding::Consecutive { order: 1, .. }), "{chosen:?}");
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

/// Lengths of pages that sum to `n`.
fn pages(n: usize, turn: usize) -> Vec<usize> {
    let lens = [1, 255, 256, 257, 7, 600, 33];
    let mut out = Vec::new();
    let mut left = n;
    for i in turn.. {
        let len = lens[i % lens.len()].min(left);
        if len == 0 {
            return out;
        }
        out.push(len);
        left -= len;
    }
    out
}

fn ours_wrapped_to_pco<T: Both>(numbers: &[T], page_lens: &[usize], config: &Config, what: &str) {
    let encoder = FileEncoder::new(config.clone());
    let mut file = Vec::new();
    encoder.write_header(&mut file).unwrap();
    let chunk = encoder.chunk_encoder(numbers, page_lens).unwrap();
    chunk.write_meta(&mut file).unwrap();
    let mut ends = Vec::new();
    for page in 0..chunk.pages() {
        chunk.write_page(page, &mut file).unwrap();
        ends.push(file.len());
    }

    let (decoder, rest) = pco::wrapped::FileDecompressor::new(&file[..]).unwrap();
    let (mut theirs, mut rest) = decoder.chunk_decompressor::<T, _>(rest).unwrap();
    let mut got = Vec::new();
    for (&n, &end) in page_lens.iter().zip(&ends) {
        let mut part = vec![T::default(); n];
        let mut page = theirs.page_decompressor(rest, n).unwrap();
        page.read(&mut part).unwrap_or_else(|e| panic!("{what}: {e}"));
        rest = page.into_src();
        assert_eq!(file.len() - rest.len(), end, "{what}");
        got.extend(part);
    }
    assert_eq!(difference(&got, numbers), None, "{what}: pco");

    let (decoder, at) = FileDecoder::new(&file, Limits::default()).unwrap();
    let (ours, used) = decoder.chunk_decoder::<T>(&file[at..]).unwrap();
    let mut at = at + used;
    let mut got = Vec::new();
    for (&n, &end) in page_lens.iter().zip(&ends) {
        let mut part = vec![T::default(); n];
        at += ours.decode_page(&file[at..], &mut part).unwrap();
        assert_eq!(at, end, "{what}");
        got.extend(part);
    }
    assert_eq!(difference(&got, numbers), None, "{what}: ours");
}

#[test]
fn wrapped_pages_go_both_ways() {
    fn check<T: Both>() -> usize {
        let mut turn = 0;
        for mode in modes(T::TYPE) {
            for delta in deltas() {
                turn += 1;
                let config = Config::default().mode(mode).delta(delta).level(turn as u32 % 13);
                // Every third setting is enough beside the standalone crossing.
                if turn % 3 != 0 || !is_possible(T::TYPE, &config) {
                    continue;
                }
                let shape = Shape::ALL[turn % 10];
                let numbers = make::<T>(shape, 2000, turn as u64);
                let lens = pages(numbers.len(), turn);
                let what = format!("{} {shape:?} {config:?} {lens:?}", T::TYPE);
                ours_wrapped_to_pco(&numbers, &lens, &config, &what);
            }
        }
        turn
    }
    for ty in NumberType::ALL {
        with_number_type!(ty, T => check::<T>());
    }
}

#[test]
fn wrapped_pages_of_pco() {
    fn check<T: Both>() {
        let mut turn = 0;
        for mode in pco_modes(T::TYPE) {
            for delta in pco_deltas() {
                turn += 1;
                let conv = matches!(delta, pco::DeltaSpec::TryConv1(_));
                if turn % 3 != 0 || conv && T::TYPE.bits() > 32 {
                    continue;
                }
                // Conv1 of pco panics on pages that leave few numbers for the last batch.
                let lens = if conv { vec![512, 255, 600] } else { pages(1500, turn) };
                let numbers = make::<T>(Shape::ALL[turn % 10], lens.iter().sum(), turn as u64);
                let config = pco::ChunkConfig::default()
                    .with_compression_level(turn % 13)
                    .with_mode_spec(mode.clone())
                    .with_delta_spec(delta)
                    .with_paging_spec(pco::PagingSpec::Exact(lens.clone()))
                    .with_enable_8_bit(true);
                let what = format!("{} {config:?}", T::TYPE);
                let encoder = pco::wrapped::FileCompressor::default();
                let mut file = encoder.write_header(Vec::new()).unwrap();
                let mut chunk = encoder.chunk_compressor(&numbers, &config).unwrap();
                file = chunk.write_meta(file).unwrap();
                for page in 0..lens.len() {
                    file = chunk.write_page(page, file).unwrap();
                }
                let (decoder, at) = FileDecoder::new(&file, Limits::default()).unwrap();
                let (ours, used) = decoder.chunk_decoder::<T>(&file[at..]).unwrap();
                let mut at = at + used;
                let mut got = Vec::new();
                for &n in &lens {
                    let mut part = vec![T::default(); n];
                    at += ours
                        .decode_page(&file[at..], &mut part)
                        .unwrap_or_else(|e| panic!("{what}: {e}"));
                    got.extend(part);
                }
                assert_eq!(at, file.len(), "{what}");
                assert_eq!(difference(&got, &numbers), None, "{what}");
            }
        }
    }
    for ty in NumberType::ALL {
        with_number_type!(ty, T => check::<T>());
    }
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
