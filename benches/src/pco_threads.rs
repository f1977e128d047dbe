//! Two threads against one on files of several chunks.

use crate::cores::{Gain, two_threads};
use crate::{Failure, corpus, with_numbers};
use latens::pco as ours;
use latens::{Limits, Number};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

/// Two threads against one on files of several chunks: decoding into a ready buffer, with the table of
/// chunks in the trailer and without, and compressing at level 8. The least time of all rounds by the
/// clock, as both threads need a processor of their own at once, and by that of the processors, which other programs
/// leave as it is: twice what one thread takes against what two take together, as if none ever waited.
/// Rounds count that had [two whole cores](crate::cores), and of how many they were is said beside; columns where these
/// were less than half of `rounds` do not count in the means.
///
/// Columns are cut into 4 to 8 chunks. With `long` they are made so many numbers long, by their own numbers from another
/// one on each time, and cut as by default. `csv` gets a line for each column.
///
/// # Errors
/// What either library says, and numbers that differ.
pub fn threads(
    folder: &Path,
    only: Option<&str>,
    rounds: usize,
    long: Option<usize>,
    csv: Option<&Path>,
) -> Result<(), Failure> {
    const WHAT: [&str; 3] = ["table", "no table", "compress"];
    let mut all = [const { Vec::new() }; WHAT.len()];
    let mut lines = String::from("column,type,numbers,chunks,what,clock,processors,rounds,of\n");
    for column in corpus::read(folder, only)? {
        let n = long.unwrap_or(column.numbers.len());
        let mut config = ours::Config::default();
        if long.is_none() {
            config = config.chunk_n(n.div_ceil(8).max(1 << 16));
        }
        let chunks = config.chunk_lens(n).count();
        if chunks < 4 {
            continue;
        }
        let gains = with_numbers!(&column.numbers, v => {
            let v: Vec<_> = (0..n).map(|i| v[(i + i / v.len() * SHIFT) % v.len()]).collect();
            [
                decoding(&v, &config, true, rounds)?,
                decoding(&v, &config, false, rounds)?,
                compressing(&v, &config, rounds)?,
            ]
        });
        let (name, ty) = (&column.name, column.numbers.number_type());
        print!("{name:24} {chunks:3} chunks");
        for ((what, gain), all) in WHAT.iter().zip(gains).zip(&mut all) {
            let Gain { clock, processors, counted, tried, .. } = gain;
            print!("   {what} {clock:4.2} × ({processors:4.2}) {counted:2} of {tried:2}");
            let _ = writeln!(
                lines,
                "{name},{ty},{n},{chunks},{what},{clock:.2},{processors:.2},{counted},{tried}"
            );
            all.push(gain);
        }
        println!();
    }
    print!("geometric means");
    for (what, all) in WHAT.iter().zip(&all) {
        let all: Vec<_> = all.iter().filter(|gain| gain.is_fair).collect();
        let mean = |of: fn(&Gain) -> f64| {
            (all.iter().map(|gain| of(gain).ln()).sum::<f64>() / all.len() as f64).exp()
        };
        let (clock, processors) = (mean(|g| g.clock), mean(|g| g.processors));
        print!("   {what} {clock:4.2} × ({processors:4.2}) of {} columns", all.len());
    }
    println!();
    if let Some(csv) = csv {
        std::fs::write(csv, lines)?;
    }
    Ok(())
}

/// By how many numbers further a long column begins its own again.
const SHIFT: usize = 7919;

fn decoding<T: Number>(
    numbers: &[T],
    config: &ours::Config,
    table: bool,
    rounds: usize,
) -> Result<Gain, Failure> {
    let file = ours::compress(numbers, &config.clone().level(4).checksum(table))?;
    let (limits, mut found) = (Limits::default(), vec![T::default(); numbers.len()]);
    let gain = two_threads(rounds, |threads| {
        let done =
            ours::decompress_into_with(&file, &mut found, limits, threads, &latens::Watch::NONE)?;
        black_box(done);
        Ok(())
    })?;
    if found.iter().zip(numbers).any(|(x, y)| x.to_latent() != y.to_latent()) {
        return Err("the numbers differ".into());
    }
    Ok(gain)
}

fn compressing<T: Number>(
    numbers: &[T],
    config: &ours::Config,
    rounds: usize,
) -> Result<Gain, Failure> {
    let gain = two_threads(rounds, |threads| {
        black_box(ours::compress_with(numbers, config, threads, &latens::Watch::NONE)?);
        Ok(())
    })?;
    Ok(gain)
}
