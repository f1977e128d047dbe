//! Speed of latens against the reference in one process, one thread, column by column.
//!
//! ```text
//! cargo run --profile compare -p latens-benches --bin pco_speed -- CORPUS/public [--level 8] [--only NAME] [--rounds 5] [--decode] [--own]
//! cargo run --profile compare -p latens-benches --bin pco_speed -- --conv1 [--rounds 5]
//! cargo run --profile compare -p latens-benches --bin pco_speed -- --pages CORPUS/public [--rounds 5] [--csv OUT.csv]
//! cargo run --profile compare -p latens-benches --bin pco_speed -- --threads CORPUS/public [--rounds 5] [--long N] [--csv OUT.csv]
//! ```
//!
//! Decoding: both decode the file that the reference writes, with `--own` each the file that it
//! writes itself (ours with its checksums), into a ready buffer. Compressing:
//! both from memory to memory, unless `--decode` leaves it out. The reference is built with the
//! flags of this program, i.e. none. `--conv1` decodes a made-up signal that the reference has
//! encoded with Conv1 of orders 1 to 32; `--pages` decodes pages of 1,024 numbers out of wrapped
//! chunks of 2^18, one by one and all in one call; `--threads` holds two threads against one, with `--long` on
//! columns made so many numbers long.

use clap::Parser;
use latens::pco::{self as ours, Config};
use latens::{Number, with_number_type};
use latens_benches::{
    Failure, corpus, pco_conv1, pco_pages, pco_threads, reference, timing, with_numbers,
};
use std::hint::black_box;
use std::path::PathBuf;

/// Speed of latens against the reference in one process, one thread, column by column
#[derive(Parser)]
struct Args {
    /// Columns, as .npy files
    #[arg(required_unless_present = "conv1")]
    folder: Option<PathBuf>,
    #[arg(long, default_value_t = 8)]
    level: u32,
    /// Columns with this in their names
    #[arg(long)]
    only: Option<String>,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Decoding alone
    #[arg(long)]
    decode: bool,
    /// Each decodes the file that it writes itself
    #[arg(long)]
    own: bool,
    /// A made-up signal, encoded by the reference with linear predictions of orders 1 to 32
    #[arg(long, group = "what")]
    conv1: bool,
    /// Pages of 1,024 numbers, one by one and all in one call
    #[arg(long, group = "what")]
    pages: bool,
    /// Two threads against one
    #[arg(long, group = "what")]
    threads: bool,
    /// Numbers that columns are made long, for threads
    #[arg(long, requires = "threads")]
    long: Option<usize>,
    /// Where to write the table as well, of pages and threads
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let Args { level, rounds, decode: decode_only, own, .. } = args;
    let (only, csv) = (args.only.as_deref(), args.csv.as_deref());
    let Some(folder) = args.folder.filter(|_| !args.conv1) else {
        return pco_conv1::conv1(rounds);
    };
    if args.pages {
        return pco_pages::pages(&folder, only, rounds, csv);
    }
    if args.threads {
        return pco_threads::threads(&folder, only, rounds, args.long, csv);
    }
    let (mut decode, mut encode) = (Vec::new(), Vec::new());
    for column in corpus::read(&folder, only)? {
        let numbers = &column.numbers;
        let megabytes = (numbers.len() * numbers.number_type().bytes()) as f64 / 1e6;
        let theirs = reference::compress(numbers, level as usize)?;
        let config = Config::default().level(level);
        let file = if own {
            with_numbers!(numbers, v => ours::compress(v, &config)?)
        } else {
            theirs.clone()
        };
        let d = with_numbers!(numbers, v => decode_times(v, &file, &theirs, rounds)?);
        if decode_only {
            println!(
                "{:24} decode {:7.0} / {:7.0} MB/s {:5.2} ×   {}",
                column.name,
                megabytes / d[0],
                megabytes / d[1],
                d[1] / d[0],
                describe(&file)?
            );
            decode.push(d[1] / d[0]);
            continue;
        }
        let mut compress_ours = || {
            let file = with_number_type!(numbers.number_type(), T => match numbers.as_slice::<T>() {
                Some(slice) => ours::compress(slice, &config),
                None => Ok(Vec::new()),
            });
            black_box(file.map(|f| f.len()).unwrap_or_default());
        };
        let mut compress_theirs = || {
            black_box(
                reference::compress(numbers, level as usize).map(|f| f.len()).unwrap_or_default(),
            );
        };
        let e = timing::medians(rounds.min(3), &mut [&mut compress_ours, &mut compress_theirs]);
        println!(
            "{:24} decode {:7.0} / {:7.0} MB/s {:5.2} ×   compress {:6.0} / {:6.0} MB/s {:5.2} ×",
            column.name,
            megabytes / d[0],
            megabytes / d[1],
            d[1] / d[0],
            megabytes / e[0],
            megabytes / e[1],
            e[1] / e[0]
        );
        decode.push(d[1] / d[0]);
        encode.push(e[1] / e[0]);
    }
    let mean = |v: &[f64]| (v.iter().map(|x| x.ln()).sum::<f64>() / v.len() as f64).exp();
    println!("geometric means: decode {:.3} ×, compress {:.3} ×", mean(&decode), mean(&encode));
    Ok(())
}

/// Mode, delta encoding and bins of a file's first chunk.
fn describe(file: &[u8]) -> Result<String, Failure> {
    let inspection = ours::inspect(file, latens::Limits::default())?;
    let Some(chunk) = inspection.chunks.first() else { return Ok(String::new()) };
    let bins = chunk.latents.iter().map(|latent| {
        let share = |weight: u32| f64::from(weight) / f64::from(latent.table_log).exp2();
        let bits: f64 =
            latent.bins.iter().map(|b| share(b.weight) * f64::from(b.offset_bits)).sum();
        let most = latent.bins.iter().map(|b| b.offset_bits).max().unwrap_or(0);
        format!("{} of 2^{}, offsets {bits:.1} to {most}", latent.bins.len(), latent.table_log)
    });
    let bins: Vec<String> = bins.collect();
    Ok(format!("{} {} [{}]", chunk.info.mode, chunk.info.delta, bins.join("; ")))
}

/// Median seconds of ours for `file` and of theirs for `theirs`.
fn decode_times<T: Number + ::pco::data_types::Number>(
    numbers: &[T],
    file: &[u8],
    theirs: &[u8],
    rounds: usize,
) -> Result<Vec<f64>, Failure> {
    let mut a = vec![T::default(); numbers.len()];
    let mut b = a.clone();
    if ours::decompress_into(file, &mut a)?.count != numbers.len() {
        return Err("the count differs".into());
    }
    let mut run_ours = || {
        black_box(ours::decompress_into(file, &mut a).map(|d| d.count).unwrap_or_default());
    };
    let mut run_theirs = || {
        black_box(
            ::pco::standalone::simple_decompress_into(theirs, &mut b)
                .map(|p| p.n_processed)
                .unwrap_or_default(),
        );
    };
    let times = timing::medians(rounds, &mut [&mut run_ours, &mut run_theirs]);
    if a.iter().zip(numbers).any(|(x, y)| x.to_latent() != y.to_latent()) {
        return Err("the numbers differ".into());
    }
    Ok(times)
}
