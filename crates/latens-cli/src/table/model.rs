//! What a table is: fields with a storage (how values lie in memory) and a logical type (what
//! they mean). Together the two give a Parquet column its physical type and annotation back.

use crate::table::piece::Values;
use latens::NumberType;
use serde::{Deserialize, Serialize};
use std::fmt;

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

/// How the values of a column lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// `u8`, 0 or 1. Parquet: BOOLEAN.
    Boolean,
    /// One of the eleven number types, by name. Parquet: INT32 (bit-cast where unsigned), INT64,
    /// FLOAT, DOUBLE, and FIXED_LEN_BYTE_ARRAY(2) for `f16`.
    #[serde(with = "number_type_name")]
    Number(NumberType),
    /// A two's complement integer of 1 to 16 bytes as a high and a low word of 64 bits.
    /// Parquet: FIXED_LEN_BYTE_ARRAY of that length, big-endian.
    Wide(u8),
    /// Julian day (high word) and nanoseconds of the day (low word). Parquet: INT96.
    Int96,
    /// Any bytes. Parquet: BYTE_ARRAY.
    Bytes,
    /// Bytes of one length. Parquet: FIXED_LEN_BYTE_ARRAY.
    Fixed(u32),
}

/// What the values of a column mean; the names are Parquet's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LogicalType {
    /// Nothing beyond the storage.
    None,
    /// An integer narrower than its storage, or unsigned.
    Integer {
        /// 8, 16, 32 or 64.
        bits: i8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// Half precision.
    Float16,
    /// `value / 10^scale`.
    Decimal {
        /// Digits.
        precision: i32,
        /// Digits after the point.
        scale: i32,
    },
    /// Days since 1970-01-01.
    Date,
    /// Time of day.
    Time {
        /// Of the stored integer.
        unit: TimeUnit,
        /// Whether it is normalised to UTC.
        utc: bool,
    },
    /// Time since 1970-01-01T00:00:00.
    Timestamp {
        /// Of the stored integer.
        unit: TimeUnit,
        /// Whether it is normalised to UTC.
        utc: bool,
    },
    /// UTF-8.
    Text,
    /// UTF-8 from a small set.
    Enum,
    /// JSON text.
    Json,
    /// BSON.
    Bson,
    /// 16 bytes.
    Uuid,
    /// 12 bytes: months, days, milliseconds.
    Interval,
    /// Always null.
    Unknown,
    /// Well-known binary, planar.
    Geometry {
        /// Coordinate reference system.
        crs: Option<String>,
    },
}

/// Unit of times and timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// 10⁻³ s.
    #[serde(rename = "ms")]
    Millis,
    /// 10⁻⁶ s.
    #[serde(rename = "us")]
    Micros,
    /// 10⁻⁹ s.
    #[serde(rename = "ns")]
    Nanos,
}

impl TimeUnit {
    /// `ms`, `us`, `ns`.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Millis => "ms",
            TimeUnit::Micros => "us",
            TimeUnit::Nanos => "ns",
        }
    }

    /// How many of them make a second.
    pub fn per_second(self) -> i64 {
        match self {
            TimeUnit::Millis => 1_000,
            TimeUnit::Micros => 1_000_000,
            TimeUnit::Nanos => 1_000_000_000,
        }
    }
}

impl Storage {
    /// Bytes of one value in memory, for sizes that are shown and budgets; a guess for bytes.
    pub fn width(self) -> u64 {
        match self {
            Storage::Boolean => 1,
            Storage::Number(t) => t.bytes() as u64,
            Storage::Wide(n) => u64::from(n),
            Storage::Int96 => 12,
            Storage::Bytes => 16,
            Storage::Fixed(n) => u64::from(n),
        }
    }
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

/// A [`NumberType`] as its name.
mod number_type_name {
    use latens::NumberType;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(t: &NumberType, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(t.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<NumberType, D::Error> {
        let name = String::deserialize(d)?;
        NumberType::from_name(&name)
            .ok_or_else(|| D::Error::custom(format!("no number type `{name}`")))
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
