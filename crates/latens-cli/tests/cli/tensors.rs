//! What comes out of a checkpoint: types and shapes of tensors and slices, and what is said of them.

use crate::checkpoints::{noise, safetensors, weights};
use crate::tool::{Done, Folder};
use serde_json::{Value, json};

fn report(done: &Done) -> Value {
    serde_json::from_slice(&done.out).unwrap()
}

/// Small tensors of noise: all of them are stored as bytes.
fn small() -> Vec<u8> {
    safetensors(&[
        ("step", "I64", &[], noise(8, 1)),
        ("steps", "I64", &[1], noise(8, 2)),
        ("bias", "BF16", &[32], noise(64, 3)),
        ("half", "F16", &[4, 6], noise(48, 4)),
        ("mask", "BOOL", &[3, 5], vec![1; 15]),
        ("conv", "F32", &[4, 3, 3, 3], noise(432, 5)),
        ("wave", "C64", &[3, 2], noise(48, 6)),
        ("w.qweight", "I32", &[16, 2], noise(128, 7)),
        ("w.scales", "F16", &[1, 16], noise(32, 8)),
        ("empty", "F16", &[0, 4], Vec::new()),
    ])
}

#[test]
fn tensors_that_nothing_made_smaller_keep_type_and_shape() {
    let f = Folder::new();
    f.write("m.safetensors", &small());
    f.run(&["compress", "m.safetensors", "-l", "1"]).ok();
    let source = f.read("m.safetensors");
    let source = ::safetensors::SafeTensors::deserialize(&source).unwrap();
    let bytes = |name: &str| source.tensor(name).unwrap().data().to_vec();
    let wide = |bytes: &[u8]| -> Vec<u8> {
        bytes.chunks(2).flat_map(|half| [0, 0, half[0], half[1]]).collect()
    };
    let cases = [
        ("step", "", "i64", json!([]), bytes("step")),
        ("step", "0:1", "i64", json!([1]), bytes("step")),
        ("steps", "", "i64", json!([1]), bytes("steps")),
        ("bias", "", "f32", json!([32]), wide(&bytes("bias"))),
        ("bias", "3:5", "f32", json!([2]), wide(&bytes("bias")[6..10])),
        ("half", "1:3", "f16", json!([2, 6]), bytes("half")[12..36].to_vec()),
        ("mask", "", "u8", json!([3, 5]), bytes("mask")),
        ("conv", "1:3", "f32", json!([2, 3, 3, 3]), bytes("conv")[108..324].to_vec()),
        ("wave", "1:", "f32", json!([2, 2, 2]), bytes("wave")[16..].to_vec()),
        ("empty", "", "f16", json!([0, 4]), Vec::new()),
    ];
    for (name, rows, ty, shape, data) in cases {
        let mut args = vec!["extract", "m.wcodec", name, "-f", "-o", "x.npy", "--json"];
        args.extend((!rows.is_empty()).then_some(["--rows", rows]).iter().flatten());
        let said = report(&f.run(&args).ok());
        assert_eq!((&said["type"], &said["shape"]), (&json!(ty), &shape), "{name} {rows}");
        let npy = f.read("x.npy");
        assert!(npy.ends_with(&data) && npy.len() == 128 + data.len(), "{name} {rows}");
    }
    for rows in ["-1:3", "3", "1:99"] {
        let args = ["extract", "m.wcodec", "conv", "--rows", rows, "-o", "y.npy"];
        f.run(&args).ends_with(2, &[&format!("there are no rows {rows:?}"), "give them as A:B"]);
    }
    let args = ["extract", "m.wcodec", "conv", "--rows", "1:2", "--cols", "26:", "-o", "y.npy"];
    f.run(&args).ok();
    assert!(f.read("y.npy").ends_with(&bytes("conv")[212..216]));
}

#[test]
fn four_bits_come_as_i8() {
    let f = Folder::new();
    f.write("m.safetensors", &small());
    f.run(&["compress", "m.safetensors", "-l", "1"]).ok();
    let verb = ["extract", "m.wcodec", "w.qweight", "--rows", "1:2", "-o", "x.npy", "--json"];
    let said = report(&f.run(&verb).ok());
    assert_eq!((&said["type"], &said["shape"]), (&json!("i8"), &json!([1, 16])));
    // AWQ's order: symbols 0 to 7 of a word stand at nibbles 0 4 1 5 2 6 3 7.
    let row = &noise(128, 7)[8..16];
    let nibble = |word: usize, n: usize| row[4 * word + n / 2] >> (4 * (n % 2)) & 15;
    let order = [0, 4, 1, 5, 2, 6, 3, 7];
    let want: Vec<u8> = (0..16).map(|k| nibble(k / 8, order[k % 8])).collect();
    assert!(f.read("x.npy").ends_with(&want));
    let header = String::from_utf8_lossy(&f.read("x.npy")).into_owned();
    assert!(header.contains("|i1"), "{header}");
}

#[test]
fn weights_are_counted_not_bytes() {
    let f = Folder::new();
    f.write("m.safetensors", &small());
    let said = report(&f.run(&["compress", "m.safetensors", "-l", "1", "--json"]).ok());
    let conv = &said["tensors"].as_array().unwrap().iter().find(|t| t["name"] == "conv").unwrap();
    let bits = conv["bits_per_weight"].as_f64().unwrap();
    assert!((31.0..40.0).contains(&bits), "{bits}");
    let said = report(&f.run(&["inspect", "m.wcodec", "--json"]).ok());
    let count = |name: &str| {
        let all = said["tensors"].as_array().unwrap();
        all.iter().find(|t| t["name"] == name).unwrap()["weights"].as_u64().unwrap()
    };
    let counts = ["step", "bias", "conv", "wave", "w.qweight", "empty"].map(count);
    assert_eq!(counts, [1, 32, 108, 6, 256, 0]);
}

#[test]
fn the_entropy_of_numbers_is_that_of_their_bytes() {
    let f = Folder::new();
    let ramp: Vec<u8> = (0..5000i32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    let all = [("ramp", "I32", &[5000][..], ramp), ("w", "I8", &[64, 64], weights(4096, 1))];
    f.write("m.safetensors", &safetensors(&all));
    f.run(&["compress", "m.safetensors"]).ok();
    let said = report(&f.run(&["inspect", "m.wcodec", "--json"]).ok());
    assert_eq!(said["tensors"][0]["codec"], "pco");
    let entropy = |n: usize| said["tensors"][n]["order0_entropy"].as_f64().unwrap();
    // Numbers up to 15000: 8 bits of the lowest byte, a little less than 6 of the next.
    assert!((13.8..14.0).contains(&entropy(0)) && entropy(1) > 4.0, "{said}");
    assert_eq!(said["tensors"][0]["packing"], "i32");
    let text = f.run(&["inspect", "m.wcodec"]).ok();
    let ramp = text.text().lines().find(|line| line.contains("ramp")).unwrap().to_string();
    assert!(ramp.contains(" i32 ") && ramp.contains(" 13."), "{ramp}");
}

#[test]
fn a_flat_checkpoint_can_be_looked_into() {
    let f = Folder::new();
    // Each value as often as all others, in no order: all states of a generator of 4096.
    let states = std::iter::successors(Some(1u32), |x| Some((x * 1365 + 3) % 4096));
    let even: Vec<u8> = states.take(4096).map(|x| (x >> 10) as u8).collect();
    let mut all = vec![("even", "I8", &[64, 64][..], even)];
    all.push(("w.qweight", "I32", &[16, 2], noise(128, 7)));
    all.push(("w.scales", "F16", &[1, 16], noise(32, 8)));
    f.write("m.safetensors", &safetensors(&all));
    let said = report(&f.run(&["inspect", "m.safetensors", "--json"]).ok());
    assert_eq!(said["kind"], "safetensors");
    let tensors = &said["tensors"];
    assert_eq!((&tensors[0]["packing"], &tensors[0]["bytes"]), (&json!("int8"), &json!(4096)));
    assert!((tensors[0]["order0_entropy"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{said}");
    assert_eq!(
        (&tensors[1]["weights"], &tensors[1]["bits_per_weight"]),
        (&json!(256), &json!(4.0))
    );
    assert!(tensors[1]["packing"].as_str().unwrap().contains("awq"), "{said}");
    assert_eq!(tensors[2]["packing"], "f16");
    let text = f.run(&["inspect", "m.safetensors", "--html", "m.html"]).ok();
    assert!(text.text().contains("w.qweight") && text.text().contains("--ablate"));
    assert!(String::from_utf8(f.read("m.html")).unwrap().contains("<svg"));
    // As the coded file has it, whose classes and parts are the same.
    f.run(&["compress", "m.safetensors", "-l", "1"]).ok();
    let coded = report(&f.run(&["inspect", "m.wcodec", "--json"]).ok());
    for tensor in 0..3 {
        for what in ["order0_entropy", "packing"] {
            assert_eq!(coded["tensors"][tensor][what], tensors[tensor][what], "{tensor}");
        }
    }
    f.write("g.gguf", b"ABCD");
    f.run(&["inspect", "g.gguf"]).fails(&["a GGUF file begins with", "g.gguf"]);
}
