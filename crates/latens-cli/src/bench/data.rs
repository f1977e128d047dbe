//! What is measured: columns of numbers, or the files of a checkpoint, held in memory.

use latens::AnyNumbers;

use super::held::Held;
use crate::checkpoint::origin::Origin;
use crate::format::Format;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::table::model::Field;
use crate::table::own_type;
use crate::table::piece::Values;
use crate::table::reading::named;
use crate::table::source::{PIECE_ROWS, Table};

/// Values of a column beyond this many bytes are left out.
const MOST: u64 = 256 << 20;

/// What is measured.
pub struct Data {
    pub(super) kind: Kind,
    /// Columns that no codec here is for.
    pub left_out: Vec<String>,
    /// Whether only the first part of a large input was taken.
    pub only_a_part: bool,
}

pub(super) enum Kind {
    Columns(Vec<Column>),
    Checkpoint(Box<Model>),
}

/// A column: its values that are not null, of the type that they have in memory.
pub(super) struct Column {
    pub(super) numbers: AnyNumbers,
    pub(super) bytes: Vec<u8>,
    /// With the type that Parquet stores, where that is wider.
    wide: Option<AnyNumbers>,
    /// The same as a table.
    pub(super) table: Held,
}

impl Column {
    /// With the type that Parquet stores.
    pub(super) fn stored(&self) -> &AnyNumbers {
        self.wide.as_ref().unwrap_or(&self.numbers)
    }

    /// Values of the table as those in memory.
    fn narrowed(&self, values: &[Values]) -> Option<AnyNumbers> {
        let bytes: Vec<u8> = values.iter().flat_map(Values::to_le_bytes).collect();
        let numbers = AnyNumbers::from_le_bytes(self.stored().number_type(), &bytes).ok()?;
        own_type::narrow(self.table.field()?, numbers).ok()
    }
}

/// A checkpoint: the bytes of its files, one behind the other.
pub(super) struct Model {
    name: String,
    pub(super) origin: Origin,
    pub(super) bytes: Vec<u8>,
}

/// What a codec gives back.
pub(super) enum Back {
    Numbers(AnyNumbers),
    Bytes(Vec<u8>),
    /// Values of a table's column.
    Values(Vec<Values>),
}

impl Data {
    /// Parts that are compressed on their own.
    pub(super) fn items(&self) -> usize {
        match &self.kind {
            Kind::Columns(columns) => columns.len(),
            Kind::Checkpoint(_) => 1,
        }
    }

    pub(super) fn columns(&self) -> usize {
        match &self.kind {
            Kind::Columns(columns) => columns.len(),
            Kind::Checkpoint(_) => 0,
        }
    }

    /// Whether a column has a type that DELTA_BINARY_PACKED is for.
    pub fn has_integers(&self) -> bool {
        match &self.kind {
            Kind::Columns(columns) => columns.iter().any(|c| {
                use latens::NumberType::{I32, I64, U32, U64};
                matches!(c.stored().number_type(), I32 | I64 | U32 | U64)
            }),
            Kind::Checkpoint(_) => false,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::Columns(columns) => columns.iter().map(|c| c.bytes.len() as u64).sum(),
            Kind::Checkpoint(model) => model.bytes.len() as u64,
        }
    }

    pub(super) fn name(&self, index: usize) -> String {
        match &self.kind {
            Kind::Columns(columns) => columns
                .get(index)
                .map_or_else(String::new, |c| format!("column {}", c.table.name())),
            Kind::Checkpoint(model) => model.name.clone(),
        }
    }

    pub(super) fn same(&self, index: usize, back: &Back) -> bool {
        let (bytes, column) = match &self.kind {
            Kind::Columns(columns) => match columns.get(index) {
                Some(column) => (&column.bytes, Some(column)),
                None => return false,
            },
            Kind::Checkpoint(model) => (&model.bytes, None),
        };
        let same = |back: &AnyNumbers| {
            column.is_some_and(|c| c.numbers.number_type() == back.number_type())
                && back.to_le_bytes() == *bytes
        };
        match back {
            Back::Bytes(back) => back == bytes,
            Back::Numbers(back) => same(back),
            Back::Values(values) => {
                column.and_then(|c| c.narrowed(values)).is_some_and(|back| same(&back))
            }
        }
    }
}

/// The columns of numbers of a table; others are named.
///
/// # Errors
/// Those of the table; no columns at all.
pub fn columns(table: &dyn Table) -> Result<Data> {
    let mut data =
        Data { kind: Kind::Columns(Vec::new()), left_out: Vec::new(), only_a_part: false };
    let mut columns = Vec::new();
    for (index, field) in table.schema().fields.iter().enumerate() {
        match column(table, index, field, &mut data.only_a_part)? {
            Some(column) => columns.push(column),
            None => data.left_out.push(field.name.clone()),
        }
    }
    if columns.is_empty() {
        return Err(Failure::new("there is no column of numbers to measure"));
    }
    data.kind = Kind::Columns(columns);
    Ok(data)
}

fn column(
    table: &dyn Table,
    index: usize,
    field: &Field,
    cut: &mut bool,
) -> Result<Option<Column>> {
    let mut reader = table.column(index)?;
    let mut stored = None;
    let mut pieces = Vec::new();
    let mut bytes = Vec::new();
    loop {
        let piece = reader.next(PIECE_ROWS)?;
        if piece.rows == 0 {
            break;
        }
        let Values::Numbers(now) = &piece.values else { return Ok(None) };
        bytes.extend(now.to_le_bytes());
        stored = Some(now.number_type());
        pieces.push(piece);
        if bytes.len() as u64 >= MOST {
            *cut = true;
            break;
        }
    }
    let Some(stored) = stored else { return Ok(None) };
    let stored = AnyNumbers::from_le_bytes(stored, &bytes)?;
    let numbers = own_type::narrow(field, stored.clone())?;
    let wide = (numbers.number_type() != stored.number_type()).then_some(stored);
    let bytes = numbers.to_le_bytes();
    Ok(Some(Column { numbers, bytes, wide, table: Held::new(field.clone(), pieces) }))
}

/// A checkpoint: a file, the index of several, or a `.wcodec`, of which the files are measured that it was made from.
///
/// # Errors
/// Bad input, I/O; one too large for memory.
pub fn checkpoint(input: &Input, format: Format) -> Result<Data> {
    let origin = match format {
        Format::Wcodec => Origin::unpacked(input, None)?,
        _ => Origin::of(input, format)?,
    };
    let checkpoint = origin.open().map_err(|e| named(e, input))?;
    let total = checkpoint.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.len));
    if total > MOST * 16 {
        let what = "a checkpoint of more than 4 GiB is not held in memory";
        let hint = match checkpoint.files.len() {
            1 => "measure a smaller one",
            _ => "measure one of its shards",
        };
        return Err(named(Failure::new(what), input).hint(hint));
    }
    let mut bytes = Vec::new();
    for (number, file) in checkpoint.files.iter().enumerate() {
        let start = bytes.len();
        bytes.resize(start + usize::try_from(file.len).unwrap_or(usize::MAX), 0);
        let read = checkpoint.read_at(number, 0, bytes.get_mut(start..).unwrap_or_default());
        read.map_err(|e| named(e.within(file.name.as_str()).into(), input))?;
    }
    let model = Model { name: input.name(), origin, bytes };
    Ok(Data { kind: Kind::Checkpoint(Box::new(model)), left_out: Vec::new(), only_a_part: false })
}
