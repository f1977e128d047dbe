//! A table to a `.pco.zip`.

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use crate::output::OutputFile;
use crate::output::patched::Patched;
use crate::parallel;
use crate::report::{ColumnReport, bits_per_value};
use crate::table::source::Table;
use latens::pco::Config;
use std::io::{self, Seek, Write};
use std::mem::ManuallyDrop;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, System, ZipWriter};

use super::column::{self, Encoded};
use super::encode::{Part, Settings};
use super::manifest::{self, Entry, Manifest};
use super::names::Stems;
use super::seal;

/// Columns are encoded side by side while their values take no more than this in all; a larger
/// column goes alone, its chunks side by side.
const GROUP_BYTES: u64 = 64 << 20;
/// Members from here on get the wider fields of ZIP64.
const LARGE: u64 = u32::MAX as u64;

/// Write a table; `done` is told of the bytes of values as columns are finished.
///
/// # Errors
/// Those of the source and of the output.
pub fn write(
    table: &dyn Table,
    config: &Config,
    out: &mut OutputFile,
    done: &dyn Fn(u64),
) -> Result<Vec<ColumnReport>> {
    let settings = Settings::new(config);
    let mut stems = Stems::default();
    let stems: Vec<String> =
        table.schema().fields.iter().map(|field| stems.stem(&field.name)).collect();
    // An archive that is dropped after an error would write its directory, and complain.
    let mut zip = ManuallyDrop::new(ZipWriter::new(Patched::new(&mut *out)));
    let mut entries: Vec<Entry> = Vec::new();
    let mut reports = Vec::new();
    for group in groups(table) {
        let encoded = parallel::map(group.len(), &|at| {
            let index = group[at];
            let stem = stems.get(index).map_or("", String::as_str);
            column::encode(table, index, stem, &settings)
        })?;
        for mut column in encoded {
            for part in &mut column.parts {
                append(&mut zip, part)?;
            }
            reports.push(report(&column, table.rows()));
            done(column.raw_bytes);
            entries.push(column.entry);
        }
    }
    let json = Manifest::new(table.schema(), table.rows(), entries).to_json()?;
    zip.start_file(manifest::FILE, options(json.len() as u64)).map_err(foreign)?;
    zip.write_all(&json)?;
    zip.set_raw_comment(seal::blank().into()).map_err(foreign)?;
    ManuallyDrop::into_inner(zip).finish().map_err(foreign)?;
    let written: SharedFile = out.read_back()?;
    let (at, digits) = seal::digits(&written)?;
    out.patch(at, &digits)?;
    Ok(reports)
}

/// Columns that are encoded side by side, in order.
fn groups(table: &dyn Table) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut room = 0u64;
    for index in 0..table.schema().fields.len() {
        let bytes = table.column_bytes(index);
        match groups.last_mut() {
            Some(group) if bytes <= room => {
                group.push(index);
                room -= bytes;
            }
            _ => {
                groups.push(vec![index]);
                room = GROUP_BYTES.saturating_sub(bytes);
            }
        }
    }
    groups
}

fn options(bytes: u64) -> SimpleFileOptions {
    SimpleFileOptions::DEFAULT
        .compression_method(CompressionMethod::Stored)
        .system(System::Unix)
        .unix_permissions(0o644)
        .large_file(bytes >= LARGE)
}

fn append<W: Write + Seek>(zip: &mut ZipWriter<W>, part: &mut Part) -> Result<()> {
    let member = &part.member;
    zip.start_file(&member.file, options(member.bytes)).map_err(foreign)?;
    io::copy(&mut part.content, zip)?;
    Ok(())
}

fn report(column: &Encoded, rows: u64) -> ColumnReport {
    let (mode, delta) = column.coding.clone().unwrap_or_else(|| ("-".into(), "-".into()));
    let bytes = column.entry.bytes();
    ColumnReport {
        name: column.entry.field.name.clone(),
        logical_type: column.entry.field.type_name(),
        n: rows,
        nulls: column.entry.nulls,
        encoding: column.encoding.into(),
        mode,
        delta,
        bytes,
        bits_per_value: bits_per_value(bytes, rows),
        raw_bytes: column.raw_bytes,
    }
}

/// An error of the `zip` crate in one line.
pub(super) fn foreign(error: zip::result::ZipError) -> Failure {
    match error {
        zip::result::ZipError::Io(e) => e.into(),
        other => Failure::new(format!("corrupt: {other}")),
    }
}
