//! Sizes of Pco files by latens and by the reference, column by column.
//!
//! ```text
//! python3 ../shared/bench/fetch_corpus.py CORPUS
//! cargo run --profile compare -p latens-benches --bin pco_sizes -- CORPUS/public [--level 8] [--favor balanced] [--only NAME] [--csv OUT]
//! ```
//!
//! Every file of ours is decoded by the reference and compared. Checksum trailers are off, so
//! that both sizes are of the format alone.

use clap::Parser;
use latens::pco::{Config, Favor, standalone};
use latens::{AnyNumbers, with_number_type};
use latens_benches::{Failure, corpus, reference};
use std::path::PathBuf;
use std::time::Instant;

/// One column's figures.
struct Row {
    name: String,
    ty: String,
    n: usize,
    raw: usize,
    ours: usize,
    theirs: usize,
    our_choice: String,
    their_choice: String,
    our_seconds: f64,
    their_seconds: f64,
}

/// Sizes of Pco files by latens and by the reference, column by column
#[derive(Parser)]
struct Args {
    /// Columns, as .npy files
    folder: PathBuf,
    #[arg(long, default_value_t = 8)]
    level: u32,
    #[arg(long, default_value_t)]
    favor: Favor,
    /// Columns with this in their names
    #[arg(long)]
    only: Option<String>,
    /// Where to write the table as well
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let Args { folder, level, favor, only, csv } = Args::parse();
    let config = Config::default().level(level).favor(favor).checksum(false);
    let mut rows = Vec::new();
    for column in corpus::read(&folder, only.as_deref())? {
        let row = measure(&column, &config, level)?;
        println!(
            "{:24} {:4} {:9} ours {:9} theirs {:9} {:+7.2} %  {:.2} s / {:.2} s  {} | {}",
            row.name,
            row.ty,
            row.n,
            row.ours,
            row.theirs,
            100.0 * (row.ours as f64 / row.theirs as f64 - 1.0),
            row.our_seconds,
            row.their_seconds,
            row.our_choice,
            row.their_choice
        );
        rows.push(row);
    }
    let mean = |f: &dyn Fn(&Row) -> f64| {
        (rows.iter().map(|r| f(r).ln()).sum::<f64>() / rows.len() as f64).exp()
    };
    println!(
        "{} columns, level {level}, favor {favor}: geometric mean of ours / theirs {:.4}; ratios {:.4} and {:.4}; seconds {:.1} and {:.1}",
        rows.len(),
        mean(&|r| r.ours as f64 / r.theirs as f64),
        mean(&|r| r.raw as f64 / r.ours as f64),
        mean(&|r| r.raw as f64 / r.theirs as f64),
        rows.iter().map(|r| r.our_seconds).sum::<f64>(),
        rows.iter().map(|r| r.their_seconds).sum::<f64>(),
    );
    if let Some(path) = csv {
        let mut text = String::from(
            "name,type,n,raw_bytes,latens_bytes,pco_bytes,latens_over_pco,latens_choice,pco_choice\n",
        );
        for r in &rows {
            let over = r.ours as f64 / r.theirs as f64;
            text += &format!(
                "{},{},{},{},{},{},{over:.5},{},{}\n",
                r.name, r.ty, r.n, r.raw, r.ours, r.theirs, r.our_choice, r.their_choice
            );
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn measure(column: &corpus::Column, config: &Config, level: u32) -> Result<Row, Failure> {
    let numbers = &column.numbers;
    let started = Instant::now();
    let (file, our_choice) = compress(numbers, config)?;
    let our_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let theirs = reference::compress(numbers, level as usize)?;
    let their_seconds = started.elapsed().as_secs_f64();
    if reference::decompress(&file, numbers)? != numbers.to_le_bytes() {
        return Err(format!("{}: the reference decodes other numbers", column.name).into());
    }
    let decoder = &mut standalone::Decoder::new(&theirs[..], latens::Limits::default())?;
    let their_choice =
        decoder.chunk()?.map_or(String::new(), |c| format!("{}/{}", c.mode, c.delta));
    Ok(Row {
        name: column.name.clone(),
        ty: numbers.number_type().to_string(),
        n: numbers.len(),
        raw: numbers.len() * numbers.number_type().bytes(),
        ours: file.len(),
        theirs: theirs.len(),
        our_choice,
        their_choice,
        our_seconds,
        their_seconds,
    })
}

/// The file, and mode and delta encoding of its first chunk.
fn compress(numbers: &AnyNumbers, config: &Config) -> Result<(Vec<u8>, String), Failure> {
    fn typed<T: latens::Number>(
        numbers: &[T],
        config: &Config,
    ) -> Result<(Vec<u8>, String), Failure> {
        let mut encoder =
            standalone::Encoder::new(Vec::new(), T::TYPE, numbers.len() as u64, config)?;
        let mut choice = String::new();
        let mut rest = numbers;
        for len in config.chunk_lens(numbers.len()) {
            let (chunk, behind) = rest.split_at(len);
            rest = behind;
            let summary = encoder.write_chunk(chunk)?;
            if choice.is_empty() {
                choice = format!("{}/{}", summary.mode, summary.delta);
            }
        }
        Ok((encoder.finish()?, choice))
    }
    with_number_type!(numbers.number_type(), T => match numbers.as_slice::<T>() {
        Some(slice) => typed(slice, config),
        None => Err("a type that is not its own".into()),
    })
}
