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

mod common;

use common::counting::{Counting, peak_of};
use common::numbers::{Random, Shape, make};
use common::tally::{MAX_OUTPUT, Tally, error_bound, number, on_all_cores, value_bound};
use common::{Both, deltas, difference, is_possible, modes, pco_decode};
use latens::pco::{Config, DeltaSpec};
use latens::{Error, ErrorKind, Limits, NumberType, with_number_type};
use std::time::{Duration, Instant};

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
    let start = Instant::now();
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

/// How a file is damaged.
#[derive(Clone, Copy, Debug)]
enum Strategy {
    /// Some bytes changed: bits flipped, extremes, neighbours, random.
    Havoc,
    /// The front of one file, the back of another.
    Splice,
    /// A field made large: a run of ones, or of zeros, over some bytes.
    BlowUp,
    /// Bytes taken out, put in or doubled.
    Shift,
}

fn mutate(strategy: Strategy, base: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut file = base.to_vec();
    match strategy {
        Strategy::Havoc => {
            for _ in 0..1 + random.below(6) {
                let at = random.below(file.len());
                file[at] = match random.below(5) {
                    0 => file[at] ^ 1 << random.below(8),
                    1 => *random.pick(&[0, 0xff, 0x7f, 0x80, 1]),
                    2 => file[at].wrapping_add(1),
                    3 => file[at].wrapping_sub(1),
                    _ => random.word() as u8,
                };
            }
        }
        Strategy::Splice => {
            let cut = random.below(file.len());
            file.truncate(cut);
            let from = if random.below(2) == 0 { cut } else { random.below(other.len()) };
            file.extend_from_slice(other.get(from..).unwrap_or(&[]));
        }
        Strategy::BlowUp => {
            // Most structure stands at the front.
            let reach = if random.below(3) > 0 { file.len().min(40) } else { file.len() };
            let at = random.below(reach);
            let end = (at + 1 + random.below(8)).min(file.len());
            let value = if random.below(3) > 0 { 0xff } else { 0 };
            file[at..end].fill(value);
        }
        Strategy::Shift => {
            let at = random.below(file.len());
            let end = (at + 1 + random.below(9)).min(file.len());
            match random.below(3) {
                0 => drop(file.drain(at..end)),
                1 => {
                    let piece = file[at..end].to_vec();
                    file.splice(at..at, piece);
                }
                _ => file.insert(at, random.word() as u8),
            }
        }
    }
    file
}

/// Files of small numbers of bytes that pco has written, and ours, as ground for mutations.
fn grounds() -> Vec<Small> {
    let mut grounds = small_files(false, 2);
    let golden = common::repository().join("testdata/golden/pco");
    let manifest = std::fs::read_to_string(golden.join("manifest.json")).unwrap();
    let entries: Vec<serde_json::Value> = serde_json::from_str(&manifest).unwrap();
    for entry in entries {
        let name = entry["file"].as_str().unwrap().to_owned();
        let ty = NumberType::from_name(entry["dtype"].as_str().unwrap()).unwrap();
        let file = std::fs::read(golden.join(&name)).unwrap();
        if name.ends_with(".pco") && file.len() < 1500 {
            grounds.push(Small { name, ty, file });
        }
    }
    grounds
}

/// A reader that gives a few bytes at a time.
struct Few<'a>(&'a [u8]);

impl std::io::Read for Few<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(3);
        self.0.read(&mut buffer[..n])
    }
}

/// Numbers up to the error, if there is one, and the error's text.
fn streamed<T: Both>(reader: impl std::io::Read) -> (Vec<T>, Option<String>) {
    let mut numbers = Vec::new();
    let stream = || -> latens::Result<()> {
        let limits = Limits::default().max_output(MAX_OUTPUT);
        let mut decoder = latens::pco::standalone::Decoder::new(reader, limits)?;
        let mut piece = [T::default(); 77];
        loop {
            let read = decoder.read(&mut piece);
            let count = match &read {
                Ok(count) => *count,
                Err(error) => error.values_before().unwrap_or(0) as usize,
            };
            numbers.extend_from_slice(&piece[..count]);
            if read? == 0 {
                return decoder.finish().map(|_| ());
            }
        }
    };
    let error = stream().err().map(|error| error.to_string());
    (numbers, error)
}

/// How the bytes come makes no difference: neither to the numbers nor to the error and its place.
#[test]
fn damaged_streams_read_alike_however_they_come() {
    let grounds = grounds();
    let mut errors = 0;
    for index in 0..6000 {
        let mut random = Random(0x5eed << 32 | index);
        let (base, other) = (random.pick(&grounds), random.pick(&grounds));
        let strategy = *random.pick(&[Strategy::Havoc, Strategy::Splice, Strategy::BlowUp]);
        let file = mutate(strategy, &base.file, &other.file, &mut random);
        with_number_type!(base.ty, T => {
            let (whole, error) = streamed::<T>(&file[..]);
            let (few, few_error) = streamed::<T>(Few(&file));
            assert_eq!(error, few_error, "case {index}: {}", hex(&file));
            assert_eq!(difference(&whole, &few), None, "case {index}: {}", hex(&file));
            errors += usize::from(error.is_some());
        });
    }
    assert!(errors > 3000, "{errors}");
}

/// `LATENS_MUTATIONS` sets the count of cases, `LATENS_SEED` the first seed.
#[test]
fn seeded_mutations() {
    quiet_panics_of_pco();
    let (cases, seed) = (number("LATENS_MUTATIONS", 200_000), number("LATENS_SEED", 1));
    let grounds = grounds();
    let tally = on_all_cores(cases, |index, tally| {
        // One case can be told, and run again, by its seed and index.
        let mut random = Random((seed as u64) << 32 | index as u64);
        let strategy = *random.pick(&[
            Strategy::Havoc,
            Strategy::Havoc,
            Strategy::Splice,
            Strategy::BlowUp,
            Strategy::Shift,
        ]);
        let (base, other) = (random.pick(&grounds), random.pick(&grounds));
        let file = mutate(strategy, &base.file, &other.file, &mut random);
        let what = || format!("seed {seed} case {index} {strategy:?} of {}", base.name);
        with_number_type!(base.ty, T => judge::<T>(&file, true, tally, &what));
    });
    tally.report("seeded mutations");
    assert!(tally.slowest < Duration::from_secs(1), "{:?}", tally.slowest);
}
