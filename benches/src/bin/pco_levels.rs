//! Sizes of Pco files by level: how often a higher one is larger than a lower one, and by how much.
//!
//! ```text
//! cargo run --profile compare -p latens-benches --bin pco_levels -- CORPUS/public [--favor balanced] [--only NAME] [--within 0.1] [--csv OUT]
//! ```
//!
//! All levels, and all pairs of them. Ends with 1 where a pair is further apart than `--within` percent.

use clap::Parser;
use latens::pco::{self, Config, Favor};
use latens_benches::{Failure, corpus, with_numbers};
use std::path::PathBuf;
use std::process::ExitCode;

const LEVELS: std::ops::RangeInclusive<u32> = 0..=pco::MAX_LEVEL;

/// Sizes of Pco files by level
#[derive(Parser)]
struct Args {
    /// Columns, as .npy files
    folder: PathBuf,
    /// One of them; all three otherwise
    #[arg(long)]
    favor: Option<Favor>,
    /// Columns with this in their names
    #[arg(long)]
    only: Option<String>,
    /// Percent that a higher level may be larger
    #[arg(long, default_value_t = 0.1)]
    within: f64,
    /// Where to write all sizes
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn main() -> Result<ExitCode, Failure> {
    let args = Args::parse();
    let favors = match args.favor {
        Some(favor) => vec![favor],
        None => vec![Favor::Speed, Favor::Balanced, Favor::Size],
    };
    let columns = corpus::read(&args.folder, args.only.as_deref())?;
    let heads: Vec<String> = LEVELS.map(|level| format!("level_{level}")).collect();
    let mut csv = format!("favor,name,{}\n", heads.join(","));
    let (mut pairs, mut above) = (0, 0);
    for &favor in &favors {
        let mut sums = vec![0; heads.len()];
        for column in &columns {
            let mut sizes = Vec::new();
            for level in LEVELS {
                let config = Config::default().level(level).favor(favor).checksum(false);
                let file = with_numbers!(&column.numbers, v => pco::compress(v, &config)?);
                sizes.push(file.len());
            }
            for (high, &larger) in sizes.iter().enumerate() {
                for (low, &smaller) in sizes[..high].iter().enumerate() {
                    let percent = 100.0 * (larger as f64 / smaller as f64 - 1.0);
                    pairs += 1;
                    if percent > args.within {
                        above += 1;
                        println!(
                            "{:24} favor {favor}: level {low} {smaller}, level {high} {larger}, {percent:+.2} %",
                            column.name
                        );
                    }
                }
            }
            sums.iter_mut().zip(&sizes).for_each(|(sum, size)| *sum += size);
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            csv += &format!("{favor},{},{}\n", column.name, sizes.join(","));
        }
        println!("favor {favor}: bytes of all columns by level {sums:?}");
    }
    println!(
        "{} columns: of {pairs} pairs of levels the higher one is larger by more than {} % in {above}",
        columns.len(),
        args.within
    );
    if let Some(path) = args.csv {
        std::fs::write(path, csv)?;
    }
    Ok(if above == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
