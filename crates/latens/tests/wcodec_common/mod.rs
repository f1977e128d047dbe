//! Small checkpoints for tests of WCodec.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

pub mod mend;
pub mod planes;
pub mod samples;

use latens::wcodec::Reader;
use latens::wcodec::checkpoint::{Checkpoint, Quantization, ReadAt};
use latens::{Error, Limits};

/// Numbers that are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn word(&mut self) -> u64 {
        self.next() << 62 ^ self.next() << 31 ^ self.next()
    }

    /// 0 to `end` − 1.
    pub fn below(&mut self, end: usize) -> usize {
        (self.word() % end.max(1) as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// About normal, of standard deviation `width`.
    pub(crate) fn normal(&mut self, width: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.next() as f64 / f64::from(1u32 << 31)).sum();
        (sum - 6.0) * width
    }

    pub(crate) fn int8(&mut self, width: f64) -> u8 {
        let value = self.normal(width).round().clamp(-127.0, 127.0) as i8;
        value.cast_unsigned()
    }
}

/// A safetensors file of the tensors given: name, dtype, shape, bytes.
pub(crate) fn safetensors(tensors: &[(&str, &str, &[u64], Vec<u8>)]) -> Vec<u8> {
    let told =
        tensors.iter().map(|(name, dtype, shape, bytes)| (*name, *dtype, *shape, bytes.len()));
    let mut file = safetensors_header(told);
    tensors.iter().for_each(|(.., bytes)| file.extend_from_slice(bytes));
    file
}

/// What a safetensors file has before the data of the tensors given: name, dtype, shape, number of bytes.
pub(crate) fn safetensors_header<'t>(
    tensors: impl IntoIterator<Item = (&'t str, &'t str, &'t [u64], usize)>,
) -> Vec<u8> {
    let (mut entries, mut start) = (Vec::new(), 0);
    for (name, dtype, shape, len) in tensors {
        let (name, end) = (serde_json::to_string(name).unwrap(), start + len);
        entries.push(format!(
            "{name}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{start},{end}]}}"
        ));
        start = end;
    }
    let mut header = format!("{{{}}}", entries.join(","));
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file
}

/// A GGUF file of the tensors given: name, number of the type, columns and rows, bytes.
pub(crate) fn gguf(tensors: &[(&str, u32, [u64; 2], Vec<u8>)]) -> Vec<u8> {
    let string = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend((tensors.len() as u64).to_le_bytes());
    file.extend(1u64.to_le_bytes());
    file.extend([string("general.architecture"), 8u32.to_le_bytes().to_vec()].concat());
    file.extend(string("llama"));
    let mut data = Vec::new();
    for (name, kind, dims, bytes) in tensors {
        data.resize(data.len().next_multiple_of(32), 0);
        file.extend(string(name));
        file.extend(2u32.to_le_bytes());
        dims.iter().for_each(|d| file.extend(d.to_le_bytes()));
        file.extend(kind.to_le_bytes());
        file.extend((data.len() as u64).to_le_bytes());
        data.extend_from_slice(bytes);
    }
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend(data);
    file
}

pub(crate) fn open(file: Vec<u8>) -> Checkpoint {
    open_as(if file.starts_with(b"GGUF") { "model.gguf" } else { "model.safetensors" }, file)
}

pub(crate) fn open_as(name: &str, source: impl ReadAt + 'static) -> Checkpoint {
    let none = |_: &str| Err(Error::invalid("no shards here"));
    let quantization = Quantization::default();
    Checkpoint::read(name.to_owned(), Box::new(source), quantization, &none).unwrap()
}

pub(crate) fn back(file: &[u8]) -> latens::Result<Vec<u8>> {
    let reader = Reader::open(file.to_vec(), Limits::default())?;
    reader.verify()?;
    let mut out = Vec::new();
    reader.write_file(0, &mut out)?;
    Ok(out)
}
