//! Tallies as rows of Markdown.

use crate::supervisor::Outcome;
use crate::tally::Counter::{self, *};
use std::fmt::Write as _;

const HEAD: &str = "| target | inputs | errors | over the limit | accepted, same | accepted, other \
    | panics | crashes | over 5 s | rules broken | most memory, error | beyond 4 × input | beyond \
    1.25 × output | longest, error | longest, output | per 128 MiB |\n\
    |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

/// A table of all of them, and their sum.
pub fn table(rows: &[(String, Outcome)]) -> String {
    let mut text = HEAD.to_owned();
    let mut sum = Outcome::default();
    for (name, outcome) in rows {
        row(&mut text, name, outcome);
        sum.tally.add(&outcome.tally);
    }
    row(&mut text, "**all**", &sum);
    text
}

fn row(text: &mut String, name: &str, outcome: &Outcome) {
    let get = |counter| outcome.tally.get(counter);
    let counts = [Cases, Errors, Limited, Same, Silent, Panics, Crashes, Hangs, Wrong];
    let memory = [ErrorMemory, ErrorExcess, ValueExcess];
    let times = [ErrorTime, ValueTime, TimePer128MiB];
    let cells: Vec<String> = (counts.map(|counter: Counter| grouped(get(counter))).into_iter())
        .chain(memory.map(|counter| bytes(get(counter))))
        .chain(times.map(|counter| time(get(counter))))
        .collect();
    writeln!(text, "| {name} | {} |", cells.join(" | ")).expect("a string grows");
}

/// 1 234 567, with thin gaps that keep together.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// In the unit that suits.
pub fn bytes(n: u64) -> String {
    match n {
        0..1024 => format!("{n} B"),
        1024..0x0010_0000 => format!("{} KiB", n >> 10),
        0x0010_0000..0x4000_0000 => format!("{:.1} MiB", n as f64 / f64::from(1 << 20)),
        _ => format!("{:.1} GiB", n as f64 / f64::from(1 << 30)),
    }
}

/// In the unit that suits; a dash for none.
pub fn time(nanos: u64) -> String {
    match nanos {
        0 => "–".to_owned(),
        1..1_000_000 => format!("{} µs", nanos.div_ceil(1000)),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanos as f64 / 1e6),
        _ => format!("{:.2} s", nanos as f64 / 1e9),
    }
}
