//! The types that checkpoints have for the elements of a tensor.

/// Declares the types: variant, number in the file, name, elements a block, bytes a block, meaning.
macro_rules! dtypes {
    ($($variant:ident = $id:literal, $name:literal, $elements:literal in $bytes:literal, $doc:literal;)*) => {
        /// Type of the elements of a tensor, as a checkpoint names it.
        ///
        /// Numbers up to 255 are those that safetensors can name, 256 + *n* is GGUF's type *n*
        /// where safetensors has no such type. The numbers are part of the WCodec format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u16)]
        #[allow(non_camel_case_types, reason = "the names that the formats give them")]
        pub enum Dtype {
            $(#[doc = $doc] $variant = $id,)*
        }

        impl Dtype {
            /// All types, in the order of their numbers.
            pub const ALL: &'static [Dtype] = &[$(Dtype::$variant,)*];

            /// Its number in a WCodec file.
            pub fn id(self) -> u16 {
                match self { $(Dtype::$variant => $id,)* }
            }

            /// The type with a number, if there is one.
            pub fn from_id(id: u16) -> Option<Self> {
                match id { $($id => Some(Dtype::$variant),)* _ => None }
            }

            /// Its name in safetensors, or in GGUF's own list where safetensors has none.
            pub fn name(self) -> &'static str {
                match self { $(Dtype::$variant => $name,)* }
            }

            /// Elements that are stored together, and bytes that they take; `None` when unknown.
            pub fn block(self) -> Option<(u64, u64)> {
                let (elements, bytes) = match self { $(Dtype::$variant => ($elements, $bytes),)* };
                (elements > 0).then_some((elements, bytes))
            }
        }
    };
}

dtypes! {
    Unknown = 0, "unknown", 0 in 0, "A type that this version does not know; its size is the file's word.";
    BOOL = 1, "BOOL", 1 in 1, "A byte, 0 or 1.";
    U8 = 2, "U8", 1 in 1, "Unsigned, 8 bits.";
    I8 = 3, "I8", 1 in 1, "Signed, 8 bits.";
    U16 = 4, "U16", 1 in 2, "Unsigned, 16 bits.";
    I16 = 5, "I16", 1 in 2, "Signed, 16 bits.";
    U32 = 6, "U32", 1 in 4, "Unsigned, 32 bits.";
    I32 = 7, "I32", 1 in 4, "Signed, 32 bits.";
    U64 = 8, "U64", 1 in 8, "Unsigned, 64 bits.";
    I64 = 9, "I64", 1 in 8, "Signed, 64 bits.";
    F16 = 10, "F16", 1 in 2, "IEEE half precision.";
    BF16 = 11, "BF16", 1 in 2, "The upper half of an F32.";
    F32 = 12, "F32", 1 in 4, "IEEE single precision.";
    F64 = 13, "F64", 1 in 8, "IEEE double precision.";
    F8_E4M3 = 14, "F8_E4M3", 1 in 1, "8-bit float, 4 bits of exponent.";
    F8_E5M2 = 15, "F8_E5M2", 1 in 1, "8-bit float, 5 bits of exponent.";
    F8_E8M0 = 16, "F8_E8M0", 1 in 1, "8-bit power of two: the scales of the MX formats.";
    F8_E4M3FNUZ = 17, "F8_E4M3FNUZ", 1 in 1, "8-bit float without negative zero.";
    F8_E5M2FNUZ = 18, "F8_E5M2FNUZ", 1 in 1, "8-bit float without negative zero.";
    F4 = 19, "F4", 2 in 1, "4-bit float of the MX formats, two a byte.";
    F6_E2M3 = 20, "F6_E2M3", 4 in 3, "6-bit float of the MX formats, four in three bytes.";
    F6_E3M2 = 21, "F6_E3M2", 4 in 3, "6-bit float of the MX formats, four in three bytes.";
    C64 = 22, "C64", 1 in 8, "Complex number of two F32.";
    Q4_0 = 258, "Q4_0", 32 in 18, "GGUF: 4 bits, F16 scale.";
    Q4_1 = 259, "Q4_1", 32 in 20, "GGUF: 4 bits, F16 scale and minimum.";
    Q5_0 = 262, "Q5_0", 32 in 22, "GGUF: 5 bits, F16 scale.";
    Q5_1 = 263, "Q5_1", 32 in 24, "GGUF: 5 bits, F16 scale and minimum.";
    Q8_0 = 264, "Q8_0", 32 in 34, "GGUF: 8 bits, F16 scale.";
    Q8_1 = 265, "Q8_1", 32 in 36, "GGUF: 8 bits, F16 scale and sum.";
    Q2_K = 266, "Q2_K", 256 in 84, "GGUF: 2 bits, blocks of 16 in 256.";
    Q3_K = 267, "Q3_K", 256 in 110, "GGUF: 3 bits, blocks of 16 in 256.";
    Q4_K = 268, "Q4_K", 256 in 144, "GGUF: 4 bits, blocks of 32 in 256.";
    Q5_K = 269, "Q5_K", 256 in 176, "GGUF: 5 bits, blocks of 32 in 256.";
    Q6_K = 270, "Q6_K", 256 in 210, "GGUF: 6 bits, blocks of 16 in 256.";
    Q8_K = 271, "Q8_K", 256 in 292, "GGUF: 8 bits, blocks of 256.";
    IQ2_XXS = 272, "IQ2_XXS", 256 in 66, "GGUF: code book, 2.06 bits.";
    IQ2_XS = 273, "IQ2_XS", 256 in 74, "GGUF: code book, 2.31 bits.";
    IQ3_XXS = 274, "IQ3_XXS", 256 in 98, "GGUF: code book, 3.06 bits.";
    IQ1_S = 275, "IQ1_S", 256 in 50, "GGUF: code book, 1.56 bits.";
    IQ4_NL = 276, "IQ4_NL", 32 in 18, "GGUF: 4 bits, not linear.";
    IQ3_S = 277, "IQ3_S", 256 in 110, "GGUF: code book, 3.44 bits.";
    IQ2_S = 278, "IQ2_S", 256 in 82, "GGUF: code book, 2.56 bits.";
    IQ4_XS = 279, "IQ4_XS", 256 in 136, "GGUF: 4 bits, not linear, blocks of 32 in 256.";
    IQ1_M = 285, "IQ1_M", 256 in 56, "GGUF: code book, 1.75 bits.";
    TQ1_0 = 290, "TQ1_0", 256 in 54, "GGUF: ternary, 1.69 bits.";
    TQ2_0 = 291, "TQ2_0", 256 in 66, "GGUF: ternary, 2.06 bits.";
    MXFP4 = 295, "MXFP4", 32 in 17, "GGUF: 4-bit floats with a power of two as scale.";
}

impl Dtype {
    /// The type that a safetensors header names.
    pub fn from_safetensors(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|d| (1..256).contains(&d.id()) && d.name() == name)
    }

    /// The type of a name; [`Dtype::Unknown`] for those that this version does not know.
    pub fn named(name: &str) -> Self {
        Self::ALL.iter().copied().find(|d| d.name() == name).unwrap_or(Dtype::Unknown)
    }

    /// GGUF's type number `number`; [`Dtype::Unknown`] for those that this version does not know.
    pub fn from_gguf(number: u32) -> Self {
        match number {
            0 => Dtype::F32,
            1 => Dtype::F16,
            24 => Dtype::I8,
            25 => Dtype::I16,
            26 => Dtype::I32,
            27 => Dtype::I64,
            28 => Dtype::F64,
            30 => Dtype::BF16,
            _ => u16::try_from(number)
                .ok()
                .and_then(|n| n.checked_add(256))
                .and_then(Self::from_id)
                .unwrap_or(Dtype::Unknown),
        }
    }

    /// Bytes that `elements` of this type take; `None` when they do not fill their blocks, when
    /// there are too many for 64 bits, or when the type's size is unknown.
    pub fn bytes(self, elements: u64) -> Option<u64> {
        let (block, bytes) = self.block()?;
        (elements.is_multiple_of(block)).then_some(())?;
        (elements / block).checked_mul(bytes)
    }

    /// Bytes of one element, where elements are whole bytes.
    pub fn width(self) -> Option<u8> {
        match self.block()? {
            (1, bytes) => u8::try_from(bytes).ok(),
            _ => None,
        }
    }
}

/// Elements of a shape; `None` when there are too many for 64 bits. A shape without dimensions is
/// that of one number.
pub fn elements(shape: &[u64]) -> Option<u64> {
    // An empty dimension makes the tensor empty, however long the others are.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |product, &d| product.checked_mul(d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_distinct() {
        for &a in Dtype::ALL {
            assert_eq!(Dtype::from_id(a.id()), Some(a));
            for &b in Dtype::ALL {
                assert!(a == b || (a.id() != b.id() && a.name() != b.name()));
            }
        }
        assert_eq!(Dtype::from_id(0xffff), None);
        assert_eq!(Dtype::from_safetensors("BF16"), Some(Dtype::BF16));
        assert_eq!(Dtype::from_safetensors("Q4_K"), None);
        assert_eq!(Dtype::from_safetensors("unknown"), None);
    }

    #[test]
    fn gguf_numbers() {
        assert_eq!(Dtype::from_gguf(12), Dtype::Q4_K);
        assert_eq!(Dtype::from_gguf(30), Dtype::BF16);
        assert_eq!(Dtype::from_gguf(14), Dtype::Q6_K);
        for unknown in [4, 5, 36, 65_535, u32::MAX, 65_536 + 12, 65_280] {
            assert_eq!(Dtype::from_gguf(unknown), Dtype::Unknown, "{unknown}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(Dtype::Q6_K.bytes(512), Some(420));
        assert_eq!(Dtype::Q6_K.bytes(500), None);
        assert_eq!(Dtype::F4.bytes(6), Some(3));
        assert_eq!(Dtype::F64.bytes(u64::MAX), None);
        assert_eq!(Dtype::Unknown.bytes(0), None);
        assert_eq!((Dtype::F4.width(), Dtype::BF16.width()), (None, Some(2)));
        assert_eq!(elements(&[u64::MAX, u64::MAX]), None);
        assert_eq!(elements(&[u64::MAX, u64::MAX, 0]), Some(0));
        assert_eq!(elements(&[]), Some(1));
    }
}
