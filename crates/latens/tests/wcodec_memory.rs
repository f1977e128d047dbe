//! What an open file holds: the bytes of its index, and at most as much again to find entries by
//! number and name, whatever its records are.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod common;
mod wcodec_common;

use common::counting::{Counting, held_by, peak_of};
use latens::Limits;
use latens::wcodec::Reader;
use latens::wcodec::checkpoint::ReadAt;
use wcodec_common::mend::{Parts, Stored, front, nothing, varint};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A file in memory that is not the reader's.
struct Held<'a>(&'a [u8]);

impl ReadAt for Held<'_> {
    fn size(&self) -> std::io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        buf.copy_from_slice(&self.0[offset as usize..][..buf.len()]);
        Ok(())
    }
}

/// Records of each kind.
const RECORDS: usize = 1 << 18;

fn inline() -> Stored {
    Stored::Inline(Vec::new(), Vec::new())
}

fn copy() -> Stored {
    Stored::Copy(vec![2, 0])
}

/// A file of these entries and files, without data.
fn file(entries: Vec<(Vec<u8>, Stored)>, files: Vec<Vec<u8>>) -> Vec<u8> {
    Parts { entries, files, ..nothing() }.bytes()
}

/// Entries of these names in order, each written as short as can be.
fn named(names: impl Iterator<Item = String>) -> Vec<(Vec<u8>, Stored)> {
    let mut before = String::new();
    let entries = names.map(|name| {
        let same = |(a, b): &(u8, u8)| a == b;
        let shared = before.bytes().zip(name.bytes()).take_while(same).count();
        let stored = if before.is_empty() { inline() } else { copy() };
        let entry = (front(shared as u64, &name[shared..], "I", &[], 0), stored);
        before = name;
        entry
    });
    entries.collect()
}

/// Opens the file and looks at all of it; what is held meanwhile and behind that.
fn check(what: &str, file: &[u8]) {
    let at = u64::from_le_bytes(file[file.len() - 32..][..8].try_into().unwrap()) as usize;
    let index = file.len() - 32 - at;
    let times = |bytes: usize| bytes as f64 / index as f64;
    let ((reader, held), most) =
        peak_of(|| held_by(|| Reader::open(Held(file), Limits::default())));
    let reader = reader.unwrap();
    println!(
        "{what}: {} tensors, {index} bytes of index; {:.2} times that are held, {:.2} at most",
        reader.tensors().count(),
        times(held),
        times(most)
    );
    // Of names, which may have 8 MiB whatever the index has, one in sixteen is kept.
    let names = 512 << 10;
    assert!(held <= 2 * index + names && most <= 5 * index / 2 + names, "{what}");
    let (sum, looking) = peak_of(|| {
        let names = reader.tensors().step_by(100);
        let found = names.filter(|(number, entry)| reader.find(&entry.name) == Some(*number));
        let files = (0..reader.files().count()).step_by(1000);
        files.for_each(|number| reader.write_file(number, &mut std::io::sink()).unwrap());
        found.count()
    });
    assert_eq!(sum, reader.tensors().count().div_ceil(100), "{what}");
    assert!(looking <= 1 << 20, "{what}: {looking} bytes");
}

#[test]
fn an_open_file_holds_twice_its_index() {
    let blob = || front(0, "", "", &[], 0);
    let mut blobs = vec![(blob(), inline())];
    blobs.resize_with(RECORDS, || (blob(), copy()));
    check("copies of a blob", &file(blobs.clone(), Vec::new()));
    let numbers = || (0..RECORDS).map(|i| format!("{i:05x}"));
    check("small tensors", &file(named(numbers()), Vec::new()));
    // Names of which there are as many bytes as may be: every few of them are kept.
    let long = "n".repeat(1000);
    let few = || (0..8000).map(|i| format!("{long}{i:05}"));
    check("long names that share", &file(named(few()), Vec::new()));
    let apart = (0..8000).map(|i| if i % 16 == 15 { format!("{i}{long}") } else { format!("{i}") });
    check("long names where they are kept", &file(named(apart), Vec::new()));
    let empty = numbers().map(|name| [&[5], name.as_bytes(), &[0, 0]].concat());
    check("files without segments", &file(blobs[..1].to_vec(), empty.collect()));
    // Of a zero byte each.
    let count = varint(RECORDS as u64);
    let many = [&[1, b'f'], &count[..], &count, &[3; RECORDS]].concat();
    check("segments", &file(blobs[..1].to_vec(), vec![many]));
}
