//! `latens extract`

use latens::Limits;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{print_json, say, settle, thread_count};
use crate::args;
use crate::checkpoint::{self, Wrong, base, damage, extract, target};
use crate::format::Format;
use crate::job::{Input, Output};
use crate::message::{Failure, Result, one_line};
use crate::output::{Need, OutputFile, Request};
use crate::progress::Progress;
use crate::render::{grid::end_of, tensors::LONGEST};
use crate::table::reading::named;

/// What was extracted.
#[derive(Debug, Serialize)]
struct Report {
    input: String,
    output: String,
    tensor: String,
    /// As the checkpoint spells the type of the tensor.
    dtype: String,
    /// How its bytes are packed there.
    packing: String,
    #[serde(rename = "type")]
    number_type: String,
    shape: Vec<u64>,
    /// The lowest bitplanes that were left out.
    without_planes: u32,
    /// What is wrong with header, index and footer, where that was to be no error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damage: Vec<Wrong>,
}

/// Write one tensor, or a slice of one.
///
/// # Errors
/// Bad input, I/O, wrong usage.
pub fn run(args: &args::Extract) -> Result<()> {
    let input = Input::of(&args.model);
    if let Some(other) = args.from.filter(|&from| from != Format::Wcodec) {
        return Err(named(Failure::usage(format!("extract reads wcodec, not {other}")), &input)
            .hint("latens compress makes a .wcodec of a checkpoint"));
    }
    let limits = Limits::default();
    let threads = thread_count(args.common.threads());
    let quiet = args.common.quiet || args.common.json;
    // What is not known for certain is told when all else has been done.
    let (reader, damage, sound) = match args.salvage {
        true => {
            let found = checkpoint::salvaged(&input, limits, threads, quiet)?;
            let sound = found.sound(&input);
            (found.reader, found.damage, sound)
        }
        false => (checkpoint::reader(&input, limits, threads)?, Vec::new(), Ok(())),
    };
    let reader = base::with(reader, args.base.as_deref(), limits)?;
    let here = |e: Failure| damage::advised(e, &input);
    let found = reader.find(&args.tensor).and_then(|number| Some((number, reader.entry(number)?)));
    let Some((number, entry)) = found else {
        let close = reader.tensors().map(|(_, entry)| entry.name);
        let close = close.filter(|name| name.contains(&args.tensor)).take(3);
        let close: Vec<String> = close.map(|name| end_of(&name, LONGEST)).collect();
        let hint = match close.is_empty() {
            true => "latens inspect names all of them".to_string(),
            false => format!("did you mean {}?", close.join(", ")),
        };
        return Err(here(Failure::usage(format!("no tensor {:?}", args.tensor)).hint(hint)));
    };
    let raw = bare(args.output.as_deref())?;
    let reader = reader.without_planes(usize::try_from(args.without_planes).unwrap_or(usize::MAX));
    let wanted = args.without_planes;
    let in_planes = wanted > 0 && reader.has_bitplanes(number).map_err(|e| here(e.into()))?;
    let slice = extract::slice(&reader, number, &entry, args.rows.as_deref(), args.cols.as_deref());
    let slice = slice.map_err(here)?;
    let output = match &args.output {
        Some(path) => Output::of(path),
        None => Output::File(PathBuf::from(format!("{}.npy", target::plain(&args.tensor)?))),
    };
    let to_stdout = output == Output::Stdout;
    settle::one_on_stdout(&[("--json", args.common.json), ("-o -", to_stdout)])?;
    let mut out = OutputFile::open(&Request {
        input: &input,
        besides: &checkpoint::sources(None, args.base.as_deref()),
        output: &output,
        force: args.force,
        text: false,
        need: Need::Stream,
        max_output: None,
    })?;
    let report = Report {
        input: input.name(),
        output: output.name(),
        tensor: args.tensor.clone(),
        dtype: entry.dtype.to_string(),
        packing: slice.packing.clone(),
        number_type: slice.ty.to_string(),
        shape: slice.shape.clone(),
        without_planes: if in_planes { wanted } else { 0 },
        damage,
    };
    let note = slice.note.clone();
    if wanted > 0 && !in_planes && !quiet {
        let what = "is not coded in bitplanes: nothing is left out of it";
        say(&format!("{} {what}\n", one_line(&args.tensor)));
    }
    let progress = Progress::new("extract", Some(slice.len), quiet);
    progress.say(&args.tensor);
    if !raw {
        out.write_all(&slice.npy_header()).map_err(|e| out.explain(e.into()))?;
    }
    let written = slice.each(&mut |bytes| {
        out.write_all(bytes).map_err(|e| out.explain(e.into()))?;
        progress.add(bytes.len() as u64);
        Ok(())
    });
    progress.finish();
    written.map_err(here)?;
    out.commit()?;
    if args.common.json {
        print_json(&report)?;
    } else if !args.common.quiet && output != Output::Stdout {
        let shape: Vec<String> = report.shape.iter().map(u64::to_string).collect();
        say(&format!(
            "{} → {}: {} of shape ({}){}\n",
            one_line(&args.tensor),
            one_line(&report.output),
            report.number_type,
            shape.join(", "),
            note
        ));
    }
    sound
}

/// Whether an output is one of bare numbers, by its extension; else it is `.npy`.
///
/// # Errors
/// Wrong usage: an extension that says something else.
fn bare(output: Option<&Path>) -> Result<bool> {
    let Some(path) = output else { return Ok(false) };
    let special = path.extension().is_none() || path.exists() && !path.is_file();
    match Format::of_path(path) {
        Some(Format::Npy) => Ok(false),
        Some(Format::Raw) => Ok(true),
        None if special => Ok(false),
        other => {
            let what = other.map_or("that".to_string(), |format| format.to_string());
            Err(Failure::usage(format!("extract writes npy or raw, not {what}"))
                .in_file(path)
                .hint("name the output .npy, or .raw for bare little-endian numbers"))
        }
    }
}
