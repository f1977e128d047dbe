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

use latens_robustness::case::Cases;
use latens_robustness::common::counting::Counting;
use latens_robustness::heavy;
use latens_robustness::supervisor::{self, Outcome};
use latens_robustness::table;
use latens_robustness::target::{self, Target};
use latens_robustness::worker::{self, Range};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

// AddressSanitizer brings an allocator of its own, and sees more where nothing stands in between.
#[cfg(not(sanitized))]
#[global_allocator]
static ALLOCATOR: Counting = Counting;
#[cfg(sanitized)]
const _: Counting = Counting;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["worker", name, from, step, wanted, seed, progress, findings] => {
            let [from, step, wanted] = [from, step, wanted].map(|n| n.parse().unwrap());
            let range = Range { from, step, wanted, seed: seed.parse().unwrap() };
            let target = target::find(name).expect("a target");
            worker::run(&target, range, Path::new(progress), Path::new(findings)).unwrap();
            ExitCode::SUCCESS
        }
        ["one", name, seed, case, wanted] => {
            let target = target::find(name).expect("a target");
            let [case, wanted] = [case, wanted].map(|n| n.parse().unwrap());
            let cases = Cases::new((target.grounds)(), target.recipe, seed.parse().unwrap());
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
        ["heavy", thin, part] => {
            let thin = thin.parse().expect("a number");
            heavy::list(thin, part).for_each(|line| println!("{line}"));
            ExitCode::SUCCESS
        }
        ["heavy", ref thin @ ..] => {
            let thin = thin.first().map_or(1, |thin| thin.parse().expect("a number"));
            let heavy::Shown { table, wrong, known } = heavy::table(thin);
            println!("{table}\n{} are known to be slow", known.len());
            known.iter().for_each(|line| println!("  {line}"));
            println!("{} findings", wrong.len());
            wrong.iter().for_each(|line| println!("  {line}"));
            ExitCode::from(u8::from(!wrong.is_empty()))
        }
        ["seeds", folder] => {
            seeds(Path::new(folder));
            ExitCode::SUCCESS
        }
        ["run", ref options @ ..] => run(options),
        _ => {
            eprintln!("usage: robustness run|one|heavy|seeds …; see the head of its source");
            ExitCode::from(2)
        }
    }
}

fn run(options: &[&str]) -> ExitCode {
    let value = |name: &str| {
        let at = options.iter().position(|option| *option == name)?;
        options.get(at + 1).copied()
    };
    let number = |name: &str, or: usize| value(name).map_or(or, |n| n.parse().expect("a number"));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (cases, threads) = (number("--cases", 1_000_000), number("--threads", cores));
    let seed = number("--seed", 1) as u64;
    let with_peers = options.contains(&"--peers");
    let only: Option<Vec<&str>> = value("--only").map(|names| names.split(',').collect());
    let mut text = String::new();
    let mut bad = 0;
    let groups = [("latens", target::ours()), ("peers", target::peers())];
    for (what, targets) in groups.into_iter().take(1 + usize::from(with_peers)) {
        let mut rows: Vec<(String, Outcome)> = Vec::new();
        for target in targets {
            if only.as_ref().is_some_and(|only| !only.contains(&target.name)) {
                continue;
            }
            // Peers hang for seconds at a time: a twentieth tells enough of them.
            let all = if what == "peers" { cases / 20 } else { cases };
            let wanted = if only.is_some() { cases } else { (all * target.share).div_ceil(1000) };
            let outcome = supervisor::run(&target, wanted, seed, threads).unwrap();
            say(&target, &outcome);
            bad += if what == "latens" { outcome.tally.bad() } else { 0 };
            rows.push((target.name.to_owned(), outcome));
        }
        text += &format!("### {what}\n\n{}\n", table::table(&rows));
    }
    if let Some(path) = value("--table") {
        std::fs::write(path, within(&std::fs::read_to_string(path).unwrap_or_default(), &text))
            .unwrap();
    }
    println!("{text}");
    println!("{bad} findings");
    ExitCode::from(u8::from(bad > 0))
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
