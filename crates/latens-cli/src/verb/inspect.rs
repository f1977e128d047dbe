//! `latens inspect`

use std::io::{Write, stdout};

use super::{print_json, print_out, settle};
use crate::args;
use crate::array;
use crate::format::Format;
use crate::io::parquet;
use crate::io::pco_zip::{Inspection, PcoZipTable, inspect};
use crate::job::{Input, Output};
use crate::message::{Failure, Result};
use crate::output::{Need, OutputFile, Request};
use crate::render::{self, style};
use crate::table::dbp::read_all;
use crate::table::open::shared;

/// Show what is inside.
///
/// # Errors
/// Bad input, I/O, a page that exists already.
pub fn run(args: &args::Inspect) -> Result<()> {
    let input = settle::input(&args.file);
    let format = settle::input_format(&input, args.from)?;
    let name = input.name();
    let colour = style::wanted(&stdout());
    let page = match format {
        Format::Pco => {
            let file = array::source::open(&input).and_then(array::inspect::read);
            let file = file.map_err(|e| settle::in_input(e, &input))?;
            match args.common.json {
                true => print_json(&file)?,
                false if args.common.quiet => {}
                false => print_out(&render::inspect::pco(&name, &file, colour))?,
            }
            render::html::pco(&file)
        }
        Format::PcoZip => {
            let file = archive(&input).map_err(|e| settle::in_input(e, &input))?;
            match args.common.json {
                true => print_json(&file)?,
                false if args.common.quiet => {}
                false => print_out(&render::archive::text(&name, &file, colour))?,
            }
            render::archive::html(&file)
        }
        Format::Dbp => {
            let file = shared(&input)
                .and_then(|file| read_all(&file))
                .and_then(|bytes| array::inspect_dbp::read(&bytes, args.number_type))
                .map_err(|e| settle::in_input(e, &input))?;
            match args.common.json {
                true => print_json(&file)?,
                false if args.common.quiet => {}
                false => print_out(&render::dbp::text(&name, &file, colour))?,
            }
            render::dbp::html(&file)
        }
        Format::Parquet => {
            let file = shared(&input)
                .and_then(parquet::inspect)
                .map_err(|e| settle::in_input(e, &input))?;
            match args.common.json {
                true => print_json(&file)?,
                false if args.common.quiet => {}
                false => print_out(&render::parquet::text(&name, &file, colour))?,
            }
            render::parquet::html(&file)
        }
        other => {
            let what = format!("inspect looks into pco, pco.zip, dbp and parquet, not {other}");
            return Err(Failure::new(what));
        }
    };
    match &args.html {
        Some(path) => {
            write_page(&input, path.clone(), args.force, &render::html::page(&name, &page))
        }
        None => Ok(()),
    }
}

/// The columns of an archive, and what is inside of each `.pco`.
fn archive(input: &Input) -> Result<Inspection> {
    let file = shared(input)?;
    let mut found = inspect(&PcoZipTable::open(file.clone())?)?;
    for column in &mut found.columns {
        for member in column.members.iter_mut().filter(|member| member.file.ends_with(".pco")) {
            let reader = file.buffered(member.start, member.bytes);
            let pco = array::inspect::read(reader)
                .map_err(|e| e.offset_by(member.start).within(format!("column {}", column.name)))?;
            member.pco = Some(pco);
        }
    }
    Ok(found)
}

fn write_page(input: &Input, path: std::path::PathBuf, force: bool, page: &str) -> Result<()> {
    let mut out = OutputFile::open(&Request {
        input,
        output: &Output::File(path),
        force,
        text: true,
        need: Need::Stream,
        max_output: None,
    })?;
    out.write_all(page.as_bytes()).map_err(|e| out.explain(e.into()))?;
    out.commit().map(|_| ())
}
