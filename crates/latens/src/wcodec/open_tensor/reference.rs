//! The symbols that a part is predicted from: decoded once, or read of the base where they are wanted.

use super::symbols::NO_PART;
use super::{OpenTensor, Reference};
use crate::error::Result;
use crate::wcodec::base::{Access, Base, BaseBytes, BaseTensor};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::data::{Data, Stretches};
use crate::wcodec::kept::{Numbers, OfBase};
use crate::wcodec::layout::source::{EntryRef, PartOf, may_be_of_base};
use crate::wcodec::layout::symbols::Symbols as SymbolsRecord;
use crate::wcodec::plane::Part;
use crate::wcodec::split_part::SplitPart;
use crate::wcodec::view::{Form, Layout, View};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a tensor of the base up to which it is read at once, and kept.
const MOST_AT_ONCE: u64 = if cfg!(test) { 1 << 12 } else { 1 << 22 };

/// A tensor of the base, of which parts are references.
enum Found<'a> {
    /// One that is large, which parts are split off of by stretches.
    Large(Arc<Large<'a>>),
    /// Taken apart.
    Small(Arc<OfBase>),
}

/// A large tensor of the base.
struct Large<'a> {
    base: &'a dyn Base,
    name: String,
    layout: Layout,
    len: usize,
    /// Its bytes, where they are not read by stretches.
    held: Option<Vec<u8>>,
}

/// A part of a large tensor of the base.
pub(super) struct PartOfBase<'a> {
    tensor: Arc<Large<'a>>,
    part: usize,
}

impl<'a> Found<'a> {
    /// The symbols of a part, if it is of symbols.
    fn part(&self, part: usize) -> Option<Reference<'a>> {
        match self {
            Self::Large(tensor) => {
                let bits = tensor.bits(part)?;
                Some(Reference::Read(bits, PartOfBase { tensor: Arc::clone(tensor), part }))
            }
            Self::Small(tensor) => {
                let (bits, symbols) = tensor.parts.get(part)?.as_ref()?;
                Some(Reference::Held(*bits, Arc::clone(symbols)))
            }
        }
    }
}

impl Large<'_> {
    /// Calls `f` with a part, if it can be split off by stretches.
    fn with_part<T>(&self, part: usize, f: impl FnOnce(Option<SplitPart<'_>>) -> T) -> T {
        let bytes = BaseBytes { base: self.base, name: &self.name, len: self.len };
        let data = self.held.as_ref().map_or(Data::Read(&bytes), |held| Data::Held(held));
        f(SplitPart::new(data, self.layout, part))
    }

    /// Of how many bits the symbols of a part are; none where it has none, or they cannot be split off so.
    fn bits(&self, part: usize) -> Option<u32> {
        match self.layout.parts().get(part)?.form {
            Form::Symbols { bits, .. } => self.with_part(part, |part| part.map(|_| bits)),
            Form::Words { .. } | Form::Raw { .. } => None,
        }
    }
}

impl Stretches for PartOfBase<'_> {
    fn len(&self) -> usize {
        self.tensor.with_part(self.part, |part| part.map_or(0, |part| part.len()))
    }

    fn read(&self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        let read = |part: Option<SplitPart<'_>>| part.map_or(Ok(()), |part| part.read(range, out));
        self.tensor.with_part(self.part, read)
    }
}

impl<'a, S: ReadAt> OpenTensor<'a, S> {
    /// The symbols that part `number` is predicted from; none where it has no reference.
    pub(super) fn reference(
        &self,
        number: usize,
        symbols: &SymbolsRecord,
        bits: u32,
    ) -> Result<Option<Data<'_>>> {
        let Some(of) = symbols.prediction.as_ref().and_then(|p| p.reference.as_ref()) else {
            return Ok(None);
        };
        let needs = self.needs.get(number);
        let needs = needs.ok_or_else(|| self.wrong(format!("there is no part {number}")))?;
        if needs.reference.get().is_none() {
            self.references_with(of, number)?;
        }
        match needs.reference.get() {
            Some(Reference::Held(of_bits, symbols)) if *of_bits == bits => {
                Ok(Some(Data::Held(symbols)))
            }
            Some(Reference::Read(of_bits, part)) if *of_bits == bits => Ok(Some(Data::Read(part))),
            _ => Err(self.wrong(format!("the reference is not of symbols of {bits} bits"))),
        }
    }

    /// Finds `of`, which part `number` is predicted from, and with a tensor of the base that is decoded what other parts need
    /// of that.
    fn references_with(&self, of: &PartOf, number: usize) -> Result<()> {
        let keep = |number: usize, reference: Reference<'a>| {
            if let Some(needs) = self.needs.get(number) {
                needs.reference.get_or_init(|| reference);
            }
        };
        let PartOf::Other { entry: EntryRef::Base(name), view, part } = of else {
            let Numbers { bytes, width, bits, .. } = self.numbers(of, number)?;
            if width == 1 {
                keep(number, Reference::Held(bits, Arc::new(bytes)));
            }
            return Ok(());
        };
        self.check_of_base(name, number)?;
        let found = match self.large_of_base(name, *view, *part)? {
            Some(large) => Found::Large(Arc::new(large)),
            None => Found::Small(self.small_of_base(name, *view, *part, number)?),
        };
        for (number, record) in self.descriptor.parts.iter().enumerate() {
            if let Some(PartOf::Other { entry: EntryRef::Base(other), view: under, part }) =
                record.reference()
                && (other, under) == (name, view)
                && self.check_of_base(name, number).is_ok()
                && let Some(reference) = found.part(*part)
            {
                keep(number, reference);
            }
        }
        Ok(())
    }

    /// A tensor of the base that is small, or must be read as a whole: taken apart, and kept for the next call. It has `part`.
    fn small_of_base(
        &self,
        name: &str,
        view: View,
        part: usize,
        number: usize,
    ) -> Result<Arc<OfBase>> {
        let last = &self.reader.last;
        let of_base = match last.of_base(name, view) {
            Some(kept) if self.outermost => kept,
            _ => Arc::new(OfBase::new(name, view, self.of_base(name, view, number)?)),
        };
        if self.keeps {
            last.keep_of_base(&of_base);
        }
        match of_base.parts.get(part) {
            Some(_) => Ok(of_base),
            None => Err(self.wrong(NO_PART)),
        }
    }

    /// A tensor of the base that is large, if `part` of it is of symbols that can be split off by stretches. It is read so,
    /// too, where that takes no more than these, or not all of it is wanted and that takes less than all.
    fn large_of_base(&self, name: &str, view: View, part: usize) -> Result<Option<Large<'a>>> {
        let base = self.reader.base()?;
        let about = base.about(name).filter(|about| about.length > MOST_AT_ONCE && self.outermost);
        let Some(BaseTensor { dtype, shape, length }) = about else { return Ok(None) };
        let (layout, len) = (view.layout(dtype, &shape, length), usize::try_from(length));
        let (Some(layout), Ok(len)) = (layout, len) else { return Ok(None) };
        let large = Large { base, name: name.to_owned(), layout, len, held: None };
        let access = base.access();
        if large.bits(part).is_none() || access == Access::Whole && self.keeps {
            return Ok(None);
        }
        let is_held = access != Access::Bytes && !self.keeps;
        let held = if is_held { Some(base.tensor(name)?.2) } else { None };
        Ok(Some(Large { held, ..large }))
    }

    /// Whether part `number` may name a tensor of the base: it is not much larger.
    fn check_of_base(&self, name: &str, number: usize) -> Result<()> {
        let count = self.descriptor.parts.get(number).map_or(0, |p| p.shape.count());
        let about = self.reader.base()?.about(name);
        match about.is_none_or(|about| may_be_of_base(about.length, count)) {
            true => Ok(()),
            false => Err(self.wrong(format!("tensor {name:?} of the base is too large a source"))),
        }
    }

    /// The parts of a tensor of the base under a view, which part `number` names.
    pub(super) fn of_base(&self, name: &str, view: View, number: usize) -> Result<Vec<Part>> {
        if !self.outermost {
            return Err(self.wrong("a source has a source elsewhere"));
        }
        self.check_of_base(name, number)?;
        let (dtype, shape, bytes) = self.reader.base()?.tensor(name)?;
        let layout = view.layout(dtype, &shape, bytes.len() as u64);
        let none = || self.wrong(NO_PART);
        layout.and_then(|l| l.split(&bytes)).ok_or_else(none)
    }
}
