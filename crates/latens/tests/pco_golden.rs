//! Files of every release of the reference, decoded.
//!
//! `testdata/golden/pco` is ours, made with old Python releases. The thirteen files of the
//! reference's own repository are third-party: they are read where they lie, outside of this
//! repository (`../shared/vectors`, or `LATENS_VECTORS`), when they are there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod common;

use common::skipped::vectors;
use common::{repository, sha256};
use latens::{AnyNumbers, Limits, NumberType, pco, with_number_type};
use serde_json::Value;

fn number_type(dtype: &str) -> NumberType {
    NumberType::from_name(dtype).unwrap_or_else(|| panic!("dtype {dtype}"))
}

/// The numbers of a concatenation of header, chunk metadata and pages.
fn decode_wrapped(file: &[u8], entry: &Value, ty: NumberType) -> AnyNumbers {
    fn typed<T: latens::Number>(file: &[u8], entry: &Value) -> Vec<T> {
        let (decoder, mut at) = pco::wrapped::FileDecoder::new(file, Limits::default()).unwrap();
        assert_eq!(entry["wrapped"]["header_bytes"], at);
        let mut numbers = Vec::new();
        for chunk in entry["wrapped"]["chunks"].as_array().unwrap() {
            let (chunk_decoder, used) = decoder.chunk_decoder::<T>(&file[at..]).unwrap();
            assert_eq!(chunk["meta_bytes"], used);
            at += used;
            for page in chunk["pages"].as_array().unwrap() {
                let mut part = vec![T::default(); page["n"].as_u64().unwrap() as usize];
                let used = chunk_decoder.decode_page(&file[at..], &mut part).unwrap();
                assert_eq!(page["bytes"], used);
                at += used;
                numbers.extend(part);
            }
        }
        assert_eq!(at, file.len());
        numbers
    }
    with_number_type!(ty, T => typed::<T>(file, entry).into())
}

#[test]
fn files_of_old_releases() {
    let folder = repository().join("testdata/golden/pco");
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&manifest).unwrap();
    assert!(entries.len() > 600);
    for entry in &entries {
        let name = entry["file"].as_str().unwrap();
        let file = std::fs::read(folder.join(name)).unwrap();
        let ty = number_type(entry["dtype"].as_str().unwrap());
        let numbers = if name.ends_with(".pcw") {
            decode_wrapped(&file, entry, ty)
        } else {
            let decode =
                || with_number_type!(ty, T => pco::decompress::<T>(&file).map(AnyNumbers::from));
            decode().unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        assert_eq!(entry["n"], numbers.len(), "{name}");
        assert_eq!(entry["sha256_raw"], sha256(&numbers.to_le_bytes()), "{name}");
    }
}

#[test]
fn files_of_the_reference() {
    let Some(folder) = vectors("pco") else { return };
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let entries = manifest.as_array().or_else(|| manifest["files"].as_array()).unwrap();
    assert_eq!(entries.len(), 13);
    for entry in entries {
        let name = entry["file"].as_str().unwrap().trim_end_matches(".pco");
        let file = std::fs::read(folder.join(format!("{name}.pco"))).unwrap();
        let expected = std::fs::read(folder.join(format!("{name}.raw"))).unwrap();
        let numbers =
            pco::decompress_any(&file, Limits::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(numbers.to_le_bytes(), expected, "{name}");
    }
}
