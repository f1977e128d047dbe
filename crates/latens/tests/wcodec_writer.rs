//! Checkpoints that are written as their tensors come.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::checkpoint::{Quantization, Tensors};
use latens::wcodec::dtype::Dtype;
use latens::wcodec::{
    BaseCheckpoint, BaseQuantisation, Config, Reader, Writer, compress_checkpoint,
};
use std::io::Cursor;
use wcodec_common::Random;

/// A tensor of a layer: name, type, shape, bytes.
type Tensor = (String, Dtype, Vec<u64>, Vec<u8>);

const ROWS: usize = 64;
const COLS: usize = 256;

/// The tensors of a layer of INT8 weights and of one of GPTQ, some of which all layers have.
fn layer(number: usize) -> Vec<Tensor> {
    let mut random = Random(number as u64 + 7);
    let weights = (0..ROWS * COLS).map(|_| random.int8(20.0)).collect();
    let scales: Vec<u8> =
        (0..ROWS).flat_map(|_| (random.normal(0.1) as f32).to_le_bytes()).collect();
    let nibble = |random: &mut Random| (random.normal(2.5) + 8.0).clamp(0.0, 15.0) as u32;
    let mut word = || (0..8).map(|i| nibble(&mut random) << (4 * i)).sum::<u32>().to_le_bytes();
    let words: Vec<u8> = (0..COLS / 8 * ROWS).flat_map(|_| word()).collect();
    let zeros: Vec<u8> = (0..2 * ROWS / 8).flat_map(|_| word()).collect();
    let halves: Vec<u8> = (0..2 * ROWS).flat_map(|i| (0x2000 + i as u16).to_le_bytes()).collect();
    let (rows, cols) = (ROWS as u64, COLS as u64);
    let shared: Vec<u8> = (0..5000u32).flat_map(|i| (i * i % 251).to_le_bytes()).collect();
    let of = |name: &str| format!("layers.{number}.{name}");
    vec![
        (of("up.weight"), Dtype::I8, vec![rows, cols], weights),
        (of("up.weight_scale"), Dtype::F32, vec![rows, 1], scales),
        (of("down.qweight"), Dtype::I32, vec![cols / 8, rows], words),
        (of("down.qzeros"), Dtype::I32, vec![2, rows / 8], zeros),
        (of("down.scales"), Dtype::F16, vec![2, rows], halves),
        (of("shared"), Dtype::U32, vec![5000], shared),
        (of("none"), Dtype::F64, vec![0], Vec::new()),
    ]
}

fn tensors(all: &[Tensor]) -> Tensors {
    let mut tensors = Tensors::new();
    for (name, dtype, shape, bytes) in all {
        tensors.add(name, *dtype, shape, bytes.clone()).unwrap();
    }
    tensors
}

/// What a file gives back, after it was verified.
fn back(file: Vec<u8>) -> (Reader<Vec<u8>>, Vec<u8>) {
    let reader = Reader::open(file, Limits::default()).unwrap();
    reader.verify().unwrap();
    let mut back = Vec::new();
    reader.write_file(0, &mut back).unwrap();
    (reader, back)
}

#[test]
fn layers_make_the_file_that_all_tensors_make() {
    for (level, threads) in [(0, 1), (8, 1), (8, 3), (9, 2)] {
        let config = Config::default().level(level).threads(threads);
        let mut whole = tensors(&(0..3).flat_map(layer).collect::<Vec<_>>());
        whole.metadata("format", "pt");
        let whole = whole.checkpoint("model.safetensors").unwrap();
        let at_once = compress_checkpoint(&whole, None, &config, Vec::new()).unwrap();
        let (of_all, wanted) = back(at_once.clone());

        let write = |out: Cursor<Vec<u8>>| {
            let mut writer = Writer::new(out, "model.safetensors", &config).unwrap();
            for number in 0..3 {
                let mut layer = tensors(&layer(number));
                layer.metadata("format", "pt");
                writer.write(layer).unwrap();
            }
            writer
        };
        let streamed = write(Cursor::default()).finish().unwrap().into_inner();
        let known = write(Cursor::default()).finish_to_file().unwrap().into_inner();
        assert_eq!(streamed.len(), known.len());
        for file in [streamed, known] {
            let len = file.len();
            let (reader, file) = back(file);
            assert!(file == wanted, "level {level}");
            assert_eq!(reader.base_quantisation(), BaseQuantisation::Int8);
            // A row's order and the index's lengths aside, it is as small.
            assert!(len.abs_diff(at_once.len()) < 600, "{len}, {}", at_once.len());
            for (number, entry) in reader.tensors() {
                let other = of_all.find(&entry.name).unwrap();
                let (one, two) = (reader.inspect(number), of_all.inspect(other));
                let (one, two) = (one.unwrap(), two.unwrap());
                assert_eq!((&one.packing, one.weights), (&two.packing, two.weights));
                let terms = |i: &latens::wcodec::TensorInspection| {
                    i.parts.iter().map(|part| part.terms.clone()).collect::<Vec<_>>()
                };
                assert_eq!(terms(&one), terms(&two), "{}", entry.name);
                assert_eq!(one.copy_of.is_some(), two.copy_of.is_some(), "{}", entry.name);
            }
        }
    }
}

#[test]
fn layers_are_coded_against_a_base() {
    let base = || {
        let all = tensors(&(0..2).flat_map(layer).collect::<Vec<_>>());
        BaseCheckpoint::new(all.checkpoint("b.safetensors").unwrap())
    };
    let writer = Writer::new(Vec::new(), "m.safetensors", &Config::default()).unwrap();
    let mut writer = writer.against(Box::new(base().unwrap()), "b.safetensors").unwrap();
    for number in 0..2 {
        let mut tuned = layer(number);
        tuned[0].3.iter_mut().step_by(9).for_each(|x| *x ^= 1);
        writer.write(tensors(&tuned)).unwrap();
    }
    let file = writer.finish().unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    assert_eq!(reader.base_name().unwrap().0, "b.safetensors");
    let reader = reader.with_base(Box::new(base().unwrap())).unwrap();
    reader.verify().unwrap();
    let stored = reader.entry(reader.find("layers.1.up.weight").unwrap()).unwrap().stored;
    assert!(stored < ROWS * COLS / 4, "{stored}");
}

/// Words of four bits without scales: nothing but what is told says how they are packed.
fn alone(name: &str) -> Tensors {
    let mut random = Random(3);
    let words = (0..256 * 8).flat_map(|_| (random.word() as u32).to_le_bytes());
    let mut one = Tensors::new();
    one.add(name, Dtype::I32, &[256, 8], words.collect::<Vec<u8>>()).unwrap();
    one
}

#[test]
fn what_is_told_of_the_quantisation_is_kept() {
    let told = |method: &str, bits| Quantization {
        method: Some(method.into()),
        bits: Some(bits),
        ..Quantization::default()
    };
    let packing = |writer: Writer<Vec<u8>>, name: &str| {
        let (reader, _) = back(writer.finish().unwrap());
        reader.inspect(reader.find(name).unwrap()).unwrap().packing
    };
    let new = || Writer::new(Vec::new(), "m.safetensors", &Config::default()).unwrap();
    let mut writer = new();
    writer.write(alone("a.qweight")).unwrap();
    let untold = packing(writer, "a.qweight");
    assert!(!untold.contains("awq"), "{untold}");
    // With some tensors; it holds for those that follow, and no other may come then.
    let mut writer = new();
    let mut one = alone("a.qweight");
    one.quantization(told("awq", 4));
    writer.write(one).unwrap();
    writer.write(alone("b.qweight")).unwrap();
    let told_so = packing(writer, "b.qweight");
    assert!(told_so.contains("awq"), "{told_so}");
    let mut writer = new();
    let [mut one, mut two] = [alone("a.qweight"), alone("b.qweight")];
    one.quantization(told("awq", 4));
    two.quantization(told("gptq", 8));
    writer.write(one).unwrap();
    assert!(writer.write(two).unwrap_err().to_string().contains("gptq"));
    let mut writer = new();
    writer.metadata("quantization_config", r#"{"quant_method":"awq","bits":4}"#);
    writer.write(alone("a.qweight")).unwrap();
    writer.metadata("quantization_config", r#"{"quant_method":"gptq","bits":4}"#);
    assert!(writer.finish().unwrap_err().to_string().contains("gptq"));
    // Bit by bit.
    let mut writer = new();
    let [mut one, mut two] = [alone("a.qweight"), alone("b.qweight")];
    one.quantization(Quantization { bits: Some(4), ..Quantization::default() });
    two.quantization(Quantization { method: Some("awq".into()), ..Quantization::default() });
    writer.write(one).unwrap();
    writer.write(two).unwrap();
    assert_eq!(packing(writer, "a.qweight"), told_so);
    // By metadata, of which the weights' part in the header follows as well.
    let mut writer = Writer::new(Cursor::default(), "m.safetensors", &Config::default()).unwrap();
    writer.metadata("quantization_config", r#"{"quant_method":"awq","bits":4}"#);
    writer.write(alone("a.qweight")).unwrap();
    let (reader, _) = back(writer.finish_to_file().unwrap().into_inner());
    assert_eq!(reader.base_quantisation(), BaseQuantisation::Int4);
    assert_eq!(reader.inspect(0).unwrap().packing, told_so);
}

#[test]
fn a_file_has_one_base_and_one_order() {
    let of = |tensors: Tensors| BaseCheckpoint::new(tensors.checkpoint("b.safetensors").unwrap());
    let new = || Writer::new(Vec::new(), "m.safetensors", &Config::default()).unwrap();
    let base = || Box::new(of(tensors(&layer(0))).unwrap());
    assert!(new().against(base(), "b").unwrap().against(base(), "b").is_err());
    let mut writer = new();
    writer.write(tensors(&layer(1))).unwrap();
    assert!(writer.against(base(), "b").is_err());
    // As a base it stands for itself; the file that comes back from it has another order.
    let mut writer = new();
    for number in 0..2 {
        writer.write(tensors(&layer(number))).unwrap();
    }
    let (held, _) = back(writer.finish().unwrap());
    let mut tuned = layer(1);
    tuned[0].3.iter_mut().step_by(9).for_each(|x| *x ^= 1);
    let hash = held.model_hash();
    let mut writer = new().against(Box::new(held), "b.wcodec").unwrap();
    writer.write(tensors(&tuned)).unwrap();
    let file = writer.finish().unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    assert_eq!(reader.base_name().unwrap().1, hash);
    let other = of(tensors(&(0..2).flat_map(layer).collect::<Vec<_>>())).unwrap();
    let refused = reader.with_base(Box::new(other)).err().unwrap();
    assert!(refused.to_string().contains("another order"), "{refused}");
}

#[test]
fn a_file_that_failed_is_not_finished() {
    let begin = || Writer::new(Vec::new(), "m.safetensors", &Config::default()).unwrap();
    let mut writer = begin();
    writer.write(tensors(&layer(0))).unwrap();
    let twice = writer.write(tensors(&layer(0))).unwrap_err();
    assert!(twice.to_string().contains("layers.0."), "{twice}");
    assert!(writer.write(tensors(&layer(1))).is_err());
    assert!(writer.finish().is_err());
    let mut deep = Tensors::new();
    let refused = deep.add("deep", Dtype::U8, &[1; 40], vec![0]).unwrap_err();
    assert!(refused.to_string().contains("dimensions"), "{refused}");
    for name in ["", "..", "a/b"] {
        assert!(Writer::new(Vec::new(), name, &Config::default()).is_err(), "{name:?}");
    }
    // Of no tensors there is a file too.
    let (reader, file) = back(begin().finish().unwrap());
    assert_eq!((reader.tensors().count(), &file[8..]), (0, &b"{}      "[..]));
}
