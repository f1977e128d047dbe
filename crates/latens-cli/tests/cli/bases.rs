//! Checkpoints that are coded against another one, and files that are read besides the input: none of
//! them is written over.

use crate::checkpoints::{safetensors, weights};
use crate::tool::Folder;
use serde_json::json;

/// A tensor near that of every other seed.
fn tuned(seed: u64) -> Vec<u8> {
    let mut bytes = weights(65_536, 11);
    bytes.iter_mut().zip(weights(65_536, seed)).for_each(|(a, b)| *a = a.wrapping_add(b & 1));
    safetensors(&[("w", "I8", &[256, 256], bytes)])
}

#[test]
fn a_base_is_asked_for_again() {
    let f = Folder::new();
    f.write("base.safetensors", &tuned(12));
    f.write("m.safetensors", &tuned(13));
    f.run(&["compress", "base.safetensors"]).ok();
    f.run(&["compress", "m.safetensors", "-o", "alone.wcodec"]).ok();
    f.run(&["compress", "m.safetensors", "--base", "base.safetensors"]).ok();
    assert!(f.read("m.wcodec").len() < f.read("alone.wcodec").len() / 2);
    f.run(&["decompress", "m.wcodec", "-o", "x.safetensors"]).fails(&["base.safetensors"]);
    for base in ["base.safetensors", "base.wcodec"] {
        f.run(&["decompress", "m.wcodec", "-f", "-o", "x.safetensors", "--base", base]).ok();
        assert_eq!(f.read("x.safetensors"), tuned(13));
    }
    let wrong = ["decompress", "m.wcodec", "-f", "-o", "x.safetensors", "--base", "m.safetensors"];
    f.run(&wrong).fails(&["not the base"]);
    // To be verified, too.
    let done = f.run(&["verify", "m.wcodec"]);
    assert!(done.code == Some(1) && done.text().contains("base.safetensors"), "{}", done.text());
    for base in ["base.safetensors", "base.wcodec"] {
        let done = f.run(&["verify", "alone.wcodec", "m.wcodec", "--base", base]).ok();
        assert!(done.text().contains("m.wcodec: ok, 1 tensor, checksums hold"), "{}", done.text());
    }
    let done = f.run(&["verify", "m.wcodec", "--base", "m.safetensors"]);
    assert!(done.code == Some(1) && done.text().contains("not the base"), "{}", done.text());
    f.run(&["verify", "m.safetensors", "--base", "base.wcodec"]).ends_with(2, &["--base"]);
    let said = "--base does nothing for a .safetensors without --ablate";
    f.run(&["inspect", "m.safetensors", "--base", "base.wcodec"]).ends_with(2, &[said]);
}

#[test]
fn a_base_of_no_use_is_said_to_be_none() {
    let f = Folder::new();
    f.write("base.safetensors", &safetensors(&[("v", "I8", &[64, 64], weights(4096, 5))]));
    f.write("m.safetensors", &tuned(13));
    let done = f.run(&["compress", "m.safetensors", "--base", "base.safetensors"]).ok();
    let text = &done.err;
    assert!(text.contains("read without it") && !text.contains("verify m.wcodec --base"), "{text}");
    // By itself, and by whoever gives it nevertheless.
    f.run(&["verify", "m.wcodec"]).ok();
    f.run(&["decompress", "m.wcodec", "-o", "x.safetensors", "--base", "base.safetensors"]).ok();
    assert_eq!(f.read("x.safetensors"), tuned(13));
}

#[test]
fn a_base_is_not_written_over() {
    let f = Folder::new();
    f.write("base.safetensors", &tuned(12));
    f.write("m.safetensors", &tuned(13));
    f.run(&["compress", "base.safetensors"]).ok();
    f.run(&["compress", "m.safetensors", "--base", "base.wcodec"]).ok();
    let (flat, packed) = (f.read("base.safetensors"), f.read("base.wcodec"));
    std::fs::hard_link(f.path("base.wcodec"), f.path("same.wcodec")).unwrap();
    std::fs::create_dir(f.path("tuned")).unwrap();
    std::fs::write(f.path("tuned/m.safetensors"), &flat).unwrap();
    for args in [
        &["compress", "m.safetensors", "--base", "base.wcodec", "-o", "base.wcodec"][..],
        &["compress", "m.safetensors", "--base", "base.wcodec", "-o", "same.wcodec"],
        &["decompress", "m.wcodec", "--base", "base.safetensors", "-o", "base.safetensors"],
        &[
            "decompress",
            "m.wcodec",
            "--salvage",
            "--base",
            "base.safetensors",
            "-o",
            "base.safetensors",
        ],
        // Both are called so, and one lies where the other goes.
        &["decompress", "m.wcodec", "--base", "tuned/m.safetensors", "-o", "tuned/"],
        &["extract", "m.wcodec", "w", "--base", "base.safetensors", "-o", "base.npy"],
        &["inspect", "m.wcodec", "--base", "base.safetensors", "--html", "base.safetensors"],
    ] {
        if args[0] == "extract" {
            std::fs::hard_link(f.path("base.safetensors"), f.path("base.npy")).unwrap();
        }
        f.run(&[args, &["-f"]].concat()).fails(&["the output is a file that is read", "-o"]);
        assert!(f.read("base.safetensors") == flat && f.read("base.wcodec") == packed, "{args:?}");
        assert_eq!(f.read("tuned/m.safetensors"), flat);
    }
}

#[test]
fn a_shard_is_not_written_over() {
    let f = Folder::new();
    f.write("m-1.safetensors", &tuned(12));
    let index = json!({"weight_map": {"w": "m-1.safetensors"}});
    f.write("m.safetensors.index.json", &serde_json::to_vec(&index).unwrap());
    f.write("n.safetensors", &tuned(13));
    let index = "m.safetensors.index.json";
    for args in [
        &["compress", index, "-o", "m-1.safetensors", "--to", "wcodec"][..],
        &["compress", "n.safetensors", "--base", index, "-o", "m-1.safetensors", "--to", "wcodec"],
        &["inspect", index, "--html", "m-1.safetensors"],
        &["bench", index, "--codecs", "lz4", "--csv", "m-1.safetensors"],
    ] {
        f.run(&[args, &["-f"]].concat()).fails(&["the output is a file that is read"]);
        assert_eq!(f.read("m-1.safetensors"), tuned(12), "{args:?}");
    }
    std::fs::remove_file(f.path("m-1.safetensors")).unwrap();
    let gone = f.run(&["compress", index]).fails(&["No such file"]);
    let place = format!("\n  in {index}: tensor \"w\": m-1.safetensors: byte 19\n");
    let advice = "  get the file that the index names, and put it beside the index\n";
    assert!(gone.err.ends_with(&(place + advice)), "{}", gone.err);
}
