//! DELTA_BINARY_PACKED: `latens` on every instruction set present, the `parquet` crate, memcpy.
//!
//! ```sh
//! cargo run --profile compare -p latens-benches-parquet > benches/results/delta_binary_packed.csv
//! ```
//! One thread. All contenders for one input take turns in one process, round by round; what is
//! printed are medians over the rounds, in GB of numbers (10^9 bytes) a second, and the median's
//! ratio to the `parquet` crate's. `--rounds` are 15. With `--threads`
//! one thread is measured against two, without peers, which have no such thing.

#![allow(clippy::expect_used, reason = "a comparison that fails had better stop")]

mod threads;

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Parser;
use latens::delta_binary_packed::{Decoder, Element, Layout, Options, decode_into, encode_into};
use latens_kernels::dispatch::Simd;
use parquet::data_type::{Int32Type, Int64Type};
use parquet::encodings::decoding::{Decoder as _, DeltaBitPackDecoder};
use parquet::encodings::encoding::{DeltaBitPackEncoder, Encoder as _};

/// One thing that is timed: a name, and a closure that does the work once.
type Contender<'a> = (String, Box<dyn FnMut() + 'a>);

/// DELTA_BINARY_PACKED by latens, by the `parquet` crate, and memcpy
#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// One thread against two, without peers
    #[arg(long)]
    threads: bool,
}

fn main() {
    let Args { rounds, threads } = Args::parse();
    if threads {
        return threads::run(rounds);
    }
    let bench = Bench { rounds };
    println!("direction,type,data,values,contender,gb_per_s,ratio_to_parquet,encoded_bytes");
    for count in [1 << 16, 1 << 22] {
        for bits in [7, 14, 21, 30] {
            bench.run::<i64>(&format!("{bits}-bit deltas"), &walk64(count, bits));
        }
        bench.run::<i64>("constant steps", &ramp(count));
        bench.run::<i64>("random", &random(count));
        for bits in [6, 14, 22] {
            bench.run::<i32>(&format!("{bits}-bit deltas"), &narrow(&walk64(count, bits)));
        }
        bench.run::<i32>("constant steps", &narrow(&ramp(count)));
        bench.run::<i32>("random", &narrow(&random(count)));
    }
}

/// The `parquet` crate on one of our types.
trait Peer: Element {
    fn decode(page: &Bytes, out: &mut [Self]) -> usize;
    fn encode(values: &[Self]) -> Bytes;
}

macro_rules! impl_peer {
    ($t:ty, $parquet:ty) => {
        impl Peer for $t {
            fn decode(page: &Bytes, out: &mut [Self]) -> usize {
                let mut decoder = DeltaBitPackDecoder::<$parquet>::new();
                decoder.set_data(page.clone(), out.len()).expect("set_data");
                decoder.get(out).expect("get")
            }
            fn encode(values: &[Self]) -> Bytes {
                let mut encoder = DeltaBitPackEncoder::<$parquet>::new();
                encoder.put(values).expect("put");
                encoder.flush_buffer().expect("flush")
            }
        }
    };
}

impl_peer!(i32, Int32Type);
impl_peer!(i64, Int64Type);

struct Bench {
    rounds: usize,
}

impl Bench {
    fn run<T: Peer>(&self, data: &str, values: &[T]) {
        let page = T::encode(values);
        let mut ours = Vec::new();
        encode_into(values, Layout::default_for::<T>(), &mut ours);
        assert_eq!(ours, page, "the bytes are the same");

        let n = values.len();
        let mut outs = vec![vec![T::default(); n]; 6];
        let [o1, o2, o3, o4, o5, o6] = &mut outs[..] else { unreachable!() };
        let mut contenders: Vec<Contender<'_>> =
            vec![("parquet".into(), Box::new(|| assert_eq!(T::decode(&page, black_box(o1)), n)))];
        for (simd, out) in Simd::available().into_iter().zip([o2, o3, o4]) {
            let page = &page;
            contenders.push((
                format!("latens {}", simd.name()),
                Box::new(move || {
                    let decoder = Decoder::<T>::new(page, Options::default()).expect("new");
                    assert_eq!(decoder.with_simd(simd).read(black_box(out)).expect("read"), n);
                }),
            ));
        }
        contenders.push((
            "latens".into(),
            Box::new(|| {
                let done = decode_into(&page, black_box(o6), Options::default()).expect("decode");
                assert_eq!(done.count, n);
            }),
        ));
        contenders
            .push(("memcpy".into(), Box::new(|| black_box(&mut *o5).copy_from_slice(values))));
        self.compare::<T>("decode", data, n, page.len(), contenders);
        assert!(
            outs.iter().all(|out| out[..] == values[..] || out.iter().all(|&x| x == T::default()))
        );

        let mut out = Vec::with_capacity(2 * ours.len() + 100);
        let contenders: Vec<Contender<'_>> = vec![
            (
                "parquet".into(),
                Box::new(|| {
                    black_box(T::encode(black_box(values)));
                }),
            ),
            (
                "latens".into(),
                Box::new(|| {
                    out.clear();
                    encode_into(black_box(values), Layout::default_for::<T>(), &mut out);
                    black_box(&out);
                }),
            ),
        ];
        self.compare::<T>("encode", data, n, ours.len(), contenders);
    }

    fn compare<T>(
        &self,
        direction: &str,
        data: &str,
        n: usize,
        size: usize,
        mut contenders: Vec<Contender<'_>>,
    ) {
        // About a millisecond a turn, so that the clock's grain does not count.
        let repeats = ((1 << 18) / n).max(1);
        let mut times = vec![Vec::new(); contenders.len()];
        for round in 0..self.rounds + 2 {
            for ((_, work), times) in contenders.iter_mut().zip(&mut times) {
                let start = Instant::now();
                for _ in 0..repeats {
                    work();
                }
                if round >= 2 {
                    times.push(start.elapsed());
                }
            }
        }
        let medians: Vec<Duration> = times
            .iter_mut()
            .map(|times| {
                times.sort();
                times[times.len() / 2]
            })
            .collect();
        for ((name, _), time) in contenders.iter().zip(&medians) {
            let gigabytes = (repeats * n * size_of::<T>()) as f64 / 1e9;
            println!(
                "{direction},i{},{data},{n},{name},{:.2},{:.2},{size}",
                8 * size_of::<T>(),
                gigabytes / time.as_secs_f64(),
                medians[0].as_secs_f64() / time.as_secs_f64(),
            );
        }
    }
}

/// Numbers that look random, the same on every run.
fn noise() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Steps of up to `bits` bits: the width of nearly all miniblocks.
fn walk64(count: usize, bits: u32) -> Vec<i64> {
    let mut next = noise();
    let mut value = 1_700_000_000i64;
    let step = |x: u64| (x >> (64 - bits)).cast_signed();
    (0..count)
        .map(|_| {
            value = value.wrapping_add(step(next()));
            value
        })
        .collect()
}

fn ramp(count: usize) -> Vec<i64> {
    (0..count as i64).map(|i| 1_000_000 + 25 * i).collect()
}

fn random(count: usize) -> Vec<i64> {
    let mut next = noise();
    (0..count).map(|_| next().cast_signed()).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
fn narrow(values: &[i64]) -> Vec<i32> {
    values.iter().map(|&v| v as i32).collect()
}
