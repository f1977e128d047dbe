//! `latens decompress`

use super::{fitting, print_json, say, say_note, settle, thread_count, with_threads};
use crate::args;
use crate::array;
use crate::checkpoint::{self, kind, kind::Kind};
use crate::format::Format;
use crate::job::{DecompressJob, Input, Output};
use crate::message::{Failure, Result};
use crate::output::{MaxOutput, Need, OutputFile, Request};
use crate::progress::Progress;
use crate::render;
use crate::report::DecompressReport;
use crate::table::decompress::{decompress, default_for_file, default_for_stdout};
use crate::table::open::{column_name, open_columns};
use crate::table::pco::PcoTable;
use crate::table::reading::{Reading, named, shared};
use crate::table::source::Table;

/// What columns and tables are decompressed to.
const WRITTEN: &str = "npy|raw|csv|parquet";

/// Decompress one input.
///
/// # Errors
/// Bad input, I/O, wrong usage, a limit passed.
pub fn run(args: args::Decompress) -> Result<()> {
    let input = Input::of(&args.files.input);
    let from = settle::input_format(&input, args.files.from)?;
    if from == Format::Wcodec {
        return checkpoint::decompress::run(&args, &input);
    }
    refuse_what_is_not_compressed(&input, from)?;
    fitting::decompress(&args, from)?;
    let progress = Progress::new("decompress", None, args.common.quiet || args.common.json);
    let reading = Reading {
        input: &input,
        format: from,
        number_type: args.number_type,
        skip_nested: false,
        progress: &progress,
    };
    let nested = "choose flat columns with --columns";
    // What a table becomes depends on what it holds; a .pco is read as it comes, where that will do.
    let table = match from {
        Format::Pco => None,
        _ => {
            let columns = args::column_names(&args.files.columns);
            Some(open_columns(&reading, columns.as_deref(), nested)?)
        }
    };
    let quiet = args.common.quiet || args.common.json;
    if let Some(note) = table.as_ref().and_then(|table| table.note()).filter(|_| !quiet) {
        say_note(&input.name(), note);
    }
    let job = job(&args, &input, from, table.as_deref(), &progress)?;
    let mut out = OutputFile::open(&Request {
        input: &job.input,
        besides: &[],
        output: &job.output,
        force: job.force,
        text: job.to.is_text(),
        // The header of a .npy file is patched when the count is known.
        need: if job.to == Format::Npy { Need::ReadBack } else { Need::Stream },
        max_output: job.max_output.map(|max| MaxOutput { max, before: 0 }),
    })?;
    if out.is_terminal() {
        // The numbers themselves show how far it is.
        progress.finish();
    }
    let done = with_threads(job.threads, || match (&table, job.to) {
        (None, Format::Npy | Format::Raw) => array::decompress::decompress(&job, &mut out),
        (None, _) => {
            let open = |file| PcoTable::open(file, column_name(&job.input), job.allow_trailing);
            let table = shared(&job.input).and_then(open).map_err(|e| named(e, &job.input))?;
            let trailing_bytes = table.trailing_bytes();
            let report = decompress(&job, &table, &mut out)?;
            Ok(DecompressReport { trailing_bytes, ..report })
        }
        (Some(table), _) => decompress(&job, &**table, &mut out),
    });
    job.progress.finish();
    let mut report = done.map_err(|e| out.explain(e))?;
    report.output_bytes = out.commit()?;
    if args.common.json {
        print_json(&report)?;
    } else if !args.common.quiet && job.output != Output::Stdout {
        say(&render::screen::decompress(&report));
    } else if !args.common.quiet
        && let Some(skipped) = render::screen::skipped(report.trailing_bytes)
    {
        // Beside numbers on standard output nothing is said, but this: bytes were left out.
        say_note(&report.input, &skipped);
    }
    Ok(())
}

fn refuse_what_is_not_compressed(input: &Input, from: Format) -> Result<()> {
    match from {
        Format::Safetensors | Format::Gguf if Kind::of_input(input) == Some(Kind::Wcodec) => {
            Err(kind::is_packed(input))
        }
        Format::Npy | Format::Raw | Format::Csv | Format::Safetensors | Format::Gguf => Err(
            Failure::usage(format!("{from} is not compressed")).hint(
                "decompress reads pco, pco.zip, dbp, parquet and wcodec; did you mean `latens compress`?",
            ),
        ),
        _ => Ok(()),
    }
}

fn job(
    args: &args::Decompress,
    input: &Input,
    from: Format,
    table: Option<&dyn Table>,
    progress: &Progress,
) -> Result<DecompressJob> {
    let files = &args.files;
    let given = files.output.clone();
    let to_stdout = files.to.is_none() && settle::is_stdout(input, given.as_deref());
    let (default, default_on_stdout) = match table {
        None => (Format::Npy, Format::Raw),
        Some(table) if to_stdout => (Format::Csv, default_for_stdout(table)?),
        Some(table) => (default_for_file(table, from), Format::Csv),
    };
    let (output, to) = settle::output(input, given, files.to, default, default_on_stdout, WRITTEN)?;
    if checkpoint::is_checkpoint(to) {
        return Err(Failure::usage(format!(
            "{from} is no checkpoint, and {to} holds nothing else"
        )));
    }
    if matches!(to, Format::Pco | Format::PcoZip | Format::Dbp) {
        return Err(Failure::usage(format!("decompress does not write {to}"))
            .hint("`latens compress` does, from what is compressed too, and compares"));
    }
    let on_stdout = output == Output::Stdout;
    settle::one_on_stdout(&[("--json", args.common.json), ("-o -", on_stdout)])?;
    Ok(DecompressJob {
        progress: progress.clone(),
        input: input.clone(),
        from,
        output,
        to,
        limit: args.limit,
        max_output: args.max_output,
        allow_trailing: args.allow_trailing,
        force: files.force,
        threads: thread_count(args.common.threads()),
    })
}
