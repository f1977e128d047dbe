//! Bytes that are in memory, or that are read a stretch at a time.

use crate::error::Result;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Bytes that can be read again and again, by any thread.
pub(crate) trait Stretches: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Puts the bytes of `range` in place of what `out` holds.
    fn read(&self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()>;
}

/// Bytes of a tensor, of a part, or of something made of them.
#[derive(Clone, Copy)]
pub(crate) enum Data<'a> {
    /// In memory.
    Held(&'a [u8]),
    /// Elsewhere.
    Read(&'a dyn Stretches),
}

impl fmt::Debug for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held().is_some();
        write!(f, "{} bytes, {}", self.len(), if held { "held" } else { "read" })
    }
}

impl<'a> Data<'a> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Held(bytes) => bytes.len(),
            Self::Read(there) => there.len(),
        }
    }

    /// All of them, where they are in memory.
    pub(crate) fn held(self) -> Option<&'a [u8]> {
        match self {
            Self::Held(bytes) => Some(bytes),
            Self::Read(_) => None,
        }
    }

    /// The bytes of `range`, which exist; in `buffer` where they had to be read.
    pub(crate) fn get<'b>(self, range: Range<usize>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        match self {
            Self::Held(bytes) => Ok(&bytes[range]),
            Self::Read(there) => {
                there.read(range, buffer)?;
                Ok(buffer)
            }
        }
    }

    /// Puts the bytes of `range`, which exist, in place of what `out` holds.
    pub(crate) fn read(self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Held(bytes) => {
                out.clear();
                out.extend_from_slice(&bytes[range]);
                Ok(())
            }
            Self::Read(there) => there.read(range, out),
        }
    }

    /// All of them, read where they are not in memory.
    pub(crate) fn whole(self) -> Result<Cow<'a, [u8]>> {
        match self {
            Self::Held(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Read(there) => {
                let mut bytes = Vec::new();
                there.read(0..there.len(), &mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Calls `f` with all bytes in order, about `size` at a time, whole multiples of `unit`.
    pub(crate) fn each(
        self,
        size: usize,
        unit: usize,
        mut f: impl FnMut(Range<usize>, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let step = (size / unit.max(1)).max(1) * unit.max(1);
        let mut buffer = Vec::new();
        for from in (0..self.len()).step_by(step) {
            let range = from..from.saturating_add(step).min(self.len());
            f(range.clone(), self.get(range, &mut buffer)?)?;
        }
        Ok(())
    }
}
