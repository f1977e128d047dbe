//! One thread against two, by turns, by the clock; bytes and values are compared.

use crate::walk64;
use latens::delta_binary_packed::{
    Layout, Options, decode_into_with, decode_with, encode, encode_with,
};
use latens::{Limits, Watch};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Values of a stream, 64 MiB of them: more than caches hold.
const VALUES: usize = 1 << 23;

/// What is timed, on so many threads.
type Work<'a> = Box<dyn FnMut(usize) + 'a>;

/// Prints a line for each direction of streams of several widths.
pub(crate) fn run(rounds: usize) {
    println!("direction,data,values,one_thread_gb_per_s,two_over_one");
    let (layout, options) = (Layout::default_for::<i64>(), Options::default());
    for bits in [3, 10, 20, 40] {
        let values = walk64(VALUES, bits);
        let stream = encode(&values, layout);
        let mut out = vec![0; VALUES];
        let works: [(&str, Work<'_>); 3] = [
            (
                "encode",
                Box::new(|threads| {
                    let bytes = encode_with(&values, layout, threads, &Watch::NONE);
                    assert!(bytes.expect("encodes") == stream, "other bytes");
                }),
            ),
            (
                "decode",
                Box::new(|threads| {
                    let limits = Limits::default();
                    black_box(
                        decode_with::<i64>(&stream, limits, options, threads, &Watch::NONE)
                            .expect("decodes"),
                    );
                }),
            ),
            (
                "decode_into",
                Box::new(|threads| {
                    decode_into_with(&stream, &mut out, options, threads, &Watch::NONE)
                        .expect("decodes");
                }),
            ),
        ];
        for (direction, mut work) in works {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..rounds {
                for (threads, times) in (1..).zip(&mut times) {
                    let start = Instant::now();
                    work(threads);
                    times.push(start.elapsed());
                }
            }
            let [one, two] = times.map(median);
            let speed = (VALUES * size_of::<i64>()) as f64 / 1e9 / one;
            println!("{direction},{bits}-bit deltas,{VALUES},{speed:.2},{:.2}", one / two);
        }
        assert!(out == values, "other values");
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, Duration::as_secs_f64)
}
