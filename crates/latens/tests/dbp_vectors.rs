//! Third-party pages and hostile ones, read in place.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/skipped.rs"]
mod skipped;

use std::path::Path;

use latens::delta_binary_packed::{
    Decoder, Element, Layout, Options, decode, encode, header, inspect,
};
use latens::{ErrorKind, Limits};
use latens_kernels::dispatch::Simd;
use skipped::vectors;

fn check_page<T: Element>(page: &[u8], expected: &[T], name: &str) {
    for simd in Simd::available() {
        let decoder = Decoder::<T>::new(page, Options::STRICT).unwrap();
        let mut out = vec![T::default(); expected.len()];
        let mut decoder = decoder.with_simd(simd);
        assert_eq!(decoder.read(&mut out).unwrap(), expected.len(), "{name}");
        assert!(out == expected, "{name}, {}", simd.name());
        assert_eq!((decoder.consumed(), decoder.remaining()), (page.len(), 0), "{name}");
    }
    let report = inspect(page).unwrap();
    assert_eq!(report.consumed, page.len());
    // Written again: the same bytes, where the writer took the same freedoms as ours.
    let layout = header(page).unwrap().layout;
    let ours = encode(expected, Layout::new(layout.block_size(), layout.miniblocks()).unwrap());
    if name.starts_with("gen_pyarrow") {
        assert!(ours == page, "{name}: other bytes");
    }
    let again = decode::<T>(&ours, Limits::default(), Options::STRICT).unwrap();
    assert!(again.0 == expected);
}

#[test]
fn all_third_party_pages_decode() {
    let Some(folder) = vectors("dbp/pages") else { return };
    let mut seen = 0;
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "page")) {
        let page = std::fs::read(path).unwrap();
        let values = std::fs::read(path.with_extension("values")).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        if name.contains(".i32.") {
            let values: Vec<i32> =
                values.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
            check_page(&page, &values, &name);
        } else {
            let values: Vec<i64> =
                values.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect();
            check_page(&page, &values, &name);
        }
        seen += 1;
    }
    assert_eq!(seen, 168);
}

fn refuse<T: Element>(page: &[u8], path: &Path) {
    let kind = decode::<T>(page, Limits::default(), Options::default()).unwrap_err().kind();
    assert!(matches!(kind, ErrorKind::Corrupt | ErrorKind::Truncated), "{}", path.display());
}

/// What makes the `parquet` crate panic is an error here, or plainly decodes.
#[test]
fn hostile_pages_are_handled() {
    let Some(folder) = vectors("hostile/parquet") else { return };
    let mut seen = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("dbp") {
            continue;
        }
        let page = std::fs::read(&path).unwrap();
        // Pages with the number of values in front, as two bytes, not part of the stream.
        assert_eq!(page[..2], [0xe8, 0x03]);
        println!("{name}: {:?}", inspect(&page[2..]).map(|r| r.header.total_count));
        refuse::<i32>(&page, &path);
        refuse::<i64>(&page, &path);
        for bytes in [&page[2..], &page[..]] {
            let mut out = vec![-1i64; 1000];
            let options = Options::default().expect_count(1000);
            let result = Decoder::<i64>::new(bytes, options).and_then(|mut d| d.read(&mut out));
            assert!(result.is_err(), "{name}");
            assert!(out.iter().all(|&x| x == -1));
        }
        seen += 1;
    }
    assert_eq!(seen, 4);
}
