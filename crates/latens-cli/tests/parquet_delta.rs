//! DELTA_BINARY_PACKED through the tool, as processes: Parquet pages read and written by our own
//! codec, bare streams, `advise`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

#[path = "../../latens/tests/common/skipped.rs"]
mod skipped;
#[path = "tables/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

use parquet::basic::Encoding;
use parquet::file::reader::FileReader;
use skipped::vectors;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Bench, assert_same, dump, open};

fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(end));
    paths.sort();
    paths
}

fn csv_rows(text: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text);
    let row = |row: csv::Result<csv::StringRecord>| row.unwrap().iter().map(Into::into).collect();
    reader.records().map(row).collect()
}

#[test]
fn third_party_files_have_the_values_that_their_authors_say() {
    let Some(folder) = vectors("dbp") else { return };
    let mut seen = 0;
    for expected in files(&folder, "_expect.csv") {
        let name = expected.file_name().unwrap().to_string_lossy().into_owned();
        let file = folder.join(name.replace("_expect.csv", ".parquet"));
        let out = Bench::new().ok(&["decompress", file.to_str().unwrap(), "-o", "-"]);
        let (ours, theirs) = (csv_rows(&out.stdout), csv_rows(&std::fs::read(&expected).unwrap()));
        assert_eq!(ours.len(), theirs.len(), "{name}");
        for (row, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "{name}, row {row}");
        }
        seen += 1;
    }
    assert!(seen >= 4, "{seen}");
}

#[test]
fn all_third_party_files_are_whole() {
    let Some(folder) = vectors("dbp") else { return };
    for file in files(&folder, ".parquet") {
        Bench::new().ok(&["verify", file.to_str().unwrap()]);
    }
}

/// The values of a page in `pages/`, as text.
fn values(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap();
    match path.to_string_lossy().contains(".i32.") {
        true => {
            bytes.as_chunks::<4>().0.iter().map(|v| i32::from_le_bytes(*v).to_string()).collect()
        }
        false => {
            bytes.as_chunks::<8>().0.iter().map(|v| i64::from_le_bytes(*v).to_string()).collect()
        }
    }
}

#[test]
fn generated_files_have_the_values_of_their_pages() {
    let Some(folder) = vectors("dbp") else { return };
    let (mut seen, mut duckdb) = (0, 0);
    for file in files(&folder, ".parquet") {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("gen_") {
            continue;
        }
        let out = Bench::new().ok(&["decompress", file.to_str().unwrap(), "-o", "-"]);
        let rows = csv_rows(&out.stdout);
        let pages = files(&folder.join("pages"), ".values");
        let column = |index: usize| -> Vec<String> {
            rows.iter().map(|row| row[index].clone()).filter(|value| !value.is_empty()).collect()
        };
        for index in 0..rows.first().map_or(0, Vec::len) {
            let stem = format!("{name}.rg0.c{index}.p0.");
            let page = pages
                .iter()
                .find(|page| page.file_name().unwrap().to_string_lossy().starts_with(&stem));
            let Some(page) = page else { continue };
            let (ours, theirs) = (column(index), values(page));
            // Unsigned columns are printed as such.
            let same = ours.iter().zip(&theirs).all(|(a, b)| {
                let (a, b): (i128, i128) = (a.parse().unwrap(), b.parse().unwrap());
                a == b || a == b + (1 << 64) || a == b + (1 << 32)
            });
            assert!(same && ours.len() == theirs.len(), "{name}, column {index}");
            seen += 1;
            duckdb += usize::from(name.contains("duckdb"));
        }
    }
    assert!(seen >= 80 && duckdb > 0, "{seen}, {duckdb}");
}

#[test]
fn hostile_files_end_in_an_error_or_in_peace() {
    let Some(folder) = vectors("hostile/parquet") else { return };
    for file in files(&folder, ".bin") {
        let path = file.to_str().unwrap();
        let from = if path.contains(".dbp.") { "dbp" } else { "parquet" };
        let typed = |ty| if from == "dbp" { vec!["--type", ty] } else { Vec::new() };
        for args in [
            vec!["verify", "--from", from, path],
            [
                &["decompress", "--from", from, path, "--to", "csv", "-o", "x.csv"],
                &typed("i32")[..],
            ]
            .concat(),
            vec!["inspect", "--from", from, path],
            [&["advise", "--from", from, path], &typed("i64")[..]].concat(),
        ] {
            let bench = Bench::new();
            let tool = env!("CARGO_BIN_EXE_latens");
            // One that takes more seconds of processor time is ended by a signal.
            let line = "ulimit -t 30; exec \"$0\" \"$@\"";
            let mut within = Command::new("sh");
            let code = bench.run_by(within.args(["-c", line, tool]), &args).status.code();
            assert!(matches!(code, Some(0 | 1)), "{args:?}: {code:?}");
            assert_eq!(
                bench.files().len(),
                usize::from(code == Some(0) && args[0] == "decompress")
            );
        }
    }
}

/// A table of sorted ids, repeating words, noise and nulls.
fn table(bench: &Bench, rows: u64) -> PathBuf {
    let mut text = String::from("id,few,noise,gaps,word,x\n");
    for i in 0..rows {
        let noise = i.wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed();
        let gap = if i % 3 == 0 { String::new() } else { (1_700_000_000 + i * 60).to_string() };
        let few = noise.rem_euclid(3) * 1_000_000_007;
        text += &format!("{},{few},{noise},{gap},w{},{}.5\n", 5000 + i * 7, i % 5, i % 100);
    }
    bench.write("t.csv", text)
}

/// The encodings of the data of each column in the first row group.
fn encodings(path: &Path) -> Vec<Vec<Encoding>> {
    let file = open(path);
    let group = file.metadata().row_group(0);
    group.columns().iter().map(|column| column.encodings().collect()).collect()
}

#[test]
fn what_is_written_in_delta_is_read_by_the_crate() {
    let bench = Bench::new();
    for rows in [1, 2, 128, 129, 130, 50_000] {
        table(&bench, rows);
        bench.ok(&["compress", "t.csv", "-o", "plain.parquet", "--encoding", "plain", "-f"]);
        for compression in ["none", "snappy", "zstd"] {
            for encoding in ["delta", "auto"] {
                let options = ["--encoding", encoding, "--compression", compression, "-f"];
                bench.ok(&[&["compress", "t.csv", "-o", "d.parquet"], &options[..]].concat());
                assert_same(&bench.path("plain.parquet"), &bench.path("d.parquet"));
                let found = encodings(&bench.path("d.parquet"));
                // Of a single row `gaps` has nothing that says it is a number.
                for column in 0..if rows == 1 { 3 } else { 4 } {
                    let delta = found[column].contains(&Encoding::DELTA_BINARY_PACKED);
                    assert!(encoding != "delta" || delta, "{rows} {found:?}");
                }
                if rows == 50_000 && encoding == "auto" {
                    assert!(found[0].contains(&Encoding::DELTA_BINARY_PACKED), "{found:?}");
                    assert!(found[2] == [Encoding::PLAIN, Encoding::RLE] || found[2].len() == 2);
                    assert!(!found[2].contains(&Encoding::RLE_DICTIONARY), "{found:?}");
                    assert!(found[4].contains(&Encoding::RLE_DICTIONARY), "{found:?}");
                }
            }
        }
    }
    let statistics = open(&bench.path("d.parquet"));
    let id = statistics.metadata().row_group(0).column(0).statistics().unwrap().clone();
    assert_eq!(id.min_bytes_opt(), Some(&5000i64.to_le_bytes()[..]));
    assert_eq!(id.max_bytes_opt(), Some(&(5000i64 + 49_999 * 7).to_le_bytes()[..]));
}

#[test]
fn the_measured_choice_is_no_larger_than_any_other() {
    let bench = Bench::new();
    table(&bench, 50_000);
    let size = |encoding: &str| {
        bench.ok(&["compress", "t.csv", "-o", "x.parquet", "--encoding", encoding, "-f"]);
        bench.read("x.parquet").len()
    };
    let auto = size("auto");
    assert!(auto <= size("plain") && auto <= size("delta"));
}

#[test]
fn a_flipped_bit_in_a_page_is_found_by_its_checksum() {
    let bench = Bench::new();
    table(&bench, 1000);
    for encoding in ["plain", "delta", "auto"] {
        let options = ["--encoding", encoding, "--compression", "none", "-f"];
        bench.ok(&[&["compress", "t.csv", "-o", "c.parquet"], &options[..]].concat());
        let mut bytes = bench.read("c.parquet");
        let (start, size) =
            open(&bench.path("c.parquet")).metadata().row_group(0).column(2).byte_range();
        bytes[(start + size - 9) as usize] ^= 1;
        bench.write("c.parquet", bytes);
        let out = bench.run(&["verify", "c.parquet"]);
        let words = String::from_utf8_lossy(&out.stdout).to_lowercase();
        assert_eq!(out.status.code(), Some(1), "{encoding}");
        assert!(words.contains("crc") && words.contains("column noise"), "{words}");
        assert!(words.contains("row group 0") && words.contains("byte "), "{words}");
    }
}

fn npy<const N: usize>(descr: &str, numbers: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let data: Vec<u8> = numbers.flatten().collect();
    let n = data.len() / N;
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n},), }}").into_bytes();
    header.resize((10 + header.len()).next_multiple_of(64) - 11, b' ');
    header.push(b'\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header);
    file.extend(data);
    file
}

#[test]
fn bare_streams_go_there_and_back() {
    let bench = Bench::new();
    for n in [0i64, 1, 2, 300, 100_000] {
        let numbers = || (0..n).map(|i| i * i % 70_001 - 35_000);
        let npys = [
            ("i64", npy("<i8", numbers().map(i64::to_le_bytes))),
            ("u64", npy("<u8", numbers().map(i64::to_le_bytes))),
            ("i32", npy("<i4", numbers().map(|x| (x as i32).to_le_bytes()))),
            ("u32", npy("<u4", numbers().map(|x| (x as u32).to_le_bytes()))),
        ];
        for (ty, file) in npys {
            bench.write("a.npy", &file);
            bench.ok(&["compress", "a.npy", "-o", "a.dbp", "-f"]);
            let out = bench.ok(&["decompress", "a.dbp", "-o", "b.npy", "--type", ty, "-f"]);
            let words = String::from_utf8_lossy(&out.stderr);
            assert!(words.contains(&format!("b.npy: {n} {ty}, no checksum")), "{words}");
            assert!(bench.read("b.npy") == file, "{n} {ty}");
            let out = bench.ok(&["verify", "a.dbp"]);
            let words = String::from_utf8_lossy(&out.stdout);
            // What they are the stream does not say.
            let s = if n == 1 { "" } else { "s" };
            assert!(words.contains(&format!("ok, {n} number{s}, no checksum")), "{words}");
            let out = bench.ok(&["inspect", "a.dbp", "--json", "--type", ty]);
            let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
            assert_eq!((&json["kind"], &json["type"]), (&"dbp".into(), &ty.into()));
            let block = if ty.ends_with("64") { 256 } else { 128 };
            assert_eq!((&json["n"], &json["block_size"]), (&n.into(), &block.into()));
            assert_eq!(json["miniblocks"], 4);
            let blocks = json["blocks"].as_array().unwrap();
            assert_eq!(blocks.len(), (n.max(1) as usize - 1).div_ceil(block));
            assert!(blocks.iter().all(|b| b["min_delta"].is_i64() && b["widths"].is_array()));
            bench.ok(&["inspect", "a.dbp"]);
        }
    }
    bench.ok(&["decompress", "a.dbp", "-o", "c.npy", "--type", "u32", "--limit", "10"]);
    bench.ok(&["decompress", "a.dbp", "-o", "c.csv", "--type", "u32"]);
    let words = bench.fails(2, &["decompress", "a.dbp", "-o", "d.npy"]);
    assert!(words.contains("--type"), "{words}");
    bench.fails(2, &["decompress", "a.dbp", "-o", "d.npy", "--type", "f64"]);
    bench.write("f.npy", npy("<f8", [1.5f64].into_iter().map(f64::to_le_bytes)));
    bench.fails(2, &["compress", "f.npy", "-o", "f.dbp"]);
    table(&bench, 100);
    bench.ok(&["compress", "t.csv", "-o", "id.dbp", "--columns", "id"]);
    bench.fails(2, &["compress", "t.csv", "-o", "e.dbp"]);
    bench.fails(2, &["compress", "t.csv", "-o", "e.dbp", "--columns", "gaps"]);
    let mut cut = bench.read("a.dbp");
    cut.truncate(cut.len() / 2);
    bench.write("cut.dbp", &cut);
    let words = bench.fails(1, &["decompress", "cut.dbp", "-o", "e.npy", "--type", "u32"]);
    assert!(words.contains("truncated") && words.contains("byte "), "{words}");
    assert!(!bench.files().iter().any(|name| name.starts_with("e.")));
}

#[test]
fn advise_measures_every_encoding() {
    let bench = Bench::new();
    table(&bench, 20_000);
    let out = bench.ok(&["advise", "t.csv", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let columns = json["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 6);
    for column in columns {
        assert_eq!(column["n"], 20_000);
        let sizes = column["sizes"].as_object().unwrap();
        let integer = column["type"] == "i64";
        assert_eq!(sizes.contains_key("delta_binary_packed"), integer, "{column}");
        for key in ["pco", "plain", "plain_zstd", "dictionary", "dictionary_zstd"] {
            assert!(sizes[key].as_u64().unwrap() > 0, "{column}");
        }
        let best = sizes[column["recommended"].as_str().unwrap()].as_u64().unwrap();
        assert!(sizes.values().all(|size| size.as_u64().unwrap() >= best), "{column}");
    }
    assert!(columns[0]["parquet"].as_str().unwrap().starts_with("delta_binary_packed"));
    assert!(columns[4]["parquet"].as_str().unwrap().starts_with("dictionary"));
    let snippet = json["pyarrow"].as_str().unwrap();
    assert!(snippet.contains("\"id\": \"DELTA_BINARY_PACKED\""), "{snippet}");
    assert!(snippet.contains("use_dictionary=["), "{snippet}");
    let text = bench.ok(&["advise", "t.csv", "--columns", "id,word"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("pq.write_table("));
    assert_eq!(
        dump(&{
            bench.ok(&["compress", "t.csv", "-o", "t.parquet", "--columns", "id"]);
            bench.path("t.parquet")
        })
        .len(),
        1
    );
}

#[test]
fn inspect_shows_the_blocks_of_delta_pages() {
    let bench = Bench::new();
    table(&bench, 1000);
    bench.ok(&["compress", "t.csv", "-o", "t.parquet", "--encoding", "delta"]);
    let out = bench.ok(&["inspect", "t.parquet", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&report["kind"], &report["rows"]), (&"parquet".into(), &1000.into()));
    let with_blocks = |column: &&serde_json::Value| column["delta"].is_array();
    let columns = report["columns"].as_array().unwrap();
    let delta: Vec<_> = columns.iter().filter(with_blocks).collect();
    assert!(!delta.is_empty(), "{report}");
    for column in delta {
        let page = &column["delta"][0];
        let blocks = page["blocks"].as_array().unwrap().len() as u64;
        let size = page["block_size"].as_u64().unwrap();
        assert_eq!(blocks, (page["n"].as_u64().unwrap() - 1).div_ceil(size));
        assert!(page["blocks"][0]["widths"].as_array().unwrap().len() <= 4);
    }
    let text = String::from_utf8(bench.ok(&["inspect", "t.parquet"]).stdout).unwrap();
    assert!(text.contains("delta pages") && text.contains("DELTA_BINARY_PACKED"), "{text}");
    bench.ok(&["inspect", "t.parquet", "-q", "--html", "t.html"]);
}
