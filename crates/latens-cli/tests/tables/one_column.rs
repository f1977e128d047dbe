//! Tables of one column: bare numbers, `.npy` and `.pco` of them, and tables made of those.

use crate::support::{Bench, dump};

/// `n` numbers as CSV under the name `a`.
fn csv(numbers: impl IntoIterator<Item = i64>) -> String {
    let lines: Vec<String> = numbers.into_iter().map(|n| format!("{n}\n")).collect();
    format!("a\n{}", lines.concat())
}

#[test]
fn one_column_goes_to_stdout_as_bare_numbers() {
    let bench = Bench::new();
    bench.write("t.csv", "a,b,c\n1,x,\n-2,y,3\n");
    bench.ok(&["compress", "t.csv"]);
    bench.ok(&["compress", "t.csv", "-o", "t.parquet"]);
    let raw = [1i64.to_le_bytes(), (-2i64).to_le_bytes()].concat();
    for file in ["t.pco.zip", "t.parquet"] {
        let out = |columns| bench.ok(&["decompress", file, "--columns", columns, "-o", "-"]).stdout;
        assert_eq!(out("a"), raw, "{file}");
        assert_eq!(out("b"), b"b\nx\ny\n", "{file}");
        // A null is no number.
        assert_eq!(out("c"), b"c\n\"\"\n3\n", "{file}");
        assert_eq!(out("a,b"), b"a,b\n1,x\n-2,y\n", "{file}");
    }
    bench.write("one.csv", csv([1, -2]));
    bench.ok(&["compress", "one.csv"]);
    assert_eq!(bench.ok(&["decompress", "one.pco.zip", "-o", "-"]).stdout, raw);
}

#[test]
fn narrow_integers_come_out_in_their_own_type() {
    let bench = Bench::new();
    for (ty, descr, data) in [
        ("i8", "|i1", vec![1u8, 0xff, 0x80]),
        ("u8", "|u1", vec![1, 0xff, 0x80]),
        ("i16", "<i2", vec![1, 0, 0xff, 0xff]),
        ("u16", "<u2", vec![1, 0, 0xff, 0xff]),
        ("u32", "<u4", vec![1, 0, 0xff, 0xff]),
    ] {
        bench.write("a.raw", &data);
        bench.ok(&["compress", "a.raw", "--type", ty, "-f", "-o", "a.parquet"]);
        bench.ok(&["compress", "a.parquet", "-f", "-o", "a.pco.zip"]);
        for file in ["a.parquet", "a.pco.zip"] {
            bench.ok(&["decompress", file, "-f", "-o", "b.raw"]);
            assert_eq!(bench.read("b.raw"), data, "{ty}");
            assert_eq!(bench.ok(&["decompress", file, "-o", "-"]).stdout, data, "{ty}");
            bench.ok(&["decompress", file, "-f", "-o", "b.npy"]);
            let header = String::from_utf8_lossy(&bench.read("b.npy")).into_owned();
            assert!(header.contains(&format!("'{descr}'")), "{ty}");
            bench.ok(&["compress", file, "-f", "-o", "b.pco"]);
            assert_eq!(bench.ok(&["decompress", "b.pco", "-o", "-"]).stdout, data, "{ty}");
        }
    }
}

#[test]
fn a_column_of_a_table_becomes_a_pco_and_a_pco_a_table() {
    let bench = Bench::new();
    bench.write("a.csv", csv(0..3000));
    bench.ok(&["compress", "a.csv", "-o", "a.parquet"]);
    bench.ok(&["compress", "a.csv", "-o", "a.pco.zip"]);
    let raw: Vec<u8> = (0..3000i64).flat_map(i64::to_le_bytes).collect();
    for file in ["a.csv", "a.parquet", "a.pco.zip"] {
        let args = ["compress", file, "-f", "-o", "a.pco", "--chunk-n", "1000"];
        bench.ok(&args);
        bench.ok(&["verify", "a.pco"]);
        assert_eq!(bench.ok(&["decompress", "a.pco", "-o", "-"]).stdout, raw, "{file}");
    }
    for (verb, to) in [
        ("decompress", "b.csv"),
        ("decompress", "b.parquet"),
        ("compress", "b.csv"),
        ("compress", "b.parquet"),
    ] {
        bench.ok(&[verb, "a.pco", "-f", "-o", to]);
        match to {
            "b.csv" => assert!(bench.read("b.csv") == bench.read("a.csv")),
            _ => assert_eq!(dump(&bench.path(to)), dump(&bench.path("a.parquet"))),
        }
    }
    bench.ok(&["compress", "a.pco", "-f", "-o", "b.pco.zip"]);
    bench.ok(&["decompress", "b.pco.zip", "-f", "-o", "b.csv"]);
    assert!(bench.read("b.csv") == bench.read("a.csv"));
    bench.ok(&["decompress", "a.pco", "--limit", "5", "-f", "-o", "b.csv"]);
    assert_eq!(bench.read("b.csv"), csv(0..5).into_bytes());
    let said = bench.fails(2, &["decompress", "a.pco", "-o", "x.pco.zip"]);
    assert!(said.contains("latens compress"), "{said}");
}

#[test]
fn what_a_pco_does_not_hold_is_named() {
    let bench = Bench::new();
    bench.write("t.csv", "a,b,c\n1,x,\n-2,y,3\n");
    for to in ["x.pco", "x.dbp"] {
        let said = bench.fails(2, &["compress", "t.csv", "-o", to]);
        assert!(said.contains("the table has 3") && said.contains("--columns"), "{said}");
        let said = bench.fails(2, &["compress", "t.csv", "--columns", "b", "-o", to]);
        assert!(said.contains("not text") && said.contains(".pco.zip"), "{said}");
        let said = bench.fails(2, &["compress", "t.csv", "--columns", "c", "-o", to]);
        assert!(said.contains("holds nulls") && said.contains(".pco.zip"), "{said}");
        bench.ok(&["compress", "t.csv", "--columns", "a", "-o", to]);
    }
}
