//! What is whole of a damaged `.wcodec`: the very files that it was made from where all of them is
//! there, else safetensors files of the tensors that can be read.

mod index;
pub(super) mod look;
pub(super) mod report;

use latens::Limits;
use latens::wcodec::{Reader, Salvage};
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use super::rescued;
use super::target;
use crate::args;
use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::{Input, Output};
use crate::message::{Failure, Result, shown};
use crate::table::reading::{named, shared};
use crate::verb::{print_json, settle, thread_count};
use look::{Found, beside_tensors, look, unnamed};
use report::{Report, Wrong};

/// What goes into an output.
enum Content {
    /// A source file as it was.
    File(usize),
    /// Tensors, and the source file whose metadata they keep.
    Tensors(Vec<usize>, Option<usize>),
    /// The index of shards, which is source file `file`, without the tensors that are not written.
    Index { file: usize, text: Vec<u8>, lost: usize },
}

impl Content {
    /// Tensors that an index does not name any more.
    fn unlisted(&self) -> usize {
        match self {
            Content::Index { lost, .. } => *lost,
            Content::File(_) | Content::Tensors(..) => 0,
        }
    }
}

/// Write what is whole, name the rest, and fail unless that is nothing.
///
/// # Errors
/// Nothing can be read, I/O, wrong usage; anything that is lost.
pub fn run(args: &args::Decompress, input: &Input, limits: Limits) -> Result<()> {
    let started = Instant::now();
    let named = |e: latens::Error| named(e.into(), input);
    let opened = Reader::salvage(shared(input)?, limits).map_err(named)?;
    let Salvage { reader, damage, lost, whole_index, proved, .. } = opened;
    let reader = reader.threads(thread_count(args.common.threads()));
    let reader = super::base::with(reader, args.base.as_deref(), limits)?;
    target::can_come_out(args.files.to)?;
    // What a mended index lacked may have been the base.
    let proved = proved || whole_index && reader.has_its_hash().is_ok_and(|same| same);
    let quiet = args.common.quiet || args.common.json;
    let found = look(&reader, whole_index, quiet).map_err(named)?;
    let plan = plan(args, input, &reader, &found)?;
    let (outputs, contents): (Vec<Output>, Vec<Content>) = plan.into_iter().unzip();
    let tensors = contents.iter().filter_map(|content| match content {
        Content::File(_) | Content::Index { .. } => None,
        Content::Tensors(numbers, _) => Some(&numbers[..]),
    });
    let as_bytes = tensors.clone().map(|numbers| rescued::as_bytes(&reader, numbers)).sum();
    let renamed = tensors.filter_map(|numbers| rescued::renamed(&reader, numbers)).collect();
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
                Some(Content::Index { text, .. }) => out.write_all(text)?,
                None => {}
            }
            Ok(())
        })?;
    }
    let identical = proved
        && contents.len() == reader.files().count()
        && contents.iter().all(|content| matches!(content, Content::File(_)));
    let (mut kept, mut described) = (HashSet::new(), HashSet::new());
    for content in &contents {
        match content {
            Content::File(file) | Content::Index { file, .. } => kept.insert(*file),
            Content::Tensors(_, file) => file.is_some_and(|file| described.insert(file)),
        };
    }
    let mut missing = found.lost;
    missing.extend(lost.and_then(|lost| unnamed(&reader, lost)));
    if !identical {
        missing.extend(beside_tensors(&reader, whole_index, &kept, &described));
    }
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
        proved,
        mended: whole_index,
        as_bytes,
        whole: found.whole.iter().map(name).collect(),
        renamed,
        unlisted: contents.iter().map(Content::unlisted).sum(),
        lost: missing,
        damage: damage.into_iter().map(Wrong::from).collect(),
    };
    match args.common.json {
        true => print_json(&report)?,
        false => report.tell(args.common.quiet),
    }
    let hint = match (reader.base_name(), &args.base) {
        (Some((base, _)), None) => format!("it was made against {base}: name that with --base"),
        _ => "get another copy of the file; what was whole has been written".to_string(),
    };
    match identical {
        true => Ok(()),
        false => Err(Failure::new(report.loss()).in_file(input.name()).hint(hint)),
    }
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
    let files = target::Stored::all(reader);
    let safetensors = Format::Safetensors;
    // Whatever the damage is, tensors come out as what is asked for.
    let asked = [args.files.to, given.and_then(Format::of_path)].contains(&Some(safetensors));
    let is_other = |file: &target::Stored| file.format.is_some_and(|format| format != safetensors);
    let alone = matches!(&files[..], [file] if !(asked && is_other(file))) && found.files == [true];
    let folder = given.filter(|path| target::is_folder(path));
    if alone || folder.is_some() && !found.files.is_empty() {
        let outputs = target::outputs(input, given, &files)?;
        target::same_format(&files, &outputs, args)?;
        let each = outputs.into_iter().enumerate();
        let of_file = |(file, output)| of_file(reader, found, file, output);
        let mut plan = each.filter_map(of_file).collect();
        index::without_lost(reader, &mut plan)?;
        return Ok(plan);
    }
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
