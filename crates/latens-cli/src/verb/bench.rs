//! `latens bench`

use std::io::{Write, stdout};
use std::path::PathBuf;

use super::{fitting, page, print_json, print_out, settle, with_threads};
use crate::args;
use crate::bench;
use crate::checkpoint;
use crate::format::Format;
use crate::job::{Input, Output};
use crate::message::{Failure, Result};
use crate::output::OutputFile;
use crate::progress::Progress;
use crate::render::{self, style};
use crate::table::array::ArrayTable;
use crate::table::open::open;
use crate::table::reading::{Reading, named, shared};
use crate::table::source::Table;

/// Measure codecs on one file.
///
/// # Errors
/// Bad input, I/O, wrong usage.
pub fn run(args: &args::Bench) -> Result<()> {
    let input = Input::of(&args.input);
    let format = settle::input_format(&input, args.from)?;
    fitting::bench(args, format)?;
    let on_stdout = |path: &Option<PathBuf>| {
        path.as_deref().is_some_and(|path| Output::of(path) == Output::Stdout)
    };
    let (csv_there, html_there) = (on_stdout(&args.csv), on_stdout(&args.html));
    settle::one_on_stdout(&[
        ("--json", args.common.json),
        ("--csv -", csv_there),
        ("--html -", html_there),
    ])?;
    if args.csv.is_some() && args.csv == args.html {
        return Err(Failure::usage("--csv and --html name the same file"));
    }
    // What could not be written is known before anything is measured.
    let besides = match checkpoint::is_checkpoint(format) {
        true => checkpoint::sources(Some(&input), None),
        false => Vec::new(),
    };
    let open = |path: &PathBuf| page(&input, &besides, path, args.force);
    let csv = args.csv.as_ref().map(open).transpose()?;
    let html = args.html.as_ref().map(open).transpose()?;
    let progress = Progress::new("bench", None, args.common.quiet || args.common.json);
    let data = match format {
        _ if checkpoint::is_checkpoint(format) => bench::checkpoint(&input, format)?,
        _ => {
            let table = table(args, &input, format, &progress)?;
            bench::columns(&*table).map_err(|e| named(e, &input))?
        }
    };
    let mut names: Vec<String> = match &args.codecs {
        Some(names) => names.clone(),
        None => bench::NAMES.iter().map(ToString::to_string).collect(),
    };
    if args.codecs.is_none() {
        let is_checkpoint = checkpoint::is_checkpoint(format);
        names.retain(|name| match name.as_str() {
            "dbp" => data.has_integers(),
            "parquet-zstd" => !is_checkpoint,
            _ => true,
        });
    }
    // One thread unless more are asked for: figures of codecs that have threads and of those that have
    // none stand side by side.
    let report = with_threads(args.common.threads.unwrap_or(1), || {
        bench::run(input.name(), &data, &names, &|at| progress.say(at))
    });
    progress.finish();
    let report = report?;
    match (args.common.json, args.common.quiet || csv_there || html_there) {
        (true, _) => print_json(&report)?,
        (false, false) => print_out(&render::bench::text(&report, style::wanted(&stdout())))?,
        (false, true) => {}
    }
    if let Some(out) = csv {
        let mut table = csv::Writer::from_writer(Vec::new());
        let fault = |e: csv::Error| Failure::new(format!("the table is no CSV: {e}"));
        for codec in &report.codecs {
            table.serialize(codec).map_err(fault)?;
        }
        let bytes = table.into_inner().map_err(|e| Failure::new(e.to_string()))?;
        write(out, &bytes)?;
    }
    if let Some(out) = html {
        let text = render::html::page(&input.name(), &render::bench::html(&report));
        write(out, text.as_bytes())?;
    }
    Ok(())
}

fn table(
    args: &args::Bench,
    input: &Input,
    format: Format,
    progress: &Progress,
) -> Result<Box<dyn Table>> {
    let number_type = args.number_type;
    let reading = Reading { input, format, number_type, skip_nested: true, progress };
    match format {
        Format::Npy | Format::Raw => {
            let table = shared(input)
                .and_then(|file| ArrayTable::open(file, &reading))
                .map(ArrayTable::flat);
            Ok(Box::new(table.map_err(|e| named(e, input))?))
        }
        Format::Pco => Err(Failure::usage("bench measures what is not compressed yet")
            .hint("latens decompress makes a .npy of it")),
        _ => open(&reading),
    }
}

fn write(mut out: OutputFile, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|e| out.explain(e.into()))?;
    out.commit().map(|_| ())
}
