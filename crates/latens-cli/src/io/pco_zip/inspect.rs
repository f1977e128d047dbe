//! What is in a `.pco.zip`, and where its bytes go.

use crate::message::Result;
use crate::table::model::ArrayShape;
use crate::table::source::Table;
use serde::Serialize;

use super::manifest::{Entry, Layout};
use super::read::PcoZipTable;

/// The contents of a `.pco.zip`.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    /// `pco.zip`
    pub kind: &'static str,
    /// Rows of the table, numbers of the array.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Shape and order of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayShape>,
    /// In the table's order.
    pub columns: Vec<ColumnInspection>,
}

/// One column of an [`Inspection`].
#[derive(Clone, Debug, Serialize)]
pub struct ColumnInspection {
    /// Name in the table.
    pub name: String,
    /// `i32`, `timestamp[us, UTC]`, …
    #[serde(rename = "type")]
    pub type_name: String,
    /// Rows that are null.
    pub nulls: u64,
    /// `pco`, `dictionary` or `zstd`.
    pub encoding: &'static str,
    /// Distinct values of a dictionary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Bytes of all its members.
    pub bytes: u64,
    /// Its members, the values first.
    pub members: Vec<MemberInspection>,
}

/// One member of a [`ColumnInspection`].
#[derive(Clone, Debug, Serialize)]
pub struct MemberInspection {
    /// Name in the archive.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
    /// Where it lies in the archive; what is inside of a `.pco` is told by `latens::pco`.
    #[serde(skip)]
    pub start: u64,
    /// Chunks, modes, deltas and bins of a `.pco`, filled in by the verb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pco: Option<crate::array::inspect::PcoInspection>,
}

/// Look into an open file.
///
/// # Errors
/// Members that cannot be parsed.
pub fn inspect(table: &PcoZipTable) -> Result<Inspection> {
    let columns = table.manifest.columns.iter().map(|entry| {
        let column = inspect_column(table, entry);
        column.map_err(|e| e.within(format!("column {}", entry.field.name)))
    });
    Ok(Inspection {
        kind: "pco.zip",
        rows: table.rows(),
        bytes: table.file.len(),
        array: table.manifest.array.clone(),
        columns: columns.collect::<Result<_>>()?,
    })
}

fn inspect_column(table: &PcoZipTable, entry: &Entry) -> Result<ColumnInspection> {
    let (encoding, distinct) = match entry.layout {
        Layout::Numbers { .. } | Layout::Words { .. } => ("pco", None),
        Layout::Dictionary { distinct, .. } => ("dictionary", Some(distinct)),
        Layout::Plain { .. } => ("zstd", None),
    };
    let members = entry.members().into_iter().map(|member| {
        let place = table.place(member)?;
        Ok(MemberInspection {
            file: member.file.clone(),
            bytes: member.bytes,
            start: place.start,
            pco: None,
        })
    });
    Ok(ColumnInspection {
        name: entry.field.name.clone(),
        type_name: entry.field.type_name(),
        nulls: entry.nulls,
        encoding,
        distinct,
        bytes: entry.bytes(),
        members: members.collect::<Result<_>>()?,
    })
}
