//! What is whole of a damaged `.wcodec`: the very files that it was made from where all of them is
//! there, else safetensors files of the tensors that can be read.

use latens::Limits;
use latens::wcodec::{LostEntries, Reader, Salvage};
use serde::Serialize;
use std::collections::HashSet;
use std::io::sink;
use std::path::Path;
use std::time::Instant;

use super::rescued;
use super::target;
use super::watch::Watched;
use crate::args;
use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::{Input, Output};
use crate::message::{Failure, Result, one_line, shown};
use crate::render::units::noun;
use crate::table::reading::{named, shared};
use crate::verb::{print_json, say, settle, thread_count};

/// `latens decompress --salvage`, done.
#[derive(Debug, Serialize)]
struct Report {
    input: String,
    output: String,
    output_bytes: u64,
    seconds: f64,
    /// Whether what was written are the files that the input was made from.
    identical: bool,
    /// How many tensors were written as U8, as safetensors has no such type.
    as_bytes: usize,
    /// Names of the tensors that are whole.
    whole: Vec<String>,
    lost: Vec<Lost>,
    damage: Vec<Wrong>,
}

/// A tensor that could not be read; tensors whose names are lost are one without.
#[derive(Debug, Serialize)]
struct Lost {
    name: Option<String>,
    why: String,
    byte: Option<u64>,
}

/// What is wrong with the file, tensors aside.
#[derive(Debug, Serialize)]
struct Wrong {
    what: String,
    byte: Option<u64>,
}

/// What goes into an output.
enum Content {
    /// A source file as it was.
    File(usize),
    /// Tensors, and the source file whose metadata they keep.
    Tensors(Vec<usize>, Option<usize>),
}

/// Write the tensors that are whole, name the others, and fail if there are any.
///
/// # Errors
/// Nothing can be read, I/O, wrong usage; tensors that are lost.
pub fn run(args: &args::Decompress, input: &Input, limits: Limits) -> Result<()> {
    let started = Instant::now();
    let named = |e: latens::Error| named(e.into(), input);
    let opened = Reader::salvage(shared(input)?, limits).map_err(named)?;
    let Salvage { reader, damage, lost, whole_index, .. } = opened;
    let reader = reader.threads(thread_count(args.common.threads()));
    let reader = super::base::with(reader, args.base.as_deref(), limits)?;
    settle::only(args.files.to, &[Format::Safetensors, Format::Gguf])?;
    let quiet = args.common.quiet || args.common.json;
    let found = look(&reader, whole_index, quiet).map_err(named)?;
    let plan = plan(args, input, &reader, &found)?;
    let (outputs, contents): (Vec<Output>, Vec<Content>) = plan.into_iter().unzip();
    let as_bytes = contents.iter().map(|content| match content {
        Content::File(_) => 0,
        Content::Tensors(numbers, _) => rescued::as_bytes(&reader, numbers),
    });
    let as_bytes = as_bytes.sum();
    let to_stdout = outputs.contains(&Output::Stdout);
    settle::one_on_stdout(&[("--json", args.common.json), ("-o -", to_stdout)])?;
    let mut bytes = 0;
    if !outputs.is_empty() {
        bytes = target::write(args, input, &outputs, |number, out| {
            match contents.get(number) {
                Some(Content::File(file)) => reader.write_file(*file, out)?,
                Some(Content::Tensors(numbers, file)) => {
                    let metadata = file.and_then(|file| reader.metadata(file));
                    rescued::write(&reader, numbers, metadata.unwrap_or_default(), out)?;
                }
                None => {}
            }
            Ok(())
        })?;
    }
    let identical = contents.len() == reader.files().count()
        && contents.iter().all(|content| matches!(content, Content::File(_)));
    let mut wrong: Vec<Wrong> =
        damage.into_iter().map(|d| Wrong { what: d.what, byte: Some(d.at) }).collect();
    wrong.extend(found.beside);
    let mut missing = found.lost;
    missing.extend(lost.and_then(|lost| unnamed(&reader, lost)));
    let name = |&number: &usize| reader.entry(number).map_or_else(String::new, |e| e.name);
    let report = Report {
        input: input.name(),
        output: match (&outputs[..], &args.files.output) {
            ([one], _) => one.name(),
            (_, Some(folder)) => shown(folder),
            _ => String::new(),
        },
        output_bytes: bytes,
        seconds: started.elapsed().as_secs_f64(),
        identical,
        as_bytes,
        whole: found.whole.iter().map(name).collect(),
        lost: missing,
        damage: wrong,
    };
    match args.common.json {
        true => print_json(&report)?,
        false => tell(&report, args.common.quiet),
    }
    let hint = match (reader.base_name(), &args.base) {
        (Some((base, _)), None) => format!("it was made against {base}: name that with --base"),
        _ => "get another copy of the file; what was whole has been written".to_string(),
    };
    let named = report.lost.iter().filter(|lost| lost.name.is_some()).count();
    let mut lost: Vec<String> = (named > 0)
        .then(|| format!("{named} {}", noun(named as u64, "tensor")))
        .into_iter()
        .collect();
    lost.extend(report.lost.iter().filter(|lost| lost.name.is_none()).map(|lost| lost.why.clone()));
    match lost.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(format!("{} could not be read", lost.join(" and ")))
            .in_file(input.name())
            .hint(hint)),
    }
}

fn tell(report: &Report, quiet: bool) {
    let at = |byte: Option<u64>| byte.map_or_else(String::new, |at| format!(" (byte {at})"));
    if !quiet {
        for Wrong { what, byte } in &report.damage {
            say(&format!("damaged: {}{}\n", one_line(what), at(*byte)));
        }
    }
    for Lost { name, why, byte } in &report.lost {
        let which = name.as_ref().map_or_else(String::new, |name| format!("{}: ", one_line(name)));
        say(&format!("lost: {which}{}{}\n", one_line(why), at(*byte)));
    }
    if !quiet {
        let same = if report.identical { ", byte for byte what it was made from" } else { "" };
        let (n, output) = (report.whole.len(), one_line(&report.output));
        let are = if n == 1 { "tensor is" } else { "tensors are" };
        say(&format!("{n} {are} whole, in {output}{same}\n"));
        if report.as_bytes > 0 {
            let (n, tensors) = (report.as_bytes, noun(report.as_bytes as u64, "tensor"));
            let what = "of types that safetensors does not have: written as U8, and __metadata__ says what each was";
            say(&format!("{n} {tensors} {what}\n"));
        }
    }
}

/// Tensors that a damaged index does not name any more, in words, and from which byte on.
fn unnamed(reader: &Reader<SharedFile>, lost: LostEntries) -> Option<Lost> {
    let last = reader.tensors().last().map(|(_, entry)| entry.name);
    let behind = last.map_or_else(String::new, |name| format!(" behind {}", one_line(&name)));
    let why = match lost.tensors {
        Some(0) => return None,
        Some(1) => format!("1 tensor{behind}, whose name is lost"),
        Some(n) => format!("{n} tensors{behind}, whose names are lost"),
        None => format!("all tensors{behind}, if there were any"),
    };
    Some(Lost { name: None, why, byte: Some(lost.at) })
}

/// What can be read.
struct Found {
    /// Of each source file, whether it is whole; empty where the index does not tell for certain.
    files: Vec<bool>,
    /// Tensors that are whole.
    whole: Vec<usize>,
    lost: Vec<Lost>,
    /// What is lost beside tensors.
    beside: Vec<Wrong>,
}

/// Reads everything.
///
/// # Errors
/// A limit.
fn look(
    reader: &Reader<SharedFile>,
    whole_index: bool,
    quiet: bool,
) -> std::result::Result<Found, latens::Error> {
    let watched = Watched::files("salvage", reader, quiet);
    let mut found =
        Found { files: Vec::new(), whole: Vec::new(), lost: Vec::new(), beside: Vec::new() };
    let mut sound = HashSet::new();
    let names: Vec<&str> = reader.files().map(|(name, _)| name).collect();
    for (file, name) in names.into_iter().enumerate().filter(|_| whole_index) {
        let tensors = reader.tensors_of_file(file);
        let written = watched.reader.write_file(file, &mut sink());
        found.files.push(written.is_ok());
        match written {
            Ok(()) => sound.extend(tensors),
            // What of it is whole may be less: that is held against the limit when it is written.
            Err(e) if e.is_limit() => {}
            Err(e) if tensors.iter().all(|&number| reader.tensor(number).is_ok()) => {
                let what = format!("only the tensors of {name} are whole: {}", e.what());
                found.beside.push(Wrong { what, byte: e.at() });
            }
            Err(_) => {}
        }
    }
    let mut names = HashSet::new();
    for (number, entry) in reader.tensors() {
        let read = match names.insert(entry.name.clone()) {
            true if sound.contains(&number) => Ok(()),
            true => reader.tensor(number).map(|_| ()),
            // Of two names in a damaged index one is not what it was.
            false => Err(latens::Error::corrupt(0, "there is another tensor of that name")),
        };
        match read {
            Ok(()) => found.whole.push(number),
            Err(e) if e.is_limit() => return Err(e),
            Err(e) => {
                let why = e.what().to_string();
                found.lost.push(Lost { name: Some(entry.name), why, byte: e.at() });
            }
        }
    }
    Ok(found)
}

/// What goes where: source files that are whole as they were, of others their tensors.
///
/// # Errors
/// Wrong usage.
fn plan(
    args: &args::Decompress,
    input: &Input,
    reader: &Reader<SharedFile>,
    found: &Found,
) -> Result<Vec<(Output, Content)>> {
    let given = args.files.output.as_deref();
    let files: Vec<(String, u64)> = reader.files().map(|(n, len)| (n.into(), len)).collect();
    let alone = files.len() == 1 && found.files == [true];
    let folder = given.filter(|path| target::is_folder(path));
    if alone || folder.is_some() && !found.files.is_empty() {
        let outputs = target::outputs(input, given, &files)?;
        target::same_format(&files, &outputs, args.files.to)?;
        let each = outputs.into_iter().enumerate();
        return Ok(each
            .filter_map(|(file, output)| of_file(reader, found, file, output))
            .collect());
    }
    let safetensors = Format::Safetensors;
    let (output, to) = match folder {
        Some(folder) => {
            let beside = match input {
                Input::File(path) => Format::beside(path, safetensors.name()),
                Input::Stdin => super::origin::name_of_stream(safetensors).into(),
            };
            (Output::File(folder.join(beside.file_name().unwrap_or_default())), safetensors)
        }
        None => {
            let (given, to) = (given.map(Path::to_path_buf), args.files.to);
            settle::output(input, given, to, safetensors, safetensors, "safetensors")?
        }
    };
    if to != safetensors {
        return Err(Failure::usage(format!("what is whole comes out as safetensors, not {to}"))
            .in_file(output.name())
            .hint("name the output .safetensors"));
    }
    let described = (0..files.len()).find(|&file| reader.metadata(file).is_some());
    Ok(vec![(output, Content::Tensors(found.whole.clone(), described))])
}

/// What goes into a folder of source file `file`; nothing where nothing of it is whole.
fn of_file(
    reader: &Reader<SharedFile>,
    found: &Found,
    file: usize,
    output: Output,
) -> Option<(Output, Content)> {
    if found.files.get(file) == Some(&true) {
        return Some((output, Content::File(file)));
    }
    let mut tensors = reader.tensors_of_file(file);
    tensors.retain(|number| found.whole.binary_search(number).is_ok());
    let output = match output {
        Output::File(path) => Output::File(path.with_extension("safetensors")),
        Output::Stdout => Output::Stdout,
    };
    (!tensors.is_empty()).then_some((output, Content::Tensors(tensors, Some(file))))
}
