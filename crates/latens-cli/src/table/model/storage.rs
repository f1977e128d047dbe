//! How values lie in memory.

use latens::NumberType;
use serde::{Deserialize, Serialize};

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
