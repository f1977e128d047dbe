//! Parquet files that need care: some columns, odd names, damaged files.

use crate::logical_types::write_all_types;
use crate::skipped::vectors;
use crate::support::{Bench, Dump, dump, open};
use parquet::basic::{ColumnOrder, Type};
use parquet::file::reader::FileReader;
use std::path::{Path, PathBuf};

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

#[test]
fn an_encrypted_file_is_called_so() {
    let bench = Bench::new();
    bench.write("secret.parquet", b"PARE nobody knows \x05\0\0\0PARE");
    for verb in ["compress", "inspect", "advise"] {
        let said = bench.fails(1, &[verb, "secret.parquet"]);
        assert!(said.contains("encrypted") && said.contains("byte 22"), "{said}");
    }
}

#[test]
fn damage_has_a_place_for_inspect_too() {
    let bench = Bench::new();
    write_all_types(&bench.path("all.parquet"), 1, 20);
    let good = bench.read("all.parquet");
    for i in 0..150 {
        let mut bad = good.clone();
        match i % 3 {
            0 => bad.truncate(good.len() * i / 150),
            1 => bad[(i * 7919) % good.len()] ^= 1 << (i % 8),
            _ => bad[good.len() - 1 - i] ^= 0xff,
        }
        bench.write("bad.parquet", &bad);
        for verb in ["inspect", "verify"] {
            let output = bench.run(&[verb, "bad.parquet"]);
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            assert!(output.status.success() || said.contains("byte "), "{verb}: {said}");
        }
    }
}

/// Names and physical types of the columns that are not nested, in their order.
fn flat_columns(path: &Path) -> Vec<(String, Type)> {
    let schema = open(path).metadata().file_metadata().schema_descr_ptr();
    let flat = schema.columns().iter().filter(|c| c.max_rep_level() == 0 && c.max_def_level() <= 1);
    flat.map(|column| (column.name().to_owned(), column.physical_type())).collect()
}

/// Third-party files, and those in `LATENS_PARQUET_FILES` where it names a folder: as the `parquet`
/// crate reads both, what comes back are the values that went in.
#[test]
fn files_of_other_writers_come_back() {
    let more = std::env::var_os("LATENS_PARQUET_FILES").map(PathBuf::from);
    let bench = Bench::new();
    let (mut tried, mut tables, mut columns) = (0, 0, 0);
    for folder in [vectors("dbp"), more].into_iter().flatten() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "parquet") {
                continue;
            }
            tried += 1;
            let name = path.to_str().unwrap();
            let args = ["compress", name, "--skip-unsupported", "-f", "-o", "t.pco.zip"];
            let output = bench.run(&args);
            if !output.status.success() {
                println!("{name}: {}", String::from_utf8_lossy(&output.stderr));
                continue;
            }
            bench.ok(&["decompress", "t.pco.zip", "-f", "-o", "back.parquet"]);
            let back = bench.path("back.parquet");
            // INT96 comes back as a timestamp, which is not to be compared byte by byte.
            let kept: Vec<_> =
                flat_columns(&path).into_iter().filter(|c| c.1 != Type::INT96).collect();
            let found: Vec<_> =
                flat_columns(&back).into_iter().filter(|c| kept.contains(c)).collect();
            assert_eq!(kept, found, "{name}");
            // Lists are not for `dump`, and DuckDB's INT32 pages with fields of 33 bits not for the crate.
            let Ok(theirs) = std::panic::catch_unwind(|| dump(&path)) else {
                println!("{name}: cannot be compared");
                continue;
            };
            let ours = dump(&back);
            for (column, _) in &kept {
                let of = |all: &[Dump]| all.iter().find(|c| c.0 == *column).unwrap().1.clone();
                assert!(of(&ours) == of(&theirs), "{name}, column {column}");
            }
            tables += 1;
            columns += kept.len();
        }
    }
    println!("{tables} of {tried} files, {columns} columns");
    assert!(tables * 2 >= tried && columns >= tables, "{tables} of {tried}, {columns} columns");
}

/// Readers that know no total order of floats, as polars to 1.41, refuse a file that says it.
#[test]
fn statistics_are_in_the_order_of_types() {
    let bench = Bench::new();
    let nan = "NaN,NaN,1\n-0.5,NaN,2\n0.0,NaN,3\n";
    for (text, columns) in [(format!("a,b,c\n{nan}"), 3), (format!("a\n{}", "1.5\n".repeat(9)), 1)]
    {
        bench.write("t.csv", text);
        for encoding in ["auto", "plain"] {
            bench.ok(&["compress", "t.csv", "-o", "t.parquet", "-f", "--encoding", encoding]);
            let file = open(&bench.path("t.parquet"));
            let orders = file.metadata().file_metadata().column_orders().unwrap();
            assert_eq!(orders.len(), columns);
            for order in orders {
                assert!(matches!(order, ColumnOrder::TYPE_DEFINED_ORDER(_)), "{order:?}");
            }
            let group = file.metadata().row_group(0);
            if columns == 3 {
                let least = group.column(0).statistics().unwrap().min_bytes_opt().unwrap();
                assert_eq!(least, (-0.5f64).to_le_bytes());
            }
        }
    }
}
