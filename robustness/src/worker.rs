//! Runs cases of one target in this process, and writes down how far it is: the process may die at
//! any of them.

use crate::case::{Case, Cases};
use crate::heavy;
use crate::measure::taken;
use crate::strategy::Strategy;
use crate::tally::{Counter, Tally};
use crate::target::{Lifted, Target, Verdict, tool};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;

/// What a decoder may hold beside input or output, and what the tool may.
const FREE: u64 = 16 << 20;
const FREE_OF_THE_TOOL: u64 = 64 << 20;
/// Longest until an error.
const ERROR_NANOS: u64 = 100_000_000;

/// Which cases of a target: numbers `from`, `from + step`, … of `wanted`.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The first.
    pub from: usize,
    /// Every so many.
    pub step: usize,
    /// How many the whole run has.
    pub wanted: usize,
    /// What the drawn ones are drawn from.
    pub seed: u64,
}

/// Where and what the last panic of this process was.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn remember_panics() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let said = payload.downcast_ref::<&str>().map(ToString::to_string);
        let said = said.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        let place = info.location().map_or(String::new(), ToString::to_string);
        *PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
            format!("{place}: {said}");
    }));
}

/// Runs them all. The tally stands in `progress` after every case, findings are appended to
/// `findings`.
///
/// # Errors
/// Those of the two files.
pub fn run(
    target: &Target,
    range: Range,
    progress: &Path,
    findings: &Path,
) -> std::io::Result<Tally> {
    remember_panics();
    let mut findings = OpenOptions::new().create(true).append(true).open(findings)?;
    let cases = Cases::new((target.grounds)(), target.recipe, range.seed);
    let sound = sound_outputs(target, &cases);
    // From here on a death is that of a case.
    let progress = OpenOptions::new().create(true).write(true).truncate(true).open(progress)?;
    let mut tally = Tally::default();
    for index in (range.from..range.wanted).step_by(range.step) {
        tally.set(Counter::Next, index as u64);
        progress.write_all_at(&tally.to_bytes(), 0)?;
        let case = cases.case(index, range.wanted);
        for wrong in one(target, &case, &sound, &mut tally) {
            told(&mut findings, target, range.seed, index, &case, &wrong)?;
        }
    }
    tally.set(Counter::Next, range.wanted as u64);
    progress.write_all_at(&tally.to_bytes(), 0)?;
    Ok(tally)
}

/// What each sound file decodes to.
fn sound_outputs(target: &Target, cases: &Cases) -> HashMap<String, u64> {
    let mut sound = HashMap::new();
    for ground in cases.grounds() {
        let verdict =
            catch_unwind(AssertUnwindSafe(|| (target.body)(ground.selector, &ground.bytes)));
        match verdict {
            Ok(Verdict::Accepted { digest, .. }) => drop(sound.insert(ground.name.clone(), digest)),
            // A recipe makes what it makes.
            _ if target.recipe || target.name.starts_with("peer") => {}
            Ok(verdict) => {
                let _ = std::panic::take_hook();
                panic!("{}: {} is {verdict:?}", target.name, ground.name)
            }
            Err(_) => {
                let said = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let said = said.clone();
                let _ = std::panic::take_hook();
                panic!("{}: {}: {said}", target.name, ground.name)
            }
        }
    }
    sound
}

fn one(
    target: &Target,
    case: &Case<'_>,
    sound: &HashMap<String, u64>,
    tally: &mut Tally,
) -> Vec<String> {
    let _ = taken();
    let body = || (target.body)(case.ground.selector, &case.bytes);
    let verdict = catch_unwind(AssertUnwindSafe(body));
    let taken = taken();
    tally.count(Counter::Cases);
    let mut wrong = Vec::new();
    let Ok(verdict) = verdict else {
        tally.count(Counter::Panics);
        let said = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        return vec![format!("panic: {said}")];
    };
    let held = taken.bytes as u64;
    let of_the_tool = target.name.starts_with("tool_");
    let free = if of_the_tool { FREE_OF_THE_TOOL } else { FREE };
    match verdict {
        Verdict::Refused => {
            tally.count(Counter::Errors);
            tally.raise(Counter::ErrorMemory, held);
            let excess = held.saturating_sub(4 * case.bytes.len() as u64);
            tally.raise(Counter::ErrorExcess, excess);
            tally.raise(Counter::ErrorTime, taken.nanos);
            if target.bounded && excess > free {
                wrong.push(format!("{held} bytes held for an error"));
            }
            if target.bounded && taken.nanos > ERROR_NANOS {
                wrong.push(format!("{} ms until an error", taken.nanos / 1_000_000));
            }
        }
        Verdict::Limited => {
            tally.count(Counter::Limited);
            tally.raise(Counter::ErrorMemory, held);
            tally.raise(Counter::ErrorTime, taken.nanos);
            if target.bounded && taken.nanos > ERROR_NANOS {
                wrong.push(format!("{} ms until the limit", taken.nanos / 1_000_000));
            }
            if let Some(lifted) = target.lifted {
                wrong.extend(without_limit(target, lifted, case, tally));
            }
        }
        Verdict::Accepted { digest, bytes } => {
            let same = sound.get(&case.ground.name) == Some(&digest);
            tally.count(if same { Counter::Same } else { Counter::Silent });
            let excess = held.saturating_sub(bytes as u64 + bytes as u64 / 4);
            tally.raise(Counter::ValueExcess, excess);
            tally.raise(Counter::ValueTime, taken.nanos);
            wrong.extend(timed(target, taken.nanos, bytes, tally));
            if target.bounded && excess > free {
                wrong.push(format!("{held} bytes held for an output of {bytes}"));
            }
            if target.sealed && case.strategy == Strategy::Bit {
                wrong.push("a flipped bit goes unnoticed".to_owned());
            }
        }
    }
    if of_the_tool && case.strategy == Strategy::Truncation {
        match verdict {
            Verdict::Refused if !tool::said_where() => {
                wrong.push("a truncation is refused without its byte".to_owned());
            }
            // Behind its terminator a .pco is whole, if without a checksum.
            Verdict::Accepted { .. } if target.name != "tool_pco" => {
                wrong.push("a truncation goes unnoticed".to_owned());
            }
            _ => {}
        }
    }
    for _ in &wrong {
        tally.count(Counter::Wrong);
    }
    wrong
}

/// The case once more, as far as a larger buffer goes.
fn without_limit(
    target: &Target,
    lifted: Lifted,
    case: &Case<'_>,
    tally: &mut Tally,
) -> Option<String> {
    let body = || lifted(case.ground.selector, &case.bytes);
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(bytes) => timed(target, taken().nanos, bytes?, tally),
        Err(_) => Some("a panic without the limit".to_owned()),
    }
}

/// How much longer anything may take where every access is checked.
const SANITIZED_TIMES: u64 = if cfg!(sanitized) { 8 } else { 1 };

/// Notes the time of an output that is large enough to tell; what is wrong with it.
fn timed(target: &Target, nanos: u64, bytes: usize, tally: &mut Tally) -> Option<String> {
    if bytes < 1 << 20 {
        return None;
    }
    tally.raise(Counter::TimePer128MiB, heavy::scaled(nanos, bytes));
    let allowed = heavy::FLOOR.max(heavy::allowed(bytes));
    let is_slow = target.bounded && nanos > SANITIZED_TIMES * allowed;
    is_slow.then(|| format!("{} ms for {bytes} bytes", nanos / 1_000_000))
}

/// One line, and the bytes where they are few.
fn told(
    out: &mut File,
    target: &Target,
    seed: u64,
    index: usize,
    case: &Case<'_>,
    wrong: &str,
) -> std::io::Result<()> {
    let hex: String = case.bytes.iter().take(400).map(|b| format!("{b:02x}")).collect();
    let (name, ground, what) = (target.name, &case.ground.name, case.strategy.name());
    writeln!(
        out,
        "{name} seed {seed} case {index}: {what} of {ground} ({}): {wrong}; {hex}",
        case.ground.selector
    )
}
