//! Parquet files with nested columns: named, left out where that is asked for, verified.

use crate::support::{Bench, dump, open};
use parquet::basic::Encoding;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::FileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

fn nested(path: &Path) {
    let schema = "message schema {
        required int32 flat;
        repeated int32 many;
        optional group pair { required int32 x; required int32 y; }
        required int64 last;
    }";
    let root = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, root, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut leaf = 0;
    while let Some(mut column) = group.next_column().unwrap() {
        let (levels, repetitions): (&[i16], &[i16]) =
            ([&[1, 1, 1][..], &[1, 1, 1]][leaf % 2], &[0; 3]);
        match column.untyped() {
            ColumnWriter::Int32ColumnWriter(w) => {
                w.write_batch(&[1, 2, 3], Some(levels), Some(repetitions)).unwrap();
            }
            ColumnWriter::Int64ColumnWriter(w) => {
                w.write_batch(&[4, 5, 6], None, None).unwrap();
            }
            _ => unreachable!(),
        }
        column.close().unwrap();
        leaf += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn nested_columns_are_named_and_left_out_only_when_asked() {
    let bench = Bench::new();
    nested(&bench.path("n.parquet"));
    let said = bench.fails(1, &["compress", "n.parquet"]);
    assert!(said.contains("many, pair") && said.contains("--skip-unsupported"), "{said}");
    let output = bench.ok(&["compress", "n.parquet", "--skip-unsupported"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("many, pair"));
    bench.ok(&["decompress", "n.pco.zip", "-o", "back.parquet"]);
    let names: Vec<String> =
        dump(&bench.path("back.parquet")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["flat", "last"]);
}

/// Structures, one in the other, with nulls at each level and pages of deltas.
fn structures(path: &Path, version: WriterVersion) {
    let schema = "message schema {
        optional group place { optional group at { required int64 x; optional int32 y; } }
        required int32 flat;
    }";
    let root = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, root, properties.into()).unwrap();
    for first in [0, 1000] {
        let mut group = writer.next_row_group().unwrap();
        while let Some(mut column) = group.next_column().unwrap() {
            // place null, at null, y null, all there; and so on.
            let levels: Vec<i16> = (0..400).map(|i| i % 4).collect();
            let without_y: Vec<i16> = levels.iter().map(|&level| level.min(2)).collect();
            match (column.untyped(), first) {
                (ColumnWriter::Int64ColumnWriter(w), _) => {
                    let x: Vec<i64> = (0..200).map(|i| first + i * i).collect();
                    w.write_batch(&x, Some(&without_y), None).unwrap();
                }
                (ColumnWriter::Int32ColumnWriter(w), first)
                    if w.get_descriptor().max_def_level() > 0 =>
                {
                    let y: Vec<i32> = (0..100).map(|i| first as i32 - 3 * i).collect();
                    w.write_batch(&y, Some(&levels), None).unwrap();
                }
                (ColumnWriter::Int32ColumnWriter(w), _) => {
                    w.write_batch(&[7; 400], None, None).unwrap();
                }
                _ => unreachable!(),
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn what_is_in_structures_can_be_chosen_by_its_path() {
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let bench = Bench::new();
        structures(&bench.path("s.parquet"), version);
        let said = bench.fails(1, &["compress", "s.parquet", "--columns", "place"]);
        assert!(said.contains("nested") && said.contains("place.at.x, place.at.y"), "{said}");
        let chosen = "place.at.y,flat,place.at.x";
        bench.ok(&["compress", "s.parquet", "--columns", chosen]);
        bench.ok(&["decompress", "s.pco.zip", "-o", "back.csv"]);
        let mut wanted = "place.at.y,flat,place.at.x\n".to_string();
        for (first, i) in [0i64, 1000].into_iter().flat_map(|f| (0..400i64).map(move |i| (f, i))) {
            let x = 2 * (i / 4) + i64::from(i % 4 == 3);
            let x = if i % 4 < 2 { String::new() } else { (first + x * x).to_string() };
            let y = if i % 4 < 3 { String::new() } else { (first - 3 * (i / 4)).to_string() };
            wanted += &format!("{y},7,{x}\n");
        }
        let back = std::fs::read_to_string(bench.path("back.csv")).unwrap();
        assert_eq!(back.replace("\r\n", "\n"), wanted);
    }
}

#[test]
fn nested_columns_that_are_not_chosen_do_not_matter() {
    let bench = Bench::new();
    nested(&bench.path("n.parquet"));
    bench.ok(&["compress", "n.parquet", "--columns", "last,flat"]);
    bench.ok(&["decompress", "n.parquet", "--columns", "last", "-o", "last.csv"]);
    assert_eq!(bench.read("last.csv"), b"last\n4\n5\n6\n");
    let said = bench.fails(1, &["compress", "n.parquet", "--columns", "flat,pair", "-f"]);
    assert!(said.contains("`pair` is nested"), "{said}");
    // Advice is on options that there are, and no byte is named where none is meant.
    let said = bench.fails(1, &["decompress", "n.parquet", "-o", "x.csv"]);
    assert!(said.contains("--columns") && !said.contains("--skip-unsupported"), "{said}");
    assert!(!said.contains("byte "), "{said}");
    let advice = bench.ok(&["advise", "n.parquet"]);
    assert!(String::from_utf8_lossy(&advice.stderr).contains("many, pair"));
}

#[test]
fn garbage_in_a_nested_column_is_found() {
    let bench = Bench::new();
    nested(&bench.path("n.parquet"));
    let verified = bench.ok(&["verify", "n.parquet"]);
    let said = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(said.contains("ok, 3 rows of 4 columns, no checksum"), "{said}");
    let file = open(&bench.path("n.parquet"));
    let group = file.metadata().row_group(0);
    for (leaf, name) in [(0, "flat"), (1, "many"), (2, "pair.x"), (3, "pair.y"), (4, "last")] {
        let (start, length) = group.column(leaf).byte_range();
        for garbage in [0xff, 0x00, 0x15] {
            let mut bytes = bench.read("n.parquet");
            bytes[start as usize..(start + length) as usize].fill(garbage);
            bench.write("bad.parquet", &bytes);
            let output = bench.run(&["verify", "bad.parquet"]);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(1), "{name}: {said}");
            let place = [format!("column {name}"), format!("byte {start}")];
            assert!(said.contains("FAILED") && place.iter().all(|p| said.contains(p)), "{said}");
        }
    }
}

/// Lists of 0 to 40 words, some of them null, in small pages of either version.
fn lists(path: &Path, version: WriterVersion, dictionary: bool) {
    let schema = "message schema {
        optional group words (LIST) { repeated group list { optional binary element (STRING); } }
    }";
    let root = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_dictionary_enabled(dictionary)
        .set_data_page_size_limit(700)
        .set_write_batch_size(64)
        .build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, root, Arc::new(properties)).unwrap();
    for rows in [5000u32, 1, 3000] {
        let (mut definitions, mut repetitions) = (Vec::new(), Vec::new());
        let mut words: Vec<ByteArray> = Vec::new();
        for row in 0..rows {
            let length = row * 7919 % 41;
            if length == 0 {
                // No list, or an empty one.
                definitions.push((row % 2) as i16);
                repetitions.push(0);
            }
            for i in 0..length {
                let is_null = (row + i) % 5 == 0;
                definitions.push(if is_null { 2 } else { 3 });
                repetitions.push(i16::from(i > 0));
                if !is_null {
                    words.push(ByteArray::from(format!("w{}", i * row % 300).into_bytes()));
                }
            }
        }
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let ColumnWriter::ByteArrayColumnWriter(w) = column.untyped() else { unreachable!() };
        w.write_batch(&words, Some(&definitions), Some(&repetitions)).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn lists_over_many_pages_are_whole() {
    let bench = Bench::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for dictionary in [true, false] {
            lists(&bench.path("l.parquet"), version, dictionary);
            let verified = bench.ok(&["verify", "l.parquet"]);
            let said = String::from_utf8_lossy(&verified.stdout).into_owned();
            assert!(said.contains("ok, 8001 rows of 1 column"), "{said}");
        }
    }
}

#[test]
fn checksums_of_pages_are_named() {
    let bench = Bench::new();
    nested(&bench.path("without.parquet"));
    bench.ok(&["compress", "without.parquet", "--skip-unsupported", "-o", "with.parquet"]);
    for (file, checksum) in [("with.parquet", true), ("without.parquet", false)] {
        let output = bench.ok(&["verify", file]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said.contains("checksums hold"), checksum, "{said}");
        assert_eq!(said.contains("no checksum"), !checksum, "{said}");
        let output = bench.ok(&["verify", file, "--json"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("\"checksum\":{checksum}")), "{said}");
        let output = bench.ok(&["decompress", file, "--columns", "flat", "-f", "-o", "x.csv"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.contains("checksums hold"), checksum, "{said}");
    }
}
