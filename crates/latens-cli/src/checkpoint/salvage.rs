//! What is whole of a damaged `.wcodec`, as safetensors.

use latens::Limits;
use latens::wcodec::{LostEntries, Reader, Salvage};
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::collections::{HashMap, HashSet};
use std::io::Write;

use crate::args;
use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::{Failure, Result, one_line};
use crate::output::{Need, OutputFile, Request};
use crate::verb::{say, settle, thread_count};

/// Write the tensors that are whole, name the others, and fail if there are any.
///
/// # Errors
/// Nothing can be read, I/O, wrong usage; tensors that are lost.
pub fn run(args: &args::Decompress, input: &Input, limits: Limits) -> Result<()> {
    let path = super::path(input)?;
    let named = |e: latens::Error| Failure::from(e).in_file(path);
    let opened = Reader::salvage(crate::table::reading::shared(input)?, limits).map_err(named)?;
    let Salvage { reader, damage, lost } = opened;
    let reader = reader.threads(thread_count(args.common.threads));
    let reader = super::base::with(reader, args.base.as_deref(), limits)?;
    settle::only(args.files.to, &[Format::Safetensors])?;
    let (given, name) = (args.files.output.clone(), args.files.to);
    let (output, _) = settle::output(input, given, name, Format::Safetensors, Format::Safetensors)?;
    let found = salvage(&reader)?;
    let mut out = OutputFile::open(&Request {
        input,
        output: &output,
        force: args.files.force,
        text: false,
        need: Need::Stream,
        max_output: args.max_output,
    })?;
    out.write_all(&found.file).map_err(|e| out.explain(e.into()))?;
    out.commit()?;
    if !args.common.quiet {
        for damage in &damage {
            say(&format!("damaged: {} (byte {})\n", one_line(&damage.what), damage.at));
        }
    }
    for (name, error) in &found.lost {
        let at = error.at().map_or_else(String::new, |at| format!(" (byte {at})"));
        say(&format!("lost: {}: {}{at}\n", one_line(name), one_line(error.what())));
    }
    let unnamed = lost.and_then(|lost| unnamed(&reader, lost));
    if let Some((which, at)) = &unnamed {
        say(&format!("lost: {which} (byte {at})\n"));
    }
    if !args.common.quiet {
        say(&format!("{} tensors are whole, in {}\n", found.whole, one_line(&output.name())));
    }
    let failed = |what: String| {
        Err(Failure::new(what)
            .in_file(input.name())
            .hint("get another copy of the file; what was whole has been written"))
    };
    match (found.lost.len(), unnamed) {
        (0, None) => Ok(()),
        (n, None) => failed(format!("{n} tensors could not be read")),
        (0, Some((which, _))) => failed(format!("{which} could not be read")),
        (n, Some((which, _))) => failed(format!("{n} tensors and {which} could not be read")),
    }
}

/// Tensors that a damaged index does not name any more, in words, and from which byte on.
fn unnamed(reader: &Reader<SharedFile>, lost: LostEntries) -> Option<(String, u64)> {
    let last = reader.tensors().last().map(|(_, entry)| entry.name);
    let behind = last.map_or_else(String::new, |name| format!(" behind {}", one_line(&name)));
    let which = match lost.tensors {
        Some(0) => return None,
        Some(n) => format!("{n} tensors{behind}, whose names are lost"),
        None => format!("all tensors{behind}, if there were any"),
    };
    Some((which, lost.at))
}

/// A file, and what is not in it.
struct Salvaged {
    /// A safetensors file.
    file: Vec<u8>,
    /// Tensors in it.
    whole: usize,
    /// Tensors that could not be read, and why.
    lost: Vec<(String, latens::Error)>,
}

/// All tensors that can be read. Those of types that safetensors does not have are kept as their
/// bytes, and the metadata say what they were.
///
/// # Errors
/// When the file cannot be made.
fn salvage(reader: &Reader<SharedFile>) -> Result<Salvaged> {
    let mut lost = Vec::new();
    let mut kept = Vec::new();
    let mut about = HashMap::new();
    let mut names = HashSet::new();
    for (number, entry) in reader.tensors() {
        let read = match names.insert(entry.name.clone()) {
            true => reader.tensor(number),
            // Of two names in a damaged index one is not what it was.
            false => Err(latens::Error::corrupt(0, "there is another tensor of that name")),
        };
        match read {
            Ok(bytes) => {
                let shape: Option<Vec<usize>> =
                    entry.shape.iter().map(|&n| usize::try_from(n).ok()).collect();
                let dtype = serde_json::from_value::<Dtype>(entry.dtype.into()).ok();
                kept.push((dtype.zip(shape), bytes, entry));
            }
            Err(e) => lost.push((entry.name, e)),
        }
    }
    let mut views = Vec::new();
    for (known, bytes, entry) in &kept {
        let name = &entry.name;
        let view = known
            .as_ref()
            .and_then(|(dtype, shape)| TensorView::new(*dtype, shape.clone(), bytes).ok());
        let view = match view {
            Some(view) => view,
            None => {
                about
                    .insert(format!("latens.{name}"), format!("{} {:?}", entry.dtype, entry.shape));
                let plain = TensorView::new(Dtype::U8, vec![bytes.len()], bytes);
                plain
                    .map_err(|e| Failure::new(format!("{e}")).within(format!("tensor {name:?}")))?
            }
        };
        views.push((name.as_str(), view));
    }
    let whole = views.len();
    let file = serialize(views, Some(about)).map_err(|e| Failure::new(format!("{e}")))?;
    Ok(Salvaged { file, whole, lost })
}
