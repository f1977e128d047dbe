//! What compressing holds in memory: three times the chunk in flight and 16 MiB.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod common;

use common::counting::{Counting, most_of_process};
use latens::Number;
use latens::pco::{Config, Favor, standalone};

#[global_allocator]
static COUNTING: Counting = Counting;

fn check<T: Number>(name: &str, numbers: &[T], config: &Config) {
    let encoded = || standalone::encode_chunk(numbers, config).unwrap();
    // With what is kept from call to call.
    let (chunk, most) = most_of_process(encoded);
    let peak = most - size_of_val(numbers);
    // Lookbacks are one more variable, as long as a chunk of 32 bits, of which that much is more than a bit.
    let times = if name == "periodic" && numbers.len() >= 1 << 20 { 5 } else { 3 };
    let allowed = times * size_of_val(numbers) + (16 << 20);
    let n = numbers.len();
    println!("{n} {name}: {:.2} chunks", peak as f64 / size_of_val(numbers) as f64);
    assert!(peak <= allowed, "{n} {name}: {peak} bytes, {allowed} are allowed");
    assert!(peak as u64 >= chunk.summary().bytes, "{name}");
}

/// Numbers that nothing is known of, as far as 64 bits go.
fn noise(i: u64) -> u64 {
    let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mix(mix(i + 1))
}

/// One test, as the whole process is counted: each input is gone when the next one is made.
#[test]
fn three_chunks_and_a_bit() {
    for level in [0, 4, 8, 12] {
        let config = Config::default().level(level);
        chunks_of(config.chunk_len() as u64, &config);
    }
    let size = Config::default().level(12).favor(Favor::Size);
    for n in [1 << 18, 1 << 20, 1 << 22] {
        let trend = |i: u64| 3600 * (i / 60 + noise(i) % 3);
        check("trend", &(0..n).map(trend).collect::<Vec<u64>>(), &size);
        let cut = |i: u64| i * 1000 + noise(i) % if i % (n / 2) < n / 4 { 99 } else { 9_999 };
        check("cut", &(0..n).map(cut).collect::<Vec<u64>>(), &size);
        if n <= 1 << 20 {
            chunks_of(n, &size);
        }
    }
    let n = 1 << 22;
    chunks_of(n as u64, &Config::default().chunk_n(n));
}

fn chunks_of(n: u64, config: &Config) {
    fn column<T>(n: u64, number: impl Fn(u64) -> T) -> Vec<T> {
        (0..n).map(number).collect()
    }
    check("noise", &column(n, noise), config);
    check("decimals", &column(n, |i| (noise(i) % 99_991) as f64 / 100.0), config);
    check("few", &column(n, |i| noise(noise(i) % 5000)), config);
    check("bytes", &column(n, |i| noise(i) as u8), config);
    check("periodic", &column(n, |i| noise(i % 777) as u32), config);
    check("times", &column(n, |i| i as i64 * 1000 + (noise(i) % 99) as i64), config);
    check("narrow", &column(n, |i| (noise(i) % 1_000_003) as u32), config);
}
