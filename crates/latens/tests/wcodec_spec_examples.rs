//! Decodes the byte examples of specs/wcodec.md, and splits and joins those of specs/wcodec-views.md.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::dtype::Dtype;
use latens::wcodec::view::View;
use latens::wcodec::{Config, Content, Reader, compress_checkpoint};
use std::fs;
use std::path::Path;
use wcodec_common::{open, safetensors};

/// The bytes of the block "```hex NAME".
fn example(name: &str) -> Vec<u8> {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/wcodec.md");
    let text = fs::read_to_string(spec).unwrap();
    let mut lines = text.lines().skip_while(|line| *line != format!("```hex {name}"));
    assert!(lines.next().is_some(), "no example {name}");
    let body = lines.take_while(|line| *line != "```");
    let hex = body.flat_map(|line| line.split(';').next().unwrap_or("").split_whitespace());
    hex.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// The blocks "```view NAME": the keys of their lines with what stands behind them.
fn views() -> Vec<(String, Vec<(String, String)>)> {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/wcodec-views.md");
    let text = fs::read_to_string(spec).unwrap();
    let blocks = text.split("```view ").skip(1).map(|block| block.split("```").next().unwrap());
    let read = |block: &str| {
        let mut lines = block.lines();
        let name = lines.next().unwrap().to_owned();
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in lines {
            match (line.split_once(' ').unwrap(), fields.last_mut()) {
                (("", _), Some((_, value))) => value.push_str(line),
                ((key, value), _) => fields.push((key.to_owned(), value.to_owned())),
            }
        }
        (name, fields)
    };
    blocks.map(read).collect()
}

#[test]
fn views_of_tensors() {
    let all = views();
    assert_eq!(all.len(), 9);
    for (name, fields) in all {
        let [(_, dtype), (_, shape), (_, view), (_, bytes), parts @ ..] = &fields[..] else {
            panic!("{name}: {fields:?}")
        };
        let keys: Vec<&str> = fields.iter().take(4).map(|(key, _)| &**key).collect();
        assert_eq!(keys, ["type", "shape", "view", "bytes"], "{name}");
        let shape: Vec<u64> = shape.split(' ').map(|n| n.parse().unwrap()).collect();
        let view = View::from_bytes(hex(view).try_into().unwrap()).unwrap();
        let bytes = hex(bytes);
        let layout = view.layout(Dtype::named(dtype), &shape, bytes.len() as u64);
        let layout = layout.unwrap_or_else(|| panic!("{name}: the view does not fit"));
        let split = layout.split(&bytes).unwrap();
        let found: Vec<(String, Vec<u8>)> = split
            .iter()
            .map(|part| {
                let bytes = match &part.content {
                    Content::Symbols(plane) => plane.data.clone(),
                    Content::Words { data, .. } | Content::Raw(data) => data.clone(),
                };
                (format!("{:?}", part.role), bytes)
            })
            .collect();
        let told: Vec<(String, Vec<u8>)> =
            parts.iter().map(|(role, bytes)| (role.clone(), hex(bytes))).collect();
        assert_eq!(found, told, "{name}");
        assert_eq!(layout.join(split).unwrap(), bytes, "{name}");
    }
}

/// 16 × 32 weights: −1 where row · column is a multiple of 5, 2 where it is one more, else 0.
fn weights() -> Vec<u8> {
    let weight = |i: i32| match (i / 32) * (i % 32) % 5 {
        0 => -1i8,
        1 => 2,
        _ => 0,
    };
    (0..512).map(|i| weight(i).cast_unsigned()).collect()
}

fn source() -> Vec<u8> {
    safetensors(&[("w", "I8", &[16, 32], weights()), ("s", "F32", &[], vec![0, 0, 128, 63])])
}

#[test]
fn the_whole_file() {
    let file = example("a-file");
    let reader = Reader::open(file.clone(), Limits::default()).unwrap();
    reader.verify().unwrap();
    assert_eq!(reader.tensor(reader.find("w").unwrap()).unwrap(), weights());
    let mut out = Vec::new();
    reader.write_file(0, &mut out).unwrap();
    assert_eq!(out, source());
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let found = Reader::open(damaged, Limits::default()).and_then(|r| r.verify());
        assert!(found.is_err(), "bit {bit}");
    }
}

/// Prints the example, to be pasted into the specification when the writer changes.
#[test]
#[ignore = "a generator"]
fn print_the_whole_file() {
    let file = compress_checkpoint(&open(source()), None, &Config::default(), Vec::new()).unwrap();
    for row in file.chunks(16) {
        println!("{}", row.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" "));
    }
}
