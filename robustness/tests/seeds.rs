//! The fuzz targets without a fuzzer: every seed, and every input that once found something.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use latens_robustness::target::{self, Verdict};
use std::fs;
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

fn inputs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn seeds_are_sound() {
    target::interop::quiet_peers();
    for target in target::ours() {
        let seeds = inputs(&fuzz().join("seeds").join(target.name));
        assert!(!seeds.is_empty(), "{}: `robustness seeds fuzz/seeds` makes them", target.name);
        for path in seeds {
            let input = fs::read(&path).unwrap();
            let verdict = latens_robustness::fuzz::input(&target, &input).expect("not empty");
            let sound = target.recipe || matches!(verdict, Verdict::Accepted { .. });
            assert!(sound, "{}: {verdict:?}", path.display());
        }
    }
}

#[test]
fn what_once_found_something_finds_nothing() {
    target::interop::quiet_peers();
    let mut count = 0;
    for target in target::ours() {
        for path in inputs(&fuzz().join("regressions").join(target.name)) {
            println!("{}", path.display());
            let _ = latens_robustness::fuzz::input(&target, &fs::read(&path).unwrap());
            count += 1;
        }
    }
    println!("{count} regressions");
}

/// `testdata/hostile` through all that is done with a file, and through the tool.
#[test]
fn hostile_files_break_no_rule() {
    target::interop::quiet_peers();
    let files = inputs(&fuzz().join("../testdata/hostile"));
    let mut count = 0;
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "pco")) {
        let bytes = fs::read(path).unwrap();
        for name in ["pco_standalone", "tool_pco"] {
            let _ = (target::find(name).expect("a target").body)(0, &bytes);
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn every_target_is_a_fuzz_target() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for target in target::ours() {
        let name = target.name;
        let source = fs::read_to_string(fuzz().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(source.contains(&format!("fuzz!(\"{name}\")")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}

/// A few thousand cases of each target in this process, so that a break is seen by `cargo test`.
#[test]
fn some_damage() {
    use latens_robustness::case::Cases;
    target::interop::quiet_peers();
    for target in target::ours() {
        let wanted = 2 * target.share;
        let cases = Cases::new((target.grounds)(), target.recipe, 3);
        for index in 0..wanted {
            let case = cases.case(index, wanted);
            let _ = (target.body)(case.ground.selector, &case.bytes);
        }
    }
}
