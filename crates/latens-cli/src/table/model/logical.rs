//! What values mean.

use serde::{Deserialize, Serialize};

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
