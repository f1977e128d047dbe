//! What the bytes of a tensor are split into before they are coded.

/// A matrix of symbols of a few bits, row by row, one symbol a byte.
///
/// Symbols are the stored bit patterns: a signed value is its two's complement bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plane {
    /// Number of rows.
    pub rows: usize,
    /// Symbols a row.
    pub cols: usize,
    /// Bits a symbol, 1 to 8.
    pub bits: u32,
    /// `rows × cols` symbols, each below `2^bits`.
    pub data: Vec<u8>,
}

/// One of the parts that a view splits a tensor into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What the part is for, which tells it from its siblings.
    pub role: Role,
    /// Its numbers.
    pub content: Content,
}

impl Part {
    /// Its bytes, whatever they are.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Symbols(plane) => &plane.data,
            Content::Words { data, .. } | Content::Raw(data) => data,
        }
    }

    /// Its bytes, without a copy.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self.content {
            Content::Symbols(plane) => plane.data,
            Content::Words { data, .. } | Content::Raw(data) => data,
        }
    }
}

/// What a part of a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The weights.
    Weights,
    /// Scales of blocks of weights.
    Scale,
    /// Minima of blocks of weights.
    Min,
    /// Zero points of blocks of weights.
    Zero,
    /// Scales of scales.
    SuperScale,
    /// Scales of minima.
    SuperMin,
    /// Upper bits of weights that are stored apart from the lower ones.
    HighBits,
    /// Exponents of floats.
    Exponent,
    /// Signs and mantissas of floats.
    Mantissa,
    /// Whatever else the bytes hold.
    Rest,
}

/// The numbers of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Symbols of a few bits.
    Symbols(Plane),
    /// Little-endian words, coded by Pco.
    Words {
        /// Bytes a word: 1, 2, 4 or 8.
        width: u8,
        /// Whether the words are IEEE floats (of 2, 4 or 8 bytes).
        float: bool,
        /// The words.
        data: Vec<u8>,
    },
    /// Bytes kept as they are, or coded by bytes.
    Raw(Vec<u8>),
}
