//! `latens advise`

use std::io::stdout;

use super::{print_json, print_out, settle, with_threads};
use crate::args;
use crate::format::Format;
use crate::message::{Failure, Result};
use crate::progress::Progress;
use crate::render::{self, style};
use crate::table::advise::advise;
use crate::table::array::ArrayTable;
use crate::table::open::open;
use crate::table::reading::{Reading, named, shared};
use crate::table::source::{Projection, Table};

/// Measure the encodings of all columns.
///
/// # Errors
/// Bad input, I/O, wrong usage.
pub fn run(args: &args::Advise) -> Result<()> {
    let input = settle::input(&args.table);
    let format = settle::input_format(&input, args.from)?;
    let progress = Progress::new("advise", None, args.common.quiet || args.common.json);
    let reading = Reading {
        input: &input,
        format,
        number_type: args.number_type,
        skip_nested: true,
        progress: &progress,
    };
    let advice = with_threads(args.common.threads, || {
        let all: Box<dyn Table> = match format {
            Format::Npy | Format::Raw => {
                let table = shared(&input)
                    .and_then(|file| ArrayTable::open(file, &reading))
                    .and_then(ArrayTable::flat);
                Box::new(table.map_err(|e| named(e, &input))?)
            }
            Format::Pco => {
                return Err(Failure::usage("advise looks at tables, a .pco is one column")
                    .hint("latens decompress makes a .npy of it, which advise takes"));
            }
            _ => open(&reading)?,
        };
        let chosen =
            args.columns.as_ref().map(|names| Projection::new(&*all, names)).transpose()?;
        advise(chosen.as_ref().map_or(&*all, |chosen| chosen as &dyn Table))
    });
    progress.finish();
    let advice = advice?;
    match args.common.json {
        true => print_json(&advice),
        false if args.common.quiet => Ok(()),
        false => print_out(&render::advise::text(&input.name(), &advice, style::wanted(&stdout()))),
    }
}
