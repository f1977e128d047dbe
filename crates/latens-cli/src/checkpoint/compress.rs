//! A checkpoint to `.wcodec`, read back and compared byte for byte.

use latens::Limits;
use latens::wcodec::checkpoint::ReadAt;
use latens::wcodec::{Base, BaseFile, Reader, compress_checkpoint_to_file};
use std::time::Instant;

use super::base;
use super::hints;
use super::kind::{self, Kind};
use super::report::{CheckpointReport, TensorReport};
use super::shards;
use super::watch::Watched;
use crate::args;
use crate::format::Format;
use crate::job::{Input, Output};
use crate::message::{Failure, Result};
use crate::output::patched::Patched;
use crate::output::{Need, OutputFile, Request};
use crate::progress::Progress;
use crate::render;
use crate::table::reading::named;
use crate::verb::{print_json, say, settle, thread_count, with_threads};

/// Compress one checkpoint.
///
/// # Errors
/// Bad input, I/O, wrong usage, an output that does not read back.
pub fn run(args: &args::Compress, input: &Input, from: Format) -> Result<()> {
    if from == Format::Wcodec {
        if let Some(Kind::Plain(kind)) = Kind::of_input(input) {
            return Err(kind::not_packed(kind, input).of_usage());
        }
        let failure = Failure::usage("a .wcodec is compressed already")
            .hint("latens decompress brings the checkpoint back");
        return Err(named(failure, input));
    }
    super::options::of_compress(args)?;
    let files = &args.files;
    let (given, to) = (files.output.clone(), files.to);
    let (output, to) = settle::output(input, given, to, Format::Wcodec, Format::Wcodec, "wcodec")?;
    if to != Format::Wcodec {
        return Err(Failure::usage(format!("a checkpoint is not compressed to {to}"))
            .hint("name the output .wcodec"));
    }
    let to_stdout = output == Output::Stdout;
    settle::one_on_stdout(&[("--json", args.common.json), ("-o -", to_stdout)])?;
    let quiet = args.common.quiet || args.common.json;
    let started = Instant::now();
    let checkpoint = super::open(input, from)?;
    let config = super::options::config(args, &checkpoint).map_err(|e| named(e, input))?;
    let total: u64 = checkpoint.files.iter().map(|file| file.len).sum();
    let mut out = OutputFile::open(&Request {
        input,
        besides: &super::sources(Some(input), args.base.as_deref()),
        output: &output,
        force: files.force,
        text: false,
        need: Need::ReadBack,
        max_output: None,
    })?;
    let threads = thread_count(args.common.threads());
    let progress = Progress::new("compress", Some(total), quiet);
    let config = config.threads(threads).watch(progress.watch());
    let base: Option<(Box<dyn Base>, String)> = match &args.base {
        Some(path) => Some((base::open(path, Limits::default())?, base::name(path))),
        None => None,
    };
    let against = base.as_ref().map(|(base, name)| BaseFile { base: &**base, name });
    let to = Patched::new(&mut out);
    let written = compress_checkpoint_to_file(&checkpoint, against, &config, to);
    let written = written.map(|_| ());
    progress.finish();
    written.map_err(|e| out.explain(named(e.into(), input)))?;
    let mut reader = Reader::open(out.read_back()?, Limits::default())?.threads(threads);
    if let Some((base, _)) = base {
        reader = reader.with_base(base)?;
    }
    if !args.no_verify {
        let wrong = "what was just written does not read back: please report it";
        let watched = Watched::files("compare", &reader, quiet);
        watched.reader.compare(&checkpoint).map_err(|e| Failure::from(e).hint(wrong))?;
    }
    // Nobody asked for what is in it: it takes as long as reading it back.
    let silent = args.common.quiet && !args.common.json;
    let tensors = match silent {
        true => Vec::new(),
        false => with_threads(threads, || tensors(&reader, quiet))?,
    };
    let needed = args.base.as_deref().filter(|_| reader.base_name().is_some());
    let mut notes = shards::notes(&checkpoint);
    notes.extend(hints::notes(input));
    if args.base.is_some() && needed.is_none() {
        notes.push(
            "no tensor is like its namesake of the base: the file can be read without it".into(),
        );
    }
    let report = CheckpointReport {
        input: input.name(),
        output: output.name(),
        input_bytes: total,
        output_bytes: out.commit()?,
        seconds: started.elapsed().as_secs_f64(),
        verified: !args.no_verify,
        tensors,
        unnamed: checkpoint.unnamed,
        notes,
    };
    match (args.common.json, args.common.quiet) {
        (true, _) => print_json(&report)?,
        (false, false) => say(&render::checkpoint::compress(&report, &output, needed)),
        (false, true) => {}
    }
    Ok(())
}

fn tensors<S: ReadAt>(reader: &Reader<S>, quiet: bool) -> Result<Vec<TensorReport>> {
    super::inspect::tensors(reader, quiet).map(|all| all.iter().map(TensorReport::of).collect())
}
