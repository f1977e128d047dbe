//! A higher level is worth its time: no column of the real data gets larger by it.

use std::path::Path;

use crate::tool::Folder;
use serde_json::Value;

const LEVELS: std::ops::RangeInclusive<u64> = 0..=12;
/// Bytes by which the head of a short column may differ.
const HEAD: u64 = 2;

/// By column, its name and bytes.
fn sizes(file: &str, level: u64, favor: &str) -> Vec<(String, u64)> {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/real").join(file);
    let f = Folder::new();
    let level = level.to_string();
    let args = ["compress", input.to_str().unwrap(), "-o", "out.pco.zip", "--to", "pco.zip"];
    let how = ["--json", "--no-verify", "--level", &level, "--favor", favor];
    let done = f.run(&[&args[..], &how[..]].concat()).ok();
    let report: Value = serde_json::from_str(done.text()).unwrap();
    let columns = report["columns"].as_array().unwrap().iter();
    columns
        .map(|c| (c["name"].as_str().unwrap().to_owned(), c["bytes"].as_u64().unwrap()))
        .collect()
}

/// All pairs of levels, not neighbours alone.
fn check(file: &str, favor: &str, columns: usize) {
    let mut least: Vec<(u64, u64)> = Vec::new();
    for level in LEVELS {
        let sizes = sizes(file, level, favor);
        assert_eq!(sizes.len(), columns);
        least.resize(columns, (u64::MAX, 0));
        for ((name, bytes), least) in sizes.iter().zip(&mut least) {
            let (smallest, of) = *least;
            let most = smallest.saturating_add(smallest / 1000 + HEAD);
            assert!(
                *bytes <= most,
                "{name} of {file}, {favor}: level {level} {bytes}, level {of} {smallest}"
            );
            if *bytes < smallest {
                *least = (*bytes, level);
            }
        }
    }
}

#[test]
fn flights() {
    for favor in ["speed", "balanced"] {
        check("nycflights_2013q1.parquet", favor, 19);
    }
}

#[test]
fn weather() {
    for favor in ["speed", "balanced", "size"] {
        check("weather.parquet", favor, 15);
    }
}

#[test]
fn temperatures() {
    for favor in ["speed", "balanced", "size"] {
        check("weather_jfk_temp_f64.npy", favor, 1);
    }
}
