//! Damaged files: every truncation and every flipped bit of small ones, and seeded mutations of
//! many more. An error or a value, never a panic; memory and time within their bounds; and on files
//! without checksums the same verdict and the same numbers as pco 1.1.0, except where specs/pco.md
//! (13.4) says otherwise.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

#[path = "../common/mod.rs"]
mod common;
mod seeded;

use common::counting::{Counting, peak_of};
use common::numbers::{Shape, make};
use common::tally::{MAX_OUTPUT, Tally, error_bound, value_bound};
use common::{Both, deltas, difference, is_possible, modes, pco_decode};
use cpu_time::ThreadTime;
use latens::pco::{Config, DeltaSpec};
use latens::{Error, ErrorKind, Limits, NumberType, with_number_type};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The refusals of specs/pco.md, 13.4.
fn is_documented(error: &Error) -> bool {
    let what = error.what();
    error.kind() == ErrorKind::Corrupt
        && [
            "a remainder in the batch that ends here is not below the base",
            "a multiple in the batch that ends here is beyond the floats",
            "a latent in the batch that ends here is too wide for FloatQuant",
            "a lookback of 0 in the batch",
            "latents of a variable that has no bins",
            "bytes after the end are neither a checksum trailer nor nothing",
        ]
        .iter()
        .any(|text| what.starts_with(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(600).map(|b| format!("{b:02x}")).collect()
}

/// Decodes a damaged file, checks the bounds, and compares with the reference where asked.
fn judge<T: Both>(file: &[u8], compare: bool, tally: &mut Tally, name: &dyn Fn() -> String) {
    let limits = Limits::default().max_output(MAX_OUTPUT);
    let start = ThreadTime::now();
    let (decoded, peak) =
        peak_of(|| latens::pco::decompress_with::<T>(file, limits, 1, &latens::Watch::NONE));
    let time = start.elapsed();
    tally.case(time, peak);
    let bound = match &decoded {
        Ok(numbers) => value_bound(numbers.len() * T::TYPE.bytes()),
        Err(_) => error_bound(file.len()),
    };
    let mut wrong = |what: String| {
        tally.wrong.push(format!("{}: {what}; {}", name(), hex(file)));
    };
    if peak > bound {
        wrong(format!("{peak} bytes held, {bound} are allowed"));
    }
    if let Err(error) = &decoded {
        let in_bounds = error.at().is_none_or(|at| at <= file.len() as u64);
        if !in_bounds || error.kind() == ErrorKind::Io {
            wrong(format!("a strange error: {error}"));
        }
        if error.at().is_none() && error.kind() != ErrorKind::InvalidArgument {
            wrong(format!("an error without a place: {error}"));
        }
        if error.what().contains("max_output") {
            tally.count("over the limit");
            return;
        }
    }
    match &decoded {
        Ok(_) => tally.count("values"),
        Err(_) => tally.count("errors"),
    }
    if !compare {
        return;
    }
    match (&decoded, pco_decode::<T>(file)) {
        (Ok(ours), Ok(theirs)) => {
            if let Some(difference) = difference(ours, &theirs) {
                tally.wrong.push(format!("{}: {difference}; {}", name(), hex(file)));
            }
        }
        (Err(_), Err(_)) => {}
        (Err(error), Ok(_)) if is_documented(error) => tally.count("stricter than pco"),
        (Err(error), Ok(_)) => {
            tally.wrong.push(format!("{}: only latens: {error}; {}", name(), hex(file)));
        }
        (Ok(_), Err(error)) => {
            tally.wrong.push(format!("{}: only pco: {error}; {}", name(), hex(file)));
        }
    }
}

/// A small file, and the settings that made it.
struct Small {
    name: String,
    ty: NumberType,
    file: Vec<u8>,
}

/// Small files of every type, mode and kind of delta encoding.
fn small_files(checksum: bool, thin: usize) -> Vec<Small> {
    fn typed<T: Both>(checksum: bool, thin: usize, out: &mut Vec<Small>) {
        let mut turn = 0;
        for mode in modes(T::TYPE) {
            for delta in deltas() {
                turn += 1;
                let dear = matches!(delta, DeltaSpec::Lookback { state_log: 5.., .. })
                    || matches!(delta, DeltaSpec::Conv1 { order: 9.. });
                let config = Config::default().mode(mode).delta(delta).checksum(checksum);
                if dear || turn % thin != 0 || !is_possible(T::TYPE, &config) {
                    continue;
                }
                let shape = Shape::ALL[turn / thin * 3 % 10];
                let n = [40, 5, 300, 17][turn / thin % 4];
                let config = config.chunk_n(if turn % 5 == 0 { n / 2 + 1 } else { n });
                let file =
                    latens::pco::compress(&make::<T>(shape, n, turn as u64), &config).unwrap();
                // A few hundred bytes each: the tests flip every bit of them.
                if file.len() < 900 {
                    let name = format!("{} {mode} {delta} {shape:?} n={n}", T::TYPE);
                    out.push(Small { name, ty: T::TYPE, file });
                }
            }
        }
    }
    let mut out = Vec::new();
    for ty in NumberType::ALL {
        with_number_type!(ty, T => typed::<T>(checksum, thin, &mut out));
    }
    out
}

fn quiet_panics_of_pco() {
    std::panic::set_hook(Box::new(|info| {
        if !info.location().is_some_and(|l| l.file().contains("pco-")) {
            eprintln!("{info}");
        }
    }));
}

#[test]
fn every_truncation() {
    let mut tally = Tally::default();
    for small in small_files(false, 3) {
        for len in 0..small.file.len() {
            let cut = &small.file[..len];
            with_number_type!(small.ty, T => {
                judge::<T>(cut, len % 7 == 0, &mut tally, &|| format!("{} cut to {len}", small.name));
                let error = latens::pco::decompress::<T>(cut).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Truncated, "{} at {len}: {error}", small.name);
                assert_eq!(error.at(), Some(len as u64), "{} at {len}: {error}", small.name);
            });
        }
    }
    tally.report("truncations");
    assert_eq!(tally.counted("values"), 0);
}

/// Cut anywhere but behind its terminator, a file with checksums is an error. Cut there it is a
/// whole file without checksums.
#[test]
fn every_truncation_of_files_with_checksums() {
    let mut cases = 0;
    for small in small_files(true, 5) {
        let end = {
            let mut decoder =
                latens::pco::standalone::Decoder::new(&small.file[..], Limits::default()).unwrap();
            while decoder.read_any(1000).unwrap().is_some() {}
            decoder.position() as usize
        };
        assert!(end < small.file.len(), "{}", small.name);
        for len in 0..small.file.len() {
            let decoded = latens::pco::decompress_any(&small.file[..len], Limits::default());
            assert_eq!(decoded.is_ok(), len == end, "{} cut to {len}: {decoded:?}", small.name);
            cases += 1;
        }
    }
    println!("{cases} truncations of files with checksums");
}

#[test]
fn every_flipped_bit() {
    quiet_panics_of_pco();
    let mut tally = Tally::default();
    for small in small_files(false, 7) {
        let mut file = small.file.clone();
        for bit in 0..8 * file.len() {
            file[bit / 8] ^= 1 << (bit % 8);
            with_number_type!(small.ty, T => {
                judge::<T>(&file, true, &mut tally, &|| format!("{} bit {bit}", small.name));
            });
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
    tally.report("flipped bits");
    // An error takes at most 100 ms, even on a busy machine.
    assert!(tally.slowest < Duration::from_millis(500), "{:?}", tally.slowest);
}

/// With a trailer, every single-bit flip is found.
#[test]
fn every_flipped_bit_of_files_with_checksums() {
    let mut tally = Tally::default();
    let limits = Limits::default().max_output(MAX_OUTPUT);
    for small in small_files(true, 11) {
        let mut file = small.file.clone();
        for bit in 0..8 * file.len() {
            file[bit / 8] ^= 1 << (bit % 8);
            let what = || format!("{} bit {bit} of {}", small.name, 8 * small.file.len());
            with_number_type!(small.ty, T => {
                judge::<T>(&file, false, &mut tally, &what);
            });
            if latens::pco::decompress_any(&file, limits).is_ok() {
                tally.wrong.push(format!("{} goes unnoticed", what()));
            }
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
    tally.report("flipped bits of files with checksums");
    assert_eq!(tally.counted("values"), 0);
}
