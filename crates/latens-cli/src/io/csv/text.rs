//! Values as the text of CSV fields.
//!
//! Floats are written so that they read back the same, times in ISO 8601, decimals with their
//! point, bytes of unknown length as they are and of fixed length in hexadecimal.

use crate::io::parquet::join;
use crate::message::{Failure, Result};
use crate::table::model::{Field, LogicalType, Storage, TimeUnit};
use crate::table::piece::{ByteValues, Pairs, Piece, Values};
use half::f16;
use latens::AnyNumbers;
use std::fmt::Write;

/// The fields of a piece; nulls are empty.
pub(super) fn fields(field: &Field, piece: &Piece) -> Result<ByteValues> {
    let texts = values(field, &piece.values)?;
    let Some(valid) = &piece.valid else { return Ok(texts) };
    let mut fields = ByteValues::default();
    let mut next = 0;
    for &valid in valid {
        fields.push(if valid { texts.get(next) } else { b"" });
        next += usize::from(valid);
    }
    Ok(fields)
}

fn values(field: &Field, values: &Values) -> Result<ByteValues> {
    Ok(match values {
        Values::Numbers(AnyNumbers::U8(v)) if field.storage == Storage::Boolean => {
            each(v, |out, &x| out.write_str(if x == 0 { "false" } else { "true" }))
        }
        Values::Numbers(numbers) => match numbers {
            AnyNumbers::U8(v) => each(v, |out, x| write!(out, "{x}")),
            AnyNumbers::U16(v) => each(v, |out, x| write!(out, "{x}")),
            AnyNumbers::U32(v) => each(v, |out, x| write!(out, "{x}")),
            AnyNumbers::U64(v) => each(v, |out, x| write!(out, "{x}")),
            AnyNumbers::I8(v) => each(v, |out, x| write!(out, "{x}")),
            AnyNumbers::I16(v) => each(v, |out, x| write!(out, "{x}")),
            AnyNumbers::I32(v) => each(v, |out, &x| integer(out, field, i64::from(x))),
            AnyNumbers::I64(v) => each(v, |out, &x| integer(out, field, x)),
            // `Debug` prints what reads back the same, and an exponent where it is shorter.
            AnyNumbers::F16(v) => each(v, |out, x: &f16| write!(out, "{:?}", x.to_f32())),
            AnyNumbers::F32(v) => each(v, |out, x| write!(out, "{x:?}")),
            AnyNumbers::F64(v) => each(v, |out, x| write!(out, "{x:?}")),
        },
        Values::Pairs(Pairs { high, low }) => {
            let pairs: Vec<(i64, u64)> = high.iter().copied().zip(low.iter().copied()).collect();
            each(&pairs, |out, &(high, low)| match (field.storage, &field.logical) {
                (Storage::Int96, _) => int96(out, high, low),
                (_, &LogicalType::Decimal { scale, .. }) => decimal(out, join(high, low), scale),
                _ => write!(out, "{}", join(high, low)),
            })
        }
        Values::Bytes(bytes) => match (field.storage, &field.logical) {
            (Storage::Fixed(16), LogicalType::Uuid) => strings(bytes, uuid),
            (_, &LogicalType::Decimal { scale, .. }) => {
                strings(bytes, |out, value| match wide(value) {
                    Some(integer) => decimal(out, integer, scale),
                    None => hex(out, value),
                })
            }
            (Storage::Fixed(_), _) => strings(bytes, hex),
            _ => bytes.clone(),
        },
    })
    .and_then(|texts: ByteValues| match texts.len() == values.len() {
        true => Ok(texts),
        false => Err(Failure::new("a value cannot be written as text")),
    })
}

/// Whether what [`fields`] makes of this column is text: bytes of any length stay as they are.
pub(super) fn is_text(field: &Field) -> bool {
    field.storage != Storage::Bytes
        || matches!(
            field.logical,
            LogicalType::Text | LogicalType::Enum | LogicalType::Json | LogicalType::Decimal { .. }
        )
}

/// The text of each value; a value that cannot be written ends it.
fn each<T>(values: &[T], mut write: impl FnMut(&mut String, &T) -> std::fmt::Result) -> ByteValues {
    let mut texts = ByteValues::default();
    let mut text = String::new();
    for value in values {
        text.clear();
        if write(&mut text, value).is_err() {
            break;
        }
        texts.push(text.as_bytes());
    }
    texts
}

fn strings(
    values: &ByteValues,
    mut write: impl FnMut(&mut String, &[u8]) -> std::fmt::Result,
) -> ByteValues {
    let slices: Vec<&[u8]> = values.iter().collect();
    each(&slices, |out, value| write(out, value))
}

fn integer(out: &mut String, field: &Field, value: i64) -> std::fmt::Result {
    match field.logical {
        LogicalType::Date => date(out, i128::from(value)),
        LogicalType::Time { unit, .. } => {
            let day = 86_400 * unit.per_second();
            match (0..day).contains(&value) {
                true => clock(out, i128::from(value), unit),
                false => write!(out, "{value}"),
            }
        }
        LogicalType::Timestamp { unit, utc } => {
            timestamp(out, i128::from(value), unit)?;
            out.write_str(if utc { "Z" } else { "" })
        }
        LogicalType::Decimal { scale, .. } => decimal(out, i128::from(value), scale),
        _ => write!(out, "{value}"),
    }
}

fn int96(out: &mut String, day: i64, nanos: u64) -> std::fmt::Result {
    const JULIAN_DAY_OF_EPOCH: i128 = 2_440_588;
    let days = i128::from(day) - JULIAN_DAY_OF_EPOCH;
    timestamp(out, days * 86_400_000_000_000 + i128::from(nanos), TimeUnit::Nanos)
}

fn timestamp(out: &mut String, value: i128, unit: TimeUnit) -> std::fmt::Result {
    let day = 86_400 * i128::from(unit.per_second());
    date(out, value.div_euclid(day))?;
    out.push('T');
    clock(out, value.rem_euclid(day), unit)
}

/// `05:15:00`, `05:15:00.250`.
fn clock(out: &mut String, value: i128, unit: TimeUnit) -> std::fmt::Result {
    let per_second = i128::from(unit.per_second());
    let (seconds, fraction) = (value / per_second, value % per_second);
    write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    match (fraction, unit) {
        (0, _) => Ok(()),
        (_, TimeUnit::Millis) => write!(out, ".{fraction:03}"),
        (_, TimeUnit::Micros) => write!(out, ".{fraction:06}"),
        (_, TimeUnit::Nanos) => write!(out, ".{fraction:09}"),
    }
}

/// `2013-01-01` from days since 1970-01-01, in the Gregorian calendar of all times.
fn date(out: &mut String, days: i128) -> std::fmt::Result {
    // Years begin in March here, so that the leap day is the last day of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    match (0..10_000).contains(&year) {
        true => write!(out, "{year:04}-{month:02}-{day:02}"),
        false => write!(out, "{year:+05}-{month:02}-{day:02}"),
    }
}

/// `-0.05` from -5 and scale 2.
fn decimal(out: &mut String, value: i128, scale: i32) -> std::fmt::Result {
    let Ok(scale @ 1..) = usize::try_from(scale) else {
        return write!(out, "{value}");
    };
    let digits = format!("{:0>1$}", value.unsigned_abs(), scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    write!(out, "{}{whole}.{fraction}", if value < 0 { "-" } else { "" })
}

/// A big-endian integer of at most 128 bits.
fn wide(value: &[u8]) -> Option<i128> {
    let fill = if *value.first()? >= 0x80 { 0xff } else { 0 };
    let mut bytes = [fill; 16];
    bytes.get_mut(16usize.checked_sub(value.len())?..)?.copy_from_slice(value);
    Some(i128::from_be_bytes(bytes))
}

fn hex(out: &mut String, value: &[u8]) -> std::fmt::Result {
    value.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}

fn uuid(out: &mut String, value: &[u8]) -> std::fmt::Result {
    for (i, byte) in value.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        write!(out, "{byte:02x}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
        let mut out = String::new();
        write(&mut out).unwrap();
        out
    }

    #[test]
    fn dates_of_all_times() {
        let cases = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (15_706, "2013-01-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
        ];
        for (days, expected) in cases {
            assert_eq!(text(|out| date(out, days)), expected);
        }
        let extreme = text(|out| timestamp(out, i128::from(i64::MIN), TimeUnit::Millis));
        assert_eq!(extreme, "-292275055-05-16T16:47:04.192");
    }

    #[test]
    fn decimals_keep_their_point() {
        let cases = [(-5, 2, "-0.05"), (0, 2, "0.00"), (12345, 2, "123.45"), (7, 0, "7")];
        for (value, scale, expected) in cases {
            assert_eq!(text(|out| decimal(out, value, scale)), expected);
        }
        assert_eq!(
            text(|out| decimal(out, i128::MIN, 38)),
            "-1.70141183460469231731687303715884105728"
        );
    }

    #[test]
    fn int96_is_a_timestamp() {
        assert_eq!(text(|out| int96(out, 2_440_588, 1)), "1970-01-01T00:00:00.000000001");
    }
}
