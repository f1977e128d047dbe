//! What a reader keeps of the tensor that it opened last: slices of a tensor are read one after the
//! other, and need the same descriptor, tables and scales.

use crate::wcodec::class::SourceBytes;
use crate::wcodec::decode::tables::Slots;
use crate::wcodec::layout::descriptor::Descriptor;
use crate::wcodec::plane::{Content, Part};
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Stored bytes of a descriptor, and bytes of a part's sources, that are kept.
const MOST: usize = 1 << 22;

/// A descriptor, with what its parts have needed so far.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The entry that it is of.
    pub(crate) holder: usize,
    descriptor: Descriptor,
    parts: Vec<KeptPart>,
}

/// What it takes to decode the groups of a part.
#[derive(Debug, Default)]
pub(crate) struct KeptPart {
    pub(crate) slots: OnceLock<Slots>,
    sources: OnceLock<Vec<Numbers>>,
}

/// Numbers of a source, with how wide they are.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) bytes: Vec<u8>,
    pub(crate) width: usize,
    pub(crate) bits: u32,
    /// Bytes without a width of their own.
    raw: bool,
}

impl Deref for Kept {
    type Target = Descriptor;

    fn deref(&self) -> &Descriptor {
        &self.descriptor
    }
}

impl Kept {
    pub(crate) fn new(holder: usize, descriptor: Descriptor) -> Self {
        let parts = descriptor.parts.iter().map(|_| KeptPart::default()).collect();
        Self { holder, descriptor, parts }
    }

    pub(crate) fn part(&self, number: usize) -> Option<&KeptPart> {
        self.parts.get(number)
    }
}

impl KeptPart {
    pub(crate) fn sources(&self) -> Option<&[Numbers]> {
        self.sources.get().map(Vec::as_slice)
    }

    /// Keeps `sources`, or gives them back where they are too many.
    pub(crate) fn keep(&self, sources: Vec<Numbers>) -> Option<Vec<Numbers>> {
        if sources.iter().map(|numbers| numbers.bytes.len()).sum::<usize>() > MOST {
            return Some(sources);
        }
        self.sources.set(sources).err()
    }
}

/// The place for what is kept.
#[derive(Debug, Default)]
pub(crate) struct Last {
    kept: Mutex<Option<Arc<Kept>>>,
    /// Entries that were sources of the classes of others, with their bytes, until somebody wants these: most often
    /// scales are read when their weights have been.
    sources: Mutex<Vec<(usize, Vec<u8>)>>,
    /// Memory of tables that are no longer kept.
    spare: Mutex<Vec<u32>>,
}

/// Entries whose bytes are kept at most.
const SOURCES: usize = 4;

impl Last {
    /// What is kept of entry `holder`.
    pub(crate) fn get(&self, holder: usize) -> Option<Arc<Kept>> {
        let last = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|kept| kept.holder == holder).cloned()
    }

    /// Keeps this in place of what there was, if its descriptor of `stored` bytes is not too large.
    pub(crate) fn put(&self, kept: &Arc<Kept>, stored: usize) {
        let kept = (stored <= MOST).then(|| Arc::clone(kept));
        let mut last = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = std::mem::replace(&mut *last, kept).and_then(Arc::into_inner) else {
            return;
        };
        for part in before.parts {
            if let Some(Slots::Narrow(slots)) = part.slots.into_inner()
                && slots.capacity() > 0
            {
                *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = slots;
            }
        }
    }

    /// Memory for tables.
    pub(crate) fn spare(&self) -> Vec<u32> {
        std::mem::take(&mut *self.spare.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the bytes of entry `holder`, in place of those of others where these are too many.
    pub(crate) fn keep_source(&self, holder: usize, bytes: Vec<u8>) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.retain(|(of, _)| *of != holder);
        sources.push((holder, bytes));
        let all = |sources: &[(usize, Vec<u8>)]| sources.iter().map(|s| s.1.len()).sum::<usize>();
        while sources.len() > SOURCES || all(&sources) > MOST {
            sources.remove(0);
        }
    }

    /// Whether the bytes of entry `holder` were kept, as many as `out` holds; there they are then, and kept no more.
    pub(crate) fn take_source(&self, holder: usize, out: &mut [u8]) -> bool {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let at = sources.iter().position(|(of, bytes)| *of == holder && bytes.len() == out.len());
        let Some(at) = at else { return false };
        out.copy_from_slice(&sources.remove(at).1);
        true
    }
}

impl Numbers {
    pub(crate) fn of(part: Part) -> Self {
        match part.content {
            Content::Symbols(plane) => {
                Self { bytes: plane.data, width: 1, bits: plane.bits, raw: false }
            }
            Content::Words { width, data, .. } => {
                let width = usize::from(width);
                let bits = 8 * u32::try_from(width).unwrap_or(0);
                Self { bytes: data, width, bits, raw: false }
            }
            Content::Raw(bytes) => Self { bytes, width: 1, bits: 8, raw: true },
        }
    }

    /// Raw bytes are as wide as a form wants them.
    pub(crate) fn source(&self, width: usize) -> SourceBytes<'_> {
        let width = if self.raw { width } else { self.width };
        SourceBytes { bytes: &self.bytes, width, bits: self.bits }
    }
}
