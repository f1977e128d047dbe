//! Small files of every feature as an earlier version wrote them, in `testdata/golden/wcodec`: what
//! they give back must never change. `LATENS_BLESS=missing cargo test --test wcodec_golden` writes those
//! that are missing, `LATENS_BLESS=all` all of them anew after a change of the format that is meant.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod common;
mod wcodec_common;

use common::{repository, sha256};
use latens::Limits;
use latens::wcodec::Reader;
use std::fmt::Write as _;
use wcodec_common::samples;

/// A line for each source file: its sha256, the golden file, its name.
fn sums(name: &str, golden: &[u8]) -> Vec<String> {
    let reader = Reader::open(golden.to_vec(), Limits::default()).unwrap();
    reader.verify().unwrap_or_else(|e| panic!("{name}: {e}"));
    let names: Vec<String> = reader.files().map(|(name, _)| name.to_owned()).collect();
    let line = |(number, file): (usize, &String)| {
        let mut out = Vec::new();
        reader.write_file(number, &mut out).unwrap_or_else(|e| panic!("{name}, {file}: {e}"));
        format!("{} {name}.wcodec {file}", sha256(&out))
    };
    names.iter().enumerate().map(line).collect()
}

#[test]
fn golden_files_give_back_what_they_gave() {
    let folder = repository().join("testdata/golden/wcodec");
    let manifest = folder.join("sha256.txt");
    if let Ok(which) = std::env::var("LATENS_BLESS") {
        std::fs::create_dir_all(&folder).unwrap();
        let mut text = String::new();
        for sample in samples::all(2) {
            let path = folder.join(format!("{}.wcodec", sample.name));
            let golden = match std::fs::read(&path) {
                Ok(golden) if which == "missing" => golden,
                _ => sample.compress(),
            };
            std::fs::write(&path, &golden).unwrap();
            for ((name, source), line) in sample.files.iter().zip(sums(sample.name, &golden)) {
                let want = format!("{} {}.wcodec {name}", sha256(source), sample.name);
                assert_eq!(line, want, "the source comes back");
                writeln!(text, "{line}").unwrap();
            }
        }
        std::fs::write(&manifest, text).unwrap();
    }
    let manifest = std::fs::read_to_string(&manifest).unwrap();
    let mut want: Vec<&str> = manifest.lines().collect();
    let mut seen = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "wcodec") {
            continue;
        }
        seen += 1;
        let name = path.file_stem().unwrap().to_str().unwrap();
        for line in sums(name, &std::fs::read(&path).unwrap()) {
            let at = want.iter().position(|w| *w == line);
            want.remove(at.unwrap_or_else(|| panic!("{name} gives back something else: {line}")));
        }
    }
    assert!(want.is_empty(), "missing: {want:?}");
    assert!(seen >= 15, "{seen} files");
}
