//! Parquet files that need care: nested columns, some columns, damaged files.

use crate::logical_types::write_all_types;
use crate::support::{Bench, dump};
use parquet::column::writer::ColumnWriter;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::{Path, PathBuf};
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
fn chosen_columns_in_the_order_asked_for() {
    let bench = Bench::new();
    write_all_types(&bench.path("all.parquet"), 1, 50);
    bench.ok(&["compress", "all.parquet", "--columns", "o12,r3"]);
    bench.ok(&["decompress", "all.pco.zip", "-o", "back.parquet"]);
    let all = dump(&bench.path("all.parquet"));
    let find = |name: &str| all.iter().find(|column| column.0 == name).unwrap().clone();
    assert_eq!(dump(&bench.path("back.parquet")), [find("o12"), find("r3")]);
    bench.ok(&["decompress", "all.pco.zip", "--limit", "7", "-f", "-o", "back.parquet"]);
    assert_eq!(dump(&bench.path("back.parquet"))[0].1, find("o12").1[..7]);
    bench.fails(2, &["compress", "all.parquet", "--columns", "nope", "-f"]);
}

#[test]
fn odd_names_of_columns_come_back() {
    let bench = Bench::new();
    let names = ["a/b", "../x", "a b", "A b", "ü", "schema", "con", "x.valid", "x"];
    let text = format!("{},\n{}\n", names.join(","), "1,".repeat(names.len()));
    bench.write("odd.csv", &text);
    bench.ok(&["compress", "odd.csv"]);
    bench.ok(&["decompress", "odd.pco.zip", "-o", "back.csv"]);
    assert_eq!(String::from_utf8(bench.read("back.csv")).unwrap(), text);
}

#[test]
fn truncated_and_flipped_parquet_files_never_crash_the_tool() {
    let bench = Bench::new();
    write_all_types(&bench.path("all.parquet"), 1, 20);
    let good = bench.read("all.parquet");
    for n in (0..good.len()).step_by(good.len() / 40) {
        bench.write("bad.parquet", &good[..n]);
        bench.fails(1, &["compress", "bad.parquet", "--no-verify", "-f"]);
    }
    for i in 0..60 {
        let mut bad = good.clone();
        let at = (i * 7919) % good.len();
        bad[at] ^= 1 << (i % 8);
        bench.write("bad.parquet", &bad);
        let output = bench.run(&["compress", "bad.parquet", "-f", "-q"]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "bit {} of byte {at}", i % 8);
    }
    assert!(bench.files().iter().all(|name| !name.ends_with(".tmp")));
}

/// The third-party files of this workplace, where they are there.
#[test]
fn files_of_other_writers_come_back() {
    let folder = std::env::var_os("LATENS_PARQUET_FILES").map(PathBuf::from);
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        eprintln!("LATENS_PARQUET_FILES names no folder: nothing to test here");
        return;
    };
    let bench = Bench::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "parquet") {
            continue;
        }
        let name = path.to_str().unwrap();
        let output = bench.run(&["compress", name, "--skip-unsupported", "-f", "-o", "t.pco.zip"]);
        if output.status.success() {
            bench.ok(&["decompress", "t.pco.zip", "-f", "-o", "back.parquet"]);
        } else {
            eprintln!("{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
