//! Checkpoints that are damaged, or lack their base: what `inspect` and `verify` still tell.

use crate::checkpoints::{model, noise, safetensors, weights};
use crate::tool::{Done, Folder};
use serde_json::{Value, json};

fn report(done: &Done) -> Value {
    serde_json::from_slice(&done.out).unwrap()
}

/// `bad.wcodec`, of whose tensors `a`, `b`, `c` and `ramp` the first and the last are damaged; where these begin.
fn two_of_four(f: &Folder) -> [usize; 2] {
    // Numbers for Pco, which are not decoded to be looked at.
    let ramp = (0..5000i32).zip(noise(5000, 4));
    let ramp = ramp.flat_map(|(i, more)| (i * 300 + i32::from(more)).to_le_bytes()).collect();
    f.write(
        "m.safetensors",
        &safetensors(&[
            ("a", "I8", &[256, 256], weights(65_536, 1)),
            ("b", "I8", &[256, 256], weights(65_536, 2)),
            ("c", "I8", &[256, 256], weights(65_536, 3)),
            ("ramp", "I32", &[5000], ramp),
        ]),
    );
    f.run(&["compress", "m.safetensors"]).ok();
    let sizes = report(&f.run(&["inspect", "m.wcodec", "--json"]).ok());
    let size = |at: usize| sizes["tensors"][at]["bytes"].as_u64().unwrap() as usize;
    let mut bad = f.read("m.wcodec");
    let starts = (0..4).fold(vec![128], |mut starts, at| {
        starts.push((starts[at] + size(at)).next_multiple_of(128));
        starts
    });
    // In the groups, which come before what describes them.
    for at in [starts[0] + 900, starts[3] + 2] {
        bad[at] ^= 1;
    }
    f.write("bad.wcodec", &bad);
    [starts[0], starts[3]]
}

#[test]
fn inspect_tells_what_the_index_has_of_damaged_tensors() {
    let f = Folder::new();
    let [first, last] = two_of_four(&f);
    let done = f.run(&["inspect", "bad.wcodec", "--json"]);
    let first = format!("byte {first}");
    let said = ["2 of 4 tensors are damaged", "bad.wcodec: tensor \"a\"", &first, "--salvage"];
    let report = report(&done);
    done.fails(&said);
    let tensors = report["tensors"].as_array().unwrap();
    let of = |at: usize, key: &str| &tensors[at][key];
    assert_eq!(tensors.len(), 4);
    for (at, byte) in [(0, first.clone()), (3, format!("byte {last}"))] {
        let why = of(at, "damaged").as_str().unwrap();
        assert!(why.contains("checksum") && why.ends_with(&byte), "{why}");
        for null in ["packing", "codec", "weights", "bits_per_weight", "order0_entropy", "raw"] {
            assert!(of(at, null).is_null(), "{null}: {}", tensors[at]);
        }
        assert_eq!(of(at, "predictors"), &json!({}));
        assert!(of(at, "bytes").as_u64().unwrap() > 0 && of(at, "needs_base").is_null());
    }
    assert_eq!((of(0, "dtype"), of(0, "shape")), (&json!("I8"), &json!([256, 256])));
    assert_eq!((of(0, "flat_bytes"), of(3, "flat_bytes")), (&json!(65_536), &json!(20_000)));
    assert!(of(1, "damaged").is_null() && of(1, "bits_per_weight").is_number());
    let done = f.run(&["inspect", "bad.wcodec", "--html", "bad.html"]);
    let row = done.text().lines().find(|line| line.starts_with("a ")).unwrap().to_owned();
    assert!(row.contains("256×256") && row.contains("I8"), "{row}");
    assert!(row.contains("65.5 kB flat; damaged: group 0: "), "{row}");
    let page = String::from_utf8(f.read("bad.html")).unwrap();
    assert!(page.contains("damaged: group 0: "), "{page}");
    let says = "2 tensors not read, of the others nothing stayed raw; ";
    assert!(done.text().contains(says) && page.contains(says), "{}", done.text());
    done.fails(&said);
}

#[test]
fn inspect_without_the_base_tells_what_the_index_has() {
    let f = Folder::new();
    let one = |bytes| {
        safetensors(&[
            ("w", "I8", &[256, 256], bytes),
            ("alone", "I8", &[64, 64], weights(4096, 5)),
        ])
    };
    let mut next = weights(65_536, 36);
    next.iter_mut().step_by(50).for_each(|byte| *byte ^= 1);
    f.write("b.safetensors", &one(weights(65_536, 36)));
    f.write("m.safetensors", &one(next));
    let done = f.run(&["compress", "m.safetensors", "--base", "b.safetensors"]).ok();
    let hint = "next: latens inspect m.wcodec --base b.safetensors";
    assert!(done.err.contains(hint), "{}", done.err);
    let report = report(&f.run(&["inspect", "m.wcodec", "--json"]).ok());
    let tensor = &report["tensors"][0];
    assert_eq!((&tensor["name"], &tensor["needs_base"]), (&json!("w"), &json!(true)));
    assert!(tensor["packing"].is_null() && tensor["damaged"].is_null(), "{tensor}");
    let done = f.run(&["inspect", "m.wcodec", "--html", "m.html"]).ok();
    assert!(done.text().contains("needs its base, --base FILE"), "{}", done.text());
    assert!(done.text().contains("no tensor was read; "), "{}", done.text());
    assert!(String::from_utf8(f.read("m.html")).unwrap().contains("needs its base"));
    let done = f.run(&["inspect", "m.wcodec", "--base", "b.safetensors"]).ok();
    assert!(!done.text().contains("needs its base"), "{}", done.text());
    assert!(!done.text().contains("was read"), "{}", done.text());
}

/// Damage of the base is not called that of the file.
#[test]
fn a_damaged_base_is_told_from_a_damaged_file() {
    let f = Folder::new();
    let one = |bytes| safetensors(&[("w", "I8", &[256, 256], bytes)]);
    let mut next = weights(65_536, 36);
    next.iter_mut().step_by(50).for_each(|byte| *byte ^= 1);
    f.write("b.safetensors", &one(weights(65_536, 36)));
    f.write("m.safetensors", &one(next));
    f.run(&["compress", "b.safetensors"]).ok();
    f.run(&["compress", "m.safetensors", "--base", "b.wcodec"]).ok();
    let mut bad = f.read("b.wcodec");
    bad[1000] ^= 1;
    f.write("b.wcodec", &bad);
    let base = ["--base", "b.wcodec"];
    let says = ["the base b.wcodec: tensor \"w\": group 0", "give another copy of it"];
    f.run(&[&["inspect", "m.wcodec"][..], &base].concat()).fails(&says);
    f.run(&[&["extract", "m.wcodec", "w"][..], &base].concat()).fails(&says);
    f.run(&[&["decompress", "m.wcodec", "-o", "x.safetensors"][..], &base].concat()).fails(&says);
    let done = f.run(&[&["verify", "m.wcodec"][..], &base].concat());
    assert!(done.text().contains(says[0]) && done.err.contains(says[1]), "{}", done.text());
}

#[test]
fn verify_names_everything_that_is_damaged() {
    let f = Folder::new();
    let [first, last] = two_of_four(&f);
    let done = f.run(&["verify", "bad.wcodec"]);
    assert_eq!((done.code, done.text().lines().count()), (Some(1), 1));
    let line = format!("(tensor \"a\": group 0: byte {first}), and 1 more\n");
    assert!(done.text().starts_with("bad.wcodec: FAILED, ") && done.text().ends_with(&line));
    let lines: Vec<&str> = done.err.lines().collect();
    assert_eq!(lines.len(), 3, "{}", done.err);
    for (line, name, at) in [(lines[0], "a", first), (lines[1], "ramp", last)] {
        let (begin, end) = (format!("bad.wcodec: {name}: group 0: "), format!(", byte {at}"));
        assert!(line.starts_with(&begin) && line.ends_with(&end), "{line}");
    }
    assert!(lines[2].contains("latens decompress bad.wcodec --salvage"), "{}", lines[2]);
    let done = f.run(&["verify", "bad.wcodec", "-q"]);
    assert_eq!((done.out.len(), done.err.lines().count()), (0, 1), "{}", done.err);
    let done = f.run(&["verify", "m.wcodec", "bad.wcodec", "--json"]);
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    let report = report(&done);
    assert!(report["files"][0]["damage"].is_null());
    let file = &report["files"][1];
    assert!(file["error"].as_str().unwrap().contains("tensor \"a\""), "{file}");
    let damage = file["damage"].as_array().unwrap();
    assert_eq!(damage.len(), 2);
    for (fault, name, at) in [(&damage[0], "a", first), (&damage[1], "ramp", last)] {
        assert_eq!((&fault["tensor"], &fault["group"]), (&json!(name), &json!(0)));
        assert_eq!(fault["byte"], at);
    }
}

#[test]
fn long_lists_of_damage_are_cut() {
    let f = Folder::new();
    let names: Vec<String> = (0..30).map(|i| format!("t{i}")).collect();
    let tensors: Vec<(&str, &str, &[u64], Vec<u8>)> =
        names.iter().map(|name| (name.as_str(), "U8", &[4096][..], noise(4096, 7))).collect();
    // No two are the same.
    let tensors: Vec<_> = (0..)
        .zip(tensors)
        .map(|(i, (name, dtype, shape, _))| (name, dtype, shape, noise(4096, i)))
        .collect();
    f.write("m.safetensors", &safetensors(&tensors));
    f.run(&["compress", "m.safetensors"]).ok();
    let mut bad = f.read("m.wcodec");
    for at in (0..30).map(|i| 2000 + i * 4096) {
        bad[at] ^= 1;
    }
    f.write("bad.wcodec", &bad);
    let done = f.run(&["verify", "bad.wcodec"]);
    let count = report(&f.run(&["verify", "bad.wcodec", "--json"]))["files"][0]["damage"]
        .as_array()
        .unwrap()
        .len();
    assert!(count > 25, "{count}");
    let more = format!("bad.wcodec: and {} more; --json has all", count - 20);
    let lines: Vec<&str> = done.err.lines().collect();
    assert_eq!((lines.len(), lines[20]), (22, more.as_str()), "{}", done.err);
}

#[test]
fn all_verbs_say_how_to_salvage_a_damaged_index() {
    let f = Folder::new();
    f.write("m.safetensors", &model(9));
    f.run(&["compress", "m.safetensors"]).ok();
    let mut bad = f.read("m.wcodec");
    let at = bad.len() - 40;
    bad[at] ^= 0x10;
    f.write("a b.wcodec", &bad);
    let says = ["byte ", "latens decompress 'a b.wcodec' --salvage"];
    f.run(&["inspect", "a b.wcodec"]).fails(&says);
    f.run(&["inspect", "a b.wcodec", "--ablate"]).fails(&says);
    f.run(&["extract", "a b.wcodec", "norm"]).fails(&says);
    f.run(&["decompress", "a b.wcodec", "-o", "x.safetensors"]).fails(&says);
    let done = f.run(&["verify", "a b.wcodec"]);
    assert!(done.code == Some(1) && done.err.contains(says[1]), "{}", done.err);
    // Of what is no .wcodec at all there is nothing to be had.
    f.write("no.wcodec", &noise(3000, 1));
    for verb in [&["inspect"][..], &["decompress", "-o", "x.safetensors"]] {
        let done = f.run(&[verb, &["no.wcodec"]].concat()).fails(&["this is not a .wcodec file"]);
        assert!(!done.err.contains("--salvage"), "{}", done.err);
    }
    let done = f.run(&["verify", "no.wcodec"]);
    assert!(done.code == Some(1) && !done.err.contains("--salvage"), "{}", done.err);
}

#[test]
fn extract_says_how_to_salvage_what_else_is_whole() {
    let f = Folder::new();
    two_of_four(&f);
    let says = ["tensor \"a\"", "latens decompress bad.wcodec --salvage"];
    f.run(&["extract", "bad.wcodec", "a"]).fails(&says);
    f.run(&["extract", "bad.wcodec", "b"]).ok();
}

/// An index of which one entry is in no shard, and two shards that both have `b`.
fn shards(f: &Folder) -> [Vec<u8>; 2] {
    let a = safetensors(&[
        ("a", "I8", &[64, 64], weights(4096, 1)),
        ("b", "I8", &[64, 64], weights(4096, 2)),
    ]);
    let b = safetensors(&[("b", "I8", &[128, 64], weights(8192, 3))]);
    f.write("m-1.safetensors", &a);
    f.write("m-2.safetensors", &b);
    [a, b]
}

#[test]
fn a_tensor_that_no_shard_has_is_told() {
    let f = Folder::new();
    shards(&f);
    let index = "m.safetensors.index.json";
    let map = r#"{"weight_map": {"a": "m-1.safetensors", "gone": "m-2.safetensors"}}"#;
    f.write(index, map.as_bytes());
    let done = f.run(&["verify", index]);
    let at = map.rfind("\"m-2").unwrap();
    let said = "the index puts it into m-2.safetensors, which does not have it";
    let line = format!("{index}: FAILED, {said} (tensor \"gone\": byte {at})\n");
    assert_eq!((done.code, done.text()), (Some(1), line.as_str()));
    let said = report(&f.run(&["verify", index, "--json"]));
    assert_eq!(said["files"][0]["damage"][0]["tensor"], "gone");
    let told = "the index puts gone into m-2.safetensors, which does not have it";
    let done = f.run(&["compress", index]).ok();
    assert!(done.err.contains(told), "{}", done.err);
    assert!(f.run(&["inspect", index]).ok().text().contains(told));
    let said = report(&f.run(&["compress", index, "-f", "--json"]).ok());
    assert_eq!(said["notes"][0], told);
    // What is there comes back, whatever the index says.
    f.run(&["decompress", "m.wcodec", "-o", "out/"]).ok();
    assert_eq!(f.read("out/m-2.safetensors"), f.read("m-2.safetensors"));
    f.write(index, br#"{"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}"#);
    f.run(&["verify", index]).ok();
}

#[test]
fn the_index_says_whose_a_tensor_is_that_two_shards_have() {
    let f = Folder::new();
    let all = shards(&f);
    for (owner, other, rows) in [(1, 2, 64), (2, 1, 128)] {
        let index = json!({"weight_map": {
            "a": "m-1.safetensors", "b": format!("m-{owner}.safetensors"), "c": "m-2.safetensors"}});
        f.write("m.safetensors.index.json", &serde_json::to_vec(&index).unwrap());
        let said = report(&f.run(&["compress", "m.safetensors.index.json", "-f", "--json"]).ok());
        let shape = |tensor: &Value| (tensor["name"].clone(), tensor["shape"][0].clone());
        let tensors: Vec<_> = said["tensors"].as_array().unwrap().iter().map(shape).collect();
        assert_eq!(tensors, [("a".into(), 64.into()), ("b".into(), rows.into())]);
        let note = said["notes"][1].as_str().unwrap();
        assert!(note.starts_with(&format!("m-{other}.safetensors has a tensor b too")), "{note}");
        f.run(&["decompress", "m.wcodec", "-f", "-o", "out/"]).ok();
        let back = [f.read("out/m-1.safetensors"), f.read("out/m-2.safetensors")];
        assert!(back == all, "{owner}");
        std::fs::remove_dir_all(f.path("out")).unwrap();
    }
}
