//! `latens verify`

use serde::Serialize;
use std::process::ExitCode;

use super::{fitting, print_json, print_out, say, settle, with_threads};
use crate::args;
use crate::array;
use crate::checkpoint::{self, damage::Fault};
use crate::format::Format;
use crate::job::Input;
use crate::message::{Exit, Failure, Result, one_line};
use crate::progress::Progress;
use crate::render::screen::skipped;
use crate::report::{Checksums, Verified};
use crate::table;
use crate::table::reading::{named, shared};

/// One file of the report.
#[derive(Debug, Serialize)]
struct FileReport {
    file: String,
    ok: bool,
    #[serde(flatten)]
    verified: Option<Verified>,
    /// What is wrong, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// All that is wrong with a checkpoint.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damage: Vec<Fault>,
}

/// Faults of a file that are listed on standard error.
const MOST_FAULTS: usize = 20;

#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    files: Vec<FileReport>,
}

/// Check each file; the exit code is 1 if any fails.
///
/// # Errors
/// Where printing fails, and wrong usage of a single file or of options: else a file that fails,
/// for whatever reason, is a line of the report.
pub fn run(args: &args::Verify) -> Result<ExitCode> {
    let formats = args.files.iter().map(|path| settle::input_format(&Input::of(path), args.from));
    // Where one is not known, that is what is wrong.
    let formats: Result<Vec<Format>> = formats.collect();
    formats.map_or(Ok(()), |formats| fitting::verify(args, &formats))?;
    let mut report = Report { ok: true, files: Vec::new() };
    for path in &args.files {
        let input = Input::of(path);
        let mut faults = Vec::new();
        let outcome = one(&input, args, &mut faults);
        report.ok &= outcome.is_ok();
        let name = input.name();
        match &outcome {
            Err(e) if e.exit() == Exit::BrokenPipe => return outcome.map(|_| ExitCode::FAILURE),
            // Of a single file there is nothing else to report.
            Err(e) if e.exit() == Exit::Usage && args.files.len() == 1 => {
                return outcome.map(|_| ExitCode::FAILURE);
            }
            _ if args.common.json => {}
            Ok(_) if args.common.quiet => {}
            Ok(verified) => print_out(&format!("{}: {}\n", one_line(&name), line(verified)))?,
            Err(e) => {
                let line =
                    format!("{}: FAILED, {}{}\n", one_line(&name), reason(e, &input), and(&faults));
                // Silent on standard output; an error is told nevertheless.
                if args.common.quiet {
                    say(&line);
                } else {
                    print_out(&line)?;
                    say(&details(&name, &faults, e));
                }
            }
        }
        let failure = outcome.as_ref().err();
        let error = failure.map(|e| reason(e, &input));
        let hint = failure.and_then(Failure::advice).map(str::to_string);
        report.files.push(FileReport {
            file: name,
            ok: error.is_none(),
            verified: outcome.ok().map(|(verified, _)| verified),
            error,
            hint,
            damage: faults,
        });
    }
    if args.common.json {
        print_json(&report)?;
    }
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn one(
    input: &Input,
    args: &args::Verify,
    faults: &mut Vec<Fault>,
) -> Result<(Verified, Checksums)> {
    let format = settle::input_format(input, args.from)?;
    let quiet = args.common.quiet || args.common.json;
    let progress = match checkpoint::is_checkpoint(format) {
        // It has a bar with names.
        true => Progress::hidden(),
        false => Progress::new("verify", None, quiet),
    };
    let all_or_none = |verified: Verified| {
        let checksums = if verified.checksum { Checksums::All } else { Checksums::None };
        (verified, checksums)
    };
    let done = with_threads(args.common.threads(), || match format {
        Format::Pco => {
            array::verify::verify(input, args.allow_trailing, &progress).map(all_or_none)
        }
        Format::PcoZip | Format::Parquet | Format::Dbp | Format::Npy | Format::Csv => {
            table::verify::verify(input, format, &progress)
        }
        Format::Safetensors | Format::Gguf | Format::Wcodec => {
            checkpoint::verify(input, format, args, faults).map(all_or_none)
        }
        Format::Raw => shared(input).and_then(|_| {
            Err(named(Failure::usage("any bytes are bare numbers"), input)
                .hint("there is nothing to verify; name the format where it is another: --from"))
        }),
    });
    progress.finish();
    done
}

fn line((verified, checksums): &(Verified, Checksums)) -> String {
    let checksum = match checksums {
        Checksums::All => "checksums hold",
        Checksums::Some => "checksums hold, where there are any",
        Checksums::None => "no checksum in the file: decoded only",
    };
    let skipped = skipped(verified.trailing_bytes).map_or(String::new(), |s| format!(", {s}"));
    format!("ok, {}, {checksum}{skipped}", verified.what)
}

/// What is wrong and where, in one line; the file too, where it is not the one that is verified.
fn reason(e: &Failure, input: &Input) -> String {
    let of_input = named(Failure::new(""), input);
    let file = e.file().filter(|file| Some(*file) != of_input.file());
    let file = file.map_or_else(String::new, |file| format!(" in {file}"));
    match e.place() {
        place if place.is_empty() => one_line(&format!("{}{file}", e.what())),
        place => one_line(&format!("{}{file} ({place})", e.what())),
    }
}

/// How much else is wrong.
fn and(faults: &[Fault]) -> String {
    match faults.len() {
        0 | 1 => String::new(),
        n => format!(", and {} more", n - 1),
    }
}

/// All that is wrong, where it is more than one thing, and what to do about it.
fn details(name: &str, faults: &[Fault], e: &Failure) -> String {
    let mut text = String::new();
    if faults.len() > 1 {
        for fault in faults.iter().take(MOST_FAULTS) {
            let tensor = fault.tensor.as_ref().map_or_else(String::new, |t| format!("{t}: "));
            text += &format!("{}\n", one_line(&format!("{name}: {tensor}{}", fault.words())));
        }
        if let more @ 1.. = faults.len().saturating_sub(MOST_FAULTS) {
            text += &format!("{}: and {more} more; --json has all\n", one_line(name));
        }
    }
    text + &e.advice().map_or_else(String::new, |hint| format!("  {}\n", one_line(hint)))
}
