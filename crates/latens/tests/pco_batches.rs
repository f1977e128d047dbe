//! Chunks of many batches, which are decoded in a row where they can be: the numbers and the errors are those of
//! a batch at a time.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation, reason = "a test")]

mod common;

use common::numbers::{Random, Shape, make};
use common::{difference, is_possible, modes};
use latens::pco::standalone::Decoder;
use latens::pco::{Config, DeltaSpec};
use latens::{Error, Limits, Number, NumberType, with_number_type};

/// Numbers of a batch.
const BATCH: usize = 256;
/// Two rows of eight batches, and some.
const N: usize = 19 * BATCH + 77;

/// All numbers that come out, and the error that ends them.
struct Outcome<T> {
    numbers: Vec<T>,
    error: Option<Error>,
}

/// Decoded in one call.
fn at_once<T: Number>(file: &[u8]) -> Outcome<T> {
    let mut numbers = vec![T::default(); N + BATCH];
    let (count, error) = match latens::pco::decompress_into(file, &mut numbers) {
        Ok(done) => (done.count, None),
        Err(error) => (error.values_before().unwrap_or(0) as usize, Some(error)),
    };
    numbers.truncate(count);
    Outcome { numbers, error }
}

/// Decoded by a call for each batch.
fn by_batches<T: Number>(file: &[u8]) -> Outcome<T> {
    let mut outcome = Outcome { numbers: Vec::new(), error: None };
    let mut decoder = match Decoder::new(file, Limits::default()) {
        Ok(decoder) => decoder,
        Err(error) => return Outcome { error: Some(error), ..outcome },
    };
    loop {
        let mut batch = [T::default(); BATCH];
        match decoder.read(&mut batch) {
            Ok(got) => {
                outcome.numbers.extend_from_slice(&batch[..got]);
                if got < BATCH {
                    return Outcome { error: decoder.finish().err(), ..outcome };
                }
            }
            Err(error) => {
                let got = error.values_before().unwrap_or(0) as usize;
                outcome.numbers.extend_from_slice(&batch[..got]);
                return Outcome { error: Some(error), ..outcome };
            }
        }
    }
}

/// Files of all settings that change how batches are decoded.
fn for_files<T: Number>(mut check: impl FnMut(&[T], &[u8], &str)) {
    let orders = [1, 2, 3, 5].map(|order| DeltaSpec::Consecutive { order, secondary: false });
    let mut deltas = vec![DeltaSpec::None, DeltaSpec::Auto];
    deltas.extend(orders);
    deltas.push(DeltaSpec::Consecutive { order: 1, secondary: true });
    deltas.extend([false, true].map(|secondary| DeltaSpec::Lookback {
        window_log: None,
        state_log: u32::from(secondary),
        secondary,
    }));
    deltas.extend([1, 3, 9].map(|order| DeltaSpec::Conv1 { order }));
    let shapes = [Shape::Walk, Shape::Multiples, Shape::Periodic, Shape::Small, Shape::Smooth];
    for (seed, shape) in (0..).zip(shapes) {
        let mut numbers = make::<T>(shape, N, seed);
        if shape == Shape::Small {
            // Nearly all are one value, as in a mask.
            let one = numbers[0];
            let is_one = |i: usize| !i.is_multiple_of(211) && i < N - BATCH;
            (0..N).filter(|&i| is_one(i)).for_each(|i| numbers[i] = one);
        }
        for mode in modes(T::TYPE) {
            for &delta in &deltas {
                let config = Config::default().mode(mode).delta(delta).checksum(false);
                if is_possible(T::TYPE, &config) {
                    let file = latens::pco::compress(&numbers, &config).unwrap();
                    check(&numbers, &file, &format!("{} {shape:?} {mode} {delta}", T::TYPE));
                }
            }
        }
    }
}

#[test]
fn numbers_are_those_of_a_batch_at_a_time() {
    for ty in NumberType::ALL {
        with_number_type!(ty, T => for_files::<T>(|numbers, file, what| {
            for Outcome { numbers: got, error } in [at_once::<T>(file), by_batches(file)] {
                assert!(error.is_none(), "{what}: {error:?}");
                assert_eq!(difference(&got, numbers), None, "{what}");
            }
        }));
    }
}

#[test]
fn damage_is_found_where_a_batch_at_a_time_finds_it() {
    let mut random = Random(9);
    let mut errors = 0;
    for ty in NumberType::ALL {
        with_number_type!(ty, T => for_files::<T>(|_, file, what| {
            for _ in 0..3 {
                let mut file = file.to_vec();
                let at = file.len() / 4 + random.below(file.len() * 3 / 4);
                file[at] ^= 1 << random.below(8);
                let (whole, batches) = (at_once::<T>(&file), by_batches::<T>(&file));
                let what = format!("{what}, byte {at}");
                assert_eq!(difference(&whole.numbers, &batches.numbers), None, "{what}");
                let said = |error: &Option<Error>| error.as_ref().map(|e| (e.kind(), e.at()));
                // Bytes behind the end are an error of the call only, which has all numbers then.
                if batches.error.is_some() || whole.numbers.len() < N {
                    assert_eq!(said(&whole.error), said(&batches.error), "{what}");
                }
                errors += usize::from(whole.error.is_some());
            }
        }));
    }
    assert!(errors > 100, "{errors}");
}
