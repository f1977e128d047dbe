//! `schema.json`: what the archive holds.

use crate::message::{Failure, Result};
use crate::table::model::{ArrayShape, Field, KeyValue, Schema, Storage};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Name of the member that holds it.
pub(super) const FILE: &str = "schema.json";
const FORMAT: &str = "latens pco.zip";
const VERSION: u32 = 1;

/// The whole of `schema.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: String,
    version: u32,
    pub(super) rows: u64,
    pub(super) columns: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) array: Option<ArrayShape>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) metadata: Vec<KeyValue>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) field: Field,
    pub(super) nulls: u64,
    pub(super) layout: Layout,
    /// Present where rows are null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) valid: Option<Member>,
}

/// Which members hold the values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Layout {
    /// Booleans and numbers.
    Numbers { values: Member },
    /// Numbers of two words.
    Words { high: Member, low: Member },
    /// Codes (`u32`) into distinct byte strings.
    Dictionary { codes: Member, distinct: u64, values: ByteStore },
    /// Byte strings, one for each value.
    Plain { values: ByteStore },
}

/// Byte strings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ByteStore {
    /// All of them joined, as one zstd stream.
    pub(super) joined: Member,
    /// Bytes of that stream when decoded.
    pub(super) total: u64,
    /// Their lengths (`u32`), absent where the storage fixes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lengths: Option<Member>,
}

/// A member of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    pub(super) file: String,
    pub(super) bytes: u64,
}

impl Entry {
    /// All its members.
    pub(super) fn members(&self) -> Vec<&Member> {
        let mut members = match &self.layout {
            Layout::Numbers { values } => vec![values],
            Layout::Words { high, low } => vec![high, low],
            Layout::Dictionary { codes, values, .. } => {
                let mut members = vec![codes, &values.joined];
                members.extend(&values.lengths);
                members
            }
            Layout::Plain { values } => {
                let mut members = vec![&values.joined];
                members.extend(&values.lengths);
                members
            }
        };
        members.extend(&self.valid);
        members
    }

    /// Bytes of all its members.
    pub(super) fn bytes(&self) -> u64 {
        self.members().iter().map(|member| member.bytes).fold(0, u64::saturating_add)
    }

    fn check(&self, rows: u64) -> std::result::Result<(), &'static str> {
        let fixed = match self.field.storage {
            Storage::Wide(0 | 17..) => return Err("a width that is not 1 to 16 bytes"),
            Storage::Fixed(_) => true,
            _ => false,
        };
        let store = match (&self.layout, self.field.storage) {
            (Layout::Numbers { .. }, Storage::Boolean | Storage::Number(_)) => None,
            (Layout::Words { .. }, Storage::Wide(_) | Storage::Int96) => None,
            (Layout::Dictionary { values, .. }, Storage::Bytes | Storage::Fixed(_)) => Some(values),
            (Layout::Plain { values }, Storage::Bytes | Storage::Fixed(_)) => Some(values),
            _ => return Err("its layout does not go with its storage"),
        };
        if store.is_some_and(|store| store.lengths.is_some() == fixed) {
            return Err("lengths and storage do not go together");
        }
        if self.nulls > rows {
            return Err("more nulls than rows");
        }
        if (self.nulls > 0) != self.valid.is_some() || (self.nulls > 0 && !self.field.nullable) {
            return Err("its nulls do not go with what says which rows are null");
        }
        Ok(())
    }
}

impl Manifest {
    pub(super) fn new(schema: &Schema, rows: u64, columns: Vec<Entry>) -> Self {
        Manifest {
            format: FORMAT.into(),
            version: VERSION,
            rows,
            columns,
            array: schema.array.clone(),
            metadata: schema.metadata.clone(),
        }
    }

    /// The schema of the table.
    pub(super) fn schema(&self) -> Schema {
        Schema {
            fields: self.columns.iter().map(|entry| entry.field.clone()).collect(),
            metadata: self.metadata.clone(),
            array: self.array.clone(),
        }
    }

    /// The text of the member.
    pub(super) fn to_json(&self) -> Result<Vec<u8>> {
        let mut json = serde_json::to_vec(self).map_err(|e| Failure::new(e.to_string()))?;
        json.push(b'\n');
        Ok(json)
    }

    /// Parse the member, and check all that can be checked without the others.
    pub(super) fn from_json(json: &[u8]) -> Result<Self> {
        let corrupt = |what: String| Failure::new(format!("corrupt: {what}")).within(FILE);
        // A version of its own first: fields of later ones are unknown here.
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let head: Head = serde_json::from_slice(json).map_err(|e| corrupt(e.to_string()))?;
        if head.format != FORMAT {
            return Err(corrupt(format!("the format is `{}`, not `{FORMAT}`", head.format)));
        }
        if head.version != VERSION {
            return Err(Failure::new(format!("version {} of the format", head.version))
                .within(FILE)
                .hint("a newer latens may read it"));
        }
        let manifest: Manifest =
            serde_json::from_slice(json).map_err(|e| corrupt(e.to_string()))?;
        manifest.check().map_err(|(place, what)| corrupt(what.into()).within(place))?;
        Ok(manifest)
    }

    fn check(&self) -> std::result::Result<(), (String, &'static str)> {
        let mut files = HashSet::new();
        for entry in &self.columns {
            let place = || format!("column {}", entry.field.name);
            entry.check(self.rows).map_err(|what| (place(), what))?;
            for member in entry.members() {
                if member.file == FILE || !files.insert(member.file.as_str()) {
                    return Err((place(), "a member is named twice"));
                }
            }
        }
        let Some(array) = &self.array else { return Ok(()) };
        let count = array.shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
        let numbers = |entry: &Entry| {
            matches!(entry.field.storage, Storage::Number(_)) && !entry.field.nullable
        };
        match self.columns.as_slice() {
            [entry] if count == Some(self.rows) && numbers(entry) => Ok(()),
            _ => Err(("array".into(), "the shape does not go with the column")),
        }
    }
}
