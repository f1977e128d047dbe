//! Packings that are said, not detected: what `extract` gives then, and what is refused.

use crate::checkpoints::{noise, safetensors};
use crate::tool::Folder;
use serde_json::{Value, json};

/// Bytes of nibbles as numbers in order, for a tensor of bytes.
fn nibbles(bytes: &[u8], high: bool, word: usize, number: impl Fn(u8) -> i8) -> Vec<u8> {
    let of_word = |word: &[u8]| -> Vec<u8> {
        let mut low: Vec<u8> = word.iter().flat_map(|b| [b & 15, b >> 4]).collect();
        if high {
            low.reverse();
        }
        low
    };
    let all = bytes.chunks(word).flat_map(of_word);
    all.map(|nibble| number(nibble).cast_unsigned()).collect()
}

#[test]
fn each_kind_comes_out_as_it_is_meant() {
    let f = Folder::new();
    let tensors: [(&str, &str, &[u64], Vec<u8>); 4] = [
        ("i.weight", "I8", &[24, 16], noise(384, 1)),
        ("u.weight", "U8", &[3, 8, 16], noise(384, 2)),
        ("w.weight", "I32", &[12, 8], noise(384, 3)),
        ("i.weight_scale", "F16", &[24, 1], noise(48, 4)),
    ];
    let source = safetensors(&tensors);
    f.write("m.safetensors", &source);
    for (kind, high, word, number) in [
        ("int4", false, 1, (|n| (n << 4).cast_signed() >> 4) as fn(u8) -> i8),
        ("uint4", false, 1, |n| n.cast_signed()),
        ("int4-offset", false, 1, |n| n.cast_signed() - 8),
        ("int4-high", true, 1, |n| (n << 4).cast_signed() >> 4),
        ("uint4-high", true, 1, |n| n.cast_signed()),
        ("int4-offset-high", true, 1, |n| n.cast_signed() - 8),
        ("uint4-in-32", false, 4, |n| n.cast_signed()),
        ("int4-high-in-32", true, 4, |n| (n << 4).cast_signed() >> 4),
    ] {
        let packing = format!("*.weight={kind}");
        let options = ["--packing", &packing, "--group-symbols", "64", "-f"];
        f.run(&[&["compress", "m.safetensors"][..], &options].concat()).ok();
        f.run(&["decompress", "m.wcodec", "-f", "-o", "b.safetensors"]).ok();
        assert!(f.read("b.safetensors") == source, "{kind}");
        for (name, _, shape, bytes) in &tensors[..3] {
            let done = f.run(&["extract", "m.wcodec", name, "-f", "-o", "x.npy"]).ok();
            assert!(done.err.ends_with(" (codes, without scale and zero point)\n"), "{}", done.err);
            let want = nibbles(bytes, high, word, number);
            assert!(f.read("x.npy").ends_with(&want), "{kind} {name}");
            let mut shape = shape.to_vec();
            *shape.last_mut().unwrap() *= if *name == "w.weight" { 8 } else { 2 };
            let verb = ["extract", "m.wcodec", name, "-f", "-o", "x.npy", "--json"];
            let said: Value = serde_json::from_slice(&f.run(&verb).ok().out).unwrap();
            assert_eq!((&said["shape"], &said["type"]), (&json!(shape), &json!("i8")), "{kind}");
            let of = if high { "high first" } else { "low first" };
            assert!(said["packing"].as_str().unwrap().contains(of), "{said}");
        }
    }
    let slice = ["extract", "m.wcodec", "i.weight", "--rows", "3:5", "--cols", "1:4", "-f"];
    f.run(&[&slice[..], &["-o", "x.npy"]].concat()).ok();
    let row = |r: usize| {
        nibbles(&tensors[0].3[16 * r..16 * r + 16], true, 4, |n| (n << 4).cast_signed() >> 4)
    };
    let want = [3, 4].map(|r| row(r)[1..4].to_vec()).concat();
    assert!(f.read("x.npy").ends_with(&want));
}

/// What names tell is packed is bytes, where that is said, and a code book is said of what has one.
#[test]
fn none_is_no_packing() {
    let f = Folder::new();
    let bytes = noise(256, 5);
    f.write(
        "m.safetensors",
        &safetensors(&[
            ("l.weight", "U8", &[256, 1], bytes.clone()),
            ("l.weight.absmax", "F32", &[8], noise(32, 6)),
            ("f.weight", "U8", &[256, 1], bytes.clone()),
            ("f.weight.quant_state.bitsandbytes__fp4", "U8", &[2], b"{}".to_vec()),
        ]),
    );
    let extract = |name: &str| f.run(&["extract", "m.wcodec", name, "-f", "-o", "x.npy"]).ok().err;
    f.run(&["compress", "m.safetensors"]).ok();
    assert!(extract("l.weight").ends_with(" (indices of a code book, without scale)\n"));
    assert!(extract("f.weight").ends_with(" (FP4 codes of floats, without scale)\n"));
    f.run(&["compress", "m.safetensors", "-f", "--packing", "l.weight=none"]).ok();
    assert!(extract("l.weight").ends_with(": u8 of shape (256, 1)\n"));
    assert!(f.read("x.npy").ends_with(&bytes));
}

#[test]
fn what_does_not_fit_is_refused() {
    let f = Folder::new();
    f.write(
        "m.safetensors",
        &safetensors(&[("odd", "U8", &[4, 6], noise(24, 7)), ("norm", "BF16", &[8], noise(16, 8))]),
    );
    f.write("c.npy", &crate::tool::column(100));
    let refused = |packing: &str, said: &[&str]| {
        f.run(&["compress", "m.safetensors", "--packing", packing]).ends_with(2, said);
        assert!(!f.path("m.wcodec").exists(), "{packing}");
    };
    refused("odd=int4-high-in-32", &["does not fit U8 [4, 6]", "\"odd\"", "none, int4, int4-high"]);
    refused("*=uint4", &["does not fit BF16 [8]", "\"norm\"", "what does: none"]);
    refused("*.weight=int4", &["\"*.weight\"", "no tensor", "latens inspect"]);
    for wrong in ["odd", "odd=int5", "odd="] {
        let done = f.run(&["compress", "m.safetensors", "--packing", wrong]);
        assert_eq!(done.code, Some(2), "{}", done.err);
    }
    let done = f.run(&["compress", "m.safetensors", "--group-symbols", "0"]);
    assert_eq!(done.code, Some(2), "{}", done.err);
    for option in [["--packing", "a=int4"], ["--group-symbols", "64"]] {
        f.run(&[&["compress", "c.npy"][..], &option].concat()).ends_with(2, &[option[0]]);
    }
}
