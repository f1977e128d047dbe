//! A tensor as callers are told of it: strings end with a NUL.

use latens::wcodec::TensorEntry;

/// A tensor, with its strings as C has them.
pub(crate) struct Tensor {
    /// Its entry in the file.
    pub(crate) number: usize,
    /// With a NUL at the end.
    pub(crate) name: Vec<u8>,
    pub(crate) dtype: Vec<u8>,
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: usize,
    pub(crate) stored: usize,
    /// The entry whose bytes it shares.
    pub(crate) copy_of: Option<usize>,
}

/// Text as C has it.
pub(crate) fn with_nul(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

impl Tensor {
    pub(crate) fn new(number: usize, entry: TensorEntry<'_>) -> Self {
        Self {
            number,
            name: with_nul(&entry.name),
            dtype: with_nul(entry.dtype),
            shape: entry.shape,
            bytes: entry.length,
            stored: entry.stored,
            copy_of: entry.copy_of,
        }
    }
}
