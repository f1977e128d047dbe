//! Seeded damage to many files, in memory and as streams.

use crate::common::numbers::Random;
use crate::common::tally::{MAX_OUTPUT, number, on_all_cores};
use crate::common::{Both, difference, repository};
use crate::{Small, hex, judge, quiet_panics_of_pco, small_files};
use latens::{Limits, NumberType, with_number_type};
use std::time::Duration;

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
    let golden = repository().join("testdata/golden/pco");
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
