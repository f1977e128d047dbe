//! Tables of very many columns or of one name for several, columns that are encrypted, reports of
//! pages that stand for much.

use crate::support::{Bench, dump};
use serde_json::Value;
use std::process::Command;

/// Columns `open` and `secret`, the second encrypted, the footer in the clear: by pyarrow 26.0.1,
/// `EncryptionConfiguration(footer_key="f", plaintext_footer=True, column_keys={"c": ["secret"]})`.
const ENCRYPTED: &[u8] = include_bytes!("encrypted_column.parquet");

#[test]
fn a_column_may_be_encrypted_and_the_others_can_be_had() {
    let bench = Bench::new();
    bench.write("e.parquet", ENCRYPTED);
    for verb in ["inspect", "advise", "compress"] {
        let said = bench.fails(1, &[verb, "e.parquet"]);
        assert!(said.contains("or encrypted; --columns"), "{said}");
        assert!(said.contains("column secret") && said.contains("byte "), "{said}");
    }
    let verified = bench.run(&["verify", "e.parquet"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&verified.stdout).contains("secret"));
    bench.ok(&["compress", "e.parquet", "--columns", "open", "-o", "open.parquet"]);
    let values = dump(&bench.path("open.parquet")).remove(0).1;
    let numbers = [1i64, 2, 3].map(|n| Some(n.to_le_bytes().to_vec()));
    assert_eq!(values, numbers);
}

#[test]
fn columns_of_one_name_get_one_piece_of_advice() {
    let bench = Bench::new();
    // Both are best on their own: the first as deltas, the second, of floats, cannot have those.
    let rows: String = (0..5000).map(|i| format!("{},{}.5,{}\n", i * 3, i % 7, i % 2)).collect();
    bench.write("t.csv", format!("a,a,b\n{rows}"));
    let out = bench.ok(&["advise", "t.csv", "--json"]);
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    let snippet = json["pyarrow"].as_str().unwrap();
    assert!(!snippet.contains("\"a\": \"DELTA_BINARY_PACKED\""), "{snippet}");
    for line in snippet.lines() {
        assert!(line.matches("\"a\"").count() <= 1, "{snippet}");
    }
    let columns = json["columns"].as_array().unwrap();
    let both = columns[0]["parquet"].as_str().unwrap();
    assert_eq!(columns[1]["parquet"], both);
    let sum = |key: &str| {
        columns[..2].iter().map(|column| column["sizes"][key].as_u64()).sum::<Option<u64>>()
    };
    let sizes = columns[1]["sizes"].as_object().unwrap();
    let keys = sizes.keys().filter(|key| *key != "pco");
    assert_eq!(keys.filter_map(|key| sum(key)).min(), sum(both), "{json}");
}

#[test]
fn blocks_that_take_next_to_nothing_fill_no_report() {
    let bench = Bench::new();
    let n = 4_000_000u32;
    let numbers: Vec<u8> = (0..n).flat_map(u32::to_le_bytes).collect();
    bench.write("n.raw", numbers);
    let encoding = ["--encoding", "delta", "--no-verify", "-q", "-o", "n.parquet"];
    bench.ok(&[&["compress", "n.raw", "--type", "u32"][..], &encoding].concat());
    assert!(bench.read("n.parquet").len() < 100_000);
    let out = bench.ok(&["inspect", "n.parquet", "--json"]).stdout;
    assert!(out.len() < 4 << 20, "{}", out.len());
    let json: Value = serde_json::from_slice(&out).unwrap();
    let (mut values, mut left_out) = (0, 0);
    for page in json["columns"][0]["delta"].as_array().unwrap() {
        let (listed, more) = (&page["blocks"], page["blocks_left_out"].as_u64().unwrap_or(0));
        let blocks = listed.as_array().unwrap().len() as u64 + more;
        let n = page["n"].as_u64().unwrap();
        assert_eq!(blocks, (n - 1).div_ceil(page["block_size"].as_u64().unwrap()));
        values += n;
        left_out += more;
    }
    assert_eq!(values, u64::from(n));
    assert!(left_out > 10_000, "{left_out}");
    // The text counts all of them.
    let text = String::from_utf8(bench.ok(&["inspect", "n.parquet"]).stdout).unwrap();
    assert!(text.contains("0 (100 %)") && text.contains("128/4"), "{text}");
    let blocks = (0..u64::from(n)).step_by(128).count() as u64;
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '\n').collect();
    assert!(digits.lines().any(|line| line.contains(&(blocks / 1000).to_string())), "{text}");
}

/// A reader stands open for each column: what it holds must come from the file's bytes.
#[test]
fn a_table_of_very_many_columns_takes_little_memory() {
    let bench = Bench::new();
    let n = 6000;
    let names: Vec<String> = (0..n).map(|i| format!("c{i}")).collect();
    bench.write("w.csv", format!("{}\n{}1\n", names.join(","), "1,".repeat(n - 1)));
    bench.ok(&["compress", "w.csv", "--no-verify", "-q"]);
    let tool = env!("CARGO_BIN_EXE_latens");
    for out in ["w.parquet", "back.csv"] {
        // Every reader with a buffer of 64 KiB is 375 MiB; what is told of so many columns some 60.
        let limited = "ulimit -v 262144; exec \"$0\" decompress w.pco.zip -q -T 1 -o \"$1\"";
        let done = Command::new("sh")
            .args(["-c", limited, tool, out])
            .current_dir(bench.path(""))
            .env("MALLOC_ARENA_MAX", "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{out}: {said}");
    }
    assert_eq!(dump(&bench.path("w.parquet")).len(), n);
    assert_eq!(bench.read("back.csv"), bench.read("w.csv"));
}
