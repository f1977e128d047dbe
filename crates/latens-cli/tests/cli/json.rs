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

#[test]
fn inspect() {
    let f = Folder::new();
    f.write("a.npy", &column(5000));
    f.run(&["compress", "a.npy", "--chunk-n", "3000"]).ok();
    let report = object(&f.run(&["inspect", "a.pco", "--json"]).ok());
    for key in ["kind", "standalone_version", "format_version", "type", "n", "checksum", "chunks"] {
        assert!(!report[key].is_null(), "{key}");
    }
    assert_eq!((&report["kind"], &report["n"]), (&"pco".into(), &5000.into()));
    assert_eq!(report["bytes"], f.read("a.pco").len());
    let chunks = report["chunks"].as_array().unwrap();
    assert_eq!(chunks.len(), 2);
    for chunk in chunks {
        for key in ["n", "bytes", "mode", "delta"] {
            assert!(!chunk[key].is_null(), "{key}");
        }
        let number = |value: &Value| value.as_f64().unwrap();
        let per_value: f64 =
            chunk["latents"].as_array().unwrap().iter().map(|l| number(&l["bits_per_value"])).sum();
        let bits = per_value * number(&chunk["n"]) + 8.0 * number(&chunk["meta_bytes"]);
        // Up to a byte, of which both have bits.
        assert!((bits - 8.0 * number(&chunk["bytes"])).abs() < 8.0, "{bits}: {chunk}");
        for latent in chunk["latents"].as_array().unwrap() {
            let of_body = number(&latent["body_bits"]) / number(&chunk["n"]);
            assert!((number(&latent["bits_per_value"]) - of_body).abs() < 1e-9);
            assert!(latent["name"].is_string() && latent["bits_per_value"].is_number());
            let bins = latent["bins"].as_array().unwrap();
            let weights: u64 = bins.iter().map(|bin| bin["weight"].as_u64().unwrap()).sum();
            assert_eq!(weights, latent["table_size"].as_u64().unwrap());
        }
    }
}

#[test]
fn inspect_as_text_and_as_a_page() {
    let f = Folder::new();
    f.write("a.npy", &column(5000));
    f.run(&["compress", "a.npy"]).ok();
    let done = f.run(&["inspect", "a.pco", "--html", "a.html"]).ok();
    for part in ["standalone Pco 3", "checksums hold", "primary", "bits a value"] {
        assert!(done.text().contains(part), "{part}: {}", done.text());
    }
    assert!(!done.text().contains('\u{1b}'), "colours without a terminal");
    let page = String::from_utf8(f.read("a.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg"));
    let done = f.run(&["inspect", "a.pco", "--html", "a.html"]).fails(&["exists already", "-f"]);
    assert!(done.out.is_empty(), "a report before the refusal: {}", done.text());
    let done = f.run(&["inspect", "a.pco", "--html", "-"]).ok();
    assert_eq!(done.text(), page, "the page alone");
    f.run(&["inspect", "a.pco", "--html", "-", "--json"]).ends_with(2, &["--json", "--html -"]);
    assert_eq!(f.names(), ["a.html", "a.npy", "a.pco"]);
    f.write("b.npy", &crate::tool::npy("<f8", false, "(2, 3)", &[1; 48]));
    f.run(&["compress", "b.npy"]).ok();
    let report = object(&f.run(&["inspect", "b.pco.zip", "--json"]).ok());
    assert_eq!((&report["kind"], &report["rows"]), (&"pco.zip".into(), &6.into()));
    assert_eq!(report["columns"][0]["members"][0]["pco"]["n"], 6);
    assert!(f.run(&["inspect", "b.pco.zip"]).ok().text().contains("shape (2, 3)"));
}

/// What a trend is called, and by how much it moves.
#[test]
fn inspect_of_a_trend() {
    let f = Folder::new();
    let hours = (0..9000u64).flat_map(|i| (3600 * (1000 + i / 60 + i * i % 7 % 3)).to_le_bytes());
    f.write("a.npy", &crate::tool::npy("<i8", false, "(9000,)", &hours.collect::<Vec<u8>>()));
    f.run(&["compress", "a.npy", "--mode", "trend@3600", "--delta", "consecutive@1"]).ok();
    let done = f.run(&["inspect", "a.pco"]).ok();
    for part in ["trend@3600, consecutive@1", "+0  ", "+3600  "] {
        assert!(done.text().contains(part), "{part:?}: {}", done.text());
    }
    let report = object(&f.run(&["inspect", "a.pco", "--json"]).ok());
    assert_eq!(report["chunks"][0]["mode"], "trend@3600");
    for wrong in ["trend@0", "trend@999999999999999999"] {
        let again = ["compress", "a.npy", "-o", "b.pco", "--mode", wrong];
        f.run(&again).ends_with(2, &["cells of 64 bits are 1 to 288230376151711743"]);
    }
}
