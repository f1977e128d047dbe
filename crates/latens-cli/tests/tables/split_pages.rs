//! BYTE_STREAM_SPLIT: pages of floats that are written so where that is smallest, and advice.

use crate::support::{Bench, assert_same, open};
use parquet::basic::Encoding;
use parquet::file::reader::FileReader;
use serde_json::Value;

/// Numbers whose upper bits are few and whose lower bits are noise, a null in seven: `d` of 64 bits,
/// `i` as integers of the same kind; `few` different floats.
fn table(bench: &Bench, rows: u64) {
    let mut text = String::from("d,i,few\n");
    for i in 0..rows {
        let noise = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let noise = (noise ^ noise >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 24;
        let float = f64::from_bits(0x3ff0_0000_0000_0000 | noise);
        let null = if i % 7 == 3 { String::new() } else { float.to_string() };
        text += &format!("{null},{},{}\n", noise << 20, ((noise % 90 + 2) as f64).sqrt());
    }
    bench.write("t.csv", text);
}

fn encodings(bench: &Bench, name: &str) -> Vec<Vec<Encoding>> {
    let file = open(&bench.path(name));
    let group = file.metadata().row_group(0);
    group.columns().iter().map(|column| column.encodings().collect()).collect()
}

#[test]
fn floats_are_split_where_that_is_smallest() {
    let bench = Bench::new();
    table(&bench, 20_000);
    bench.ok(&["compress", "t.csv", "-o", "plain.parquet", "--encoding", "plain"]);
    for compression in ["none", "snappy", "zstd"] {
        let out = bench.ok(&[
            &["compress", "t.csv", "-o", "a.parquet", "-f", "--json"][..],
            &["--compression", compression],
        ]
        .concat());
        assert_same(&bench.path("plain.parquet"), &bench.path("a.parquet"));
        let found = encodings(&bench, "a.parquet");
        let split: Vec<bool> =
            found.iter().map(|column| column.contains(&Encoding::BYTE_STREAM_SPLIT)).collect();
        // Alone it makes nothing smaller; of integers few readers know it.
        assert_eq!(split, [compression != "none", false, false], "{compression} {found:?}");
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        let said = report["columns"][0]["encoding"] == "byte_stream_split";
        assert_eq!(said, compression != "none", "{report}");
    }
    // And it is the smallest.
    for encoding in ["plain", "delta"] {
        bench.ok(&["compress", "t.csv", "-o", "other.parquet", "-f", "--encoding", encoding]);
        assert!(bench.read("a.parquet").len() < bench.read("other.parquet").len());
        assert!(!encodings(&bench, "other.parquet")[0].contains(&Encoding::BYTE_STREAM_SPLIT));
    }
    let shown = bench.ok(&["inspect", "a.parquet"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("BYTE_STREAM_SPLIT"));
}

#[test]
fn a_damaged_split_page_is_found() {
    let bench = Bench::new();
    table(&bench, 5000);
    bench.ok(&["compress", "t.csv", "-o", "a.parquet", "--columns", "d"]);
    let sound = bench.read("a.parquet");
    let (start, size) =
        open(&bench.path("a.parquet")).metadata().row_group(0).column(0).byte_range();
    for at in (start..start + size).step_by(101) {
        let mut bytes = sound.clone();
        bytes[at as usize] ^= 0x10;
        bench.write("b.parquet", bytes);
        assert_eq!(bench.run(&["verify", "b.parquet"]).status.code(), Some(1), "byte {at}");
    }
}

#[test]
fn advice_counts_split_pages_of_every_fixed_width() {
    let bench = Bench::new();
    table(&bench, 20_000);
    let advice = |args: &[&str]| -> Value {
        let out = bench.ok(&[&["advise", "t.csv", "--json"][..], args].concat());
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let all = advice(&[]);
    let columns = all["columns"].as_array().unwrap();
    for (column, best) in columns.iter().zip(["byte_stream_split_zstd"; 2]) {
        assert_eq!(column["parquet"], best, "{all}");
        let sizes = column["sizes"].as_object().unwrap();
        assert!(!sizes.contains_key("byte_stream_split"), "{all}");
    }
    assert!(columns[2]["sizes"]["byte_stream_split_zstd"].is_u64(), "{all}");
    let snippet = all["pyarrow"].as_str().unwrap();
    assert!(snippet.contains("\"d\": \"BYTE_STREAM_SPLIT\", \"i\": \"BYTE_STREAM_SPLIT\""));
    assert!(snippet.starts_with("# BYTE_STREAM_SPLIT"), "{snippet}");
    // What every reader of split floats knows needs no word.
    let floats = advice(&["--columns", "d,few"]);
    assert!(floats["pyarrow"].as_str().unwrap().starts_with("pq.write_table("), "{floats}");
    let text = bench.ok(&["advise", "t.csv"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("split+zstd") && text.contains("split + zstd"), "{text}");
    // What the file takes when it is written so, is what was said.
    bench.ok(&["compress", "t.csv", "-o", "d.parquet", "--columns", "d"]);
    let written =
        open(&bench.path("d.parquet")).metadata().row_group(0).column(0).compressed_size();
    assert_eq!(columns[0]["sizes"]["byte_stream_split_zstd"], written);

    // f16 is two bytes of a fixed length, text has no width.
    bench.write(
        "h.raw",
        (0..4000u16)
            .flat_map(|i| (((i * 7 % 64) << 8) | (i % 251)).to_le_bytes())
            .collect::<Vec<u8>>(),
    );
    let out = bench.ok(&["advise", "h.raw", "--type", "f16", "--json"]);
    let half: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(half["columns"][0]["sizes"]["byte_stream_split_zstd"].is_u64(), "{half}");
    bench.write("w.csv", "w\na\nb\n");
    let out = bench.ok(&["advise", "w.csv", "--json"]);
    let words: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(words["columns"][0]["sizes"]["byte_stream_split_zstd"].is_null(), "{words}");
}
