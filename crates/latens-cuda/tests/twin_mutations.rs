//! Damaged files: the kernels as C++ say what the decoder in Rust says, byte for byte or error for
//! error, and never read or write outside of their buffers, which AddressSanitizer and
//! UndefinedBehaviorSanitizer watch where the compiler has them. `LATENS_MUTATIONS` is how many files
//! are damaged.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod twin_common;
#[path = "../../latens/tests/wcodec_common/mod.rs"]
mod wcodec_common;

use latens::Limits;
use latens::wcodec::Reader;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use twin_common::{Count, Twin, build};
use wcodec_common::Random;
use wcodec_common::mend::Parts;
use wcodec_common::samples::{self, Sample};

const SANITIZERS: [&str; 4] =
    ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        build("twin-sanitized", &SANITIZERS).or_else(|| build("twin-plain", &["-O2"]))
    });
    built.as_deref()
}

/// Changes some bytes; the length stays.
fn damage(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        // Records of tiles and states come first.
        let at = if random.below(3) == 0 { random.below(bytes.len().min(140)) } else { at };
        match random.below(5) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            3 => bytes[at..].fill(0),
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
}

fn havoc(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    if random.below(6) == 0 && !bytes.is_empty() {
        let at = random.below(bytes.len());
        if random.below(2) == 0 {
            let _ = bytes.remove(at);
        } else {
            bytes.insert(at, random.next() as u8);
        }
    }
    damage(bytes, random);
}

/// Samples of some kilobytes, in groups of a few hundred symbols; every coder.
fn grounds() -> Vec<Sample> {
    let mut all = samples::all(28);
    all.iter_mut().for_each(|s| s.config = s.config.clone().group_symbols(700));
    all
}

fn compare(twin: &mut Twin, name: &str, file: Vec<u8>, count: &mut Count) {
    let limits = Limits::default().max_output(1 << 24).max_alloc(1 << 24);
    let Ok(reader) = Reader::open(file, limits) else { return };
    twin.agrees(name, &reader.threads(1), count);
}

#[test]
fn damage_behind_right_checksums() {
    let Some(program) = program() else { return };
    let mut twin = Twin::start(program);
    let files = std::env::var("LATENS_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(3000);
    let grounds: Vec<(&str, Parts)> =
        grounds().iter().map(|s| (s.name, Parts::of(&s.compress()))).collect();
    let mut count = Count::default();
    for case in 0..files {
        let mut random = Random(case as u64);
        let (name, parts) = &grounds[case % grounds.len()];
        let mut parts = parts.clone();
        let other = &grounds[random.below(grounds.len())].1;
        parts.mutate(other, &mut random, havoc);
        compare(&mut twin, &format!("{name}, case {case}"), parts.bytes(), &mut count);
    }
    println!("{files} files: {count:?}");
    assert!(count.errors * 20 > files, "{count:?}");
}

#[test]
fn damage_that_checksums_find() {
    let Some(program) = program() else { return };
    let mut twin = Twin::start(program);
    let mut count = Count::default();
    for sample in grounds() {
        let file = sample.compress();
        let mut random = Random(77);
        for case in 0..30 {
            let mut file = file.clone();
            // Groups are between header and index.
            let at = 128 + random.below(file.len() / 2);
            file[at] ^= 1 << random.below(8);
            compare(&mut twin, &format!("{}, flip {case}", sample.name), file, &mut count);
        }
    }
    println!("{count:?}");
    assert!(count.errors > 100, "{count:?}");
}
