//! Decodes every byte example of specs/pco.md; the form of the examples is told there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use latens::{ErrorKind, Limits, NumberType, f16};
use std::fs;
use std::path::Path;
use std::str::FromStr;

struct Example {
    name: String,
    /// `none` for an empty file without a type.
    number_type: String,
    values: String,
    /// `both`, `pco` or `none`.
    reader: String,
    bytes: Vec<u8>,
}

fn examples(text: &str) -> Vec<Example> {
    let mut out = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("```hex ") else { continue };
        let head = lines.next().unwrap();
        let field = |key: &str| {
            let found = head.split(' ').find_map(|item| item.strip_prefix(key)?.strip_prefix('='));
            found.unwrap_or_else(|| panic!("{name}: no {key} in `{head}`")).to_owned()
        };
        let body = lines.by_ref().take_while(|line| *line != "```");
        let hex = body.flat_map(|line| line.split(';').next().unwrap_or("").split_whitespace());
        out.push(Example {
            name: name.to_owned(),
            number_type: field("type"),
            values: field("values"),
            reader: field("reader"),
            bytes: hex.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect(),
        });
    }
    out
}

/// The little-endian bytes of one value: a number, or its bits after `0x`.
fn value_bytes(ty: NumberType, value: &str) -> Vec<u8> {
    fn parse<T: FromStr>(value: &str) -> T {
        value.parse().ok().unwrap_or_else(|| panic!("{value} is no such number"))
    }
    if let Some(bits) = value.strip_prefix("0x") {
        return u64::from_str_radix(bits, 16).unwrap().to_le_bytes()[..ty.bytes()].to_vec();
    }
    match ty {
        NumberType::U8 => parse::<u8>(value).to_le_bytes().to_vec(),
        NumberType::U16 => parse::<u16>(value).to_le_bytes().to_vec(),
        NumberType::U32 => parse::<u32>(value).to_le_bytes().to_vec(),
        NumberType::U64 => parse::<u64>(value).to_le_bytes().to_vec(),
        NumberType::I8 => parse::<i8>(value).to_le_bytes().to_vec(),
        NumberType::I16 => parse::<i16>(value).to_le_bytes().to_vec(),
        NumberType::I32 => parse::<i32>(value).to_le_bytes().to_vec(),
        NumberType::I64 => parse::<i64>(value).to_le_bytes().to_vec(),
        NumberType::F16 => f16::from_f64(parse(value)).to_le_bytes().to_vec(),
        NumberType::F32 => parse::<f32>(value).to_le_bytes().to_vec(),
        NumberType::F64 => parse::<f64>(value).to_le_bytes().to_vec(),
    }
}

fn values_bytes(ty: NumberType, values: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for item in values.split(',').filter(|item| !item.is_empty()) {
        let (value, times) = item.split_once('*').unwrap_or((item, "1"));
        out.extend(value_bytes(ty, value).repeat(times.parse().unwrap()));
    }
    out
}

#[test]
fn every_example_of_the_specification() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/pco.md");
    let examples = examples(&fs::read_to_string(spec).unwrap());
    assert!(examples.len() >= 30, "only {} examples found", examples.len());
    let mut wrong = Vec::new();
    for Example { name, number_type, values, reader, bytes } in examples {
        let decoded = latens::pco::decompress_any(&bytes, Limits::default());
        let problem = match (reader.as_str(), decoded) {
            ("both", Ok(numbers)) => match NumberType::from_name(&number_type) {
                Some(ty) if numbers.number_type() != ty => {
                    Some(format!("decoded as {}", numbers.number_type()))
                }
                Some(ty) if numbers.to_le_bytes() != values_bytes(ty, &values) => {
                    Some(format!("decoded to other numbers: {numbers:?}"))
                }
                Some(_) => None,
                None => (!numbers.is_empty()).then(|| "decoded to numbers".to_owned()),
            },
            ("both", Err(error)) => Some(error.to_string()),
            ("pco" | "none", Ok(_)) => Some("decoded, but is corrupt".to_owned()),
            ("pco" | "none", Err(error)) => {
                let fits = error.kind() == ErrorKind::Corrupt && error.at().is_some();
                (!fits).then(|| format!("should be corrupt at a byte, is: {error}"))
            }
            (other, _) => Some(format!("unknown reader {other}")),
        };
        wrong.extend(problem.map(|problem| format!("{name}: {problem}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Damage anywhere in a file with a checksum trailer is found.
#[test]
fn every_flipped_bit_of_the_trailer_example_is_an_error() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/pco.md");
    let examples = examples(&fs::read_to_string(spec).unwrap());
    let example = examples.iter().find(|example| example.name == "checksum-trailer").unwrap();
    let mut bytes = example.bytes.clone();
    for bit in 0..8 * bytes.len() {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let decoded = latens::pco::decompress_any(&bytes, Limits::default());
        assert!(decoded.is_err(), "bit {bit} flipped, and nobody noticed");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
