//! latens against five builds of pco 1.1.0 and against other codecs, column by column: sizes and
//! speeds as CSV.
//!
//! ```text
//! cargo run --profile compare -p latens-benches --bin pco_builds -- CORPUS/public OUT.csv [--levels 4,8,12] [--rounds 5] [--only NAME] [--openzl PYTHON]
//! ```
//!
//! Builds the driver in `benches/pco_driver` with each set of flags, then takes turns between the
//! builds and latens, a round at a time, so that a noisy machine is noisy for all. Processor time
//! of one thread, medians of rounds that had [a whole core](cores), numbers ready in memory. `latens` decodes its own file,
//! `latens (pco's file)` what pco has written; every output is compared with the numbers. zstd, lz4,
//! Parquet with zstd, and OpenZL where a Python is named that has it, have lines without a level.

use clap::Parser;
use latens::pco::{self as ours, Config};
use latens::{AnyNumbers, Number};
use latens_benches::{Failure, cores, corpus, peers, reference, timing, with_numbers};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Name and flags of each build: what a user gets who sets none, those that pco's README
/// recommends, all that this processor has, and both without the vectoriser of superwords.
const BUILDS: [(&str, &str); 5] = [
    ("pco flagless", ""),
    ("pco readme", "-C target-feature=+bmi1,+bmi2,+avx2"),
    ("pco native", "-C target-cpu=native"),
    ("pco readme no-slp", "-C target-feature=+bmi1,+bmi2,+avx2 -C no-vectorize-slp"),
    ("pco native no-slp", "-C target-cpu=native -C no-vectorize-slp"),
];

/// latens against five builds of pco 1.1.0 and against other codecs, column by column
#[derive(Parser)]
struct Args {
    /// Columns, as .npy files
    folder: PathBuf,
    /// Where to write the table
    out: PathBuf,
    #[arg(long, value_delimiter = ',', default_values_t = [4, 8, 12])]
    levels: Vec<u32>,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Columns with this in their names
    #[arg(long)]
    only: Option<String>,
    /// A Python that has OpenZL
    #[arg(long)]
    openzl: Option<String>,
}

fn main() -> Result<(), Failure> {
    let Args { folder, out, levels, rounds, only, openzl } = Args::parse();
    let mut openzl = openzl.map(|python| Driver::openzl(&python)).transpose()?;
    let mut drivers = BUILDS.map(Driver::build).into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut csv = std::fs::File::create(out)?;
    writeln!(csv, "column,type,numbers,bins,level,codec,bytes,compress_mb_s,decompress_mb_s")?;
    let raw = std::env::temp_dir().join(format!("pco_builds.{}", std::process::id()));
    let mut totals = vec![Vec::new(); BUILDS.len()];
    for column in corpus::read(&folder, only.as_deref())? {
        std::fs::write(&raw, column.numbers.to_le_bytes())?;
        let (n, ty) = (column.numbers.len(), column.numbers.number_type());
        let megabytes = (n * ty.bytes()) as f64 / 1e6;
        let speed = |seconds: Option<f64>| {
            seconds.map_or(String::new(), |s| format!("{:.1}", megabytes / s))
        };
        let mut put = |level: &str, bins: &str, rows: &[Row]| -> Result<(), Failure> {
            for row in rows {
                let (encode, decode) = (speed(row.encode), speed(Some(row.decode)));
                let (name, codec, bytes) = (&column.name, row.codec, row.bytes);
                writeln!(csv, "{name},{ty},{n},{bins},{level},{codec},{bytes},{encode},{decode}")?;
            }
            Ok(())
        };
        put("", "", &others(&column.numbers, &raw, rounds, openzl.as_mut())?)?;
        for &level in &levels {
            let rows = compare(&column.numbers, &raw, level, rounds, &mut drivers)?;
            let bins = bins(&reference::compress(&column.numbers, level as usize)?)?;
            put(&level.to_string(), &bins.to_string(), &rows)?;
            if level == 8 && bins > 1 {
                for (total, row) in totals.iter_mut().zip(&rows[2..]) {
                    total.push((column.name.clone(), row.decode / rows[1].decode));
                }
            }
            println!("{} level {level}", column.name);
        }
    }
    std::fs::remove_file(&raw)?;
    for ((name, _), ratios) in BUILDS.iter().zip(&totals) {
        let mean = ratios.iter().map(|(_, x)| x.ln()).sum::<f64>() / ratios.len() as f64;
        if let Some((column, least)) = ratios.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
            let mean = mean.exp();
            println!("decoding pco's file: {mean:.2} × {name}, least {least:.2} × ({column})");
        }
    }
    Ok(())
}

/// Most bins of a variable in the first chunk: with one there are no codes.
fn bins(file: &[u8]) -> Result<usize, Failure> {
    let inspection = ours::inspect(file, latens::Limits::default())?;
    let first = inspection.chunks.first();
    Ok(first.and_then(|c| c.latents.iter().map(|l| l.bins.len()).max()).unwrap_or(0))
}

/// One line of the table; medians in seconds.
struct Row {
    codec: &'static str,
    bytes: usize,
    encode: Option<f64>,
    decode: f64,
}

fn compare(
    numbers: &AnyNumbers,
    raw: &Path,
    level: u32,
    rounds: usize,
    drivers: &mut [Driver],
) -> Result<Vec<Row>, Failure> {
    let theirs = reference::compress(numbers, level as usize)?;
    let names = ["latens", "latens (pco's file)"].into_iter().chain(BUILDS.map(|b| b.0));
    let rounds = cores::rounds(1, rounds, || {
        let own = with_numbers!(numbers, v => ours_once(v, &theirs, level)?);
        let others = drivers.iter_mut().map(|driver| driver.ask(numbers, raw, level));
        own.into_iter().map(Ok).chain(others).collect::<Result<Vec<_>, Failure>>()
    })?;
    Ok(rows(names, &rounds.results))
}

/// Codecs that have no levels here.
fn others(
    numbers: &AnyNumbers,
    raw: &Path,
    rounds: usize,
    mut openzl: Option<&mut Driver>,
) -> Result<Vec<Row>, Failure> {
    let mut names = peers::NAMES.to_vec();
    names.extend(openzl.as_ref().map(|_| "OpenZL"));
    let rounds = cores::rounds(1, rounds, || {
        let mut all: Vec<Once> = peers::measure(numbers)?
            .map(|(bytes, encode, decode)| (bytes, Some(encode), decode))
            .into();
        if let Some(driver) = &mut openzl {
            all.push(driver.answer(&format!("{} {}", numbers.number_type(), raw.display()))?);
        }
        Ok::<_, Failure>(all)
    })?;
    Ok(rows(names.into_iter(), &rounds.results))
}

/// Medians of rounds.
fn rows(names: impl Iterator<Item = &'static str>, rounds: &[Vec<Once>]) -> Vec<Row> {
    let median = |mut v: Vec<f64>| {
        v.sort_unstable_by(f64::total_cmp);
        v.get(v.len() / 2).copied()
    };
    let row = |(i, codec): (usize, &'static str)| Row {
        codec,
        bytes: rounds.last().map_or(0, |all| all[i].0),
        encode: median(rounds.iter().filter_map(|all| all[i].1).collect()),
        decode: median(rounds.iter().map(|all| all[i].2).collect()).unwrap_or(f64::NAN),
    };
    names.enumerate().map(row).collect()
}

/// Size, seconds of compressing and of decompressing.
type Once = (usize, Option<f64>, f64);

/// Of our file, and of theirs.
fn ours_once<T: Number>(numbers: &[T], theirs: &[u8], level: u32) -> Result<[Once; 2], Failure> {
    let config = Config::default().level(level);
    let file = ours::compress(numbers, &config)?;
    let seconds = timing::once(&mut || {
        black_box(ours::compress(numbers, &config).map(|f| f.len()).unwrap_or_default());
    });
    let mut dst = numbers.to_vec();
    let mut decode = |file: &[u8]| -> Result<f64, Failure> {
        dst.fill(T::default());
        ours::decompress_into(file, &mut dst)?;
        if dst.iter().zip(numbers).any(|(x, y)| x.to_latent() != y.to_latent()) {
            return Err("the numbers differ".into());
        }
        let run: &mut dyn FnMut() = &mut || {
            black_box(ours::decompress_into(file, &mut dst).is_ok());
        };
        // Once before, as the drivers do: comparing has put other memory into the caches.
        run();
        Ok(timing::once(run))
    };
    Ok([(file.len(), Some(seconds), decode(&file)?), (theirs.len(), None, decode(theirs)?)])
}

/// A build of pco, or OpenZL, running.
struct Driver {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Driver {
    fn build((name, flags): (&str, &str)) -> Result<Self, Failure> {
        let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = benches.join("../target/pco_driver").join(name.replace(' ', "-"));
        let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--release", "--quiet", "--manifest-path"])
            .arg(benches.join("pco_driver/Cargo.toml"))
            .arg("--target-dir")
            .arg(&target)
            .env("RUSTFLAGS", flags)
            .status()?;
        if !status.success() {
            return Err(format!("{name} does not build").into());
        }
        Self::start(&mut Command::new(target.join("release/pco-driver")))
    }

    /// OpenZL, by a Python that has it.
    fn openzl(python: &str) -> Result<Self, Failure> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("openzl_driver.py");
        Self::start(Command::new(python).arg(script))
    }

    fn start(command: &mut Command) -> Result<Self, Failure> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = child.stdin.take().ok_or("no way in")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no way out")?);
        Ok(Self { child, requests, answers })
    }

    /// Size, seconds of compressing and of decompressing.
    fn ask(&mut self, numbers: &AnyNumbers, raw: &Path, level: u32) -> Result<Once, Failure> {
        let ty = numbers.number_type();
        self.answer(&format!("{ty} {} {level} 1", raw.display()))
    }

    fn answer(&mut self, request: &str) -> Result<Once, Failure> {
        writeln!(self.requests, "{request}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let [bytes, encode, decode] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err("a driver gave no answer".into());
        };
        Ok((bytes.parse()?, Some(encode.parse()?), decode.parse()?))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It ends with its input; a failure to stop what has stopped is none.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
