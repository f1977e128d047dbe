//! Parquet files with nested columns: named, left out where that is asked for, verified.

use crate::support::{Bench, dump, open};
use parquet::column::writer::ColumnWriter;
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
