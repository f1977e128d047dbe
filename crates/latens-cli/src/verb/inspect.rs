//! `latens inspect`

use serde::Serialize;
use std::io::{Write, stdout};
use std::path::PathBuf;

use latens::Limits;
use latens::wcodec::{BaseFile, Config};

use super::{fitting, page, print_json, print_out, settle, thread_count, with_threads};
use crate::args;
use crate::array;
use crate::checkpoint::{self, origin::Origin};
use crate::format::Format;
use crate::io::parquet;
use crate::io::pco_zip::{Inspection, PcoZipTable, inspect};
use crate::job::{Input, Output};
use crate::message::{Failure, Result};
use crate::render::{self, style};
use crate::table::dbp::{has_header, read_all};
use crate::table::reading::{named, shared};

/// Show what is inside.
///
/// # Errors
/// Bad input, I/O, a page that exists already.
pub fn run(args: &args::Inspect) -> Result<()> {
    let input = Input::of(&args.file);
    let format = settle::input_format(&input, args.from)?;
    fitting::inspect(args, format)?;
    let name = input.name();
    let colour = style::wanted(&stdout());
    let page_there = args.html.as_deref().is_some_and(|path| Output::of(path) == Output::Stdout);
    settle::one_on_stdout(&[("--json", args.common.json), ("--html -", page_there)])?;
    let quiet = args.common.quiet || args.common.json;
    let words = !quiet && !page_there;
    // A page that may not be written is no reason to wait for the report first.
    let besides = match checkpoint::is_checkpoint(format) {
        true => checkpoint::sources(Some(&input), args.base.as_deref()),
        false => Vec::new(),
    };
    let open = |path: &PathBuf| page(&input, &besides, path, args.force);
    let out = args.html.as_ref().map(open).transpose()?;
    // What is damaged is told when all else has been shown.
    let mut sound = Ok(());
    let body = match format {
        Format::Pco => {
            let file = array::source::open(&input).and_then(array::inspect::read);
            let file = file.map_err(|e| named(e, &input))?;
            show(args, words, &file, || render::inspect::pco(&name, &file, colour))?;
            render::html::pco(&file)
        }
        Format::PcoZip => {
            let file = archive(&input).map_err(|e| named(e, &input))?;
            show(args, words, &file, || render::archive::text(&name, &file, colour))?;
            render::archive::html(&file)
        }
        Format::Dbp => {
            let file = shared(&input)
                .and_then(|file| read_all(&file))
                .and_then(|bytes| {
                    has_header(&bytes)?;
                    array::inspect_dbp::read(&bytes, args.number_type)
                })
                .map_err(|e| named(e, &input))?;
            show(args, words, &file, || render::dbp::text(&name, &file, colour))?;
            render::dbp::html(&file)
        }
        Format::Parquet => {
            let file = shared(&input).and_then(parquet::inspect).map_err(|e| named(e, &input))?;
            show(args, words, &file, || render::parquet::text(&name, &file, colour))?;
            render::parquet::html(&file)
        }
        Format::Wcodec | Format::Safetensors | Format::Gguf if args.ablate => {
            return ablate(args, &input, format, &name, colour);
        }
        Format::Wcodec => {
            let limits = Limits::default();
            let (reader, bytes, damage, known) = match args.salvage {
                true => {
                    let found = checkpoint::salvaged(&input, limits, 0, quiet)?;
                    let known = found.sound(&input);
                    (found.reader, found.bytes, found.damage, known)
                }
                false => {
                    let (reader, bytes) = checkpoint::reader_and_size(&input, limits, 0)?;
                    (reader, bytes, Vec::new(), Ok(()))
                }
            };
            let reader = checkpoint::base::with(reader, args.base.as_deref(), limits)?;
            let with_base = args.base.is_some();
            let file = with_threads(args.common.threads(), || {
                checkpoint::inspect::read(&reader, bytes, with_base, quiet)
            });
            let mut file = file.map_err(|e| named(e, &input))?;
            file.damage = damage;
            show(args, words, &file, || render::tensors::text(&name, &file, colour))?;
            sound = known.and_then(|()| file.sound(&input));
            render::tensors::html(&file)
        }
        Format::Safetensors | Format::Gguf => {
            let file = checkpoint::open(&input, format)?;
            let file = with_threads(args.common.threads(), || checkpoint::flat::read(&file, quiet));
            let mut file = file.map_err(|e| named(e, &input))?;
            file.notes.extend(checkpoint::hints::notes(&input));
            show(args, words, &file, || render::flat::text(&name, &file, colour))?;
            render::flat::html(&file)
        }
        other => {
            let what = format!(
                "inspect looks into pco, pco.zip, dbp, parquet, safetensors, gguf and wcodec, not {other}"
            );
            return Err(named(Failure::usage(what), &input));
        }
    };
    match out {
        Some(mut out) => {
            let page = render::html::page(&name, &body);
            out.write_all(page.as_bytes()).map_err(|e| out.explain(e.into()))?;
            out.commit()?;
            sound
        }
        None => sound,
    }
}

/// A report as JSON, in words, or not at all.
fn show<T: Serialize>(
    args: &args::Inspect,
    words: bool,
    file: &T,
    text: impl FnOnce() -> String,
) -> Result<()> {
    match args.common.json {
        true => print_json(file),
        false if words => print_out(&text()),
        false => Ok(()),
    }
}

/// What each tool gains or costs. Of a `.wcodec` the checkpoint in it is brought back first.
fn ablate(
    args: &args::Inspect,
    input: &Input,
    format: Format,
    name: &str,
    colour: bool,
) -> Result<()> {
    let origin = match format {
        Format::Wcodec => Origin::unpacked(input, args.base.as_deref())?,
        _ => Origin::of(input, format)?,
    };
    let there = origin.open().map_err(|e| named(e, input))?;
    let base = match &args.base {
        Some(path) => {
            let opened = checkpoint::base::open(path, Limits::default())?;
            Some((opened, checkpoint::base::name(path)))
        }
        None => None,
    };
    let against = base.as_ref().map(|(base, name)| BaseFile { base: &**base, name });
    let quiet = args.common.quiet || args.common.json;
    let config = Config::default().threads(thread_count(args.common.threads()));
    let found = checkpoint::ablate::ablate(&there, against, &config, quiet)?;
    show(args, !quiet, &found, || render::tensors::ablation(name, &found, colour))
}

/// The columns of an archive, and what is inside of each `.pco`.
fn archive(input: &Input) -> Result<Inspection> {
    let file = shared(input)?;
    let mut found = inspect(&PcoZipTable::open(file.clone())?)?;
    for column in &mut found.columns {
        for member in column.members.iter_mut().filter(|member| member.file.ends_with(".pco")) {
            let reader = Box::new(file.buffered(member.start, member.bytes));
            let pco = array::inspect::read(reader)
                .map_err(|e| e.offset_by(member.start).within(format!("column {}", column.name)))?;
            member.pco = Some(pco);
        }
    }
    Ok(found)
}
