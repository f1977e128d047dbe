//! Files made to hurt: counts without bytes, bombs, parts that need each other, and a file of
//! 10 GB. Each is an error within its bounds, or opens at once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod common;
mod wcodec_common;

use common::counting::{Counting, peak_of};
use cpu_time::ThreadTime;
use latens::wcodec::Reader;
use latens::wcodec::view::{BitOrder, Packing, Sign, View};
use latens::{Limits, Result};
use std::time::Duration;
use wcodec_common::mend::{Parts, Stored, front, nothing, varint};
use wcodec_common::samples;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A descriptor of raw bytes: one group, which stands for `count`.
fn raw(count: u64, stored: u64) -> Vec<u8> {
    let mut out = View::Raw.to_bytes().to_vec();
    out.extend([1, 9, 3]);
    out.extend(varint(count));
    out.push(0);
    out.extend(varint(count.max(1)));
    out.extend(varint(stored));
    out
}

/// Opens, verifies and reads every tensor, on this thread; the first error.
fn read(file: &[u8], limits: Limits) -> Result<()> {
    let reader = Reader::open(file.to_vec(), limits)?.threads(1);
    let mut result = reader.verify();
    for (number, _) in reader.tensors() {
        result = result.and(reader.tensor(number).map(drop));
    }
    result
}

/// The file is refused in little time and memory.
fn refused(name: &str, file: &[u8], says: &str) {
    let start = ThreadTime::now();
    let (result, peak) = peak_of(|| read(file, Limits::default()));
    let time = start.elapsed();
    let text = result.err().unwrap_or_else(|| panic!("{name} was read")).to_string();
    println!("{name}: {} bytes, {time:?}, {peak} bytes held: {text}", file.len());
    assert!(text.contains(says), "{name}: {text}");
    let bound = (16 << 20) + 4 * file.len();
    assert!(peak <= bound, "{name}: {peak} bytes held, {bound} are allowed");
    // An error takes at most 100 ms; here a busy machine is allowed for.
    assert!(time < Duration::from_secs(1), "{name}: {time:?}");
}

#[test]
fn counts_without_bytes_cost_nothing() {
    let most = (1 << 48) - 1;
    for length in [1 << 31, 1 << 40, most] {
        let mut parts = nothing();
        let stored = Stored::Inline(vec![0; 4], raw(length, 4));
        parts.entries.push((front(0, "a", "U8", &[length], length), stored));
        refused("a tensor that is not there", &parts.bytes(), "tensor \"a\"");
        let mut parts = nothing();
        let rest = [&[0], &varint(length)[..], &varint(9), &[0; 4]].concat();
        parts.entries.push((front(0, "a", "U8", &[4], 4), Stored::Copy(rest)));
        refused("groups that are not there", &parts.bytes(), "entries and tables end");
    }
    let mut parts = nothing();
    parts.bank = (65_535, vec![0; 8]);
    refused("tables that are not there", &parts.bytes(), "tables");
    let mut parts = nothing();
    parts.files.push([&[1, b'f'][..], &varint(1 << 50), &varint(1 << 50)].concat());
    refused("segments that are not there", &parts.bytes(), "segments");
}

#[test]
fn names_do_not_multiply() {
    let mut parts = nothing();
    let long = "n".repeat(1000);
    for i in 0..20_000 {
        let (shared, rest) = if i == 0 { (0, long.clone()) } else { (1000, format!("{i:05}")) };
        let stored = Stored::Inline(Vec::new(), Vec::new());
        parts.entries.push((front(shared, &rest, "U8", &[0], 0), stored));
    }
    refused("many long names", &parts.bytes(), "too many long names");
}

/// Records of ten bytes and a little more, which take several times that once they are kept, and
/// something wrong behind them.
#[test]
fn an_index_of_small_records_is_checked_before_it_is_kept() {
    const RECORDS: usize = 1 << 19;
    let mut blobs = nothing();
    let empty = || front(0, "", "", &[], 0);
    blobs.entries.push((empty(), Stored::Inline(Vec::new(), Vec::new())));
    blobs.entries.resize_with(RECORDS, || (empty(), Stored::Copy(vec![2, 0])));
    let mut late = blobs.clone();
    late.entries.push((empty(), Stored::Copy([&[2][..], &varint(1 << 40)].concat())));
    refused("a copy of what is not there", &late.bytes(), "cannot be copied here");
    late = blobs.clone();
    let stored = [&[0][..], &varint(1000), &varint(9), &[0; 4]].concat();
    late.entries.push((empty(), Stored::Copy(stored)));
    refused("data that is not there", &late.bytes(), "entries and tables end");
    blobs.files.push([&[1, b'f'][..], &varint(1), &varint(1 << 22), &vec![0; 1 << 22]].concat());
    refused("a file of many segments", &blobs.bytes(), "segments of 0 bytes");

    let mut tensors = nothing();
    let mut before = String::new();
    for i in 0..=RECORDS {
        let name = format!("{:05x}", i % RECORDS);
        let same = |(a, b): &(u8, u8)| a == b;
        let shared = before.bytes().zip(name.bytes()).take_while(same).count();
        let stored = Stored::Inline(Vec::new(), Vec::new());
        tensors.entries.push((front(shared as u64, &name[shared..], "I", &[], 0), stored));
        before = name;
    }
    refused("a name once more", &tensors.bytes(), "there are two tensors \"00000\"");
}

#[test]
fn files_of_many_segments_are_bounded_by_the_limit() {
    let mut parts = nothing();
    let stored = Stored::Inline(vec![7; 1000], raw(1000, 1000));
    parts.entries.push((front(0, "a", "U8", &[1000], 1000), stored));
    let count = 100_000u64;
    let name = [1, b'f'].to_vec();
    let segments = vec![0; count as usize];
    parts.files.push([name, varint(1000 * count), varint(count), segments].concat());
    let reader = Reader::open(parts.bytes(), Limits::default().max_output(1 << 20)).unwrap();
    let error = reader.write_file(0, &mut std::io::sink()).unwrap_err().to_string();
    assert!(error.contains("max_output"), "{error}");
}

/// Parts whose classes come from the part before, four times each: without memory, 4^14 decodes.
#[test]
fn parts_that_need_each_other_are_decoded_once() {
    const PARTS: u8 = 16;
    // Table 0: two symbols, the first with both slots.
    let mut parts = nothing();
    parts.bank = (1, vec![0, 4]);
    let mut descriptor = View::Raw.to_bytes().to_vec();
    descriptor.push(PARTS);
    let mut groups = Vec::new();
    for part in 0..PARTS {
        // Role rest, symbols of one bit, 1 × 1.
        descriptor.extend([9, 0, 1, 1, 1]);
        if part == 0 {
            // RAW, one element a group, of one byte.
            descriptor.extend([0, 1, 1]);
            groups.extend([0; 4]);
            continue;
        }
        // DIRECT, CLASSES, one row a group, tables of one bit, one of them: table 0.
        descriptor.extend([3, 16, 1, 1, 1, 0]);
        // Four sources, no bias.
        descriptor.extend([4 << 4, 0]);
        for _ in 0..4 {
            // This tensor, the part before, unsigned, blocks of 1 × 1, whole octaves, no row map.
            descriptor.extend([0, part - 1, 0, 1, 1, 0, 0]);
        }
        // One map: 256 times class 0. Then the length of the group.
        descriptor.extend([1, 0xff, 1, 0]);
        descriptor.extend(varint(128));
        groups.extend([0, 0, 1, 0].repeat(32));
    }
    parts.entries.push((front(0, "a", "U8", &[16], 16), Stored::Inline(groups, descriptor)));
    refused("parts that need each other", &parts.bytes(), "tensor \"a\"");
}

/// An entry of four symbols whose class comes from one of 100 kB, and a hundred more of these.
#[test]
fn large_sources_of_small_entries_are_refused() {
    let mut parts = nothing();
    parts.bank = (1, vec![8, 4]);
    let packing = Packing { bits: 2, ..Packing::nibbles(BitOrder::LowFirst, Sign::Unsigned) };
    let large = Stored::Inline(vec![0; 100_000], raw(100_000, 100_000));
    parts.entries.push((front(0, "large", "U8", &[100_000], 100_000), large));
    for i in 0..100 {
        let mut descriptor = View::Packed(packing).to_bytes().to_vec();
        // One part, 1 × 4 symbols, DIRECT by classes with table 0 from one source: entry 0.
        descriptor.extend([1, 0, 0, 2, 1, 4, 3, 16, 1, 1, 1, 0, 1 << 4, 0, 2]);
        descriptor.extend(View::Raw.to_bytes());
        descriptor.extend([0, 0, 1, 1, 0, 0, 1, 0xff, 1, 0]);
        descriptor.extend(varint(128));
        let stored = Stored::Inline([0, 0, 1, 0].repeat(32), descriptor);
        parts.entries.push((front(0, &format!("{i}"), "U8", &[1], 1), stored));
    }
    refused("large sources", &parts.bytes(), "tensor \"large\" is too large a source");
}

#[test]
fn errors_without_limits_hold_little() {
    // Lies in every byte of the fields of sound files, without a limit on output.
    let mut most = 0;
    for (name, file) in samples::tiny() {
        let parts = Parts::of(&file);
        for entry in 0..parts.entries.len() {
            let (Stored::Data(_, d, _) | Stored::Inline(_, d)) = &parts.entries[entry].1 else {
                continue;
            };
            for at in 8..d.len() {
                let mut parts = parts.clone();
                let (Stored::Data(_, d, _) | Stored::Inline(_, d)) = &mut parts.entries[entry].1
                else {
                    continue;
                };
                d.splice(at..=at, varint(1 << 39));
                let file = parts.bytes();
                let (result, peak) = peak_of(|| read(&file, Limits::default()));
                let bound = (16 << 20) + 4 * file.len();
                assert!(
                    result.is_ok() || peak <= bound,
                    "{name}, entry {entry}, byte {at}: {peak} bytes held for {result:?}"
                );
                most = most.max(peak);
            }
        }
    }
    println!("most memory {most}");
}
