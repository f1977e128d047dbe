//! Which packing is guessed for which names, types and shapes.

use super::safetensors_files::model;
use super::*;
use crate::wcodec::view::{Axis, BitOrder, Packing, Sign, WordOrder};

fn open(metadata: &str, tensors: &[(&str, Dtype, &[u64])]) -> Checkpoint {
    let bytes = model(metadata, tensors);
    let checkpoint = open_bytes("a.safetensors", &bytes).unwrap();
    assert_eq!(assemble(&checkpoint, 0), bytes);
    checkpoint
}

fn words(order: BitOrder, axis: Axis, sign: Sign) -> Packing {
    Packing::words(order, axis, sign)
}

#[test]
fn gptq() {
    let checkpoint = open(
        "",
        &[
            ("l.qweight", Dtype::I32, &[32, 64]),
            ("l.qzeros", Dtype::I32, &[2, 8]),
            ("l.scales", Dtype::F16, &[2, 64]),
            ("l.g_idx", Dtype::I32, &[256]),
            ("l8.qweight", Dtype::I32, &[64, 64]),
            ("l8.qzeros", Dtype::I32, &[2, 16]),
            ("l8.scales", Dtype::F16, &[2, 64]),
            ("l3.qweight", Dtype::I32, &[24, 64]),
            ("l3.qzeros", Dtype::I32, &[2, 6]),
            ("l3.scales", Dtype::F16, &[2, 64]),
            ("l7.qweight", Dtype::I32, &[28, 32]),
            ("l7.qzeros", Dtype::I32, &[2, 7]),
            ("l7.scales", Dtype::F16, &[2, 32]),
        ],
    );
    let rows = words(BitOrder::LowFirst, Axis::Rows, Sign::Unsigned);
    let columns = words(BitOrder::LowFirst, Axis::Columns, Sign::Unsigned);
    assert_eq!(view_of(&checkpoint, "l.qweight"), View::Packed(rows));
    assert_eq!(view_of(&checkpoint, "l.qzeros"), View::Packed(columns));
    let eight = Packing { bits: 8, ..rows };
    assert_eq!(view_of(&checkpoint, "l8.qweight"), View::Packed(eight));
    assert_eq!(view_of(&checkpoint, "l3.qweight"), View::Packed(Packing { bits: 3, ..rows }));
    assert_eq!(view_of(&checkpoint, "l3.qzeros"), View::Packed(Packing { bits: 3, ..columns }));
    let layout = tensor_of(&checkpoint, "l3.qweight").layout().unwrap();
    assert_eq!((layout.rows, layout.cols, layout.unit_rows), (256, 64, 32));
    let word = View::Words { width: 4, order: WordOrder::Signed };
    assert_eq!(view_of(&checkpoint, "l7.qweight"), word, "nobody packs 7 bits");
    let weight = tensor_of(&checkpoint, "l.qweight");
    let layout = weight.layout().unwrap();
    assert_eq!((layout.rows, layout.cols), (256, 64));
    let named = |i: Option<usize>| i.map(|i| checkpoint.tensors[i].name.as_str());
    assert_eq!(named(weight.siblings.scale), Some("l.scales"));
    assert_eq!(named(weight.siblings.zero), Some("l.qzeros"));
    assert_eq!(named(weight.siblings.g_idx), Some("l.g_idx"));
    assert_eq!(scale_block(layout.rows, layout.cols, &[2, 64]), Some((128, 1)));
}

#[test]
fn awq() {
    let metadata = r#""quantization_config":"{\"quant_method\":\"awq\",\"bits\":4}""#;
    let checkpoint = open(
        metadata,
        &[
            ("l.qweight", Dtype::I32, &[256, 8]),
            ("l.qzeros", Dtype::I32, &[2, 8]),
            ("l.scales", Dtype::F16, &[2, 64]),
            ("alone.qweight", Dtype::I32, &[256, 8]),
        ],
    );
    let awq = View::Packed(words(BitOrder::Awq, Axis::Columns, Sign::Unsigned));
    for name in ["l.qweight", "l.qzeros", "alone.qweight"] {
        assert_eq!(view_of(&checkpoint, name), awq, "{name}");
    }
}

/// GEMV has a row an output, its weights in order, and says so, or its shapes do; no metadata change what shapes tell.
#[test]
fn awq_gemv() {
    let layers: [(&str, Dtype, &[u64]); 8] = [
        ("l.qweight", Dtype::I32, &[64, 128]),
        ("l.qzeros", Dtype::I32, &[64, 1]),
        ("l.scales", Dtype::F16, &[64, 8]),
        ("alone.qweight", Dtype::I32, &[64, 128]),
        ("alone.qzeros", Dtype::I32, &[64, 1]),
        ("fast.qweight", Dtype::I16, &[16, 1024]),
        ("fast.qzeros", Dtype::F16, &[8, 64]),
        ("fast.scales", Dtype::F16, &[8, 64]),
    ];
    let linear = View::Packed(words(BitOrder::LowFirst, Axis::Columns, Sign::Unsigned));
    let told = |version: &str| {
        let said = r#"{\"quant_method\":\"awq\",\"bits\":4,\"version\":\"VERSION\"}"#;
        format!(r#""quantization_config":"{}""#, said.replace("VERSION", version))
    };
    for metadata in ["", &told("gemv"), &told("GEMV"), &told("gemm")] {
        let checkpoint = open(metadata, &layers);
        assert_eq!(view_of(&checkpoint, "l.qweight"), linear, "{metadata}");
        assert_eq!(view_of(&checkpoint, "l.qzeros"), linear, "{metadata}");
        let layout = tensor_of(&checkpoint, "l.qweight").layout().unwrap();
        assert_eq!((layout.rows, layout.cols), (64, 1024));
        assert_eq!(scale_block(layout.rows, layout.cols, &[64, 8]), Some((1, 128)));
        // Those without scales are as the metadata say, or else as whole ones are.
        let awq = View::Packed(words(BitOrder::Awq, Axis::Columns, Sign::Unsigned));
        let alone = if metadata.contains("gemm") { awq } else { linear };
        for name in ["alone.qweight", "alone.qzeros"] {
            assert_eq!(view_of(&checkpoint, name), alone, "{metadata} {name}");
        }
        let word = View::Words { width: 2, order: WordOrder::Signed };
        assert_eq!(view_of(&checkpoint, "fast.qweight"), word, "{metadata}");
    }
    // What is no GEMV by its shapes stays what it is.
    let gemm: [(&str, Dtype, &[u64]); 3] = [
        ("l.qweight", Dtype::I32, &[256, 8]),
        ("l.qzeros", Dtype::I32, &[2, 8]),
        ("l.scales", Dtype::F16, &[2, 64]),
    ];
    let awq = View::Packed(words(BitOrder::Awq, Axis::Columns, Sign::Unsigned));
    assert_eq!(view_of(&open(&told("gemv"), &gemm), "l.qweight"), awq);
    // A word of weights with a scale of its own: nothing but the metadata tells.
    let small: [(&str, Dtype, &[u64]); 2] =
        [("l.qweight", Dtype::I32, &[64, 8]), ("l.scales", Dtype::F16, &[64, 8])];
    assert_eq!(view_of(&open(&told("gemv"), &small), "l.qweight"), linear);
    let rows = View::Packed(words(BitOrder::LowFirst, Axis::Rows, Sign::Unsigned));
    assert_eq!(view_of(&open("", &small), "l.qweight"), rows);
}

/// Layers of a shard whose scales stand in another are as whole ones are, where the metadata do not say.
#[test]
fn layers_without_scales_are_as_others() {
    let rows = words(BitOrder::LowFirst, Axis::Rows, Sign::Unsigned);
    let awq = words(BitOrder::Awq, Axis::Columns, Sign::Unsigned);
    let [awq_layer, gptq_layer, eight] = [[256, 8], [32, 64], [64, 64]];
    let cases: [(&[u64], &[u64], Packing); 3] = [
        (&awq_layer, &[256, 16], awq),
        (&gptq_layer, &[32, 128], rows),
        (&eight, &[64, 128], Packing { bits: 8, ..rows }),
    ];
    for (whole, alone, packing) in cases {
        let zeros = [2, if packing.bits == 8 { 16 } else { 8 }];
        let checkpoint = open(
            "",
            &[
                ("alone.qweight", Dtype::I32, alone),
                ("l.qweight", Dtype::I32, whole),
                ("l.qzeros", Dtype::I32, &zeros),
                ("l.scales", Dtype::F16, &[2, 64]),
            ],
        );
        for name in ["l.qweight", "alone.qweight"] {
            assert_eq!(view_of(&checkpoint, name), View::Packed(packing), "{name}");
        }
    }
    // Where whole layers differ, or none lacks its scales, nothing is told.
    let both: [(&str, Dtype, &[u64]); 5] = [
        ("a.qweight", Dtype::I32, &[256, 8]),
        ("a.scales", Dtype::F16, &[2, 64]),
        ("b.qweight", Dtype::I32, &[32, 64]),
        ("b.scales", Dtype::F16, &[2, 64]),
        ("c.qweight", Dtype::I32, &[256, 16]),
    ];
    for tensors in [&both[..], &both[..2]] {
        assert_eq!(open("", tensors).quantization, Quantization::default());
    }
}

#[test]
fn compressed_tensors() {
    let bytes = model(
        "",
        &[
            ("l.weight_packed", Dtype::I32, &[64, 13]),
            ("l.weight_scale", Dtype::BF16, &[64, 4]),
            ("l.weight_zero_point", Dtype::I32, &[8, 4]),
            ("l.weight_shape", Dtype::I64, &[2]),
            ("i.weight", Dtype::I8, &[64, 100]),
            ("i.weight_scale", Dtype::BF16, &[64, 1]),
        ],
    );
    // 64 × 100: the last word of a row holds four nibbles, or all of 13 words are 4 bytes each.
    let shape_at = |bytes: &[u8]| {
        let checkpoint = open_bytes("a.safetensors", bytes).unwrap();
        usize::try_from(tensor_of(&checkpoint, "l.weight_shape").offset).unwrap()
    };
    let at = shape_at(&bytes);
    for (columns, bits) in [(100u64, 4), (52, 8), (208, 2), (104, 4)] {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&64u64.to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&columns.to_le_bytes());
        let checkpoint = open_bytes("a.safetensors", &bytes).unwrap();
        let packed = Packing { bits, ..words(BitOrder::LowFirst, Axis::Columns, Sign::Offset) };
        assert_eq!(view_of(&checkpoint, "l.weight_packed"), View::Packed(packed), "{columns}");
        assert_eq!(assemble(&checkpoint, 0), bytes);
        let zero = Packing { axis: Axis::Rows, ..packed };
        assert_eq!(view_of(&checkpoint, "l.weight_zero_point"), View::Packed(zero), "{columns}");
        assert_eq!(view_of(&checkpoint, "i.weight"), View::Bytes(Sign::Signed));
        assert_eq!(checkpoint.tensors[4].siblings.scale, Some(5));
    }
}

#[test]
fn nibbles_in_bytes() {
    let metadata = r#""quantization_config":"{\"bits\":4,\"group_size\":32}""#;
    let checkpoint = open(
        metadata,
        &[
            ("nv.weight", Dtype::U8, &[64, 32]),
            ("nv.weight_scale", Dtype::F8_E4M3, &[64, 4]),
            ("mx_blocks", Dtype::U8, &[4, 8, 3, 16]),
            ("mx_scales", Dtype::U8, &[4, 8, 3]),
            ("s.weight", Dtype::I8, &[64, 32]),
            ("s.weight_scale", Dtype::F16, &[64, 2]),
            ("u.weight", Dtype::U8, &[64, 32]),
            ("u.weight_scale", Dtype::F16, &[64, 2]),
            ("u.weight_zero_point", Dtype::U8, &[64, 2]),
            ("o.weight", Dtype::U8, &[64, 32]),
            ("o.weight_scale", Dtype::F16, &[64, 2]),
            ("whole.weight", Dtype::I8, &[64, 64]),
            ("whole.weight_scale", Dtype::F16, &[64, 2]),
        ],
    );
    let low = |sign| View::Packed(Packing::nibbles(BitOrder::LowFirst, sign));
    assert_eq!(view_of(&checkpoint, "nv.weight"), low(Sign::Unsigned));
    assert_eq!(view_of(&checkpoint, "mx_blocks"), low(Sign::Unsigned));
    assert_eq!(view_of(&checkpoint, "s.weight"), low(Sign::Signed));
    assert_eq!(view_of(&checkpoint, "u.weight"), low(Sign::Unsigned));
    assert_eq!(view_of(&checkpoint, "o.weight"), low(Sign::Offset));
    assert_eq!(view_of(&checkpoint, "mx_scales"), View::Bytes(Sign::Unsigned));
    assert_eq!(view_of(&checkpoint, "whole.weight"), View::Bytes(Sign::Signed));
}

#[test]
fn mlx() {
    let tensors: &[(&str, Dtype, &[u64])] = &[
        ("a.weight", Dtype::U32, &[64, 32]),
        ("a.scales", Dtype::BF16, &[64, 4]),
        ("a.biases", Dtype::BF16, &[64, 4]),
        // Of experts.
        ("e.weight", Dtype::U32, &[5, 64, 16]),
        ("e.scales", Dtype::F16, &[5, 64, 2]),
        ("e.biases", Dtype::F16, &[5, 64, 2]),
        ("six.weight", Dtype::U32, &[64, 48]),
        ("six.scales", Dtype::BF16, &[64, 4]),
        ("six.biases", Dtype::BF16, &[64, 4]),
        // Words of 6 bits that do not hold whole ones.
        ("odd.weight", Dtype::U32, &[64, 16]),
        ("odd.scales", Dtype::BF16, &[64, 4]),
        ("odd.biases", Dtype::BF16, &[64, 4]),
        ("mx.weight", Dtype::U32, &[64, 16]),
        ("mx.scales", Dtype::U8, &[64, 4]),
        ("nv.weight", Dtype::U32, &[64, 16]),
        ("nv.scales", Dtype::U8, &[64, 8]),
        ("mx8.weight", Dtype::U32, &[64, 16]),
        ("mx8.scales", Dtype::U8, &[64, 2]),
        ("plain.weight", Dtype::U32, &[64, 16]),
        ("plain.scales", Dtype::F16, &[64, 2]),
        ("other.weight", Dtype::U32, &[64, 16]),
        ("other.scales", Dtype::F16, &[32, 2]),
        ("other.biases", Dtype::F16, &[32, 2]),
    ];
    let packed = |bits| {
        let words = words(BitOrder::LowFirst, Axis::Columns, Sign::Unsigned);
        View::Packed(Packing { bits, ..words })
    };
    let word = View::Words { width: 4, order: WordOrder::Unsigned };
    let told = |config: &str| {
        let told = Quantization::from_files(Some(config.as_bytes().to_vec()), None);
        let none = |_: &str| Err(Error::invalid("no shards"));
        let source = Box::new(model("", tensors));
        Checkpoint::read("a.safetensors".into(), source, told, &none).unwrap()
    };
    let checkpoint = told(r#"{"quantization":{"group_size":64,"bits":4}}"#);
    for (name, view) in [
        ("a.weight", packed(4)),
        ("e.weight", packed(4)),
        ("six.weight", word),
        ("odd.weight", word),
        ("mx.weight", packed(4)),
        ("nv.weight", packed(4)),
        ("mx8.weight", packed(8)),
        ("plain.weight", word),
        ("other.weight", word),
    ] {
        assert_eq!(view_of(&checkpoint, name), view, "{name}");
    }
    let weight = tensor_of(&checkpoint, "e.weight");
    assert_eq!((weight.siblings.scale, weight.siblings.bias), (Some(4), Some(5)));
    let layout = weight.layout().unwrap();
    assert_eq!((layout.rows, layout.cols), (5, 64 * 128));
    assert_eq!(scale_block(layout.rows, layout.cols, &[5, 64, 2]), Some((1, 64)));
    assert_eq!(tensor_of(&checkpoint, "plain.weight").siblings.bias, None);
    // 256 bits a group are 4 bits by 64, 8 by 32 or 2 by 128: nothing but `config.json` says which.
    for (config, view) in [
        (r#"{"quantization":{"group_size":32,"bits":8}}"#, packed(8)),
        (r#"{"quantization":{"group_size":128,"bits":2}}"#, packed(2)),
        (r#"{"quantization":{"group_size":128,"bits":4}}"#, word),
        (
            r#"{"quantization":{"group_size":64,"bits":4,"b":{"group_size":64,"bits":8}}}"#,
            packed(4),
        ),
        (
            r#"{"quantization":{"group_size":64,"bits":4,"a":{"group_size":32,"bits":8}}}"#,
            packed(8),
        ),
        (r#"{"quantization":{"group_size":64,"bits":4,"a":{"group_size":64,"bits":8}}}"#, word),
        (r#"{"quantization":{"bits":4}}"#, word),
        ("{}", word),
    ] {
        assert_eq!(view_of(&told(config), "a.weight"), view, "{config}");
    }
    assert_eq!(view_of(&told("{}"), "mx.weight"), packed(4));
    // 384 bits a group.
    for (group, bits) in [(128, 3), (64, 6)] {
        let config = format!(r#"{{"quantization":{{"group_size":{group},"bits":{bits}}}}}"#);
        assert_eq!(view_of(&told(&config), "six.weight"), packed(bits), "{config}");
        let layout = tensor_of(&told(&config), "six.weight").layout().unwrap();
        assert_eq!((layout.rows, layout.cols), (64, 1536 / u64::from(bits)));
    }
    assert_eq!(
        view_of(&told(r#"{"quantization":{"group_size":21,"bits":6}}"#), "odd.weight"),
        word
    );
}

#[test]
fn bitsandbytes() {
    let state = br#"{"quant_type": "nf4", "blocksize": 64, "shape": [32, 128]}"#;
    let name = "l.weight.quant_state.bitsandbytes__nf4";
    let mut bytes = model(
        "",
        &[
            ("l.weight", Dtype::U8, &[2048, 1]),
            ("l.weight.absmax", Dtype::U8, &[64]),
            ("l.weight.quant_map", Dtype::F32, &[16]),
            (name, Dtype::U8, &[state.len() as u64]),
            ("e.weight", Dtype::I8, &[8, 16]),
            ("e.SCB", Dtype::F32, &[8]),
            ("p.weight", Dtype::U8, &[2048, 1]),
            ("p.weight.absmax", Dtype::F32, &[64]),
        ],
    );
    let opened = open_bytes("a.safetensors", &bytes).unwrap();
    let at = usize::try_from(tensor_of(&opened, name).offset).unwrap();
    let nibbles = Packing::nibbles(BitOrder::HighFirst, Sign::Unsigned);
    // The state is noise here: the packing is still told by its name.
    assert_eq!(view_of(&opened, "l.weight"), View::Packed(nibbles));
    bytes[at..at + state.len()].copy_from_slice(state);
    let checkpoint = open_bytes("a.safetensors", &bytes).unwrap();
    assert_eq!(assemble(&checkpoint, 0), bytes);
    let shaped = View::Packed(Packing { cols: 128, ..nibbles });
    assert_eq!(view_of(&checkpoint, "l.weight"), shaped);
    let weight = tensor_of(&checkpoint, "l.weight");
    let layout = weight.layout().unwrap();
    assert_eq!((layout.rows, layout.cols), (32, 128));
    assert_eq!(
        scale_block(32, 128, &checkpoint.tensors[weight.siblings.scale.unwrap()].shape),
        Some((1, 64))
    );
    assert_eq!(view_of(&checkpoint, "p.weight"), View::Packed(nibbles));
    assert_eq!(view_of(&checkpoint, "e.weight"), View::Bytes(Sign::Signed));
    assert_eq!(tensor_of(&checkpoint, "e.weight").siblings.scale, Some(5));
}

/// The same bytes as elements of another type (`quant_storage`): what they are the description alone tells.
#[test]
fn bitsandbytes_in_other_types() {
    let state = br#"{"quant_type": "nf4", "blocksize": 64, "shape": [32, 128]}"#;
    let types = [(Dtype::BF16, 2), (Dtype::F16, 2), (Dtype::F32, 4)];
    let names =
        ["nf4", "fp4", "nf4"].map(|kind| format!("l.weight.quant_state.bitsandbytes__{kind}"));
    for ((dtype, width), name) in types.into_iter().zip(&names) {
        let shape = [2048 / width, 1];
        let mut bytes = model(
            "",
            &[
                ("l.weight", dtype, &shape),
                ("l.weight.absmax", Dtype::F32, &[64]),
                (name, Dtype::U8, &[state.len() as u64]),
                ("short.weight", dtype, &[1000, 1]),
                ("short.weight.quant_state.bitsandbytes__nf4", Dtype::U8, &[state.len() as u64]),
                ("untold.weight", dtype, &shape),
                ("untold.weight.absmax", Dtype::F32, &[64]),
            ],
        );
        let opened = open_bytes("a.safetensors", &bytes).unwrap();
        // Without a description that can be read nothing is told.
        assert!(!matches!(view_of(&opened, "l.weight"), View::Packed(_)), "{dtype:?}");
        for name in [name, "short.weight.quant_state.bitsandbytes__nf4"] {
            let at = usize::try_from(tensor_of(&opened, name).offset).unwrap();
            bytes[at..at + state.len()].copy_from_slice(state);
        }
        let checkpoint = open_bytes("a.safetensors", &bytes).unwrap();
        assert_eq!(assemble(&checkpoint, 0), bytes);
        let nibbles = Packing::nibbles(BitOrder::HighFirst, Sign::Unsigned);
        let shaped = View::Packed(Packing { cols: 128, ..nibbles });
        assert_eq!(view_of(&checkpoint, "l.weight"), shaped, "{dtype:?}");
        let weight = tensor_of(&checkpoint, "l.weight");
        assert_eq!(weight.layout().map(|l| (l.rows, l.cols)), Some((32, 128)));
        assert!(weight.siblings.scale.is_some());
        for other in ["short.weight", "untold.weight"] {
            assert!(!matches!(view_of(&checkpoint, other), View::Packed(_)), "{dtype:?} {other}");
        }
    }
}

#[test]
fn plain_types() {
    let shape = &[4, 4][..];
    let all: Vec<Dtype> =
        Dtype::ALL.iter().copied().filter(|d| d.id() < 256 && d.bytes(16).is_some()).collect();
    let tensors: Vec<(&str, Dtype, &[u64])> = all.iter().map(|d| (d.name(), *d, shape)).collect();
    let checkpoint = open("", &tensors);
    for t in &checkpoint.tensors {
        assert_ne!(t.view, View::Raw, "{}", t.name);
        assert!(
            t.candidates().len() > 1 || t.dtype == Dtype::BOOL || t.view.name().contains("int"),
            "{}",
            t.name
        );
    }
}
