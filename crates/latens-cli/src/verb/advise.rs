//! `latens advise`

use std::io::stdout;

use super::{fitting, print_json, print_out, say_left_out, settle, with_threads};
use crate::args;
use crate::job::Input;
use crate::message::Result;
use crate::progress::Progress;
use crate::render::{self, style};
use crate::table::advise::advise;
use crate::table::flat::Flat;
use crate::table::open::open_columns;
use crate::table::reading::{Reading, named};

/// Measure the encodings of all columns.
///
/// # Errors
/// Bad input, I/O, wrong usage.
pub fn run(args: &args::Advise) -> Result<()> {
    let input = Input::of(&args.table);
    let format = settle::input_format(&input, args.from)?;
    fitting::advise(args, format)?;
    let progress = Progress::new("advise", None, args.common.quiet || args.common.json);
    let reading = Reading {
        input: &input,
        format,
        number_type: args.number_type,
        skip_nested: true,
        progress: &progress,
    };
    let advice = with_threads(args.common.threads(), || {
        let columns = args::column_names(&args.columns);
        let all = open_columns(&reading, columns.as_deref(), "")?;
        let flat = Flat::new(&*all).map_err(|e| named(e, &input))?;
        let mut advice = advise(&flat, &|column| progress.say(column))?;
        advice.left_out = all.left_out().to_vec();
        Ok(advice)
    });
    progress.finish();
    let advice = advice?;
    match args.common.json {
        true => print_json(&advice),
        false if args.common.quiet => Ok(()),
        false => {
            print_out(&render::advise::text(&input.name(), &advice, style::wanted(&stdout())))?;
            say_left_out(&advice.left_out);
            Ok(())
        }
    }
}
