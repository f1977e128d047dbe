//! Damaged containers: every flipped bit and every truncation of small files, and seeded mutations
//! of many more, checksums mended so that what stands behind them is reached too. An error or
//! values, never a panic; memory and time within their bounds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod common;
mod wcodec_common;

use common::counting::{Counting, peak_of};
use common::tally::{MAX_OUTPUT, Tally, error_bound, number, on_all_cores};
use cpu_time::ThreadTime;
use latens::wcodec::{BaseCheckpoint, Reader};
use latens::{ErrorKind, Limits};
use std::time::Duration;
use wcodec_common::mend::{Parts, varint};
use wcodec_common::{Random, open, samples};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A file, and the checkpoint that it was made against.
struct Ground {
    name: String,
    file: Vec<u8>,
    base: Option<Vec<u8>>,
}

/// Small files: a sample a feature, and of another writer what latens makes of large tensors alone.
fn grounds() -> Vec<Ground> {
    let own = samples::tiny().into_iter().map(|(name, file)| Ground { name, file, base: None });
    let folder = common::repository().join("testdata/golden/wcodec-foreign");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let of_others =
        ["pairs-in-order", "pairs-of-rows", "woven", "against-a-base"].map(|name| Ground {
            name: name.to_owned(),
            file: read(&format!("{name}.wcodec")),
            base: (name == "against-a-base").then(|| read("base.safetensors")),
        });
    own.chain(of_others).collect()
}

/// Reads all that can be read of a file; how many tensors came, and whether all is sound.
fn read_all(file: &[u8], base: Option<&[u8]>, tally: &mut Tally, wrong: &mut Vec<String>) -> bool {
    let limits = Limits::default().max_output(MAX_OUTPUT);
    let mut note = |error: &latens::Error, what: &str| {
        let odd = match error.kind() {
            ErrorKind::Corrupt | ErrorKind::Truncated => {
                error.at().is_none_or(|at| at > file.len() as u64)
            }
            ErrorKind::Io => true,
            _ => !error.is_limit(),
        };
        if odd {
            wrong.push(format!("{what}: {error}"));
        }
    };
    let opened = Reader::open(file.to_vec(), limits).and_then(|reader| match base {
        Some(base) => reader.with_base(Box::new(BaseCheckpoint::new(open(base.to_vec()))?)),
        None => Ok(reader),
    });
    let reader = match opened {
        Ok(reader) => reader.threads(1),
        Err(error) => {
            note(&error, "open");
            return false;
        }
    };
    tally.count("opened");
    let mut sound = true;
    if let Err(error) = reader.verify() {
        note(&error, "verify");
        sound = false;
    }
    let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
    for number in numbers.into_iter().take(40) {
        match reader.tensor(number) {
            Ok(_) => tally.count("tensors"),
            Err(error) => note(&error, "tensor"),
        }
        let layout = reader.layout(number);
        let (rows, cols) = layout.map_or((1, 1), |layout| (layout.rows, layout.cols));
        let start = rows / 2;
        match reader.slice(number, start..(start + 1).min(rows), 0..cols.min(1)) {
            Ok(_) => {}
            Err(error) => note(&error, "slice"),
        }
    }
    for number in 0..reader.files().count().min(4) {
        if let Err(error) = reader.write_file(number, &mut std::io::sink()) {
            note(&error, "file");
        }
    }
    sound
}

/// Reads a damaged file and checks the bounds; whether nothing was found.
fn judge(file: &[u8], base: Option<&[u8]>, tally: &mut Tally, name: &dyn Fn() -> String) -> bool {
    let start = ThreadTime::now();
    let mut wrong = Vec::new();
    let (sound, peak) = peak_of(|| read_all(file, base, tally, &mut wrong));
    let time = start.elapsed();
    tally.case(time, peak);
    if sound {
        tally.count("sound");
    }
    let bound = error_bound(file.len());
    if peak > bound {
        wrong.push(format!("{peak} bytes held, {bound} are allowed"));
    }
    if time > Duration::from_secs(2) {
        wrong.push(format!("{time:?}"));
    }
    tally.wrong.extend(wrong.into_iter().map(|what| format!("{}: {what}", name())));
    sound
}

#[test]
fn every_flipped_bit_is_found() {
    let mut bits = 0;
    for Ground { name, file, base } in grounds() {
        let base = base.as_deref();
        assert!(judge(&file, base, &mut Tally::default(), &|| name.clone()), "{name} is sound");
        let tally = on_all_cores(8 * file.len(), |bit, tally| {
            let mut file = file.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            let what = || format!("{name}: bit {} of byte {}", bit % 8, bit / 8);
            if judge(&file, base, tally, &what) {
                tally.wrong.push(format!("{} goes unnoticed", what()));
            }
        });
        bits += tally.cases;
        tally.report(&name);
    }
    println!("{bits} flipped bits");
}

#[test]
fn every_truncation_is_an_error_with_its_byte() {
    for Ground { name, file, .. } in grounds() {
        for len in 0..file.len() {
            let error = Reader::open(file[..len].to_vec(), Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{name} cut to {len}: {error}");
            assert_eq!(error.at(), Some(len as u64), "{name} cut to {len}: {error}");
        }
        let mut longer = file;
        longer.push(0);
        assert!(Reader::open(longer, Limits::default()).is_err(), "{name}");
    }
}

fn havoc(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if bytes.is_empty() {
        bytes.push(random.word() as u8);
    }
    match random.below(8) {
        0..=3 => {
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = match random.below(5) {
                    0 => bytes[at] ^ 1 << random.below(8),
                    1 => *random.pick(&[0, 0xff, 0x7f, 0x80, 1]),
                    2 => bytes[at].wrapping_add(1),
                    3 => bytes[at].wrapping_sub(1),
                    _ => random.word() as u8,
                };
            }
        }
        4 => {
            // A field made large: a run of ones, or of zeros.
            let at = random.below(bytes.len());
            let end = (at + 1 + random.below(8)).min(bytes.len());
            let value = if random.below(3) > 0 { 0xff } else { 0 };
            bytes[at..end].fill(value);
        }
        5 => {
            // A number in place of a byte.
            let at = random.below(bytes.len());
            let value = *random.pick(&[1 << 7, 1 << 14, 1 << 20, 1 << 31, 1 << 47, u64::MAX]);
            bytes.splice(at..=at, varint(value - random.word() % 3));
        }
        6 => {
            let at = random.below(bytes.len());
            let end = (at + 1 + random.below(9)).min(bytes.len());
            match random.below(3) {
                0 => drop(bytes.drain(at..end)),
                1 => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => bytes.insert(at, random.word() as u8),
            }
        }
        _ => {
            let cut = random.below(bytes.len());
            bytes.truncate(cut);
            let from = if random.below(2) == 0 { cut } else { random.below(other.len().max(1)) };
            bytes.extend_from_slice(other.get(from..).unwrap_or(&[]));
        }
    }
}

/// `LATENS_MUTATIONS` sets the count of cases, `LATENS_SEED` the first seed.
#[test]
fn seeded_mutations() {
    let (cases, seed) = (number("LATENS_MUTATIONS", 200_000), number("LATENS_SEED", 1));
    let only = std::env::var("LATENS_CASE").ok().map(|case| case.parse::<usize>().unwrap());
    let grounds: Vec<_> = samples::small()
        .into_iter()
        .map(|(name, file)| {
            let parts = Parts::of(&file);
            assert!(parts.bytes() == file, "{name} comes back from its parts");
            (name, file, parts)
        })
        .collect();
    let tally = on_all_cores(cases, |case, tally| {
        if only.is_some_and(|only| only != case) {
            return;
        }
        // One case can be told, and run again, by its seed and index.
        let mut random =
            Random(((seed as u64) << 32 | case as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let ((name, file, parts), (_, other_file, other)) =
            (random.pick(&grounds), random.pick(&grounds));
        let mended = random.below(8) > 0;
        let file = if mended {
            let mut parts = parts.clone();
            for _ in 0..1 + random.below(2) {
                parts.mutate(other, &mut random, havoc);
            }
            parts.bytes()
        } else {
            let mut file = file.clone();
            havoc(&mut file, other_file, &mut random);
            file
        };
        judge(&file, None, tally, &|| format!("seed {seed} case {case} of {name}"));
    });
    tally.report("seeded mutations");
    assert!(only.is_some() || tally.counted("opened") > cases / 3, "checksums were mended");
    assert!(only.is_some() || tally.counted("tensors") > cases / 10, "values come too");
}
