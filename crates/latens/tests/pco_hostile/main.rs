//! Files that lie, each with its verdict: what kind of error, at which byte, saying what; and within
//! which memory and time.
//!
//! Ours are written here field by field and lie in `testdata/hostile`, with a README that this test
//! keeps; `LATENS_BLESS=1` writes the folder anew. Third-party ones are read from `../shared/vectors`
//! beside the repository, or `LATENS_VECTORS`, when they are there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod bombs;
#[path = "../common/mod.rs"]
mod common;
mod legal;
mod meaning;
mod structure;
mod written;

use common::counting::{Counting, peak_of};
use common::fields::Fields;
use common::{pco_decode, repository};
use cpu_time::ThreadTime;
use latens::{AnyNumbers, ErrorKind, Limits, NumberType, with_number_type};
use std::fmt::Write as _;
use std::time::Duration;
use written::{Decoded, Hostile, Refused, U32};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a decoder may hold when its answer is an error (R2) or numbers of so many bytes (R3).
fn bound(file: &[u8], decoded: &latens::Result<AnyNumbers>) -> usize {
    match decoded {
        Ok(numbers) => (16 << 20) + numbers.len() * numbers.number_type().bytes() * 5 / 4,
        Err(_) => (16 << 20) + 4 * file.len(),
    }
}

/// Decodes within the bounds of memory and time, or panics.
fn bounded(name: &str, file: &[u8], limits: Limits) -> latens::Result<AnyNumbers> {
    let start = ThreadTime::now();
    let (decoded, peak) = peak_of(|| latens::pco::decompress_any(file, limits));
    let time = start.elapsed();
    let bound = bound(file, &decoded);
    assert!(peak <= bound, "{name}: {peak} bytes held, {bound} are allowed");
    let output = decoded.as_ref().map_or(0, |n| n.len() * n.number_type().bytes());
    // A second for each 128 MiB, 100 ms where there is nothing; tripled for busy machines.
    let most = Duration::from_millis(300) + Duration::from_secs(3) * (output >> 20) as u32 / 128;
    assert!(time <= most, "{name}: {time:?}");
    decoded
}

/// Every file of `testdata/hostile`.
fn hostile() -> Vec<Hostile> {
    let mut out = Vec::new();
    structure::heads(&mut out);
    structure::chunk_heads(&mut out);
    structure::padding(&mut out);
    structure::bins(&mut out);
    meaning::modes(&mut out);
    meaning::deltas(&mut out);
    meaning::pages(&mut out);
    legal::odd(&mut out);
    legal::stricter(&mut out);
    out
}

fn readme(files: &[Hostile]) -> String {
    let mut text = "# Hostile Pco files\n\n\
        Each is written field by field in `crates/latens/tests/pco_hostile`, which also knows what\n\
        must come of it, and makes this folder anew with `LATENS_BLESS=1 cargo test --test pco_hostile`.\n\n\
        | file | attacks with | latens | pco 1.1.0 |\n|---|---|---|---|\n"
        .to_owned();
    for Hostile { name, attacks, verdict, pco_accepts, .. } in files {
        let (verdict, pco) = match verdict {
            Refused(kind, at, _) => (
                format!("{} at byte {at}", kind.name()),
                if *pco_accepts { "decodes it" } else { "refuses it" },
            ),
            Decoded(..) => ("decodes it".to_owned(), "decodes it"),
        };
        writeln!(text, "| {name}.pco | {attacks} | {verdict} | {pco} |").unwrap();
    }
    text
}

fn folder_is(files: &[(String, Vec<u8>)]) {
    let folder = repository().join("testdata/hostile");
    let bless = std::env::var_os("LATENS_BLESS").is_some();
    if bless {
        std::fs::create_dir_all(&folder).unwrap();
    }
    for (name, bytes) in files {
        let path = folder.join(name);
        if bless {
            std::fs::write(&path, bytes).unwrap();
        }
        let there = std::fs::read(&path).unwrap_or_default();
        assert!(
            there == *bytes,
            "{name} differs from what the test writes; LATENS_BLESS=1 writes it"
        );
    }
    let there = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(there, files.len(), "files in testdata/hostile");
}

#[test]
fn our_hostile_files() {
    let all = hostile();
    let mut files: Vec<(String, Vec<u8>)> =
        all.iter().map(|h| (format!("{}.pco", h.name), h.file.clone())).collect();
    files.push(("README.md".to_owned(), readme(&all).into_bytes()));
    let mut wrong = Vec::new();
    for Hostile { name, file, verdict, pco_accepts, .. } in &all {
        match (verdict, bounded(name, file, Limits::default())) {
            (Decoded(ty, want), Ok(numbers)) => {
                let want: Vec<u8> =
                    want.iter().flat_map(|x| x.to_le_bytes()[..ty.bytes()].to_vec()).collect();
                if numbers.number_type() != *ty || numbers.to_le_bytes() != want {
                    wrong.push(format!("{name}: {numbers:?}"));
                }
            }
            (Decoded(..), Err(error)) => wrong.push(format!("{name}: {error}")),
            (Refused(..), Ok(numbers)) => wrong.push(format!("{name}: decoded, {numbers:?}")),
            (Refused(kind, at, text), Err(error)) => {
                if (error.kind(), error.at()) != (*kind, Some(*at))
                    || !error.to_string().contains(text)
                {
                    wrong.push(format!("{name}: {error}; expected {kind:?} {at} {text}"));
                }
            }
        }
        // The reference needs the type told.
        let ty = file.get(9).and_then(|&b| NumberType::from_pco_byte(b)).unwrap_or(NumberType::U32);
        let theirs = with_number_type!(ty, T => pco_decode::<T>(file).map(|_| ()));
        let accepts = *pco_accepts || matches!(verdict, Decoded(..));
        if theirs.is_ok() != accepts {
            wrong.push(format!("{name}: pco 1.1.0 says {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    folder_is(&files);
    println!("{} hostile files", all.len());
}

/// Tables, dictionaries and windows are within `max_alloc`, and the error says which limit.
#[test]
fn the_limit_of_memory_is_kept_and_named() {
    let limits = Limits::default().max_alloc(1000);
    let numbers: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let config = latens::pco::Config::default().mode(latens::pco::ModeSpec::Dict);
    let file = latens::pco::compress(&numbers, &config).unwrap();
    let error = latens::pco::decompress_any(&file, limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("a dictionary takes 20000 bytes"), "{error}");
    assert!(error.to_string().contains("max_alloc = 1000"), "{error}");
    latens::pco::decompress_any(&file, Limits::default().max_alloc(200_000)).unwrap();
}

/// Memory follows the bytes that are there, also where most of them are metadata.
#[test]
fn a_large_dictionary_costs_a_few_times_its_bytes() {
    let n = 1 << 21;
    let values: Vec<u8> = (0..n as u32).flat_map(|i| i.to_le_bytes()).collect();
    for (hint, whole) in [(1, true), (1 << 23, true), (1 << 23, false)] {
        let fields = Fields::head(0, hint).chunk(U32, 3).field(4, 4).field(n, 25).pad();
        let fields = fields.bytes(&values).field(0, 4).variable(32, 0, &[(1, n - 1, 0)]).pad();
        let file = if whole { fields.end() } else { fields.done() };
        // Not R3: the dictionary is no output. It may cost what an error may.
        let (decoded, peak) =
            peak_of(|| latens::pco::decompress_any(&file, Limits::default()).is_ok());
        assert!(peak <= (16 << 20) + 4 * file.len(), "{peak} bytes held for {}", file.len());
        assert_eq!(decoded, whole);
    }
}

/// Sizes that no hint announces, or a hint too small, or too large, cost no more than they are.
#[test]
fn a_wrong_hint_costs_little() {
    let numbers: Vec<u64> = (0..5_000_000u64).map(|i| i * i % 1_000_003).collect();
    let config = latens::pco::Config::default().level(1).checksum(false);
    for hint in [0, 1, 2_500_000, 4_999_999, 5_000_000, 5_000_001, 1 << 40] {
        let mut encoder =
            latens::pco::standalone::Encoder::new(Vec::new(), NumberType::U64, hint, &config)
                .unwrap();
        for chunk in numbers.chunks(1 << 20) {
            encoder.write_chunk(chunk).unwrap();
        }
        let file = encoder.finish().unwrap();
        let decoded = bounded(&format!("hint {hint}"), &file, Limits::default()).unwrap();
        assert_eq!(decoded, AnyNumbers::from(numbers.clone()));
    }
}
