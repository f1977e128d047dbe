//! CSV in and out.

use crate::support::{Bench, dump, open};
use parquet::basic::Type;
use parquet::file::reader::FileReader;

/// What comes back of a CSV file by way of `.pco.zip`.
fn round_trip(text: &[u8]) -> Vec<u8> {
    let bench = Bench::new();
    bench.write("in.csv", text);
    bench.ok(&["compress", "in.csv", "-o", "t.pco.zip"]);
    bench.ok(&["verify", "t.pco.zip"]);
    bench.ok(&["decompress", "t.pco.zip", "-o", "out.csv"]);
    // What came out is a fixed point.
    bench.ok(&["compress", "out.csv", "-o", "u.pco.zip"]);
    bench.ok(&["decompress", "u.pco.zip", "-o", "again.csv"]);
    assert_eq!(bench.read("out.csv"), bench.read("again.csv"));
    bench.read("out.csv")
}

#[test]
fn values_come_back() {
    let same = [
        "a\n",
        "a,b\n1,x\n-2,\n,y\n",
        "a\n9223372036854775807\n-9223372036854775808\n",
        "a\n18446744073709551615\n0\n",
        "zip,phone\n00501,+1\n10001,+2\n",
        "t\n\"line\nbreak\"\n\"quote \"\" here\"\n\"comma,\"\n",
        "a,a,\n1,2,3\n",
        "f\n0.1\n-0.0\n1e300\n5e-324\n",
        "x\n\"\"\n1\n\"\"\n",
        "n,m\n,\n,\n",
        "id\n123456789012345678901234567890\n",
        "mixed\n1\ntwo\n3.0\n",
        "日本,ü\nこんにちは,ß\n",
    ];
    for text in same {
        assert_eq!(String::from_utf8_lossy(&round_trip(text.as_bytes())), text);
    }
    let latin1 = b"name\nM\xfcller\n\xe9t\xe9\n";
    assert_eq!(round_trip(latin1), latin1);
    assert_eq!(round_trip(b""), b"");
}

#[test]
fn spelling_may_change_and_values_do_not() {
    let cases = [
        ("f\n1\n2.50\n1e3\n", "f\n1.0\n2.5\n1000.0\n"),
        ("a,b\r\n1,2\r\n", "a,b\n1,2\n"),
        ("a,b\n\"1\",\"x\"\n", "a,b\n1,x\n"),
        ("a,b\n1,\"\"\n", "a,b\n1,\n"),
        ("\u{feff}a\n1\n", "a\n1\n"),
        ("a\n1", "a\n1\n"),
        // An empty line of one column is a null; of several it is nothing.
        ("a\n1\n\n2\n\n", "a\n1\n\"\"\n2\n\"\"\n"),
        ("a\r\nx\r\n\r\ny\r\n", "a\nx\n\"\"\ny\n"),
        ("a,b\n1,2\n\n3,4\n", "a,b\n1,2\n3,4\n"),
        ("f\nNaN\ninf\n-inf\n1\n", "f\nNaN\ninf\n-inf\n1.0\n"),
        ("f\n1.000000000000000056e-01\n", "f\n0.1\n"),
    ];
    for (text, expected) in cases {
        assert_eq!(String::from_utf8_lossy(&round_trip(text.as_bytes())), expected);
    }
}

#[test]
fn types_reach_parquet() {
    let bench = Bench::new();
    bench.write("t.csv", "i,u,f,t,n\n-1,9223372036854775807,0.5,x,\n2,3,,y,\n");
    bench.ok(&["compress", "t.csv", "-o", "t.parquet"]);
    let file = open(&bench.path("t.parquet"));
    let descr = file.metadata().file_metadata().schema_descr_ptr();
    let types: Vec<(Type, bool)> = descr
        .columns()
        .iter()
        .map(|column| (column.physical_type(), column.self_type().is_optional()))
        .collect();
    let expected = [
        (Type::INT64, false),
        (Type::INT64, false),
        (Type::DOUBLE, true),
        (Type::BYTE_ARRAY, false),
        (Type::BYTE_ARRAY, true),
    ];
    assert_eq!(types, expected);
    let columns = dump(&bench.path("t.parquet"));
    assert_eq!(
        columns[0].1,
        [Some((-1i64).to_le_bytes().to_vec()), Some(2i64.to_le_bytes().into())]
    );
    assert_eq!(columns[2].1, [Some(0.5f64.to_le_bytes().to_vec()), None]);
    assert_eq!(columns[4].1, [None, None]);
}

#[test]
fn integers_beyond_i64_are_floats_or_text() {
    let bench = Bench::new();
    bench.write("t.csv", "float,text\n9223372036854775808,18446744073709551615\n1,1\n");
    bench.ok(&["compress", "t.csv", "-o", "t.parquet"]);
    let file = open(&bench.path("t.parquet"));
    let descr = file.metadata().file_metadata().schema_descr_ptr();
    let types: Vec<Type> = descr.columns().iter().map(|c| c.physical_type()).collect();
    assert_eq!(types, [Type::DOUBLE, Type::BYTE_ARRAY]);
    bench.ok(&["decompress", "t.parquet", "-o", "u.csv"]);
    let back = "float,text\n9.223372036854776e18,18446744073709551615\n1.0,1\n";
    assert_eq!(String::from_utf8_lossy(&bench.read("u.csv")), back);
}

#[test]
fn records_of_different_lengths_are_an_error_with_their_place() {
    let bench = Bench::new();
    bench.write("bad.csv", "a,b\n1,2\n3\n");
    let said = bench.fails(1, &["compress", "bad.csv"]);
    assert!(said.contains("line 3") && said.contains("byte 8"), "{said}");
    assert!(said.contains("commas"), "{said}");
    std::fs::write(bench.path("latin.csv"), b"stra\xdfe\n1\n").unwrap();
    let said = bench.fails(1, &["compress", "latin.csv"]);
    assert!(said.contains("not UTF-8") && said.contains("iconv"), "{said}");
    assert_eq!(bench.files(), ["bad.csv", "latin.csv"]);
}

#[test]
fn a_quote_that_is_never_closed() {
    let bench = Bench::new();
    for (text, place) in [
        ("a,b\n1,2\n3,\"x\n4,5\n", "line 3: byte 10"),
        ("a\n\"x\ny\n", "line 2: byte 2"),
        ("a,\"b\n1,2\n", "line 1: byte 2"),
    ] {
        bench.write("open.csv", text);
        let said = bench.fails(1, &["compress", "open.csv"]);
        assert!(said.contains("never closed") && said.contains(place), "{said}");
    }
    // Empty lines before it do not move the place.
    bench.write("one.csv", "a\n\n\n1,2\n");
    let said = bench.fails(1, &["compress", "one.csv"]);
    assert!(said.contains("line 4: byte 4"), "{said}");
}

#[test]
fn a_table_of_many_blocks() {
    let bench = Bench::new();
    let mut text = "i,word,long\n".to_string();
    for i in 0..150_000u64 {
        let long = if i % 3 == 0 {
            String::new()
        } else {
            format!("{:x}", i.wrapping_mul(0x9e3779b97f4a7c15))
        };
        text += &format!("{i},w{},l{long}\n", i % 11);
    }
    bench.write("big.csv", &text);
    bench.ok(&["compress", "big.csv", "-l", "2"]);
    bench.ok(&["decompress", "big.pco.zip", "-o", "back.csv"]);
    assert!(bench.read("back.csv") == text.as_bytes());
}

#[test]
fn through_pipes() {
    let bench = Bench::new();
    bench.write("t.csv", "a,b\n1,x\n2,y\n");
    let tool = env!("CARGO_BIN_EXE_latens");
    let script = format!(
        "cat t.csv | {tool} compress - --from csv -o - --to pco.zip | \
         {tool} decompress - --from pco.zip -o -"
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(bench.path("."))
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a,b\n1,x\n2,y\n", "{words}");
}
