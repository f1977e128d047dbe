//! Salvage says what it does not give back, and fails for it.

use crate::checkpoints::{gguf, model, noise, safetensors, weights};
use crate::tool::{Done, Folder};
use serde_json::{Value, json};

fn index_of(file: &[u8]) -> usize {
    u64::from_le_bytes(file[file.len() - 32..][..8].try_into().unwrap()) as usize
}

/// Salvage of `bad` to s.safetensors.
fn salvage(f: &Folder, bad: &[u8], options: &[&str]) -> Done {
    f.write("bad.wcodec", bad);
    let verb = ["decompress", "bad.wcodec", "--salvage", "-f", "-o", "s.safetensors"];
    f.run(&[&verb, options].concat())
}

/// What is said as JSON, of a run that failed.
fn report(done: &Done) -> Value {
    assert_eq!(done.code, Some(1), "{}", done.err);
    serde_json::from_slice(&done.out).unwrap()
}

fn names(f: &Folder) -> Vec<String> {
    let saved = f.read("s.safetensors");
    let saved = ::safetensors::SafeTensors::deserialize(&saved).unwrap();
    let mut names: Vec<String> = saved.names().into_iter().map(String::from).collect();
    names.sort();
    names
}

#[test]
fn salvage_names_the_metadata_of_a_gguf_file() {
    let f = Folder::new();
    // A header that is no part of the index: of more than 1 KiB however it is coded.
    let hex = |bytes: &u8| format!("{bytes:02x}");
    let text: String = noise(2048, 5).iter().map(hex).chain(["padding".to_owned()]).collect();
    let pair = [&5u64.to_le_bytes()[..], b"noise", &8u32.to_le_bytes()].concat();
    let pair = [&pair[..], &(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    assert!(pair.len().is_multiple_of(32));
    let names: Vec<String> = (0..100).map(|i| format!("t{i}")).collect();
    let mut tensors: Vec<(&str, u64, u64)> = names.iter().map(|name| (&name[..], 32, 2)).collect();
    tensors.push(("big", 96, 370));
    let mut source = gguf(&tensors);
    source[16] = 1;
    source.splice(24..24, pair);
    f.write("m.gguf", &source);
    f.run(&["compress", "m.gguf"]).ok();
    let whole = f.read("m.wcodec");
    let header = source.len() - 100 * 96 - 3 * 370 * 34;
    let flipped = (140..index_of(&whole)).step_by(500).map(|at| {
        let mut bad = whole.clone();
        bad[at] ^= 4;
        let done = salvage(&f, &bad, &["-q"]);
        // Nothing is lost with padding, but a safetensors file is no GGUF file.
        assert_eq!(done.code, Some(1), "byte {at}: {}", done.err);
        (bad, done)
    });
    let flipped = flipped.filter(|(_, done)| done.code == Some(1));
    let (of_tensor, of_header): (Vec<_>, Vec<_>) =
        flipped.partition(|(_, done)| done.err.contains("lost: big: "));
    let (bad, done) = of_header.into_iter().next().unwrap();
    let says = format!("lost: bytes 0 to {header} of m.gguf: group ");
    assert!(done.err.contains(&says), "`{says}`: {}", done.err);
    assert!(done.err.contains("bytes of source files beside their tensors are lost"));
    let said = report(&salvage(&f, &bad, &["--json"]));
    assert_eq!((&said["identical"], &said["proved"]), (&json!(false), &json!(true)));
    assert_eq!(said["whole"].as_array().unwrap().len(), 101);
    let lost = &said["lost"][0];
    assert_eq!((&lost["name"], &lost["file"]), (&json!(null), &json!("m.gguf")));
    assert_eq!(lost["bytes"], json!([0, header]));
    assert!(lost["byte"].as_u64().is_some() && said["lost"].as_array().unwrap().len() == 1);
    // With a damaged tensor the metadata are whole, and have no place.
    let done = salvage(&f, &of_tensor.first().unwrap().0, &[]);
    let says = format!(
        "lost: bytes 0 to {header} of m.gguf: its header and the metadata in it, which are whole; \
         a safetensors file of tensors has no place for that"
    );
    assert!(done.code == Some(1) && done.err.contains(&says), "`{says}`: {}", done.err);
}

#[test]
fn salvage_names_what_is_no_tensor() {
    let f = Folder::new();
    // Names of over 1024 bytes have no place in an index.
    let long = "n".repeat(1100);
    let bytes = noise(20_000, 3);
    let source =
        safetensors(&[("a", "I8", &[64, 64], weights(4096, 1)), (&long, "U8", &[20_000], bytes)]);
    f.write("m.safetensors", &source);
    f.run(&["compress", "m.safetensors"]).ok();
    let mut bad = f.read("m.wcodec");
    let at = bad.windows(8).position(|w| *w == source[source.len() - 8..]).unwrap();
    bad[at] ^= 1;
    let done = salvage(&f, &bad, &["--json"]);
    let said = report(&done);
    assert_eq!(said["whole"], json!(["a"]));
    let lost = said["lost"].as_array().unwrap();
    let place = json!([source.len() - 20_000, source.len()]);
    assert!(lost.len() == 1 && lost[0]["bytes"] == place, "{said}");
    assert!(done.err.contains("20000 bytes of source files"), "{}", done.err);
}

#[test]
fn salvage_says_where_in_a_tensor() {
    let f = Folder::new();
    f.write("m.safetensors", &model(41));
    f.run(&["compress", "m.safetensors"]).ok();
    let mut bad = f.read("m.wcodec");
    bad[1000] ^= 1;
    let done = salvage(&f, &bad, &[]);
    let verified = f.run(&["verify", "bad.wcodec"]);
    assert!(verified.text().contains("group ") || verified.err.contains("group "));
    assert!(done.err.contains("lost: layer.weight: group "), "{}", done.err);
    let lost = &report(&salvage(&f, &bad, &["--json"]))["lost"][0];
    assert!(lost["place"].as_str().unwrap().starts_with("group "), "{lost}");
}

#[test]
fn salvage_does_not_believe_a_damaged_index() {
    let f = Folder::new();
    let source = safetensors(&[
        ("a", "U8", &[5000], noise(5000, 7)),
        ("b", "F32", &[4], noise(16, 8)),
        ("c", "F32", &[4], noise(16, 9)),
    ]);
    f.write("m.safetensors", &source);
    f.run(&["compress", "m.safetensors"]).ok();
    let whole = f.read("m.wcodec");
    let place = |bytes: &[u8]| whole.windows(bytes.len()).rposition(|w| w == bytes).unwrap();
    // A bit of b's bytes, and one that breaks the record of c.
    let mut bad = whole.clone();
    bad[place(&noise(16, 8))] ^= 2;
    bad[place(b"\x03F32") + 1] ^= 0x80;
    let done = salvage(&f, &bad, &[]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    for says in ["1 tensor is whole", "from a damaged index and may be wrong", "lost: b: "] {
        assert!(done.err.contains(says), "`{says}`: {}", done.err);
    }
    assert_eq!(names(&f), ["a"]);
    let said = report(&salvage(&f, &bad, &["--json"]));
    assert_eq!((&said["proved"], &said["whole"]), (&json!(false), &json!(["a"])));
    // Another name for a: nothing shows it, and it is said.
    bad = whole.clone();
    bad[place(b"\x01a\x02U8") + 1] ^= 4;
    bad[place(&noise(16, 8))] ^= 2;
    let done = salvage(&f, &bad, &[]);
    assert_eq!(names(&f), ["e"]);
    assert!(done.err.contains("may be wrong") && done.code == Some(1), "{}", done.err);
}

#[test]
fn salvage_leaves_out_what_was_put_in() {
    let f = Folder::new();
    let source = safetensors(&[
        ("a", "I8", &[256, 256], weights(65_536, 14)),
        ("b", "U8", &[5000], noise(5000, 15)),
        ("c", "I8", &[256, 256], weights(65_536, 16)),
    ]);
    f.write("m.safetensors", &source);
    f.run(&["compress", "m.safetensors"]).ok();
    let whole = f.read("m.wcodec");
    for at in [200, 9000, whole.len() / 2, index_of(&whole) + 70] {
        let longer = [&whole[..at], b"\r", &whole[at..]].concat();
        let done = salvage(&f, &longer, &[]).ok();
        assert!(done.err.contains("1 byte was put in here"), "{at}: {}", done.err);
        assert!(done.err.contains("byte for byte"), "{at}: {}", done.err);
        assert!(f.read("s.safetensors") == source, "{at}");
    }
    let shorter = [&whole[..9000], &whole[9001..]].concat();
    let done = salvage(&f, &shorter, &[]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("1 byte was taken out here"), "{}", done.err);
    assert_eq!(names(&f), ["b", "c"]);
}

#[test]
fn salvage_has_another_name_for_a_tensor_called_metadata() {
    let f = Folder::new();
    f.write("m.gguf", &gguf(&[("a", 96, 370), ("__metadata__", 64, 50)]));
    f.run(&["compress", "m.gguf"]).ok();
    let mut bad = f.read("m.wcodec");
    bad[400] ^= 1;
    let done = salvage(&f, &bad, &[]);
    let says = "__metadata__ is no name of a tensor in safetensors: the tensor is written as __metadata__.tensor";
    assert!(done.code == Some(1) && done.err.contains(says), "{}", done.err);
    assert_eq!(names(&f), ["__metadata__.tensor"]);
    let saved = f.read("s.safetensors");
    let (_, about) = ::safetensors::SafeTensors::read_metadata(&saved).unwrap();
    let was = about.metadata().as_ref().unwrap().get("latens.__metadata__.tensor").unwrap();
    assert!(was.starts_with("Q8_0") && was.ends_with(", named __metadata__"), "{was}");
    let said = report(&salvage(&f, &bad, &["--json"]));
    assert_eq!(said["renamed"], json!([["__metadata__", "__metadata__.tensor"]]));
}
