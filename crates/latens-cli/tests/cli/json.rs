//! `--json`: one object on stdout, with the fields that the contract lists.

use crate::tool::{Done, Folder, column};
use serde_json::Value;

fn object(done: &Done) -> Value {
    assert_eq!(done.err, "");
    let text = done.text();
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(text).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn compress() {
    let f = Folder::new();
    f.write("a.npy", &column(40));
    let report = object(&f.run(&["compress", "a.npy", "--json"]).ok());
    let expected =
        ["columns", "input", "input_bytes", "output", "output_bytes", "seconds", "verified"];
    assert_eq!(keys(&report), expected);
    assert_eq!(report["input"], "a.npy");
    assert_eq!(report["input_bytes"], f.read("a.npy").len());
    assert_eq!(report["output_bytes"], f.read("a.pco").len());
    assert_eq!(report["verified"], true);
    let column = &report["columns"][0];
    let expected =
        ["bits_per_value", "bytes", "delta", "encoding", "mode", "n", "name", "nulls", "type"];
    assert_eq!(keys(column), expected);
    assert_eq!(
        (&column["name"], &column["type"], &column["n"]),
        (&"a".into(), &"i64".into(), &40.into())
    );
    let report = object(&f.run(&["compress", "a.npy", "--json", "-f", "--no-verify"]).ok());
    assert_eq!(report["verified"], false);
    f.run(&["compress", "a.npy", "--json", "-o", "-"]).ends_with(2, &["--json"]);
}

#[test]
fn verify() {
    let f = Folder::new();
    f.write("a.npy", &column(40));
    f.run(&["compress", "a.npy"]).ok();
    let report = object(&f.run(&["verify", "a.pco", "--json"]).ok());
    assert_eq!(report["ok"], true);
    let file = &report["files"][0];
    assert_eq!(
        (&file["file"], &file["ok"], &file["n"]),
        (&"a.pco".into(), &true.into(), &40.into())
    );
    assert_eq!((&file["type"], &file["checksum"]), (&"i64".into(), &true.into()));
    let done = f.run(&["verify", "a.pco", "none.pco", "--json"]);
    assert_eq!(done.code, Some(1));
    let report = object(&done);
    assert_eq!(report["ok"], false);
    assert!(report["files"][1]["error"].as_str().unwrap().contains("No such file"));
}

#[test]
fn decompress() {
    let f = Folder::new();
    f.write("a.npy", &column(40));
    f.run(&["compress", "a.npy"]).ok();
    let report = object(&f.run(&["decompress", "a.pco", "--json", "-f"]).ok());
    assert_eq!(report["output_bytes"], f.read("a.npy").len());
    assert_eq!(report["checksum"], "verified");
}
