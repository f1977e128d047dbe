//! Checkpoints: there and back, damage, names that are no paths.

use crate::tool::Folder;
use serde_json::{Value, json};

/// Numbers that crowd around zero, the same every time.
pub fn weights(n: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as i64 % 41 - 20
    };
    (0..n).map(|_| ((next() + next() + next()) as i8).cast_unsigned()).collect()
}

/// Bytes that nothing makes smaller, the same every time.
pub fn noise(n: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..n).map(|_| next()).collect()
}

/// A safetensors file of these tensors, in this order.
pub fn safetensors(tensors: &[(&str, &str, &[u64], Vec<u8>)]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".into(), json!({"format": "pt"}));
    let mut data = Vec::new();
    for (name, dtype, shape, bytes) in tensors {
        let from = data.len();
        data.extend(bytes);
        let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": [from, data.len()]});
        header.insert((*name).into(), entry);
    }
    let mut header = serde_json::to_vec(&header).unwrap();
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes(), header.as_slice(), &data].concat()
}

/// A GGUF file of these tensors: name, number of the type, dimensions, the innermost first, and bytes.
pub fn gguf_of(tensors: &[(&str, u32, Vec<u64>, Vec<u8>)]) -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend([tensors.len() as u64, 0].map(u64::to_le_bytes).as_flattened());
    let mut data = Vec::new();
    for (name, kind, dims, bytes) in tensors {
        data.resize(data.len().next_multiple_of(32), 0);
        file.extend((name.len() as u64).to_le_bytes());
        file.extend(name.as_bytes());
        file.extend((dims.len() as u32).to_le_bytes());
        dims.iter().for_each(|d| file.extend(d.to_le_bytes()));
        file.extend(kind.to_le_bytes());
        file.extend((data.len() as u64).to_le_bytes());
        data.extend(bytes);
    }
    file.resize(file.len().next_multiple_of(32), 0);
    [file, data].concat()
}

/// One of Q8_0 tensors: names, columns and rows.
pub fn gguf(tensors: &[(&str, u64, u64)]) -> Vec<u8> {
    let blocks = |(seed, &(name, cols, rows)): (u64, &(_, u64, u64))| {
        let block = |i: u64| {
            let scale = [(i * 37) as u8, 0x1c + (i % 5) as u8];
            [&scale[..], &weights(32, 100 * i + seed)].concat()
        };
        (name, 8, vec![cols, rows], (0..cols * rows / 32).flat_map(block).collect())
    };
    gguf_of(&(0..).zip(tensors).map(blocks).collect::<Vec<_>>())
}

/// A checkpoint of 78 kB.
pub fn model(seed: u64) -> Vec<u8> {
    safetensors(&[
        ("layer.weight", "I8", &[300, 256], weights(300 * 256, seed)),
        ("layer.weight_scale", "BF16", &[300, 1], weights(600, seed + 1)),
        ("norm", "F32", &[64], weights(256, seed + 2)),
        ("empty", "F16", &[0, 4], Vec::new()),
        ("step", "I64", &[], vec![7, 0, 0, 0, 0, 0, 0, 0]),
    ])
}

#[test]
fn there_and_back() {
    let f = Folder::new();
    f.write("m.safetensors", &model(1));
    let done = f.run(&["compress", "m.safetensors"]).ok();
    assert!(done.err.contains("verified: bit-identical"), "{}", done.err);
    assert!(done.err.lines().count() <= 24);
    assert!(f.read("m.wcodec").len() < model(1).len() * 9 / 10);
    assert!(f.run(&["verify", "m.wcodec"]).ok().text().contains("ok, 5 tensors, checksums hold"));
    f.run(&["decompress", "m.wcodec"]).fails(&["exists already", "in m.safetensors"]);
    f.run(&["decompress", "m.wcodec", "-o", "n.safetensors"]).ok();
    assert_eq!(f.read("n.safetensors"), model(1));
    let done = f.run(&["decompress", "m.wcodec", "-o", "-"]).ok();
    assert_eq!(done.out, model(1));
    let done = f.run(&["compress", "m.safetensors", "-o", "-", "-T", "1"]).ok();
    assert_eq!(done.out, f.read("m.wcodec"), "the same whatever the threads");
}

#[test]
fn the_report_is_json() {
    let f = Folder::new();
    f.write("m.safetensors", &model(2));
    let done = f.run(&["compress", "m.safetensors", "--json"]).ok();
    let report: Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!(report["verified"], true);
    assert_eq!(report["input_bytes"], model(2).len());
    assert_eq!(report["output_bytes"], f.read("m.wcodec").len());
    assert_eq!(report["tensors"].as_array().unwrap().len(), 5);
    assert_eq!(report["tensors"][0]["name"], "layer.weight");
    assert_eq!(report["tensors"][0]["shape"], json!([300, 256]));
    let bits = report["tensors"][0]["bits_per_weight"].as_f64().unwrap();
    assert!((4.0..7.5).contains(&bits), "{bits}");
}

#[test]
fn shards_and_their_index_come_back_in_a_folder() {
    let f = Folder::new();
    let a = safetensors(&[("a", "I8", &[256, 256], weights(65_536, 3))]);
    let b = safetensors(&[("b", "U8", &[100, 100], weights(10_000, 4))]);
    let index = json!({"metadata": {"total_size": 75_536},
        "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}});
    let index = serde_json::to_vec_pretty(&index).unwrap();
    f.write("m-1.safetensors", &a);
    f.write("m-2.safetensors", &b);
    f.write("m.safetensors.index.json", &index);
    f.run(&["compress", "m.safetensors.index.json"]).ok();
    f.run(&["decompress", "m.wcodec"]).ends_with(2, &["3 files", "-o FOLDER/"]);
    f.run(&["decompress", "m.wcodec", "-o", "out/"]).ok();
    assert_eq!(f.read("out/m-1.safetensors"), a);
    assert_eq!(f.read("out/m-2.safetensors"), b);
    assert_eq!(f.read("out/m.safetensors.index.json"), index);
    let piped = ["compress", "-", "--from", "safetensors", "-o", "p.wcodec"];
    f.run_with(&piped, &index).fails(&["a stream has none", "give the path of the"]);
    let mut bad = f.read("m.wcodec");
    bad[1000] ^= 1;
    f.write("bad.wcodec", &bad);
    f.run(&["decompress", "bad.wcodec", "-o", "new/and/deep/"]).fails(&["byte "]);
    assert!(!f.path("new").exists());
}

/// Files in a folder have the names that they had, whatever these end with; what is named otherwise is said.
#[test]
fn shards_may_have_any_extension() {
    let f = Folder::new();
    let source = safetensors(&[("a", "I8", &[256, 256], weights(65_536, 3))]);
    for name in ["m.bin", "m.npy", "m.gguf", "m.wcodec", "m.parquet", "m"] {
        f.write(name, &source);
        f.write(
            "m.safetensors.index.json",
            json!({"weight_map": {"a": name}}).to_string().as_bytes(),
        );
        f.run(&["compress", "m.safetensors.index.json", "-f", "-o", "packed.wcodec"]).ok();
        for more in [&[][..], &["--salvage"], &["--to", "safetensors"]] {
            let folder = ["decompress", "packed.wcodec", "-f", "-o", "out/"];
            f.run(&[&folder, more].concat()).ok();
            assert_eq!(f.read(&format!("out/{name}")), source);
        }
        f.run(&["decompress", "packed.wcodec", "-f", "-o", "out/", "--to", "gguf"])
            .ends_with(2, &["gguf"]);
    }
    f.run(&["compress", "m.bin", "--from", "safetensors", "-o", "one.wcodec"]).ok();
    f.run(&["decompress", "one.wcodec", "-o", "of/"]).ok();
    assert_eq!(f.read("of/m.bin"), source);
    f.run(&["decompress", "one.wcodec", "-o", "x.gguf"]).ends_with(2, &["safetensors, not gguf"]);
}

#[test]
fn damage_is_named_and_leaves_nothing() {
    let f = Folder::new();
    f.write("m.safetensors", &model(5));
    f.run(&["compress", "m.safetensors"]).ok();
    let whole = f.read("m.wcodec");
    for at in [200, whole.len() / 2, whole.len() - 40] {
        let mut bad = whole.clone();
        bad[at] ^= 0x10;
        f.write("bad.wcodec", &bad);
        let says = ["bad.wcodec", "byte ", "--salvage"];
        f.run(&["decompress", "bad.wcodec", "-o", "x.safetensors"]).fails(&says);
        assert!(!f.names().contains(&"x.safetensors".to_string()));
        assert_eq!(f.run(&["verify", "bad.wcodec"]).code, Some(1));
    }
    for len in [0, 5, 127, 128, 200, whole.len() / 2, whole.len() - 1] {
        f.write("bad.wcodec", &whole[..len]);
        f.run(&["decompress", "bad.wcodec", "-o", "x.safetensors"]).fails(&["bad.wcodec", "byte "]);
    }
    f.write("bad.wcodec", &[&whole, &b"abc"[..]].concat());
    let end = format!("byte {}", whole.len());
    let follow = ["3 bytes follow the end", end.as_str()];
    f.run(&["decompress", "bad.wcodec", "-o", "x.safetensors"]).fails(&follow);
    assert_eq!(f.names(), ["bad.wcodec", "m.safetensors", "m.wcodec"]);
    let done = f.run(&["decompress", "bad.wcodec", "-o", "x.safetensors", "--salvage"]).ok();
    assert!(done.err.contains("3 bytes follow the end"), "{}", done.err);
}

#[test]
fn an_unreadable_checkpoint_is_named_with_its_byte() {
    let f = Folder::new();
    let mut bytes = model(6);
    bytes.truncate(2000);
    f.write("m.safetensors", &bytes);
    f.run(&["compress", "m.safetensors"]).fails(&["m.safetensors", "layer.weight", "byte "]);
    f.write("m.safetensors", b"");
    f.run(&["compress", "m.safetensors"]).fails(&["m.safetensors", "byte 0"]);
    f.write("g.gguf", b"ABCD\x03\0\0\0");
    f.run(&["compress", "g.gguf"]).fails(&["a GGUF file begins with", "byte 0"]);
    f.write("g.gguf", b"GGUF\x03\0\0\0");
    f.run(&["compress", "g.gguf"]).fails(&["g.gguf", "byte 8"]);
    assert_eq!(f.names(), ["g.gguf", "m.safetensors"]);
}

#[test]
fn a_slice_comes_out_without_the_rest() {
    let f = Folder::new();
    f.write("m.safetensors", &model(8));
    f.run(&["compress", "m.safetensors"]).ok();
    let slice = ["--rows", "10:12", "--cols", "5:9", "-o", "s.npy", "--json"];
    let done = f.run(&[&["extract", "m.wcodec", "layer.weight"][..], &slice].concat()).ok();
    let report: Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!((&report["type"], &report["shape"]), (&json!("i8"), &json!([2, 4])));
    let (whole, npy) = (weights(300 * 256, 8), f.read("s.npy"));
    let expected: Vec<u8> =
        [10, 11].iter().flat_map(|row| whole[row * 256 + 5..row * 256 + 9].to_vec()).collect();
    assert!(npy.starts_with(b"\x93NUMPY") && npy.ends_with(&expected));
    f.run(&["extract", "m.wcodec", "layer.weight_scale", "-o", "bf16.npy"]).ok();
    assert!(String::from_utf8_lossy(&f.read("bf16.npy")).contains("<f4"));
    f.run(&["extract", "m.wcodec", "norm"]).ok();
    assert!(f.read("norm.npy").ends_with(&weights(256, 10)));
    f.run(&["extract", "m.wcodec", "weight"]).ends_with(2, &["no tensor", "layer.weight"]);
    f.run(&["extract", "m.wcodec", "norm", "--rows", "0:65", "-f"]).ends_with(2, &["no rows"]);
    f.run(&["extract", "m.wcodec", "norm", "--cols", "0:1", "-f"]).ends_with(2, &["--rows A:B"]);
}

#[test]
fn inspect_says_what_every_tensor_takes() {
    let f = Folder::new();
    f.write("m.safetensors", &model(9));
    f.run(&["compress", "m.safetensors"]).ok();
    let done = f.run(&["inspect", "m.wcodec", "--json"]).ok();
    let report: Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!(report["kind"], "wcodec");
    let tensor = &report["tensors"][0];
    for key in ["name", "dtype", "shape", "packing", "codec", "bytes", "predictors", "transforms"] {
        assert!(!tensor[key].is_null(), "{key}: {tensor}");
    }
    // In two groups of 150 rows, of tiles of 16 × 16.
    assert_eq!(tensor["predictors"], json!({"NONE": 2 * 10 * 16}));
    let (bits, entropy) = (&tensor["bits_per_weight"], &tensor["order0_entropy"]);
    let (bits, entropy) = (bits.as_f64().unwrap(), entropy.as_f64().unwrap());
    assert!(entropy > 4.0 && bits < entropy + 0.1, "{bits} {entropy}");
    let text = f.run(&["inspect", "m.wcodec", "--html", "m.html"]).ok();
    assert!(text.text().contains("layer.weight") && text.text().contains("besides"));
    assert!(String::from_utf8(f.read("m.html")).unwrap().contains("<svg"));
}

/// Planes of floats that are noise stay raw beside those that do not.
#[test]
fn parts_that_stay_raw_are_told() {
    let f = Folder::new();
    let exponent = |w: u8| (0x40 - w.cast_signed().unsigned_abs() / 3) | (w & 0x80);
    let exponents = weights(1 << 15, 6).into_iter().map(exponent);
    let halves = noise(1 << 15, 5).into_iter().zip(exponents).flat_map(<[u8; 2]>::from).collect();
    let tensors: [(&str, &str, &[u64], Vec<u8>); 3] = [
        ("halves", "F16", &[256, 128], halves),
        ("bytes", "U8", &[1 << 14], noise(1 << 14, 9)),
        ("the same bytes", "U8", &[1 << 14], noise(1 << 14, 9)),
    ];
    f.write("m.safetensors", &safetensors(&tensors));
    f.run(&["compress", "m.safetensors"]).ok();
    let done = f.run(&["inspect", "m.wcodec", "--json"]).ok();
    let report: Value = serde_json::from_slice(&done.out).unwrap();
    let raw = |at: usize| report["tensors"][at]["raw_bytes"].as_u64().unwrap();
    let done = f.run(&["inspect", "m.wcodec"]).ok();
    let text = done.text();
    let said = "1 tensor stayed raw, 16.4 kB, and parts of 1 tensor, 32.8 kB;";
    assert!(raw(0) == 1 << 15 && raw(1) == 1 << 14 && text.contains(said), "{report}\n{text}");
    // A copy has no bytes.
    assert!(report["tensors"][2]["codec"] == "copy" && raw(2) == 0, "{report}");
}

#[test]
fn every_tool_is_weighed() {
    let f = Folder::new();
    f.write("m.safetensors", &safetensors(&[("w", "I8", &[64, 64], weights(4096, 10))]));
    f.run(&["compress", "m.safetensors"]).ok();
    for file in ["m.safetensors", "m.wcodec"] {
        let done = f.run(&["inspect", file, "--ablate", "--json"]).ok();
        let report: Value = serde_json::from_slice(&done.out).unwrap();
        let rows = report["rows"].as_array().unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row["tool"].as_str().unwrap()).collect();
        let all = "NONE LEFT TOP AVG PLANAR DC COLUMN REFERENCE DCT ADST DCT+ADST bitplane context 16x16 8x32 32x8";
        assert_eq!(names.join(" "), all);
        assert!(rows[7]["bytes"].is_null() && rows[7]["bits_per_weight"].is_null(), "{report}");
        assert_eq!(rows[7]["what"], "needs --base");
        // Noise is not predicted by its neighbours.
        assert!(rows[1]["bits_per_weight"].as_f64().unwrap() > 0.2, "{report}");
    }
    let done = f.run(&["inspect", "m.wcodec", "--ablate"]).ok();
    assert!(done.text().contains("PLANAR") && done.text().contains("needs --base"));
    let done = f.run(&["inspect", "m.safetensors", "--ablate", "--base", "m.wcodec"]).ok();
    assert!(done.text().contains("of the base"), "{}", done.text());
    let done = f.run(&["inspect", "m.safetensors"]).ok();
    assert!(done.text().contains("--ablate"), "{}", done.text());
}

#[test]
fn checkpoints_and_columns_do_not_mix() {
    let f = Folder::new();
    f.write("m.safetensors", &model(7));
    f.run(&["compress", "m.safetensors", "-o", "m.pco"]).ends_with(2, &["not compressed to pco"]);
    f.run(&["decompress", "m.safetensors"]).ends_with(2, &["not compressed"]);
    f.run(&["compress", "m.safetensors"]).ok();
    f.run(&["decompress", "m.wcodec", "--to", "npy"]).ends_with(2, &["not npy"]);
    f.run(&["decompress", "m.wcodec", "--to", "gguf", "-o", "x"]).ends_with(2, &["not gguf"]);
    for name in ["x.npy", "x.csv", "x.parquet", "x.pco", "x.gguf", "x.bin", "x.wcodec"] {
        let says = ["what comes out is safetensors", name];
        f.run(&["decompress", "m.wcodec", "-o", name]).ends_with(2, &says);
    }
    for name in ["x.csv", "x.safetensors", "x.weight"] {
        f.run(&["extract", "m.wcodec", "norm", "-o", name]).ends_with(2, &["npy or raw", name]);
    }
    assert_eq!(f.names(), ["m.safetensors", "m.wcodec"]);
    f.run(&["extract", "m.wcodec", "norm", "-o", "x.raw"]).ok();
    assert_eq!(f.read("x.raw"), weights(256, 9));
    let of_columns = [
        &["--columns", "a"][..],
        &["--mode", "dict"],
        &["--delta", "none"],
        &["--chunk-n", "7"],
        &["--no-checksum"],
        &["--type", "i8"],
        &["--encoding", "plain"],
        &["--favor", "size"],
        &["--skip-unsupported"],
    ];
    for option in of_columns {
        let args = [&["compress", "m.safetensors", "-o", "y.wcodec"], option].concat();
        f.run(&args).ends_with(2, &[option[0], "nothing for a checkpoint"]);
    }
    for option in [&["--type", "i8"][..], &["--allow-trailing"]] {
        let args = [&["decompress", "m.wcodec", "-o", "y.safetensors"], option].concat();
        f.run(&args).ends_with(2, &[option[0], "nothing for a checkpoint"]);
    }
    f.run(&["decompress", "m.wcodec", "-f", "--max-output", "1000"]).fails(&["--max-output 1000"]);
}
