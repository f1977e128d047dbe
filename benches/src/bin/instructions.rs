//! One piece of work, the same on every machine, for counting its instructions: `instructions CASE`.
//! Without a case it names them all. `benches/instructions.py` counts, and compares.
//!
//! What counts is what [`measured`] does; numbers are made up before.

#![allow(clippy::expect_used, reason = "a comparison that fails had better stop")]

use latens::delta_binary_packed::{self as dbp, Layout, Options};
use latens::pco::{self, Config};
use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::{self, Reader, compress_checkpoint};
use latens::{Error, Limits, Number};
use latens_benches::noise::noise;
use std::hint::black_box;

const COUNT: usize = 1 << 17;

/// A name, and what makes all ready and gives the work.
type Case = (&'static str, fn() -> Box<dyn FnMut()>);

const CASES: [Case; 14] = [
    ("pco compress i64 steps", || compress(&times(), 8)),
    ("pco compress f64 decimals", || compress(&decimals(), 8)),
    ("pco compress f32 walk", || compress(&floats(), 8)),
    ("pco compress u16 walk", || compress(&samples(), 8)),
    ("pco compress i64 steps, level 4", || compress(&times(), 4)),
    ("pco compress f64 decimals, level 12", || compress(&decimals(), 12)),
    ("pco decompress i64 steps", || decompress(&times())),
    ("pco decompress f64 decimals", || decompress(&decimals())),
    ("pco decompress f32 walk", || decompress(&floats())),
    ("pco decompress u16 walk", || decompress(&samples())),
    ("delta encode i64", || {
        let (numbers, mut out) = (times(), Vec::with_capacity(16 * COUNT));
        Box::new(move || {
            dbp::encode_into(&numbers, Layout::default_for::<i64>(), &mut out);
            black_box(&out);
        })
    }),
    ("delta decode i64", || {
        let numbers = times();
        let page = dbp::encode(&numbers, Layout::default_for::<i64>());
        let mut out = vec![0i64; numbers.len()];
        Box::new(move || {
            dbp::decode_into(&page, &mut out, Options::default()).expect("sound");
        })
    }),
    ("wcodec encode INT8", || {
        let checkpoint = checkpoint();
        let config = wcodec::Config::default().threads(1);
        Box::new(move || {
            black_box(
                compress_checkpoint(&checkpoint, None, &config, Vec::new()).expect("to memory"),
            );
        })
    }),
    ("wcodec decode INT8", || {
        let config = wcodec::Config::default().threads(1);
        let file =
            compress_checkpoint(&checkpoint(), None, &config, Vec::new()).expect("to memory");
        let reader = Reader::open(file, Limits::default()).expect("sound").threads(1);
        let mut out = vec![0u8; SIDE * SIDE];
        Box::new(move || reader.tensor_into(0, &mut out).expect("sound"))
    }),
];

fn main() {
    let Some(wanted) = std::env::args().nth(1) else {
        CASES.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let (_, case) = CASES.iter().find(|(name, _)| *name == wanted).expect("a case");
    let mut work = case();
    // Once for what is set up the first time.
    work();
    measured(&mut *work);
}

#[inline(never)]
fn measured(work: &mut dyn FnMut()) {
    work();
    black_box(());
}

fn compress<T: Number>(numbers: &[T], level: u32) -> Box<dyn FnMut()> {
    let (numbers, config) = (numbers.to_vec(), Config::default().level(level));
    Box::new(move || {
        black_box(pco::compress(&numbers, &config).expect("within bounds"));
    })
}

fn decompress<T: Number>(numbers: &[T]) -> Box<dyn FnMut()> {
    let file = pco::compress(numbers, &Config::default()).expect("within bounds");
    let mut out = numbers.to_vec();
    Box::new(move || {
        pco::decompress_into(&file, &mut out).expect("sound");
    })
}

/// About normal, from −6 to 6.
fn normal() -> impl Iterator<Item = f64> {
    let mut noise = noise();
    std::iter::repeat_with(move || {
        (0..12).map(|_| (noise.next().unwrap_or(0) >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>()
            - 6.0
    })
}

/// Microseconds, a second apart and a little more.
fn times() -> Vec<i64> {
    let step = |at: &mut i64, x: u64| {
        *at += 1_000_000 + (x % 4000).cast_signed();
        Some(*at)
    };
    noise().take(COUNT).scan(1_700_000_000_000_000, step).collect()
}

/// Amounts with two decimals.
fn decimals() -> Vec<f64> {
    normal().take(COUNT).map(|x| (x.exp() * 2000.0).round() / 100.0).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "what an f32 is made of")]
fn floats() -> Vec<f32> {
    let walk = |at: &mut f64, x: f64| {
        *at += x / 8.0;
        Some(*at as f32)
    };
    normal().take(COUNT).scan(280.0, walk).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn samples() -> Vec<u16> {
    let walk = |at: &mut f64, x: f64| {
        *at = *at * 0.98 + x * 20.0;
        Some((2048.0 + *at).clamp(0.0, 4095.0) as u16)
    };
    normal().take(COUNT).scan(0.0, walk).collect()
}

const SIDE: usize = 512;

/// A safetensors file of one quantised matrix.
#[expect(clippy::cast_possible_truncation, reason = "clamped")]
fn checkpoint() -> Checkpoint {
    let header = format!(
        "{{\"w\":{{\"dtype\":\"I8\",\"shape\":[{SIDE},{SIDE}],\"data_offsets\":[0,{}]}}}}",
        SIDE * SIDE
    );
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    let value = |x: f64| (x * 28.0).round().clamp(-127.0, 127.0) as i8;
    file.extend(normal().take(SIDE * SIDE).map(|x| value(x).cast_unsigned()));
    let none = |_: &str| Err(Error::invalid("no shards"));
    let name = "made-up.safetensors".to_owned();
    Checkpoint::read(name, Box::new(file), Quantization::default(), &none).expect("sound")
}
