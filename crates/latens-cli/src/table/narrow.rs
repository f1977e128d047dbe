//! Integers of the width that they mean: Parquet stores 8 and 16 bits as 32.

use latens::AnyNumbers;

use crate::table::model::LogicalType;

/// Numbers that are stored wider than they mean to be, as they are; `None` for all others, and
/// where one does not fit.
pub fn narrow(numbers: &AnyNumbers, logical: &LogicalType) -> Option<AnyNumbers> {
    fn all<W: Copy, N: TryFrom<W>>(wide: &[W]) -> Option<Vec<N>> {
        wide.iter().map(|&x| N::try_from(x).ok()).collect()
    }
    let LogicalType::Integer { bits, signed } = *logical else { return None };
    match (numbers, bits, signed) {
        (AnyNumbers::I32(wide), 8, true) => all(wide).map(AnyNumbers::I8),
        (AnyNumbers::I32(wide), 16, true) => all(wide).map(AnyNumbers::I16),
        (AnyNumbers::U32(wide), 8, false) => all(wide).map(AnyNumbers::U8),
        (AnyNumbers::U32(wide), 16, false) => all(wide).map(AnyNumbers::U16),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_narrowed() {
        let byte = LogicalType::Integer { bits: 8, signed: false };
        let narrowed = narrow(&AnyNumbers::U32(vec![0, 255]), &byte);
        assert_eq!(narrowed, Some(AnyNumbers::U8(vec![0, 255])));
        assert_eq!(narrow(&AnyNumbers::U32(vec![0, 256]), &byte), None);
        let short = LogicalType::Integer { bits: 16, signed: true };
        assert_eq!(narrow(&AnyNumbers::I32(vec![-5]), &short), Some(AnyNumbers::I16(vec![-5])));
        assert_eq!(narrow(&AnyNumbers::I64(vec![1]), &short), None);
    }
}
