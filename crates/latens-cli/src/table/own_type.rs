//! The type that a column of numbers means: Parquet holds an `i8` as an `i32` that says so.

use latens::{AnyNumbers, NumberType};

use crate::message::{Failure, Result};
use crate::table::model::{Field, LogicalType, Storage};

/// The type of a column's numbers, `None` where it holds something else.
pub fn of(field: &Field) -> Option<NumberType> {
    let Storage::Number(ty) = field.storage else { return None };
    Some(match (ty, &field.logical) {
        (NumberType::U32, LogicalType::Integer { bits: 8, signed: false }) => NumberType::U8,
        (NumberType::U32, LogicalType::Integer { bits: 16, signed: false }) => NumberType::U16,
        (NumberType::I32, LogicalType::Integer { bits: 8, signed: true }) => NumberType::I8,
        (NumberType::I32, LogicalType::Integer { bits: 16, signed: true }) => NumberType::I16,
        (ty, _) => ty,
    })
}

/// Whether the column holds numbers that mean themselves, rather than days or cents.
pub fn is_plain(field: &Field) -> bool {
    let plain = matches!(
        field.logical,
        LogicalType::None | LogicalType::Integer { .. } | LogicalType::Float16
    );
    plain && matches!(field.storage, Storage::Number(_))
}

/// Numbers of a column in the type that it means.
///
/// # Errors
/// A number that is none of that type.
pub fn narrow(field: &Field, numbers: AnyNumbers) -> Result<AnyNumbers> {
    fn each<A: Copy, B: TryFrom<A>>(field: &Field, numbers: Vec<A>) -> Result<Vec<B>> {
        let narrowed: std::result::Result<Vec<B>, _> =
            numbers.into_iter().map(B::try_from).collect();
        narrowed.map_err(|_| {
            Failure::new(format!("corrupt: a number that is no {}", field.type_name()))
                .within(format!("column {}", field.name))
        })
    }
    Ok(match (of(field), numbers) {
        (Some(NumberType::U8), AnyNumbers::U32(v)) => AnyNumbers::U8(each(field, v)?),
        (Some(NumberType::U16), AnyNumbers::U32(v)) => AnyNumbers::U16(each(field, v)?),
        (Some(NumberType::I8), AnyNumbers::I32(v)) => AnyNumbers::I8(each(field, v)?),
        (Some(NumberType::I16), AnyNumbers::I32(v)) => AnyNumbers::I16(each(field, v)?),
        (_, numbers) => numbers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_i8_in_an_i32() {
        let mut field = Field::numbers("a", NumberType::I8);
        field.storage = Storage::Number(NumberType::I32);
        assert_eq!(of(&field), Some(NumberType::I8));
        let narrowed = narrow(&field, AnyNumbers::I32(vec![-128, 127])).unwrap();
        assert!(matches!(narrowed, AnyNumbers::I8(v) if v == [-128, 127]));
        let message = narrow(&field, AnyNumbers::I32(vec![128])).unwrap_err().to_string();
        assert!(message.contains("no i8") && message.contains("column a"), "{message}");
    }
}
