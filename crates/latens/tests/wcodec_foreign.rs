//! Files that latens did not write: those of `testdata/golden/wcodec-foreign` give back what their
//! manifest says, those of `testdata/hostile-wcodec` are refused at the byte that their README says.
//! Both are made by a writer in Python that knows nothing but the specifications.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod common;
mod wcodec_common;

use common::{repository, sha256};
use latens::wcodec::view::{Sign, Values, View};
use latens::wcodec::{BaseCheckpoint, Reader};
use latens::{Limits, Result};
use std::fs;
use std::path::{Path, PathBuf};
use wcodec_common::mend::crc;
use wcodec_common::{open, safetensors};

/// The .wcodec files of a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        paths.filter(|p| p.extension().is_some_and(|e| e == "wcodec")).collect();
    files.sort();
    files
}

/// Opens a file, with the base that lies beside it where it needs one.
fn reader(path: &Path) -> Result<Reader<Vec<u8>>> {
    let reader = Reader::open(fs::read(path).unwrap(), Limits::default())?;
    let Some((name, _)) = reader.base_name() else { return Ok(reader) };
    let Ok(base) = fs::read(path.with_file_name(name)) else { return Ok(reader) };
    reader.with_base(Box::new(BaseCheckpoint::new(open(base))?))
}

fn bytes_of(values: Values) -> Vec<u8> {
    match values {
        Values::Signed(v) => v.into_iter().map(i8::cast_unsigned).collect(),
        Values::Unsigned(v) | Values::Words(v) => v,
    }
}

/// Rows, slices and stretches of bytes of a tensor are those of the whole.
fn pieces_are_those_of_the_whole(
    reader: &Reader<Vec<u8>>,
    number: usize,
    whole: &[u8],
    name: &str,
) {
    let length = whole.len() as u64;
    for (from, to) in [(0, length), (length / 3, length / 2), (length.saturating_sub(1), length)] {
        let range = reader.byte_range(number, from..to).unwrap();
        assert!(range == whole[from as usize..to as usize], "{name}: bytes {from} to {to}");
    }
    let layout = reader.layout(number).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (rows, cols) = (layout.rows, layout.cols);
    let all = bytes_of(reader.rows(number, 0..rows).unwrap());
    if let View::Bytes(Sign::Signed | Sign::Unsigned) = layout.view {
        assert!(all == whole, "{name}: all rows");
    }
    let Some(width) = all.len().checked_div((rows * cols) as usize) else { return };
    let at = |row: u64, col: u64| (row * cols + col) as usize * width;
    for (first, last) in [(0, 1), (rows / 3, rows / 2), (rows - 1, rows), (rows / 2, rows)] {
        let some = bytes_of(reader.rows(number, first..last).unwrap());
        assert!(some == all[at(first, 0)..at(last, 0)], "{name}: rows {first} to {last}");
        let slice = bytes_of(reader.slice(number, first..last, cols / 3..cols).unwrap());
        let want = (first..last).flat_map(|r| &all[at(r, cols / 3)..at(r + 1, 0)]);
        assert!(slice.iter().eq(want), "{name}: a slice of rows {first} to {last}");
    }
}

/// What a file has under a name: a tensor, or else a source file.
fn named(path: &Path, name: &str) -> Vec<u8> {
    let reader = reader(path).unwrap();
    if let Some(number) = reader.find(name) {
        let whole =
            reader.tensor(number).unwrap_or_else(|e| panic!("{}, {name}: {e}", path.display()));
        pieces_are_those_of_the_whole(&reader, number, &whole, name);
        let rows = reader.layout(number).unwrap().rows;
        let all = bytes_of(reader.rows(number, 0..rows).unwrap()).len();
        for planes in 1..=16 {
            let coarse = reader.without_planes(planes).rows(number, 0..rows);
            assert_eq!(bytes_of(coarse.unwrap()).len(), all, "{name} without {planes} planes");
        }
        return whole;
    }
    let number = reader.files().position(|(file, _)| file == name);
    let number = number.unwrap_or_else(|| panic!("{}: no {name}", path.display()));
    let mut out = Vec::new();
    reader.write_file(number, &mut out).unwrap();
    out
}

#[test]
fn files_of_another_writer_give_back_what_they_hold() {
    let folder = repository().join("testdata/golden/wcodec-foreign");
    let manifest = fs::read_to_string(folder.join("sha256.txt")).unwrap();
    assert!(manifest.lines().count() > 250);
    for line in manifest.lines() {
        let [sum, file, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert_eq!(sha256(&named(&folder.join(file), name)), sum, "{file}, {name:?}");
    }
}

#[test]
fn files_of_another_writer_verify_on_any_number_of_threads() {
    let files = files(&repository().join("testdata/golden/wcodec-foreign"));
    assert!(files.len() > 35, "{} files", files.len());
    for path in files {
        for threads in [1, 3] {
            let reader = reader(&path).unwrap().threads(threads);
            reader.verify().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            for (number, entry) in reader.tensors() {
                let whole = reader.tensor(number).unwrap();
                let mut out = vec![0xA5; whole.len()];
                reader.tensor_into(number, &mut out).unwrap();
                assert!(out == whole, "{}, {}", path.display(), entry.name);
            }
        }
    }
}

/// A base that nobody asked for does not make up for one that the file does not name.
#[test]
fn a_file_without_a_base_has_none() {
    let path = repository().join("testdata/hostile-wcodec/source-without-base.wcodec");
    let of_base = safetensors(&[("a", "F32", &[4], vec![0; 16])]);
    let base = BaseCheckpoint::new(open(of_base)).unwrap();
    let error = reader(&path).unwrap().with_base(Box::new(base)).unwrap().verify().unwrap_err();
    assert!(error.to_string().contains("names a base, the file does not"), "{error}");
}

/// The rows of the README of the hostile files: file, what latens says.
fn hostile() -> Vec<(PathBuf, String)> {
    let folder = repository().join("testdata/hostile-wcodec");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let rows = readme.lines().filter(|line| line.contains(".wcodec |"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
        (folder.join(cells[0]), (*cells.last().unwrap()).to_owned())
    };
    rows.map(row).collect()
}

#[test]
fn hostile_files_are_refused_where_they_are_wrong() {
    let hostile = hostile();
    let folder = repository().join("testdata/hostile-wcodec");
    assert_eq!(hostile.len(), files(&folder).len());
    assert!(hostile.len() > 190, "{} files", hostile.len());
    for (path, want) in hostile {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        for threads in [1, 3] {
            let result = reader(&path).and_then(|reader| reader.threads(threads).verify());
            let Err(error) = result else { panic!("{name} is not refused") };
            let at = error.at().map_or_else(|| "?".to_owned(), |at| at.to_string());
            assert_eq!(format!("{} at byte {at}", error.kind().name()), want, "{name}: {error}");
            let by_hash = error.to_string().contains("what the model hash states");
            assert_eq!(by_hash, name == "model-hash.wcodec", "{name}: {error}");
        }
    }
}

/// A file with a record of an odd tag before all others of its index, where its checksums are right.
fn with_another_record(file: &[u8], record: &[u8]) -> Option<Vec<u8>> {
    let end = file.len().checked_sub(32)?;
    let start = u64::from_le_bytes(file[end..][..8].try_into().unwrap()) as usize;
    let (index, stated) = (file.get(start..end)?, &file[end + 16..end + 20]);
    if crc(index).to_le_bytes() != stated {
        return None;
    }
    let index = [record, index].concat();
    let length = (start + index.len() + 32) as u64;
    let mut footer = [(start as u64).to_le_bytes(), length.to_le_bytes()].concat();
    footer.extend(crc(&index).to_le_bytes());
    footer.extend(crc(&footer).to_le_bytes());
    Some([&file[..start], &index, &footer, &file[end + 24..]].concat())
}

/// Records that are skipped do not move what is said of those behind them.
#[test]
fn errors_name_their_byte_behind_records_that_are_skipped() {
    let record = [&[99, 0xe8, 7][..], &[5; 1000]].concat();
    let mut moved = 0;
    for (path, _) in hostile() {
        let file = fs::read(&path).unwrap();
        let Some(more) = with_another_record(&file, &record) else { continue };
        let index = u64::from_le_bytes(file[file.len() - 32..][..8].try_into().unwrap());
        let refused = |file: Vec<u8>| {
            Reader::open(file, Limits::default()).and_then(|reader| reader.threads(1).verify())
        };
        // What is wrong with a footer is not with the new one.
        let (Err(before), Err(behind)) = (refused(file), refused(more)) else { continue };
        let Some(at) = before.at().filter(|_| before.what() == behind.what()) else { continue };
        // Of all of an index, its first byte is said.
        let of_all = at == index && behind.at() == Some(at);
        let by = if at >= index && !of_all { record.len() as u64 } else { 0 };
        assert_eq!(behind.at(), Some(at + by), "{}: {before}", path.display());
        moved += usize::from(by > 0);
    }
    assert!(moved > 120, "{moved}");
}
