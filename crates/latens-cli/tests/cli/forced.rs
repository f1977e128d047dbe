//! Tools of WCodec that are asked for by name, and bitplanes that are left out.

use crate::checkpoints::{safetensors, weights};
use crate::tool::Folder;
use serde_json::Value;

#[test]
fn tools_are_those_that_were_named() {
    let f = Folder::new();
    f.write("m.safetensors", &safetensors(&[("w", "I8", &[128, 96], weights(12_288, 3))]));
    let tensor = |options: &[&str]| -> Value {
        f.run(&[&["compress", "m.safetensors", "-f"][..], options].concat()).ok();
        f.run(&["decompress", "m.wcodec", "-f", "-o", "back.safetensors"]).ok();
        assert!(f.read("back.safetensors") == f.read("m.safetensors"), "{options:?}");
        let done = f.run(&["inspect", "m.wcodec", "--json"]).ok();
        let report: Value = serde_json::from_slice(&done.out).unwrap();
        report["tensors"][0].clone()
    };
    let keys =
        |counts: &Value| -> Vec<String> { counts.as_object().unwrap().keys().cloned().collect() };
    let found = tensor(&["--predictors", "LEFT", "--tile", "8x32"]);
    assert_eq!((&found["codec"], &found["predictors"]["LEFT"]), (&"direct".into(), &48.into()));
    let found = tensor(&["--predictors", "left,TOP,None", "--coder", "bitplane"]);
    assert_eq!(found["codec"], "bitplane");
    assert!(keys(&found["predictors"]).iter().all(|p| ["LEFT", "NONE", "TOP"].contains(&&p[..])));
    let found = tensor(&["--transforms", "ADST"]);
    assert_eq!(keys(&found["transforms"]), ["ADST"]);
    let found = tensor(&["--transforms", "NONE,DCT,ADST", "--no-contexts"]);
    assert!(found["transforms"].as_object().unwrap().len() > 1, "{found}");
    f.run(&["compress", "m.safetensors", "-o", "b.wcodec"]).ok();
    f.run(&["compress", "m.safetensors", "-f", "--predictors", "REFERENCE", "--base", "b.wcodec"])
        .ok();
    assert!(f.read("m.wcodec").len() < 1500);
    let refused = |options: &[&str], says: &[&str]| {
        let all = [&["compress", "m.safetensors", "-o", "x.wcodec"][..], options].concat();
        f.run(&all).ends_with(2, says);
    };
    refused(&["--predictors", "REFERENCE"], &["another checkpoint", "--base"]);
    refused(&["--predictors", "LINEAR,TOP"], &["alone"]);
    refused(&["--tile", "8x32"], &["--tile does nothing", "--predictors"]);
    refused(&["--tile", "0x4", "--predictors", "TOP"], &["sides are 1 to 4096"]);
    refused(&["--predictors", "UP"], &["NONE, LEFT, TOP"]);
    refused(&["--transforms", "FFT"], &["NONE, DCT, ADST"]);
    refused(&["--coder", "huffman"], &["direct, bitplane"]);
}

#[test]
fn the_first_planes_are_enough_for_numbers_that_are_near() {
    let f = Folder::new();
    f.write("m.safetensors", &safetensors(&[("w", "I8", &[128, 96], weights(12_288, 3))]));
    f.run(&["compress", "m.safetensors", "--coder", "bitplane"]).ok();
    let numbers = |options: &[&str]| -> Vec<i8> {
        let all = ["extract", "m.wcodec", "w", "--rows", "3:90", "-f", "-o", "w.raw"];
        f.run(&[&all[..], options].concat()).ok();
        f.read("w.raw").into_iter().map(u8::cast_signed).collect()
    };
    let exact = numbers(&[]);
    assert!(
        exact
            .iter()
            .map(|w| w.cast_unsigned())
            .eq(weights(12_288, 3)[3 * 96..90 * 96].iter().copied())
    );
    for planes in [1, 3, 16] {
        let near = numbers(&["--without-planes", &planes.to_string()]);
        let most = exact.iter().zip(&near).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(most > 0 && u32::from(most) < 1 << planes, "{planes}: {most}");
    }
    f.run(&["extract", "m.wcodec", "w", "--without-planes", "17"]).ends_with(2, &["0 to 16"]);
    // Of what is in no planes nothing is left out, which is said.
    f.run(&["compress", "m.safetensors", "-f", "-o", "n.wcodec", "--coder", "direct"]).ok();
    for (file, planes, left_out) in [("m.wcodec", 3, 3), ("n.wcodec", 3, 0), ("n.wcodec", 0, 0)] {
        let all =
            ["extract", file, "w", "-f", "-o", "w.raw", "--without-planes", &planes.to_string()];
        let done = f.run(&all).ok();
        assert_eq!(done.err.contains("nothing is left out"), planes > left_out, "{}", done.err);
        let told = f.run(&[&all[..], &["--json"]].concat()).ok();
        assert!(told.text().contains(&format!("\"without_planes\":{left_out}")), "{}", told.text());
        assert!(!told.err.contains("left out"), "{}", told.err);
    }
}

/// Each row of `--ablate` is the size that comes of its tool when it is forced, and no two are the same but NONE and
/// no tool at all.
#[test]
fn every_row_of_ablate_is_its_tool() {
    let f = Folder::new();
    // A slope with noise: predictors, transforms and tiles all make something else of it.
    let slope = |i: usize| (i % 288 / 7 + i / 288 / 2) as u8;
    let of = |seed| -> Vec<u8> {
        let noise = weights(256 * 288, seed).into_iter().map(|w| w.cast_signed() / 8);
        noise.enumerate().map(|(i, w)| slope(i).wrapping_add_signed(w)).collect()
    };
    let file = |seed| safetensors(&[("w", "I8", &[256, 288], of(seed))]);
    f.write("m.safetensors", &file(3));
    f.write("b.safetensors", &file(4));
    let done =
        f.run(&["inspect", "m.safetensors", "--ablate", "--base", "b.safetensors", "--json"]);
    let report: Value = serde_json::from_slice(&done.ok().out).unwrap();
    let size = |options: &[&str]| -> u64 {
        f.run(&[&["compress", "m.safetensors", "-f"][..], options].concat()).ok();
        f.read("m.wcodec").len() as u64
    };
    assert_eq!(report["chosen_bytes"], size(&["--base", "b.safetensors"]));
    assert_eq!(report["plain_bytes"], size(&["--coder", "direct"]));
    let spatial = "NONE,LEFT,TOP,AVG,PLANAR,DC";
    let mut sizes = Vec::new();
    for row in report["rows"].as_array().unwrap() {
        let tool = row["tool"].as_str().unwrap();
        let forced = match tool {
            "REFERENCE" => vec!["--predictors", tool, "--base", "b.safetensors"],
            "DCT" | "ADST" => vec!["--transforms", tool],
            "DCT+ADST" => vec!["--transforms", "NONE,DCT,ADST"],
            "bitplane" => vec!["--coder", tool],
            "context" => vec!["--no-contexts"],
            "16x16" | "8x32" | "32x8" => vec!["--tile", tool, "--predictors", spatial],
            predictor => vec!["--predictors", predictor],
        };
        assert_eq!(row["bytes"], size(&forced), "{tool}");
        sizes.push(row["bytes"].as_u64().unwrap());
    }
    assert_eq!(sizes[0], report["plain_bytes"].as_u64().unwrap());
    assert_eq!(sizes.len(), 16);
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes.len(), 16, "{report}");
}

/// Tools act on planes of floats, too: what they cost there is charged to the weights that are there.
#[test]
fn what_a_tool_costs_is_of_all_weights() {
    let f = Folder::new();
    f.write("h.safetensors", &safetensors(&[("w", "F8_E4M3", &[256, 256], weights(65_536, 5))]));
    let done = f.run(&["inspect", "h.safetensors", "--ablate", "--json"]).ok();
    let report: Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!((&report["weights"], &report["quantised"]), (&65_536.into(), &0.into()));
    let plain = report["plain_bytes"].as_f64().unwrap();
    for row in report["rows"].as_array().unwrap().iter().filter(|row| row["bytes"].is_number()) {
        let more = row["bytes"].as_f64().unwrap() - plain;
        let bits = row["bits_per_weight"].as_f64().unwrap();
        assert!((bits - more * 8.0 / 65_536.0).abs() < 1e-9, "{row}");
    }
    let left = &report["rows"][1];
    assert!(left["tool"] == "LEFT" && left["bits_per_weight"] != 0.0, "{report}");
    let text = f.run(&["inspect", "h.safetensors", "--ablate"]).ok();
    let said = ["bits a weight of all", "65\u{202f}536 weights, 0 of them quantised"];
    assert!(said.iter().all(|said| text.text().contains(said)), "{}", text.text());
    // Without weights there is no such figure.
    f.write("e.safetensors", &safetensors(&[("e", "I8", &[0, 4], Vec::new())]));
    let done = f.run(&["inspect", "e.safetensors", "--ablate", "--json"]).ok();
    let report: Value = serde_json::from_slice(&done.out).unwrap();
    assert!(report["rows"][1]["bits_per_weight"].is_null(), "{report}");
}

#[test]
fn transforms_that_fit_no_tile_are_refused() {
    let f = Folder::new();
    f.write("m.safetensors", &safetensors(&[("w", "I8", &[64, 64], weights(4096, 3))]));
    for tile in ["7x7", "7x32", "64x4"] {
        let args = ["compress", "m.safetensors", "--transforms", "NONE,DCT", "--tile", tile];
        let said = format!("no block of 8x8 fits a tile of {tile}");
        f.run(&args).ends_with(2, &["--transforms does nothing", &said, "--tile of 8x8"]);
    }
    let compress = ["compress", "m.safetensors", "-f", "--tile"];
    f.run(&[&compress[..], &["8x9", "--transforms", "DCT"]].concat()).ok();
    f.run(&[&compress[..], &["7x7", "--transforms", "NONE"]].concat()).ok();
    f.run(&[&compress[..], &["7x7", "--predictors", "LEFT"]].concat()).ok();
}
