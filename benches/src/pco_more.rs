//! Decoding what whole columns do not show: Conv1, threads.

use crate::{corpus, timing, with_numbers};
use cpu_time::ProcessTime;
use latens::pco as ours;
use latens::{Limits, Number};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

/// A made-up signal of 16 and 32 bits, encoded by the reference with Conv1 of each order.
///
/// # Errors
/// What either library says, and numbers that differ.
pub fn conv1(rounds: usize) -> Result<(), Failure> {
    // The reference panics where the count mod 256 is below the order.
    const N: usize = 1 << 18;
    let wave = |i: usize| {
        let t = i as f64;
        let noise = (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as f64;
        9000.0 * (t * 0.013).sin() + 5000.0 * (t * 0.071).sin() + noise
    };
    #[expect(clippy::cast_possible_truncation, reason = "a wave within 16 bits")]
    let small: Vec<i16> = (0..N).map(|i| wave(i) as i16).collect();
    #[expect(clippy::cast_possible_truncation, reason = "a wave within 32 bits")]
    let large: Vec<i32> = (0..N).map(|i| (wave(i) * 1000.0) as i32).collect();
    for order in [1, 2, 4, 8, 12, 16, 24, 32] {
        let (a, b) = (conv1_ratio(&small, order, rounds)?, conv1_ratio(&large, order, rounds)?);
        println!(
            "order {order:2}: i16 {:5.0} / {:5.0} MB/s {:5.2} ×   i32 {:5.0} / {:5.0} MB/s {:5.2} ×",
            a.0,
            a.1,
            a.0 / a.1,
            b.0,
            b.1,
            b.0 / b.1
        );
    }
    Ok(())
}

/// MB/s of ours and theirs.
fn conv1_ratio<T: Number + ::pco::data_types::Number>(
    numbers: &[T],
    order: usize,
    rounds: usize,
) -> Result<(f64, f64), Failure> {
    let config = ::pco::ChunkConfig::default()
        .with_delta_spec(::pco::DeltaSpec::TryConv1(order))
        .with_mode_spec(::pco::ModeSpec::Classic);
    let file = ::pco::standalone::simple_compress(numbers, &config)?;
    let delta = ours::inspect(&file[..], Limits::default())?;
    if !delta.chunks.iter().all(|c| c.info.delta.to_string().starts_with("conv1")) {
        return Err(format!("the reference did not take Conv1 of order {order}").into());
    }
    let mut a = vec![T::default(); numbers.len()];
    let mut b = a.clone();
    let times = timing::medians(
        rounds,
        &mut [
            &mut || {
                black_box(ours::decompress_into(&file, &mut a).is_ok());
            },
            &mut || {
                black_box(::pco::standalone::simple_decompress_into(&file, &mut b).is_ok());
            },
        ],
    );
    if a.iter().zip(numbers).any(|(x, y)| x.to_latent() != y.to_latent()) {
        return Err("the numbers differ".into());
    }
    let megabytes = std::mem::size_of_val(numbers) as f64 / 1e6;
    Ok((megabytes / times[0], megabytes / times[1]))
}

/// Two threads against one on files of several chunks: decoding into a ready buffer, with the table of
/// chunks in the trailer and without, and compressing at level 8. The least time of all rounds by the
/// clock, as both threads need a processor of their own at once, and by that of the processors, which other programs
/// leave as it is: twice what one thread takes against what two take together, as if none ever waited.
/// Beside it threads that only calculate, as long as the decoding with a table and in as many pieces.
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
    const WHAT: [&str; 4] = ["table", "no table", "compress", "calculate"];
    let mut all = [const { Vec::new() }; WHAT.len()];
    let mut lines = String::from("column,type,numbers,chunks,what,clock,processors\n");
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
            let (table, seconds) = decoding(&v, &config, true, rounds)?;
            let (none, _) = decoding(&v, &config, false, rounds)?;
            [table, none, compressing(&v, &config, rounds)?, calculating(seconds, chunks, rounds)?]
        });
        let (name, ty) = (&column.name, column.numbers.number_type());
        print!("{name:24} {chunks:3} chunks");
        for ((what, gain), all) in WHAT.iter().zip(gains).zip(&mut all) {
            let Gain { clock, processors } = gain;
            print!("   {what} {clock:4.2} × ({processors:4.2})");
            let _ = writeln!(lines, "{name},{ty},{n},{chunks},{what},{clock:.2},{processors:.2}");
            all.push(gain);
        }
        println!();
    }
    print!("geometric means");
    for (what, all) in WHAT.iter().zip(&all) {
        let mean = |of: fn(&Gain) -> f64| {
            (all.iter().map(|gain| of(gain).ln()).sum::<f64>() / all.len() as f64).exp()
        };
        print!("   {what} {:4.2} × ({:4.2})", mean(|g| g.clock), mean(|g| g.processors));
    }
    println!();
    if let Some(csv) = csv {
        std::fs::write(csv, lines)?;
    }
    Ok(())
}

/// How many times as fast two threads are as one.
struct Gain {
    clock: f64,
    processors: f64,
}

/// By how many numbers further a long column begins its own again.
const SHIFT: usize = 7919;

/// With the least seconds of one thread.
fn decoding<T: Number>(
    numbers: &[T],
    config: &ours::Config,
    table: bool,
    rounds: usize,
) -> Result<(Gain, f64), Failure> {
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
    let (gain, _) = two_threads(rounds, |threads| {
        black_box(ours::compress_with(numbers, config, threads, &latens::Watch::NONE)?);
        Ok(())
    })?;
    Ok(gain)
}

/// Threads that take pieces of work which is a chain of divisions, `seconds` of it on one thread.
fn calculating(seconds: f64, pieces: usize, rounds: usize) -> Result<Gain, Failure> {
    const STEPS: u32 = 1 << 16;
    let piece = |steps: u64| {
        black_box((1..=steps).fold(u64::MAX, |x, i| (black_box(x) / i) | (1 << 63)));
    };
    let mut least = f64::INFINITY;
    for _ in 0..=rounds {
        let started = Instant::now();
        piece(STEPS.into());
        least = least.min(started.elapsed().as_secs_f64());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let steps = (seconds / pieces as f64 / least * f64::from(STEPS)) as u64;
    let (gain, _) = two_threads(rounds, |threads| {
        let next = AtomicUsize::new(0);
        let work = || {
            while next.fetch_add(1, Ordering::Relaxed) < pieces {
                piece(steps);
            }
        };
        std::thread::scope(|scope| {
            (1..threads).for_each(|_| {
                scope.spawn(work);
            });
            work();
        });
        Ok(())
    })?;
    Ok(gain)
}

/// What two threads gain by the least times of both, and the least seconds of one.
fn two_threads(
    rounds: usize,
    mut run: impl FnMut(usize) -> Result<(), Failure>,
) -> Result<(Gain, f64), Failure> {
    let mut best = [[f64::INFINITY; 2]; 2];
    for _ in 0..=rounds {
        for (threads, best) in [1, 2].into_iter().zip(&mut best) {
            let (started, used) = (Instant::now(), ProcessTime::now());
            run(threads)?;
            let times = [started.elapsed().as_secs_f64(), used.elapsed().as_secs_f64()];
            best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
        }
    }
    let [one, two] = best;
    Ok((Gain { clock: one[0] / two[0], processors: 2.0 * one[1] / two[1] }, one[0]))
}
