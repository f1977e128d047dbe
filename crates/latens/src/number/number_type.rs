//! The eleven types by name, width and wire byte.

use super::NumberKind;

/// A number type known at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are the types of the same name")]
pub enum NumberType {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl NumberType {
    /// All of them.
    pub const ALL: [NumberType; 11] = [
        NumberType::U8,
        NumberType::U16,
        NumberType::U32,
        NumberType::U64,
        NumberType::I8,
        NumberType::I16,
        NumberType::I32,
        NumberType::I64,
        NumberType::F16,
        NumberType::F32,
        NumberType::F64,
    ];

    /// Width in bits: 8, 16, 32 or 64.
    pub const fn bits(self) -> u32 {
        use NumberType::*;
        match self {
            U8 | I8 => 8,
            U16 | I16 | F16 => 16,
            U32 | I32 | F32 => 32,
            U64 | I64 | F64 => 64,
        }
    }

    /// Width in bytes: 1, 2, 4 or 8.
    pub const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    /// Unsigned, signed or float.
    pub const fn kind(self) -> NumberKind {
        use NumberType::*;
        match self {
            U8 | U16 | U32 | U64 => NumberKind::Unsigned,
            I8 | I16 | I32 | I64 => NumberKind::Signed,
            F16 | F32 | F64 => NumberKind::Float,
        }
    }

    /// `u8`, …, `f64`.
    pub const fn name(self) -> &'static str {
        use NumberType::*;
        match self {
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
        }
    }

    /// The type of that [`NumberType::name`].
    pub fn from_name(name: &str) -> Option<NumberType> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// The byte that stands for the type in standalone Pco files.
    pub const fn pco_byte(self) -> u8 {
        use NumberType::*;
        match self {
            U32 => 1,
            U64 => 2,
            I32 => 3,
            I64 => 4,
            F32 => 5,
            F64 => 6,
            U16 => 7,
            I16 => 8,
            F16 => 9,
            U8 => 10,
            I8 => 11,
        }
    }

    /// The type of that [`NumberType::pco_byte`].
    pub fn from_pco_byte(byte: u8) -> Option<NumberType> {
        Self::ALL.into_iter().find(|t| t.pco_byte() == byte)
    }

    /// Bits of mantissa that are stored: 10, 23, 52; 0 for integers.
    pub const fn mantissa_bits(self) -> u32 {
        match self {
            NumberType::F16 => 10,
            NumberType::F32 => 23,
            NumberType::F64 => 52,
            _ => 0,
        }
    }
}

impl std::fmt::Display for NumberType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bytes_are_one_to_one() {
        for t in NumberType::ALL {
            assert_eq!(NumberType::from_name(t.name()), Some(t));
            assert_eq!(NumberType::from_pco_byte(t.pco_byte()), Some(t));
        }
        assert_eq!(NumberType::from_pco_byte(0), None);
    }
}
