//! What a table is: fields with a storage (how values lie in memory) and a logical type (what
//! they mean). Together the two give a Parquet column its physical type and annotation back.

mod logical;
mod storage;

use crate::table::piece::Values;
use latens::NumberType;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use logical::{LogicalType, TimeUnit};
pub use storage::Storage;

/// The columns of a table, in order, and what else its file says of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// In the table's order.
    pub fields: Vec<Field>,
    /// Key-value metadata of a Parquet file.
    pub metadata: Vec<KeyValue>,
    /// Set where the table is one array.
    pub array: Option<ArrayShape>,
}

/// One entry of a Parquet file's key-value metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// The value; Parquet allows a key without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What an n-dimensional array is beside its numbers, which stand in the order of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayShape {
    /// Lengths, first axis first; empty for a single number.
    pub shape: Vec<u64>,
    /// Whether the first axis runs fastest.
    pub fortran_order: bool,
    /// Whether the `.npy` file held its numbers big-endian.
    pub big_endian: bool,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Any text, not necessarily unique.
    pub name: String,
    /// How values lie in memory.
    pub storage: Storage,
    /// What they mean.
    pub logical: LogicalType,
    /// Whether rows may be null.
    pub nullable: bool,
    /// Parquet's field id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i32>,
}

impl Field {
    /// A column of numbers that mean themselves.
    pub fn numbers(name: impl Into<String>, number_type: NumberType) -> Field {
        use NumberType::*;
        let logical = match number_type {
            U8 => LogicalType::Integer { bits: 8, signed: false },
            U16 => LogicalType::Integer { bits: 16, signed: false },
            U32 => LogicalType::Integer { bits: 32, signed: false },
            U64 => LogicalType::Integer { bits: 64, signed: false },
            I8 => LogicalType::Integer { bits: 8, signed: true },
            I16 => LogicalType::Integer { bits: 16, signed: true },
            F16 => LogicalType::Float16,
            I32 | I64 | F32 | F64 => LogicalType::None,
        };
        let storage = Storage::Number(number_type);
        Field { name: name.into(), storage, logical, nullable: false, id: None }
    }

    /// Bytes of one value as the type says, 1 for an `i8` that Parquet holds in 4.
    pub fn width(&self) -> u64 {
        match self.logical {
            LogicalType::Integer { bits: 8, .. } => 1,
            LogicalType::Integer { bits: 16, .. } => 2,
            _ => self.storage.width(),
        }
    }

    /// Bytes of values of this column in memory, as their type says.
    pub fn raw_bytes(&self, values: &Values) -> u64 {
        match self.storage {
            Storage::Bytes => values.bytes(),
            _ => (values.len() as u64).saturating_mul(self.width()),
        }
    }

    /// `i32`, `timestamp[us, UTC]`, `text`, …
    pub fn type_name(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = |utc: &bool| if *utc { ", UTC" } else { "" };
        match &self.logical {
            LogicalType::None => match self.storage {
                Storage::Boolean => f.write_str("bool"),
                Storage::Number(t) => f.write_str(t.name()),
                Storage::Wide(n) => write!(f, "i{}", u32::from(n) * 8),
                Storage::Int96 => f.write_str("int96"),
                Storage::Bytes => f.write_str("binary"),
                Storage::Fixed(n) => write!(f, "binary[{n}]"),
            },
            LogicalType::Integer { bits, signed } => {
                write!(f, "{}{bits}", if *signed { 'i' } else { 'u' })
            }
            LogicalType::Float16 => f.write_str("f16"),
            LogicalType::Decimal { precision, scale } => write!(f, "decimal({precision}, {scale})"),
            LogicalType::Date => f.write_str("date"),
            LogicalType::Time { unit, utc } => write!(f, "time[{}{}]", unit.name(), zone(utc)),
            LogicalType::Timestamp { unit, utc } => {
                write!(f, "timestamp[{}{}]", unit.name(), zone(utc))
            }
            LogicalType::Text => f.write_str("text"),
            LogicalType::Enum => f.write_str("enum"),
            LogicalType::Json => f.write_str("json"),
            LogicalType::Bson => f.write_str("bson"),
            LogicalType::Uuid => f.write_str("uuid"),
            LogicalType::Interval => f.write_str("interval"),
            LogicalType::Unknown => f.write_str("null"),
            LogicalType::Geometry { .. } => f.write_str("geometry"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_comes_back_from_json() {
        let fields = [
            Field::numbers("a", NumberType::U16),
            Field {
                name: "ü/..\u{0}".into(),
                storage: Storage::Wide(16),
                logical: LogicalType::Decimal { precision: 38, scale: 2 },
                nullable: true,
                id: Some(-3),
            },
            Field {
                name: String::new(),
                storage: Storage::Number(NumberType::I64),
                logical: LogicalType::Timestamp { unit: TimeUnit::Micros, utc: true },
                nullable: false,
                id: None,
            },
        ];
        for field in fields {
            let json = serde_json::to_string(&field).unwrap();
            assert_eq!(serde_json::from_str::<Field>(&json).unwrap(), field, "{json}");
        }
    }

    #[test]
    fn names_of_types() {
        assert_eq!(Field::numbers("", NumberType::U8).type_name(), "u8");
        let mut field = Field::numbers("", NumberType::I64);
        field.logical = LogicalType::Timestamp { unit: TimeUnit::Nanos, utc: true };
        assert_eq!(field.type_name(), "timestamp[ns, UTC]");
    }
}
