//! One column to its members.

use crate::message::{Failure, Result};
use crate::table::model::{Field, Storage};
use crate::table::piece::Values;
use crate::table::source::{PIECE_ROWS, Table, no_column};
use latens::NumberType;

use super::bytes::{Dictionary, StoreWriter};
use super::encode::{NumberWriter, Part, Settings, any_writer};
use super::manifest::{Entry, Layout};
use super::validity::Runs;

/// A column, encoded.
pub(super) struct Encoded {
    pub(super) entry: Entry,
    pub(super) parts: Vec<Part>,
    /// Bytes of the values in memory, as their type says.
    pub(super) raw_bytes: u64,
    /// `pco`, `dictionary` or `zstd`.
    pub(super) encoding: &'static str,
    /// Of the largest chunk of the values or codes.
    pub(super) coding: Option<(String, String)>,
}

/// Encode a column.
///
/// # Errors
/// Those of the source, and of temporary files.
pub(super) fn encode(
    table: &dyn Table,
    index: usize,
    stem: &str,
    settings: &Settings,
) -> Result<Encoded> {
    let field = table.schema().fields.get(index).ok_or_else(|| no_column(index))?;
    let outcome = match field.storage {
        Storage::Boolean => numbers(table, index, NumberType::U8, stem, settings),
        Storage::Number(number_type) => numbers(table, index, number_type, stem, settings),
        Storage::Wide(_) | Storage::Int96 => words(table, index, stem, settings),
        Storage::Bytes | Storage::Fixed(_) => {
            match dictionary(table, index, field.storage, stem, settings) {
                Ok(None) => plain(table, index, field.storage, stem, settings),
                Ok(Some(done)) => Ok(done),
                Err(e) => Err(e),
            }
        }
    };
    let done = outcome.map_err(|e| e.within(format!("column {}", field.name)))?;
    done.finish(field, table.rows())
}

/// What a column takes, its validity and, of text, its distinct values included.
///
/// # Errors
/// As [`encode`].
pub fn size(table: &dyn Table, index: usize, config: &latens::pco::Config) -> Result<u64> {
    let done = encode(table, index, "column", &Settings::new(config))?;
    Ok(done.parts.iter().map(|part| part.member.bytes).sum())
}

/// Values encoded, validity not yet.
struct Coded {
    layout: Layout,
    parts: Vec<Part>,
    valid: Validity,
    encoding: &'static str,
    coding: Option<(String, String)>,
    bytes: u64,
    n: u64,
}

/// Validity on its way into a member.
struct Validity {
    runs: Runs,
    writer: NumberWriter<u64>,
}

impl Validity {
    fn new(stem: &str, settings: &Settings) -> Result<Self> {
        let writer = NumberWriter::new(format!("{stem}.valid.pco"), 0, settings)?;
        Ok(Validity { runs: Runs::default(), writer })
    }

    fn push(&mut self, rows: usize, valid: Option<&[bool]>) -> Result<()> {
        self.runs.push(rows, valid);
        self.writer.push(&self.runs.take())
    }

    /// Rows that are null, and which, where there are any.
    fn finish(mut self) -> Result<(u64, Option<Part>)> {
        if self.runs.nulls == 0 {
            return Ok((0, None));
        }
        self.writer.push(&[self.runs.last()])?;
        Ok((self.runs.nulls, Some(self.writer.finish()?)))
    }
}

impl Coded {
    fn finish(self, field: &Field, rows: u64) -> Result<Encoded> {
        let (nulls, valid) = self.valid.finish()?;
        if self.n.checked_add(nulls) != Some(rows) {
            return Err(Failure::new("corrupt: a column is shorter than the table")
                .within(format!("column {}", field.name)));
        }
        let entry = Entry {
            field: field.clone(),
            nulls,
            layout: self.layout,
            valid: valid.as_ref().map(|part| part.member.clone()),
        };
        let raw_bytes = match field.storage {
            Storage::Bytes => self.bytes,
            _ => self.n.saturating_mul(field.width()),
        };
        let mut parts = self.parts;
        parts.extend(valid);
        Ok(Encoded { entry, parts, raw_bytes, encoding: self.encoding, coding: self.coding })
    }
}

/// Call `take` with the values of each piece of a column; returns validity, bytes and count.
fn pieces(
    table: &dyn Table,
    index: usize,
    stem: &str,
    settings: &Settings,
    mut take: impl FnMut(&Values) -> Result<bool>,
) -> Result<Option<(Validity, u64, u64)>> {
    let mut column = table.column(index)?;
    let mut valid = Validity::new(stem, settings)?;
    let (mut bytes, mut n) = (0u64, 0u64);
    loop {
        let piece = column.next(PIECE_ROWS)?;
        if piece.rows == 0 {
            return Ok(Some((valid, bytes, n)));
        }
        valid.push(piece.rows, piece.valid.as_deref())?;
        bytes += piece.values.bytes();
        n += piece.values.len() as u64;
        if !take(&piece.values)? {
            return Ok(None);
        }
    }
}

#[cold]
fn other_values() -> Failure {
    Failure::new("values of another storage")
}

fn numbers(
    table: &dyn Table,
    index: usize,
    number_type: NumberType,
    stem: &str,
    settings: &Settings,
) -> Result<Coded> {
    let mut writer = any_writer(number_type, format!("{stem}.pco"), table.rows(), settings)?;
    let read = pieces(table, index, stem, settings, |values| match values {
        Values::Numbers(numbers) => writer.push(numbers).map(|()| true),
        _ => Err(other_values()),
    })?;
    let (valid, bytes, n) = read.ok_or_else(other_values)?;
    let part = writer.finish()?;
    let layout = Layout::Numbers { values: part.member.clone() };
    let coding = part.coding.clone();
    Ok(Coded { layout, parts: vec![part], valid, encoding: "pco", coding, bytes, n })
}

fn words(table: &dyn Table, index: usize, stem: &str, settings: &Settings) -> Result<Coded> {
    let rows = table.rows();
    let mut high = NumberWriter::<i64>::new(format!("{stem}.high.pco"), rows, settings)?;
    let mut low = NumberWriter::<u64>::new(format!("{stem}.low.pco"), rows, settings)?;
    let read = pieces(table, index, stem, settings, |values| match values {
        Values::Pairs(pairs) => {
            high.push(&pairs.high)?;
            low.push(&pairs.low)?;
            Ok(true)
        }
        _ => Err(other_values()),
    })?;
    let (valid, bytes, n) = read.ok_or_else(other_values)?;
    let (high, low) = (high.finish()?, low.finish()?);
    let layout = Layout::Words { high: high.member.clone(), low: low.member.clone() };
    let coding = low.coding.clone();
    Ok(Coded { layout, parts: vec![high, low], valid, encoding: "pco", coding, bytes, n })
}

fn dictionary(
    table: &dyn Table,
    index: usize,
    storage: Storage,
    stem: &str,
    settings: &Settings,
) -> Result<Option<Coded>> {
    let mut dictionary = Dictionary::default();
    let mut writer = NumberWriter::<u32>::new(format!("{stem}.pco"), table.rows(), settings)?;
    let read = pieces(table, index, stem, settings, |values| {
        let Values::Bytes(values) = values else { return Err(other_values()) };
        match dictionary.encode(values) {
            Some(codes) => writer.push(&codes).map(|()| true),
            None => Ok(false),
        }
    })?;
    let Some((valid, bytes, n)) = read.filter(|_| dictionary.pays()) else { return Ok(None) };
    let codes = writer.finish()?;
    let distinct = dictionary.values.len() as u64;
    let mut store = StoreWriter::new(stem, storage, distinct, settings)?;
    store.push(&dictionary.values)?;
    let (values, parts) = store.finish()?;
    let layout = Layout::Dictionary { codes: codes.member.clone(), distinct, values };
    let coding = codes.coding.clone();
    let parts = std::iter::once(codes).chain(parts).collect();
    Ok(Some(Coded { layout, parts, valid, encoding: "dictionary", coding, bytes, n }))
}

fn plain(
    table: &dyn Table,
    index: usize,
    storage: Storage,
    stem: &str,
    settings: &Settings,
) -> Result<Coded> {
    let mut store = StoreWriter::new(stem, storage, table.rows(), settings)?;
    let read = pieces(table, index, stem, settings, |values| match values {
        Values::Bytes(values) => store.push(values).map(|()| true),
        _ => Err(other_values()),
    })?;
    let (valid, bytes, n) = read.ok_or_else(other_values)?;
    let (values, parts) = store.finish()?;
    let layout = Layout::Plain { values };
    Ok(Coded { layout, parts, valid, encoding: "zstd", coding: None, bytes, n })
}
