//! Pages that pyarrow, DuckDB and polars wrote: `testdata/golden/dbp`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;

use latens::Limits;
use latens::delta_binary_packed::{
    ByteArrays, Layout, Options, decode, delta_byte_array, delta_length_byte_array, encode,
};

#[test]
fn pages_of_other_writers_decode() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/dbp");
    let limits = Limits::default();
    let mut seen = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "page") {
            continue;
        }
        let page = std::fs::read(&path).unwrap();
        let values = std::fs::read(path.with_extension("values")).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let lenient = Options::default();
        let consumed = match name.split('.').collect::<Vec<_>>()[1..3] {
            ["i32", "dbp"] => {
                let values: Vec<i32> =
                    values.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
                let (out, consumed) = decode::<i32>(&page, limits, lenient).unwrap();
                assert_eq!(out, values, "{name}");
                // DuckDB takes 33 bits where the format allows 32.
                let wide = name.starts_with("duckdb") && !name.contains("ids");
                let strict = decode::<i32>(&page, limits, Options::STRICT);
                assert_eq!(strict.is_err(), wide, "{name}: {strict:?}");
                if name.starts_with("pyarrow") {
                    assert_eq!(encode(&values, Layout::default_for::<i32>()), page, "{name}");
                }
                consumed
            }
            ["i64", "dbp"] => {
                let values: Vec<i64> =
                    values.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect();
                let (out, consumed) = decode::<i64>(&page, limits, Options::STRICT).unwrap();
                assert_eq!(out, values, "{name}");
                if name.starts_with("pyarrow") && !values.is_empty() {
                    assert_eq!(encode(&values, Layout::default_for::<i64>()), page, "{name}");
                }
                consumed
            }
            ["str", "dlba"] => {
                let (out, consumed) =
                    delta_length_byte_array::decode(&page, limits, lenient).unwrap();
                assert_eq!(framed(&out), values, "{name}");
                consumed
            }
            ["str", "dba"] => {
                let (out, consumed) = delta_byte_array::decode(&page, limits, lenient).unwrap();
                assert_eq!(framed(&out), values, "{name}");
                consumed
            }
            _ => panic!("{name} is of an unknown kind"),
        };
        assert_eq!(consumed, page.len(), "{name}");
        seen += 1;
    }
    assert!(seen >= 15, "{seen} pages");
}

fn framed(strings: &ByteArrays<'_>) -> Vec<u8> {
    let mut all = Vec::new();
    for string in strings.iter() {
        all.extend(u32::try_from(string.len()).unwrap().to_le_bytes());
        all.extend(string);
    }
    all
}
