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
pub mod samples;

use latens::wcodec::Reader;
use latens::wcodec::checkpoint::{Checkpoint, Quantization};
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
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend_from_slice(bytes);
        entries.push(format!(
            "{}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{start},{}]}}",
            serde_json::to_string(name).unwrap(),
            data.len()
        ));
    }
    let mut header = format!("{{{}}}", entries.join(","));
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

pub(crate) fn open(file: Vec<u8>) -> Checkpoint {
    let none = |_: &str| Err(Error::invalid("no shards here"));
    let name = if file.starts_with(b"GGUF") { "model.gguf" } else { "model.safetensors" };
    let quantization = Quantization::default();
    Checkpoint::read(name.to_owned(), Box::new(file), quantization, &none).unwrap()
}

pub(crate) fn back(file: &[u8]) -> latens::Result<Vec<u8>> {
    let reader = Reader::open(file.to_vec(), Limits::default())?;
    reader.verify()?;
    let mut out = Vec::new();
    reader.write_file(0, &mut out)?;
    Ok(out)
}
