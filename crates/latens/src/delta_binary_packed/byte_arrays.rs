//! What the two encodings of byte strings decode to.

use std::borrow::Cow;

/// Byte strings, one after the other in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteArrays<'a> {
    /// All bytes.
    pub(super) data: Cow<'a, [u8]>,
    /// Where each string ends in [`Self::data`]; it begins where the one before it ends.
    pub(super) ends: Vec<usize>,
}

impl ByteArrays<'_> {
    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// String `index`, where there is one.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).and_then(|i| self.ends.get(i)).copied().unwrap_or(0);
        self.data.get(start..end)
    }

    /// All strings, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i).unwrap_or_default())
    }

    /// The bytes of all strings, without gaps.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// For each string where it ends in [`Self::data`].
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }
}
