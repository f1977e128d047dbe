//! What a reader keeps of the tensor that it opened last: slices of a tensor are read one after the
//! other, and need the same descriptor, tables and scales.

mod sources;

use crate::wcodec::class::windows::Windows;
use crate::wcodec::class::{Blocks, SourceBytes};
use crate::wcodec::decode::tables::Slots;
use crate::wcodec::layout::descriptor::Descriptor;
use crate::wcodec::plane::{Content, Part};
use crate::wcodec::view::View;
use latens_kernels::rearrange::Rearrangement;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) use sources::Sources;

/// Stored bytes of a descriptor, and bytes of what explains a part, that are kept.
const MOST: usize = if cfg!(test) { 1 << 12 } else { 1 << 22 };

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
    rules: OnceLock<Rules>,
}

/// What explains the classes of a part.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) levels: Vec<Blocks>,
    pub(crate) zero: Option<Blocks>,
    /// For kernels, where classes have that form.
    pub(crate) windows: Option<Windows>,
    /// From columns as they are coded to columns as they are, where pairs have an order of their own.
    pub(crate) back: Option<Rearrangement>,
}

impl Rules {
    fn bytes(&self) -> usize {
        let blocks = self.levels.iter().chain(&self.zero);
        let of =
            |b: &Blocks| 2 * b.values.len() + b.row_map.as_ref().map_or(0, |map| 4 * map.len());
        blocks.map(of).sum::<usize>()
            + self.windows.as_ref().map_or(0, |w| w.map.len() + w.cols.len())
            + self.back.as_ref().map_or(0, Rearrangement::bytes)
    }
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
    pub(crate) fn rules(&self) -> Option<&Rules> {
        self.rules.get()
    }

    /// Keeps `rules`, or gives them back where they are too large.
    pub(crate) fn keep(&self, rules: Rules) -> Option<Rules> {
        if rules.bytes() > MOST { Some(rules) } else { self.rules.set(rules).err() }
    }

    /// The memory of its tables.
    fn tables(&mut self) -> Option<Vec<u32>> {
        let Some(Slots::Narrow(slots)) = self.slots.take() else { return None };
        Some(slots).filter(|slots| slots.capacity() > 0)
    }
}

/// Symbols, and of how many bits they are.
pub(crate) type Symbols = (u32, Arc<Vec<u8>>);

/// A tensor of the base taken apart: its parts of symbols, none where one is of wider numbers.
#[derive(Debug)]
pub(crate) struct OfBase {
    pub(crate) name: String,
    pub(crate) view: View,
    pub(crate) parts: Vec<Option<Symbols>>,
}

impl OfBase {
    pub(crate) fn new(name: &str, view: View, parts: Vec<Part>) -> Self {
        let symbols = |part: Part| {
            let numbers = Numbers::of(part);
            (numbers.width == 1).then(|| (numbers.bits, Arc::new(numbers.bytes)))
        };
        Self { name: name.to_owned(), view, parts: parts.into_iter().map(symbols).collect() }
    }
}

/// The place for what is kept.
#[derive(Debug, Default)]
pub(crate) struct Last {
    kept: Mutex<Option<Arc<Kept>>>,
    /// The tensor of the base that slices were predicted from.
    base: Mutex<Option<Arc<OfBase>>>,
    pub(crate) sources: Sources,
    /// Memory of tables that are no longer kept.
    spare: Mutex<Vec<Vec<u32>>>,
}

/// Tables whose memory is kept: those of a tensor, and those of one that is opened before the other is done.
const TABLES: usize = 2;

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
        if let Some(mut before) = std::mem::replace(&mut *last, kept) {
            self.done(&mut before);
        }
    }

    /// The tensor of the base of that name, under a view, if it is kept.
    pub(crate) fn of_base(&self, name: &str, view: View) -> Option<Arc<OfBase>> {
        let last = self.base.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|of| of.name == name && of.view == view).cloned()
    }

    /// Keeps this one in place of what there was.
    pub(crate) fn keep_of_base(&self, of: &Arc<OfBase>) {
        *self.base.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(of));
    }

    /// Uses the memory of what nobody else needs again.
    pub(crate) fn done(&self, kept: &mut Arc<Kept>) {
        for part in Arc::get_mut(kept).map(|kept| &mut kept.parts[..]).unwrap_or_default() {
            if let Some(tables) = part.tables() {
                let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
                if spare.len() < TABLES {
                    spare.push(tables);
                }
            }
        }
    }

    /// Memory for tables.
    pub(crate) fn spare(&self) -> Vec<u32> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
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
