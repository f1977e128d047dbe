//! What latens writes, read by both.

use crate::common::numbers::{Shape, make, number};
use crate::common::{Both, deltas, is_possible, modes};
use crate::{SIZES, ours_to_both};
use latens::pco::{Config, DeltaEncoding, DeltaSpec, Favor, Mode, ModeSpec};
use latens::{Limits, NumberType, with_number_type};

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

/// Numbers that scatter about a trend, in all integers: sums whose products pass the width of the type.
#[test]
fn trends_are_sums() {
    fn check<T: Both>(unit: i64) {
        let scatter = make::<u32>(Shape::Random, 40_000, 11);
        let is_off = |x: u32| i64::from(x % 8 == 2) - i64::from(x % 4 == 1);
        let value = |(i, x): (i64, u32)| unit * (20 + i / 900 + is_off(x));
        let numbers: Vec<T> = (0..).zip(scatter).map(|at| number(value(at) as f64)).collect();
        let what = format!("{} {unit}", T::TYPE);
        let size = Config::default().level(12).favor(Favor::Size);
        ours_to_both(&numbers, &size, &what);
        let file = latens::pco::compress(&numbers, &size).unwrap();
        let plain = latens::pco::compress(&numbers, &Config::default().level(5)).unwrap();
        // Narrower types have linear predictions besides, which come near.
        let most = if T::TYPE.bits() == 64 { 9 } else { 10 };
        assert!(file.len() * 10 < plain.len() * most, "{what}: {} {}", file.len(), plain.len());
        let chunks = latens::pco::inspect(&*file, Limits::default()).unwrap().chunks;
        let is_trend = |mode: &Mode| matches!(mode, Mode::Trend { .. });
        assert!(chunks.iter().all(|chunk| is_trend(&chunk.info.mode)), "{what}: {chunks:?}");
        for n in [1 << 12, 1 << 14] {
            ours_to_both(&numbers[..n], &Config::default(), &format!("{what} {n}"));
        }
    }
    check::<u8>(1);
    check::<i8>(1);
    check::<u16>(20);
    check::<i16>(-3);
    check::<u32>(60);
    check::<i32>(-105);
    check::<u64>(3600);
    check::<i64>(-60_000_000);
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
