//! `.wcodec` back to the file or files that it was made from.

use latens::Limits;
use std::time::Instant;

use super::damage::advised;
use super::target;
use super::watch::Watched;
use crate::args;
use crate::job::{Input, Output};
use crate::message::{Result, shown};
use crate::output::past_limit;
use crate::render::{self, units::noun};
use crate::report::DecompressReport;
use crate::table::reading::named;
use crate::verb::{print_json, say, settle, thread_count};

/// Decompress one checkpoint.
///
/// # Errors
/// Bad input, I/O, wrong usage, a limit passed.
pub fn run(args: &args::Decompress, input: &Input) -> Result<()> {
    super::options::of_decompress(args)?;
    let started = Instant::now();
    let limits = args.max_output.map_or(Limits::default(), |max| Limits::default().max_output(max));
    if args.salvage {
        return super::salvage::run(args, input, limits);
    }
    let reader = super::reader(input, limits, thread_count(args.common.threads()))?;
    let reader = super::base::with(reader, args.base.as_deref(), limits)?;
    let files = target::Stored::all(&reader);
    let total: u64 = files.iter().fold(0, |sum, file| sum.saturating_add(file.len));
    if let Some(max) = args.max_output.filter(|&max| total > max) {
        return Err(named(past_limit(max), input));
    }
    target::can_come_out(args.files.to)?;
    let outputs = target::outputs(input, args.files.output.as_deref(), &files)?;
    target::same_format(&files, &outputs, args)?;
    let to_stdout = outputs.contains(&Output::Stdout);
    settle::one_on_stdout(&[("--json", args.common.json), ("-o -", to_stdout)])?;
    let quiet = args.common.quiet || args.common.json;
    let watched = Watched::files("decompress", &reader, quiet);
    let output_bytes = target::write(args, input, &outputs, |number, out| {
        watched.reader.write_file(number, out).map_err(|e| advised(e, input))
    })?;
    drop(watched);
    let (tensors, n) = (reader.tensors().count() as u64, files.len() as u64);
    let report = DecompressReport {
        input: input.name(),
        output: match (&outputs[..], &args.files.output) {
            ([one], _) => one.name(),
            (_, Some(folder)) => shown(folder),
            _ => String::new(),
        },
        input_bytes: input.size().unwrap_or(0),
        output_bytes,
        seconds: started.elapsed().as_secs_f64(),
        what: format!("{tensors} {} in {n} {}", noun(tensors, "tensor"), noun(n, "file")),
        checksum: "verified".into(),
        trailing_bytes: 0,
    };
    if args.common.json {
        print_json(&report)?;
    } else if !args.common.quiet && !outputs.contains(&Output::Stdout) {
        say(&render::screen::decompress(&report));
    }
    Ok(())
}
