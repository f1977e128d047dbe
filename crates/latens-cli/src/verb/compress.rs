//! `latens compress`

use latens::pco::Config;

use super::{fitting, print_json, say, say_left_out, settle, thread_count, with_threads};
use crate::args;
use crate::array::{self, source};
use crate::checkpoint;
use crate::format::Format;
use crate::io::parquet;
use crate::job::{CompressJob, Input, Output};
use crate::message::{Failure, Result};
use crate::output::{Need, OutputFile, Request};
use crate::progress::Progress;
use crate::render;
use crate::table;
use crate::table::reading::named;

/// What columns and tables are compressed to.
const WRITTEN: &str = "pco|pco.zip|parquet|csv|dbp";

/// Compress one input.
///
/// # Errors
/// Bad input, I/O, wrong usage, an output that does not read back.
pub fn run(args: args::Compress) -> Result<()> {
    let input = Input::of(&args.files.input);
    let from = settle::input_format(&input, args.files.from)?;
    if checkpoint::is_checkpoint(from) {
        return checkpoint::compress::run(&args, &input, from);
    }
    let job = job(&args, input, from)?;
    let mut out = OutputFile::open(&Request {
        input: &job.input,
        besides: &[],
        output: &job.output,
        force: job.force,
        text: job.to.is_text(),
        // A .pco.zip is patched once its members are written.
        need: match job.verify || job.to == Format::PcoZip {
            true => Need::ReadBack,
            false => Need::Stream,
        },
        max_output: None,
    })?;
    let done = with_threads(job.threads, || match job.to {
        Format::Pco if job.from.is_table() || job.from == Format::Dbp => {
            table::pco_write::compress(&job, &mut out)
        }
        Format::Pco => array::compress::compress(&job, &mut out),
        Format::Dbp => table::dbp_write::compress(&job, &mut out),
        _ => table::compress::compress(&job, &mut out),
    });
    job.progress.finish();
    let mut report = done.map_err(|e| out.explain(e))?;
    report.output_bytes = out.commit()?;
    if args.common.json {
        print_json(&report)?;
    } else if !args.common.quiet {
        say(&render::screen::compress(&report, &job));
        say_left_out(&report.left_out);
    }
    Ok(())
}

/// Everything settled before anything is opened for writing.
fn job(args: &args::Compress, input: Input, from: Format) -> Result<CompressJob> {
    let files = &args.files;
    let default = default_format(&input, from).map_err(|e| named(e, &input))?;
    let (output, to) =
        settle::output(&input, files.output.clone(), files.to, default, default, WRITTEN)?;
    if checkpoint::is_checkpoint(to) {
        return Err(Failure::usage(format!(
            "{from} is no checkpoint, and {to} holds nothing else"
        ))
        .hint("columns and arrays go to pco, tables to pco.zip or parquet"));
    }
    if matches!(to, Format::Npy | Format::Raw) {
        return Err(Failure::usage(format!("compress does not write {to}")).hint(
            "`latens decompress` writes npy and raw; compress writes pco, pco.zip, parquet",
        ));
    }
    fitting::compress(args, from, to)?;
    let to_stdout = output == Output::Stdout;
    settle::one_on_stdout(&[("--json", args.common.json), ("-o -", to_stdout)])?;
    let mut config = Config::default()
        .level(args.level)
        .mode(args.mode)
        .delta(args.delta)
        .favor(args.favor)
        .checksum(!args.no_checksum);
    if let Some(n) = args.chunk_n.and_then(|n| usize::try_from(n).ok()) {
        config = config.chunk_n(n);
    }
    let quiet = args.common.quiet || args.common.json;
    Ok(CompressJob {
        progress: Progress::new("compress", input.size(), quiet),
        input,
        from,
        output,
        to,
        config,
        parquet: parquet::Options {
            compression: args.compression.unwrap_or_default(),
            encoding: args.encoding.unwrap_or_default(),
        },
        columns: args::column_names(&files.columns),
        number_type: args.number_type,
        skip_unsupported: args.skip_unsupported,
        force: files.force,
        verify: !args.no_verify,
        peers: !quiet,
        threads: thread_count(args.common.threads()),
    })
}

/// `.pco` for one column, `.pco.zip` for everything else: the header of a `.npy` is looked at. Of a
/// pipe that is not standard input it cannot be, and a column is assumed.
fn default_format(input: &Input, from: Format) -> Result<Format> {
    let is_array = match from {
        Format::Npy => source::look(input)?.is_some_and(|header| !header.is_column()),
        _ => false,
    };
    Ok(match from {
        Format::Npy | Format::Raw | Format::Pco if !is_array => Format::Pco,
        _ => Format::PcoZip,
    })
}
