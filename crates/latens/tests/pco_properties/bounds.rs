//! No file is much larger than its numbers.

use crate::common::numbers::{Shape, make};
use crate::common::{deltas, modes};
use latens::pco::{Config, DeltaSpec, ModeSpec};
use latens::{Number, NumberType, with_number_type};

/// Bytes above the raw ones, and the same without the checksum trailer.
fn excess<T: Number>(numbers: &[T], config: &Config) -> (i64, i64) {
    let raw = (numbers.len() * T::TYPE.bytes()) as i64;
    let file = latens::pco::compress(numbers, config).unwrap();
    let trailer = 20 + 16 * numbers.len().div_ceil(config.chunk_len());
    (file.len() as i64 - raw, (file.len() - trailer) as i64 - raw)
}

/// Random numbers of every type never take more than 0.1 % + 64 bytes above their raw bytes, at any
/// level, the checksum trailer included.
#[test]
fn incompressible_numbers_stay_within_a_thousandth_and_64_bytes() {
    fn check<T: Number>(worst: &mut Vec<String>) {
        let sizes = [
            0,
            1,
            2,
            3,
            7,
            20,
            64,
            100,
            255,
            256,
            257,
            1000,
            4096,
            10_000,
            65_536,
            1 << 18,
            300_000,
        ];
        let (mut most, mut most_with) = ((i64::MIN, 0, 0), (i64::MIN, 0, 0));
        for n in sizes {
            let all: Vec<T> = make(Shape::Random, n, n as u64);
            for level in 0..=12 {
                if n > 5000 && ![0, 8, 12].contains(&level) {
                    continue;
                }
                let (with, without) = excess(&all, &Config::default().level(level));
                let bar = (n * T::TYPE.bytes()) as i64 / 1000 + 64;
                if with > bar {
                    worst.push(format!("{} n={n} level {level}: {with} above raw", T::TYPE));
                }
                most = most.max((without - bar, n, level));
                most_with = most_with.max((with - bar, n, level));
            }
        }
        println!(
            "{}: nearest to the bar {most:?} (bytes over it, n, level), with trailer {most_with:?}",
            T::TYPE
        );
    }
    let mut worst = Vec::new();
    for ty in NumberType::ALL {
        with_number_type!(ty, T => check::<T>(&mut worst));
    }
    assert!(worst.is_empty(), "{}", worst.join("\n"));
}

/// The same for every shape of numbers that the tests know, and Classic without deltas.
#[test]
fn no_numbers_take_much_more_than_their_bytes() {
    fn check<T: Number>(worst: &mut Vec<String>) {
        for shape in Shape::ALL {
            for n in [1, 2, 5, 30, 100, 300, 1000, 5000] {
                for (level, mode, delta) in [
                    (8, ModeSpec::Auto, DeltaSpec::Auto),
                    (0, ModeSpec::Auto, DeltaSpec::Auto),
                    (3, ModeSpec::Auto, DeltaSpec::Auto),
                    (12, ModeSpec::Auto, DeltaSpec::Auto),
                    (8, ModeSpec::Classic, DeltaSpec::None),
                    (0, ModeSpec::Classic, DeltaSpec::None),
                    (12, ModeSpec::Classic, DeltaSpec::None),
                ] {
                    let config = Config::default().level(level).mode(mode).delta(delta);
                    let all: Vec<T> = make(shape, n, n as u64);
                    let (_, without) = excess(&all, &config);
                    if without > (n * T::TYPE.bytes()) as i64 / 1000 + 64 {
                        worst.push(format!(
                            "{} {shape:?} n={n} level {level} {mode} {delta}: {without} above raw",
                            T::TYPE
                        ));
                    }
                }
            }
        }
    }
    let mut worst = Vec::new();
    for ty in NumberType::ALL {
        with_number_type!(ty, T => check::<T>(&mut worst));
    }
    assert!(worst.is_empty(), "{} cases\n{}", worst.len(), worst.join("\n"));
}

/// What a caller forces on numbers that do not fit it costs what it costs, but not without bound:
/// two latents and their metadata for a number at most.
#[test]
fn forced_settings_have_bounds_too() {
    for ty in NumberType::ALL {
        with_number_type!(ty, T => {
            let all: Vec<T> = make(Shape::Random, 2500, 1);
            for mode in modes(ty) {
                for delta in deltas().into_iter().step_by(3) {
                    let config = Config::default().mode(mode).delta(delta).level(4);
                    if config.validate(ty).is_err() {
                        continue;
                    }
                    let raw = (all.len() * ty.bytes()) as i64;
                    let (_, without) = excess(&all, &config);
                    assert!(without < raw * 3 / 2 + 140_000, "{ty} {mode} {delta}: {without}");
                }
            }
        });
    }
}
