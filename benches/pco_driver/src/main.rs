//! `pco` behind a line protocol: one line in, one line out.
//!
//! In: `TYPE PATH LEVEL ROUNDS`, where PATH holds little-endian numbers. Out: the size in bytes,
//! then the seconds of processor time of each round of compression, then those of decompression
//! into a ready buffer.

use cpu_time::ThreadTime;
use pco::ChunkConfig;
use pco::data_types::Number;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let [ty, path, level, rounds] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("not a request: {line}").into());
        };
        let bytes = std::fs::read(path)?;
        let (level, rounds) = (level.parse()?, rounds.parse()?);
        macro_rules! answer {
            ($($t:ident)*) => {
                match ty {
                    $(stringify!($t) => {
                        let of = |b: &[u8]| b.try_into().map($t::from_le_bytes);
                        let pieces = bytes.chunks_exact(size_of::<$t>());
                        run(&pieces.map(of).collect::<Result<Vec<$t>, _>>()?, level, rounds)?
                    })*
                    _ => return Err(format!("unknown type {ty}").into()),
                }
            };
        }
        writeln!(out, "{}", answer!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64))?;
        out.flush()?;
    }
    Ok(())
}

fn run<T: Number>(numbers: &[T], level: usize, rounds: usize) -> Result<String, Box<dyn Error>> {
    let config = ChunkConfig::default().with_compression_level(level).with_enable_8_bit(true);
    let mut file = pco::standalone::simple_compress(numbers, &config)?;
    let mut buffer = numbers.to_vec();
    let mut decode = || {
        let started = ThreadTime::now();
        let progress = pco::standalone::simple_decompress_into(&file, &mut buffer);
        black_box(progress.is_ok());
        started.elapsed().as_secs_f64()
    };
    decode();
    let decoding: Vec<f64> = (0..rounds).map(|_| decode()).collect();
    let mut encoding = Vec::new();
    for _ in 0..rounds.min(3) {
        let started = ThreadTime::now();
        file = black_box(pco::standalone::simple_compress(numbers, &config)?);
        encoding.push(started.elapsed().as_secs_f64());
    }
    let list = |v: &[f64]| v.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    Ok(format!("{} {} {}", file.len(), list(&encoding), list(&decoding)))
}
