//! `latens decompress`

use super::{print_json, say, settle, thread_count, with_threads};
use crate::args;
use crate::array;
use crate::checkpoint;
use crate::format::Format;
use crate::job::{DecompressJob, Input, Output};
use crate::message::{Failure, Result};
use crate::output::{Need, OutputFile, Request};
use crate::progress::Progress;
use crate::render;
use crate::table;

/// Decompress one input.
///
/// # Errors
/// Bad input, I/O, wrong usage, a limit passed.
pub fn run(args: args::Decompress) -> Result<()> {
    let input = settle::input(&args.files.input);
    let from = settle::input_format(&input, args.files.from)?;
    if from == Format::Wcodec {
        return checkpoint::decompress::run(&args, &input);
    }
    let job = job(&args, input, from)?;
    let mut out = OutputFile::open(&Request {
        input: &job.input,
        output: &job.output,
        force: job.force,
        text: job.to.is_text(),
        // The header of a .npy file is patched when the count is known.
        need: if job.to == Format::Npy { Need::ReadBack } else { Need::Stream },
        max_output: job.max_output,
    })?;
    let one_column = job.from == Format::Pco && matches!(job.to, Format::Npy | Format::Raw);
    let done = with_threads(job.threads, || match one_column {
        true => array::decompress::decompress(&job, &mut out),
        false => table::decompress(&job, &mut out),
    });
    job.progress.finish();
    let mut report = done.map_err(|e| out.explain(e))?;
    report.output_bytes = out.commit()?;
    if args.common.json {
        print_json(&report)?;
    } else if !args.common.quiet && job.output != Output::Stdout {
        say(&render::screen::decompress(&report));
    }
    Ok(())
}

fn job(args: &args::Decompress, input: Input, from: Format) -> Result<DecompressJob> {
    let files = &args.files;
    if matches!(from, Format::Npy | Format::Raw | Format::Csv | Format::Safetensors | Format::Gguf)
    {
        return Err(Failure::usage(format!("{from} is not compressed")).hint(
            "decompress reads pco, pco.zip, dbp, parquet and wcodec; did you mean `latens compress`?",
        ));
    }
    let (default, default_on_stdout) = match from {
        Format::Pco | Format::Dbp => (Format::Npy, Format::Raw),
        Format::PcoZip => table::default_output(&input)?,
        _ => (Format::Csv, Format::Csv),
    };
    let given = files.output.clone();
    let (output, to) = settle::output(&input, given, files.to, default, default_on_stdout)?;
    if checkpoint::is_checkpoint(to) {
        return Err(Failure::usage(format!(
            "{from} is no checkpoint, and {to} holds nothing else"
        )));
    }
    if args.common.json && output == Output::Stdout {
        return Err(
            Failure::usage("--json and -o - both want standard output").hint("name a file with -o")
        );
    }
    Ok(DecompressJob {
        progress: Progress::new("decompress", None, args.common.quiet || args.common.json),
        input,
        from,
        output,
        to,
        limit: args.limit,
        max_output: args.max_output,
        number_type: args.number_type,
        allow_trailing: args.allow_trailing,
        force: files.force,
        columns: files.columns.clone(),
        threads: thread_count(args.common.threads),
    })
}
