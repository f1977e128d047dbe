//! What type a column of text fields has.

use crate::table::model::{LogicalType, Storage};
use latens::NumberType;

/// Decimals of so many significant digits are all kept apart by an `f64`.
const EXACT_DIGITS: usize = 15;
/// Significant digits that no float has more of, written out in full.
const MOST_DIGITS: usize = 767;

/// What the fields seen so far allow.
#[derive(Clone, Debug)]
pub(super) struct Inference {
    integer: bool,
    float: bool,
    utf8: bool,
    /// Whether a number has been seen; words such as `NaN` alone make no column of numbers.
    number: bool,
    /// Whether a field was empty.
    pub(super) nulls: bool,
}

impl Inference {
    pub(super) fn new() -> Self {
        Inference { integer: true, float: true, utf8: true, number: false, nulls: false }
    }

    /// Take one more field into account.
    pub(super) fn push(&mut self, field: &[u8]) {
        if field.is_empty() {
            self.nulls = true;
            return;
        }
        if self.integer || self.float {
            let text = std::str::from_utf8(field).unwrap_or_default();
            let shape = Shape::of(text);
            self.number |= matches!(shape, Some(Shape::Integer | Shape::Decimal));
            let integer = shape == Some(Shape::Integer);
            self.integer = self.integer && integer && text.parse::<i64>().is_ok();
            self.float = self.float && shape.is_some_and(|shape| shape.fits_f64(text));
        }
        self.utf8 = self.utf8 && std::str::from_utf8(field).is_ok();
    }

    /// The type of the column.
    pub(super) fn settle(&self) -> (Storage, LogicalType) {
        if self.number && self.integer {
            (Storage::Number(NumberType::I64), LogicalType::None)
        } else if self.number && self.float {
            (Storage::Number(NumberType::F64), LogicalType::None)
        } else if self.utf8 {
            (Storage::Bytes, LogicalType::Text)
        } else {
            (Storage::Bytes, LogicalType::None)
        }
    }
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// `-?(0|[1-9][0-9]*)`, `-0` aside.
    Integer,
    /// With a point, an exponent, or `-0`.
    Decimal,
    /// `NaN`, `nan`, `inf`, `-inf`.
    Word,
}

impl Shape {
    fn of(text: &str) -> Option<Shape> {
        if matches!(text, "NaN" | "nan" | "inf" | "-inf") {
            return Some(Shape::Word);
        }
        let body = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = match body.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (body, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let sound = digits(whole)
            && fraction.is_none_or(digits)
            && !(whole.is_empty() && fraction.is_none_or(str::is_empty))
            && !(whole.len() > 1 && whole.starts_with('0'))
            && exponent.is_none_or(|exponent| {
                let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                !exponent.is_empty() && digits(exponent)
            });
        let integer = fraction.is_none() && exponent.is_none() && text != "-0";
        sound.then_some(if integer { Shape::Integer } else { Shape::Decimal })
    }

    /// Whether the nearest `f64` prints, at as many digits as there are, as what is written.
    fn fits_f64(self, text: &str) -> bool {
        if self == Shape::Word {
            return true;
        }
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        let significant = digits.trim_start_matches('0').trim_end_matches('0');
        let Ok(value) = text.parse::<f64>() else { return false };
        if significant.is_empty() {
            return value == 0.0;
        }
        if significant.len() <= EXACT_DIGITS && value.is_normal() {
            return true;
        }
        if significant.len() > MOST_DIGITS {
            return false;
        }
        let printed = format!("{:.*e}", significant.len() - 1, value.abs());
        let printed = printed.split('e').next().unwrap_or_default();
        value.is_finite() && printed.chars().filter(char::is_ascii_digit).eq(significant.chars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(fields: &[&str]) -> String {
        let mut inference = Inference::new();
        fields.iter().for_each(|field| inference.push(field.as_bytes()));
        match inference.settle() {
            (Storage::Number(number_type), _) => number_type.name().into(),
            (_, LogicalType::Text) => "text".into(),
            _ => "binary".into(),
        }
    }

    #[test]
    fn types_are_found() {
        let cases: [(&[&str], &str); 27] = [
            (&[], "text"),
            (&["", ""], "text"),
            (&["1", "", "-2"], "i64"),
            (&["-9223372036854775808", "9223372036854775807"], "i64"),
            (&["0", "18446744073709551615"], "text"),
            (&["9223372036854775808", "1"], "f64"),
            (&["-1", "18446744073709551615"], "text"),
            (&["18446744073709551616"], "f64"),
            (&["123456789012345678901234"], "text"),
            (&["1", "2.5"], "f64"),
            (&["9007199254740993", "0.5"], "text"),
            (&["-0"], "f64"),
            (&["1e5", "-.5", "5."], "f64"),
            (&["NaN", "inf", "1"], "f64"),
            (&["NaN", "inf"], "text"),
            (&["007"], "text"),
            (&["0", "00"], "text"),
            (&["00.5"], "text"),
            (&["+1"], "text"),
            (&[" 1"], "text"),
            (&["1_000"], "text"),
            (&["0x10"], "text"),
            (&["true"], "text"),
            (&["."], "text"),
            (&["1e999"], "text"),
            (&["1e-400"], "text"),
            (&["0.30000000000000004", "5e-324"], "f64"),
        ];
        for (fields, expected) in cases {
            assert_eq!(settled(fields), expected, "{fields:?}");
        }
    }

    #[test]
    fn floats_printed_at_any_number_of_digits_are_floats() {
        for value in [0.1f64, 1.0 / 3.0, 1e22, 123_456.789e-30, 1.5e308, 2.2e-310] {
            for digits in [5, 15, 16, 17, 18, 25] {
                assert_eq!(settled(&[&format!("{value:.digits$e}")]), "f64", "{value} {digits}");
            }
            assert_eq!(settled(&[&format!("{value:?}")]), "f64");
        }
        assert_eq!(settled(&["0.1234567890123456789"]), "text");
    }

    #[test]
    fn more_digits_than_a_float_has_are_text() {
        // The largest float below 2^-1022 has all of them.
        let longest = format!("{:.766e}", f64::from_bits((1 << 52) - 1));
        assert!(!longest.contains("0e"), "{longest}");
        assert_eq!(settled(&[&longest]), "f64");
        for digits in [768, 65_536, 100_000] {
            assert_eq!(settled(&[&format!("0.{}", "1".repeat(digits))]), "text", "{digits}");
        }
    }

    #[test]
    fn bytes_that_are_no_text() {
        let mut inference = Inference::new();
        inference.push(b"a");
        inference.push(&[0xff]);
        assert_eq!(inference.settle(), (Storage::Bytes, LogicalType::None));
    }
}
