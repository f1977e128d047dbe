//! What compressing holds in memory: three times the chunk in flight and 16 MiB.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod common;

use common::counting::{Counting, peak_of};
use latens::Number;
use latens::pco::{Config, standalone};

#[global_allocator]
static COUNTING: Counting = Counting;

fn check<T: Number>(name: &str, numbers: &[T], config: &Config) {
    let encoded = || standalone::encode_chunk(numbers, config).unwrap();
    let (chunk, peak) = peak_of(encoded);
    let most = 3 * size_of_val(numbers) + (16 << 20);
    assert!(peak <= most, "{name}: {peak} bytes, {most} are allowed");
    // It is memory of this thread that is counted: the chunk itself is part of it.
    assert!(peak as u64 >= chunk.summary().bytes, "{name}");
}

/// Numbers that nothing is known of, as far as 64 bits go.
fn noise(i: u64) -> u64 {
    let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mix(mix(i + 1))
}

#[test]
fn three_chunks_and_a_bit() {
    let n = Config::default().chunk_len() as u64;
    for level in [0, 4, 8, 12] {
        let config = Config::default().level(level);
        let random: Vec<u64> = (0..n).map(noise).collect();
        check("noise", &random, &config);
        let decimals: Vec<f64> = (0..n).map(|i| (noise(i) % 99_991) as f64 / 100.0).collect();
        check("decimals", &decimals, &config);
        let few: Vec<u64> = (0..n).map(|i| noise(noise(i) % 5000)).collect();
        check("few", &few, &config);
        let bytes: Vec<u8> = (0..n).map(|i| noise(i) as u8).collect();
        check("bytes", &bytes, &config);
        let periodic: Vec<u32> = (0..n).map(|i| noise(i % 777) as u32).collect();
        check("periodic", &periodic, &config);
    }
}

#[test]
fn large_chunks_too() {
    let n = 1 << 22;
    let config = Config::default().chunk_n(n);
    let random: Vec<u64> = (0..n as u64).map(noise).collect();
    check("noise", &random, &config);
    let times: Vec<i64> = (0..n as i64).map(|i| i * 1000 + (noise(i as u64) % 99) as i64).collect();
    check("times", &times, &config);
    let narrow: Vec<u32> = (0..n as u64).map(|i| (noise(i) % 1_000_003) as u32).collect();
    check("narrow", &narrow, &config);
}
