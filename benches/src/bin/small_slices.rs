//! Few numbers of real columns: sizes and compression times of latens and of pco 1.1.0.
//!
//! ```text
//! python3 ../shared/bench/fetch_corpus.py CORPUS
//! cargo run --profile compare -p latens-benches --bin small_slices -- CORPUS/public [MORE] [--level 8] [--n 1000] [--csv OUT]
//! ```
//!
//! Of each column that has so many, the first numbers behind its first third are a file of their own.
//! Checksum trailers are off, so that sizes are of the format alone; every file is decoded by the
//! reference and compared. Seconds are processor time of one thread, the least of some calls by
//! turns. What is printed are geometric means over columns, and the columns that are largest against pco's.

use clap::Parser;
use latens::pco::Config;
use latens::{AnyNumbers, with_number_type};
use latens_benches::{Failure, corpus, reference, timing};
use std::hint::black_box;
use std::path::PathBuf;

const COUNTS: [usize; 6] = [100, 300, 1000, 4096, 1 << 14, 1 << 16];

/// What a slice takes: bytes and seconds, ours and theirs.
struct Row {
    name: String,
    n: usize,
    bytes: [usize; 2],
    seconds: [f64; 2],
}

/// Few numbers of real columns: sizes and compression times of latens and of pco 1.1.0
#[derive(Parser)]
struct Args {
    /// Columns, as .npy files
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    #[arg(long, default_value_t = 8)]
    level: u32,
    /// Numbers of a slice
    #[arg(long = "n", value_delimiter = ',', default_values_t = COUNTS)]
    counts: Vec<usize>,
    /// Where to write the table as well
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let Args { folders, level, counts, csv } = Args::parse();
    let config = Config::default().level(level).checksum(false);
    let mut columns = Vec::new();
    for folder in &folders {
        columns.extend(corpus::read(folder, None)?);
    }
    let mut text = String::from("name,n,latens_bytes,pco_bytes,latens_seconds,pco_seconds\n");
    for n in counts {
        let mut rows = Vec::new();
        for column in columns.iter().filter(|column| column.numbers.len() >= n) {
            rows.push(measure(column, n, level, &config)?);
        }
        for r in &rows {
            text += &format!(
                "{},{},{},{},{:.7},{:.7}\n",
                r.name, r.n, r.bytes[0], r.bytes[1], r.seconds[0], r.seconds[1]
            );
        }
        summary(n, &mut rows);
    }
    if let Some(path) = csv {
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn summary(n: usize, rows: &mut [Row]) {
    let ratio = |r: &Row| r.bytes[0] as f64 / r.bytes[1] as f64;
    let mean = |f: &dyn Fn(&Row) -> f64| {
        (rows.iter().map(|r| f(r).ln()).sum::<f64>() / rows.len() as f64).exp()
    };
    let larger = rows.iter().filter(|r| ratio(r) > 1.005).count();
    println!(
        "{n:6} numbers, {} columns: {:.4} of pco's bytes ({larger} more than 0.5 % larger), {:.2} times as fast, {:.0} us",
        rows.len(),
        mean(&ratio),
        mean(&|r| r.seconds[1] / r.seconds[0]),
        1e6 * mean(&|r| r.seconds[0]),
    );
    rows.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    for r in rows.iter().take(4) {
        println!(
            "       {:32} {:8} {:8} {:+.1} %",
            r.name,
            r.bytes[0],
            r.bytes[1],
            100.0 * (ratio(r) - 1.0)
        );
    }
}

fn measure(column: &corpus::Column, n: usize, level: u32, config: &Config) -> Result<Row, Failure> {
    let ty = column.numbers.number_type();
    let start = (column.numbers.len() / 3).min(column.numbers.len() - n);
    let bytes = column.numbers.to_le_bytes();
    let bytes = &bytes[start * ty.bytes()..][..n * ty.bytes()];
    let numbers = AnyNumbers::from_le_bytes(ty, bytes)?;
    let level = level as usize;
    let ours = compress(&numbers, config)?;
    let theirs = reference::compress(&numbers, level)?;
    if reference::decompress(&ours, &numbers)? != bytes {
        return Err(format!("{}: the reference decodes other numbers", column.name).into());
    }
    let rounds = (1 << 14) / n.max(1 << 10) + 2;
    let mut seconds = [f64::INFINITY; 2];
    for _ in 0..rounds {
        let a = timing::once(&mut || drop(black_box(compress(&numbers, config))));
        let b = timing::once(&mut || drop(black_box(reference::compress(&numbers, level))));
        seconds = [seconds[0].min(a), seconds[1].min(b)];
    }
    Ok(Row { name: column.name.clone(), n, bytes: [ours.len(), theirs.len()], seconds })
}

fn compress(numbers: &AnyNumbers, config: &Config) -> Result<Vec<u8>, Failure> {
    Ok(with_number_type!(numbers.number_type(), T => {
        latens::pco::compress(numbers.as_slice::<T>().ok_or("another type")?, config)?
    }))
}
