//! What is whole of damaged checkpoints.

use crate::checkpoints::{gguf, model, safetensors, weights};
use crate::tool::Folder;
use serde_json::{Value, json};

#[test]
fn what_is_whole_can_be_salvaged() {
    let f = Folder::new();
    let two = safetensors(&[
        ("a", "I8", &[256, 256], weights(65_536, 14)),
        ("b", "I8", &[256, 256], weights(65_536, 15)),
    ]);
    f.write("m.safetensors", &two);
    f.run(&["compress", "m.safetensors"]).ok();
    let mut bad = f.read("m.wcodec");
    bad[1000] ^= 1;
    f.write("bad.wcodec", &bad);
    let done = f.run(&["decompress", "bad.wcodec", "--salvage", "-o", "s.safetensors"]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(done.err.contains("lost: a") && done.err.contains("1 tensor is whole"));
    let saved = f.read("s.safetensors");
    let saved = safetensors::SafeTensors::deserialize(&saved).unwrap();
    assert_eq!(saved.names(), ["b"]);
    assert_eq!(saved.tensor("b").unwrap().data(), weights(65_536, 15));
    // What is written counts, not what the whole file would be.
    let most = |bytes: usize| {
        let verb = ["decompress", "bad.wcodec", "--salvage", "-o", "t.safetensors", "--max-output"];
        f.run(&[&verb[..], &[&bytes.to_string()[..]]].concat())
    };
    let written = f.read("s.safetensors").len();
    most(written - 1).fails(&["--max-output"]);
    assert!(!f.names().contains(&"t.safetensors".to_owned()));
    let done = most(written);
    assert!(done.code == Some(1) && done.err.contains("1 tensor is whole"), "{}", done.err);
    assert!(f.read("t.safetensors") == f.read("s.safetensors"));
}

/// The tensors of a safetensors file with their bytes.
fn tensors(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let file = safetensors::SafeTensors::deserialize(file).unwrap();
    let mut all: Vec<_> = file.iter().map(|(name, t)| (name.into(), t.data().to_vec())).collect();
    all.sort();
    all
}

#[test]
fn a_damaged_index_can_be_salvaged() {
    let f = Folder::new();
    f.write("m.safetensors", &model(21));
    f.run(&["compress", "m.safetensors"]).ok();
    let (whole, all) = (f.read("m.wcodec"), tensors(&model(21)));
    let footer = whole.len() - 32;
    let index = u64::from_le_bytes(whole[footer..][..8].try_into().unwrap()) as usize;
    let salvage = |bad: &[u8], options: &[&str]| {
        f.write("bad.wcodec", bad);
        let verb = ["decompress", "bad.wcodec", "--salvage", "-f", "-o", "s.safetensors"];
        f.run(&[&verb, options].concat())
    };
    // A bit of header, index or footer: all comes back, and it is said what was wrong.
    for (number, at) in (0..128).chain(index..whole.len()).step_by(7).enumerate() {
        let mut bad = whole.clone();
        bad[at] ^= 1 << (number % 8);
        f.write("bad.wcodec", &bad);
        f.run(&["decompress", "bad.wcodec", "-o", "no.safetensors"]).fails(&["byte "]);
        let done = salvage(&bad, &[]).ok();
        assert!(done.err.contains(&format!("put right in memory (byte {at})")), "{}", done.err);
        assert!(done.err.contains("5 tensors are whole"), "{}", done.err);
        assert!(done.err.contains("byte for byte"), "{}", done.err);
        assert_eq!(f.read("s.safetensors"), model(21), "byte {at}");
    }
    let done = salvage(&whole, &["-q"]).ok();
    assert!(done.err.is_empty(), "{}", done.err);
    assert_eq!(f.read("s.safetensors"), model(21));
    // The last record of a tensor: those before it are known, and it is said how many are not. What stands in
    // the index is not to be had.
    let name = index + whole[index..].windows(4).position(|w| w == b"step").unwrap();
    let mut bad = whole.clone();
    bad[name..name + 9].fill(0xff);
    let done = salvage(&bad, &[]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    let lost = "lost: 1 tensor behind empty, whose name is lost (byte ";
    for says in ["damaged: the index is damaged here", lost, "lost: norm: it stands in the index"] {
        assert!(done.err.contains(says), "{}", done.err);
    }
    let back = tensors(&f.read("s.safetensors"));
    assert!(back.len() <= 1 && back.iter().all(|tensor| all.contains(tensor)), "{}", done.err);
    // Cut off: by a part of the footer, all of it, and by more than the index.
    let done = salvage(&whole[..footer + 24], &[]).ok();
    assert!(done.err.contains("there is no footer"), "{}", done.err);
    assert_eq!(f.read("s.safetensors"), model(21));
    let done = salvage(&whole[..footer], &[]);
    assert!(done.code == Some(1) && done.err.contains("there is no footer"), "{}", done.err);
    assert!(done.err.contains("lost: what source files hold beside tensors"), "{}", done.err);
    assert_eq!(tensors(&f.read("s.safetensors")), all);
    let done = salvage(&whole[..index - 1], &[]);
    done.fails(&["ends before its index", "bad.wcodec", &format!("byte {}", index - 1)]);
    // Who is told to salvage can: without its index there is nothing to be had.
    for (end, advice) in [(index - 1, "get another copy"), (footer, "--salvage writes")] {
        f.write("bad.wcodec", &whole[..end]);
        let done = f.run(&["verify", "bad.wcodec"]);
        assert!(done.code == Some(1) && done.err.contains(advice), "{}", done.err);
        assert_eq!(done.err.contains("--salvage"), end == footer, "{}", done.err);
    }
}

/// What a stretch of a long index is damaged by costs nothing.
#[test]
fn a_damaged_stretch_of_a_long_index_is_put_right() {
    let f = Folder::new();
    let names: Vec<String> = (0..300).map(|i| format!("layer.{i}.bias")).collect();
    let tensors: Vec<_> =
        (0..).zip(&names).map(|(i, n)| (&n[..], "F32", &[8][..], weights(32, i))).collect();
    let source = safetensors(&tensors);
    f.write("m.safetensors", &source);
    f.run(&["compress", "m.safetensors"]).ok();
    let mut bad = f.read("m.wcodec");
    let footer = bad.len() - 32;
    let index = u64::from_le_bytes(bad[footer..][..8].try_into().unwrap()) as usize;
    bad[index + 30..index + 500].fill(0);
    f.write("bad.wcodec", &bad);
    f.run(&["verify", "bad.wcodec"]).fails(&["--salvage writes"]);
    let done = f.run(&["decompress", "bad.wcodec", "--salvage", "-o", "s.safetensors"]).ok();
    assert!(done.err.contains("its parity puts right in memory (byte "), "{}", done.err);
    assert!(done.err.contains("300 tensors are whole") && done.err.contains("byte for byte"));
    assert_eq!(f.read("s.safetensors"), source);
}

/// One tensor of a damaged file, and what the index still says of all.
#[test]
fn a_damaged_index_can_be_looked_into() {
    let f = Folder::new();
    f.write("m.safetensors", &model(21));
    f.run(&["compress", "m.safetensors"]).ok();
    let whole = f.read("m.wcodec");
    let footer = whole.len() - 32;
    let index = u64::from_le_bytes(whole[footer..][..8].try_into().unwrap()) as usize;
    let extract = |options: &[&str]| {
        let verb = ["extract", "bad.wcodec", "norm", "-f", "-o", "n.npy"];
        f.run(&[&verb, options].concat())
    };
    f.run(&["extract", "m.wcodec", "norm", "-o", "norm.npy"]).ok();
    let mut bad = whole.clone();
    bad[footer + 3] ^= 4;
    f.write("bad.wcodec", &bad);
    extract(&[]).fails(&["--salvage"]);
    let done = extract(&["--salvage"]).ok();
    assert!(done.err.contains("a bit of the footer was flipped"), "{}", done.err);
    assert!(f.read("n.npy") == f.read("norm.npy"));
    assert!(extract(&["--salvage", "-q"]).ok().err.is_empty());
    let told = f.run(&["inspect", "bad.wcodec", "--salvage", "--json"]).ok();
    let same = f.run(&["inspect", "m.wcodec", "--json"]).ok();
    let [mut told, same] = [told.out, same.out].map(|out| {
        let json: Value = serde_json::from_slice(&out).unwrap();
        json
    });
    let damage = told.as_object_mut().unwrap().remove("damage").unwrap();
    assert_eq!((told, damage.as_array().unwrap().len()), (same, 1));
    // More of the index: what is lost of it makes it fail, when all else has been shown.
    let name = index + whole[index..].windows(4).position(|w| w == b"step").unwrap();
    let mut bad = whole;
    bad[name..name + 9].fill(0xff);
    f.write("bad.wcodec", &bad);
    let told = f.run(&["inspect", "bad.wcodec", "--salvage"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.text().contains("norm"), "{}", told.text());
    assert!(told.err.contains("lost: 1 tensor"), "{}", told.err);
    // What is read of it may be another tensor's: that is no success.
    for options in [&["--salvage"][..], &["--salvage", "-q"], &["--salvage", "--json"]] {
        let verb = ["extract", "bad.wcodec", "layer.weight", "-f", "-o", "e.npy"];
        let done = f.run(&[&verb, options].concat());
        assert!(done.code == Some(1), "{}", done.err);
    }
    f.run(&["inspect", "m.safetensors", "--salvage"]).ends_with(2, &["--salvage does nothing"]);
    f.run(&["inspect", "m.wcodec", "--salvage", "--ablate"]).ends_with(2, &["--salvage"]);
}

#[test]
fn nothing_lost_is_the_very_file() {
    let f = Folder::new();
    f.write("m.safetensors", &model(31));
    f.run(&["compress", "m.safetensors"]).ok();
    let done =
        f.run(&["decompress", "m.wcodec", "--salvage", "-o", "s.safetensors", "--json"]).ok();
    assert_eq!(f.read("s.safetensors"), model(31));
    let said: Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!(said["identical"], true);
    assert_eq!(said["whole"].as_array().unwrap().len(), 5);
    assert_eq!((&said["lost"], &said["damage"]), (&json!([]), &json!([])));
    assert_eq!(f.run(&["decompress", "m.wcodec", "--salvage", "-o", "-"]).ok().out, model(31));
}

#[test]
fn what_was_lost_is_json() {
    let f = Folder::new();
    f.write("m.safetensors", &model(32));
    f.run(&["compress", "m.safetensors"]).ok();
    let mut bad = f.read("m.wcodec");
    bad[1000] ^= 1;
    f.write("bad.wcodec", &bad);
    let verb = ["decompress", "bad.wcodec", "--salvage", "-o", "s.safetensors"];
    let done = f.run(&[&verb[..], &["--json"]].concat());
    assert_eq!(done.code, Some(1), "{}", done.err);
    let said: Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!((&said["identical"], &said["output"]), (&json!(false), &json!("s.safetensors")));
    assert_eq!(said["whole"], json!(["layer.weight_scale", "norm", "empty", "step"]));
    assert_eq!(said["lost"][0]["name"], "layer.weight");
    assert!(said["lost"][0]["why"].as_str().unwrap().contains("checksum"), "{said}");
    assert!(said["lost"][0]["byte"].as_u64().unwrap() <= 1000, "{said}");
    // The metadata are kept, and so is the order of bytes in every run.
    let saved = f.read("s.safetensors");
    let (_, header) = ::safetensors::SafeTensors::read_metadata(&saved).unwrap();
    assert_eq!(header.metadata().as_ref().unwrap()["format"], "pt");
    f.run(&[&verb[..], &["-f", "-q"]].concat());
    assert_eq!(f.read("s.safetensors"), saved);
    let verb = ["decompress", "bad.wcodec", "--salvage", "-o"];
    f.run(&[&verb[..], &["x.gguf"]].concat()).ends_with(2, &["as safetensors, not gguf"]);
    f.run(&[&verb[..], &["-", "--json"]].concat()).ends_with(2, &["--json and -o -"]);
}

#[test]
fn shards_are_salvaged_one_by_one() {
    let f = Folder::new();
    let a = safetensors(&[
        ("a", "I8", &[256, 256], weights(65_536, 33)),
        ("c", "BF16", &[8, 8], weights(128, 34)),
    ]);
    let b = safetensors(&[("b", "U8", &[100, 100], weights(10_000, 35))]);
    let index = br#"{"metadata": {"total_size": 75664, "of": "us"},
        "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors", "c": "m-1.safetensors"}}"#;
    f.write("m-1.safetensors", &a);
    f.write("m-2.safetensors", &b);
    f.write("m.safetensors.index.json", index);
    f.run(&["compress", "m.safetensors.index.json"]).ok();
    f.run(&["decompress", "m.wcodec", "--salvage", "-o", "whole/"]).ok();
    assert_eq!((f.read("whole/m-1.safetensors"), f.read("whole/m-2.safetensors")), (a, b.clone()));
    // What bounds the output bounds all of its files together.
    let all = f.read("whole/m-1.safetensors").len() + b.len() + index.len();
    for (verb, folder) in [(&["--salvage"][..], "few/"), (&[], "less/")] {
        let most = (all - 1).to_string();
        let args = ["decompress", "m.wcodec", "-o", folder, "--max-output", &most];
        f.run(&[&args, verb].concat()).fails(&["larger than --max-output", &most, "raise it"]);
        assert!(!f.path(folder).exists());
        let args = ["decompress", "m.wcodec", "-o", folder, "--max-output", &all.to_string()];
        f.run(&[&args, verb].concat()).ok();
    }
    let mut bad = f.read("m.wcodec");
    bad[1000] ^= 1;
    f.write("bad.wcodec", &bad);
    let done = f.run(&["decompress", "bad.wcodec", "--salvage", "-o", "new/folder/"]);
    assert!(done.code == Some(1) && done.err.contains("lost: a"), "{}", done.err);
    assert!(
        done.err.contains("the index of the shards is written without 1 tensor"),
        "{}",
        done.err
    );
    // The index names what is there, so that it can be opened.
    let index: Value =
        serde_json::from_slice(&f.read("new/folder/m.safetensors.index.json")).unwrap();
    let map = json!({"b": "m-2.safetensors", "c": "m-1.safetensors"});
    let about = json!({"total_size": 75664 - 65_536, "of": "us"});
    assert_eq!(index, json!({"metadata": about, "weight_map": map}));
    f.run(&["verify", "new/folder/m.safetensors.index.json"]).ok();
    assert_eq!(f.read("new/folder/m-2.safetensors"), b);
    let left = tensors(&f.read("new/folder/m-1.safetensors"));
    assert_eq!(left, [("c".to_string(), weights(128, 34))]);
    // Into one file, as ever.
    let done = f.run(&["decompress", "bad.wcodec", "--salvage", "-o", "all.safetensors"]);
    let says = "m.safetensors.index.json: the index, which is whole; a safetensors file";
    assert!(done.err.contains(says), "{}", done.err);
    let names: Vec<String> = tensors(&f.read("all.safetensors")).into_iter().map(|t| t.0).collect();
    assert_eq!(names, ["b", "c"]);
}

#[test]
fn a_base_is_needed_to_salvage_too() {
    let f = Folder::new();
    let one = |bytes| safetensors(&[("w", "I8", &[256, 256], bytes)]);
    let mut next = weights(65_536, 36);
    next.iter_mut().step_by(50).for_each(|byte| *byte ^= 1);
    let next = one(next);
    f.write("b.safetensors", &one(weights(65_536, 36)));
    f.write("m.safetensors", &next);
    f.run(&["compress", "m.safetensors", "--base", "b.safetensors"]).ok();
    let verb = ["decompress", "m.wcodec", "--salvage", "-f", "-o", "s.safetensors"];
    f.run(&[&verb[..], &["-q"]].concat());
    let done = f.run(&verb);
    assert!(done.code == Some(1) && done.err.contains("--base"), "{}", done.err);
    f.run(&[&verb[..], &["--base", "b.safetensors"]].concat()).ok();
    assert_eq!(f.read("s.safetensors"), next);
}

#[test]
fn what_is_whole_of_a_gguf_file_is_kept_as_bytes() {
    let f = Folder::new();
    let source = gguf(&[("a", 96, 37), ("b", 64, 50)]);
    f.write("m.gguf", &source);
    f.run(&["compress", "m.gguf"]).ok();
    f.run(&["decompress", "m.wcodec", "-o", "back.gguf"]).ok();
    assert!(f.read("back.gguf") == source);
    let mut bad = f.read("m.wcodec");
    bad[400] ^= 1;
    f.write("bad.wcodec", &bad);
    let done = f.run(&["decompress", "bad.wcodec", "--salvage", "-o", "s.safetensors"]);
    assert!(done.code == Some(1) && done.err.contains("lost: a"), "{}", done.err);
    assert!(done.err.contains("1 tensor of types that safetensors does not"), "{}", done.err);
    let saved = f.read("s.safetensors");
    let (_, about) = safetensors::SafeTensors::read_metadata(&saved).unwrap();
    let was = about.metadata().as_ref().unwrap().get("latens.b").unwrap();
    assert!(was.starts_with("Q8_0"), "{was}");
    let b = tensors(&saved).pop().unwrap().1;
    assert!(b.len() == 50 * 2 * 34 && source.ends_with(&b));
}
