//! Millions of damaged inputs, deterministic, with every decoder and with peers.
//!
//! ```text
//! robustness run [--cases N] [--seed S] [--threads T] [--only A,B] [--peers] [--table FILE]
//! robustness one TARGET SEED CASE WANTED        prints one case's bytes and runs it here
//! robustness heavy [N [PART]]                   (every Nth of) small inputs that stand for much, or
//!                                               one by one those with PART in their names
//! robustness seeds FOLDER                       writes the fuzz targets' seeds
//! ```
//! Peers get a twentieth of the cases, or with `--only` as many. Exit code 1 where one of ours
//! panics, dies, hangs or breaks a rule.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use clap::Parser;
use latens_robustness::case::Cases;
use latens_robustness::common::counting::Counting;
use latens_robustness::heavy;
use latens_robustness::supervisor::{self, Outcome};
use latens_robustness::target::{self, Target};
use latens_robustness::worker::{self, Range};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

// AddressSanitizer brings an allocator of its own, and sees more where nothing stands in between.
#[cfg(not(sanitized))]
#[global_allocator]
static ALLOCATOR: Counting = Counting;
#[cfg(sanitized)]
const _: Counting = Counting;

/// Millions of damaged inputs, deterministic, with every decoder and with peers
#[derive(Parser)]
enum Args {
    /// All targets, or some
    Run(Run),
    /// Prints one case's bytes and runs it here
    One { target: String, seed: u64, case: usize, wanted: usize },
    /// Small inputs that stand for much
    Heavy {
        /// Every so many of them
        #[arg(default_value_t = 1)]
        thin: usize,
        /// One by one those with this in their names
        part: Option<String>,
    },
    /// Writes the fuzz targets' seeds
    Seeds { folder: PathBuf },
    /// What a run starts
    #[command(hide = true)]
    Worker {
        target: String,
        from: usize,
        step: usize,
        wanted: usize,
        seed: u64,
        progress: PathBuf,
        findings: PathBuf,
    },
}

#[derive(clap::Args)]
struct Run {
    #[arg(long, default_value_t = 1_000_000)]
    cases: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Of this machine's cores, all without
    #[arg(long)]
    threads: Option<usize>,
    /// Targets by name
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The peers as well
    #[arg(long)]
    peers: bool,
    /// A document whose tables are to be made anew
    #[arg(long)]
    table: Option<PathBuf>,
}

fn main() -> ExitCode {
    let named = |name: &str| target::find(name).expect("a target");
    match Args::parse() {
        Args::Worker { target, from, step, wanted, seed, progress, findings } => {
            let range = Range { from, step, wanted, seed };
            worker::run(&named(&target), range, &progress, &findings).unwrap();
            ExitCode::SUCCESS
        }
        Args::One { target, seed, case, wanted } => {
            let target = named(&target);
            let cases = Cases::new((target.grounds)(), target.recipe, seed);
            let case = cases.case(case, wanted);
            eprintln!(
                "{} of {} ({})",
                case.strategy.name(),
                case.ground.name,
                case.ground.selector
            );
            std::io::stdout().write_all(&case.bytes).unwrap();
            eprintln!("{:?}", (target.body)(case.ground.selector, &case.bytes));
            ExitCode::SUCCESS
        }
        Args::Heavy { thin, part: Some(part) } => {
            heavy::list(thin, &part).for_each(|line| println!("{line}"));
            ExitCode::SUCCESS
        }
        Args::Heavy { thin, part: None } => {
            let heavy::Shown { table, wrong, known } = heavy::table(thin);
            println!("{table}\n{} are known to be slow", known.len());
            known.iter().for_each(|line| println!("  {line}"));
            println!("{} findings", wrong.len());
            wrong.iter().for_each(|line| println!("  {line}"));
            ExitCode::from(u8::from(!wrong.is_empty()))
        }
        Args::Seeds { folder } => {
            seeds(&folder);
            ExitCode::SUCCESS
        }
        Args::Run(run) => run.all(),
    }
}

impl Run {
    fn all(self) -> ExitCode {
        let Run { cases, seed, threads, only, peers, table } = self;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(cores);
        let mut text = String::new();
        let mut bad = 0;
        let groups = [("latens", target::ours()), ("peers", target::peers())];
        for (what, targets) in groups.into_iter().take(1 + usize::from(peers)) {
            let mut rows: Vec<(String, Outcome)> = Vec::new();
            for target in targets {
                if !only.is_empty() && !only.iter().any(|name| name == target.name) {
                    continue;
                }
                // Peers hang for seconds at a time: a twentieth tells enough of them.
                let all = if what == "peers" { cases / 20 } else { cases };
                let wanted =
                    if only.is_empty() { (all * target.share).div_ceil(1000) } else { cases };
                let outcome = supervisor::run(&target, wanted, seed, threads).unwrap();
                say(&target, &outcome);
                bad += if what == "latens" { outcome.tally.bad() } else { 0 };
                rows.push((target.name.to_owned(), outcome));
            }
            text += &format!("### {what}\n\n{}\n", latens_robustness::table::table(&rows));
        }
        if let Some(path) = table {
            std::fs::write(
                &path,
                within(&std::fs::read_to_string(&path).unwrap_or_default(), &text),
            )
            .unwrap();
        }
        println!("{text}");
        println!("{bad} findings");
        ExitCode::from(u8::from(bad > 0))
    }
}

/// The old text with what stands between its two marks replaced; the tables alone where it has none.
fn within(old: &str, tables: &str) -> String {
    const MARKS: [&str; 2] = ["<!-- tables -->\n", "<!-- end of tables -->"];
    let Some((front, rest)) = old.split_once(MARKS[0]) else { return tables.to_owned() };
    let Some((_, back)) = rest.split_once(MARKS[1]) else { return tables.to_owned() };
    format!("{front}{}\n{tables}{}{back}", MARKS[0], MARKS[1])
}

fn say(target: &Target, outcome: &Outcome) {
    use latens_robustness::tally::Counter;
    let cases = outcome.tally.get(Counter::Cases);
    let (name, seconds, bad) = (target.name, outcome.seconds, outcome.tally.bad());
    println!("{name}: {cases} cases in {seconds:.1} s, {bad} findings");
    let most = if name.starts_with("peer") { 3 } else { 20 };
    outcome.findings.iter().take(most).for_each(|line| println!("  {line}"));
}

/// A few small sound files of each target, the selector in front.
fn seeds(folder: &Path) {
    for target in target::ours() {
        let folder = folder.join(target.name);
        std::fs::create_dir_all(&folder).unwrap();
        let mut grounds = (target.grounds)();
        grounds.retain(|ground| ground.bytes.len() < 2000);
        let step = grounds.len().div_ceil(8).max(1);
        for (i, ground) in grounds.iter().step_by(step).enumerate() {
            let bytes = [&[ground.selector][..], &ground.bytes].concat();
            std::fs::write(folder.join(format!("{i}")), bytes).unwrap();
        }
    }
}
