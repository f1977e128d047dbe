//! What decodes the symbols of a part, and the numbers that it needs from elsewhere: sources of classes.

use super::{Asked, OpenTensor, layout};
use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::class::windows::Windows;
use crate::wcodec::class::{Blocks, Terms};
use crate::wcodec::decode::group::SymbolDecoder;
use crate::wcodec::decode::tables::Slots;
use crate::wcodec::kept::{Numbers, Rules};
use crate::wcodec::layout::entry::EntryRecord;
use crate::wcodec::layout::part::{Codec, PartRecord};
use crate::wcodec::layout::source::{EntryRef, PartOf, Source, may_be_source};
use crate::wcodec::layout::symbols::Symbols as SymbolsRecord;
use crate::wcodec::order::Order;
use crate::wcodec::view::View;
use std::borrow::Cow;

/// What is wrong with a source that names a part which its tensor has not.
pub(super) const NO_PART: &str = "a source does not have such parts";

impl<S: ReadAt> OpenTensor<'_, S> {
    /// What explains the classes of a part.
    pub(crate) fn rules(&self, number: usize, record: &PartRecord) -> Result<Rules> {
        let (Codec::Direct(symbols) | Codec::Bitplane(symbols)) = &record.codec else {
            return Ok(Rules::default());
        };
        let Some(rule) = &symbols.classes else { return Ok(Rules::default()) };
        // One source after the other: only what is made of them is held.
        let blocks = |source: &Source, zero: bool| -> Result<Blocks> {
            let numbers = self.numbers(&source.of, number)?;
            let map = source.row_map.as_ref().map(|map| self.numbers(map, number)).transpose()?;
            let (numbers, map) =
                (numbers.source(source.width()), map.as_ref().map(|m| m.source(4)));
            let made = if zero {
                Blocks::zeros(source, numbers, map, symbols.cols)
            } else {
                Blocks::levels(source, numbers, map, symbols.cols)
            };
            made.map_err(self.claim())
        };
        let levels = rule.levels.iter().map(|s| blocks(s, false)).collect::<Result<Vec<_>>>()?;
        let zero = rule.zero.as_ref().map(|s| blocks(s, true)).transpose()?;
        let windows = Windows::of(symbols);
        let back = symbols.order.as_ref().and_then(Order::back);
        Ok(Rules { levels: Blocks::joined(levels), zero, windows, back })
    }

    /// The numbers of a source of part `before`.
    pub(super) fn numbers(&self, of: &PartOf, before: usize) -> Result<Numbers> {
        match of {
            PartOf::Own(part) if *part < before => {
                let record = self.descriptor.parts.get(*part);
                // Else a few bytes could ask for any amount of work.
                if record.is_some_and(|p| p.sources() > 0) {
                    return Err(self.wrong(format!("part {part} is named and names parts itself")));
                }
                let count = record.map_or(0, |p| p.shape.count());
                Ok(Numbers::of(self.part(*part, 0..count)?))
            }
            PartOf::Own(part) => Err(self.wrong(format!("part {part} is not an earlier one"))),
            _ if !self.outermost => Err(self.wrong("a source has a source elsewhere")),
            PartOf::Other { entry: EntryRef::Entry(n), view, part } => {
                let count = self.descriptor.parts.get(before).map_or(0, |p| p.shape.count());
                let Some((length, stored)) = self.reader.lengths(*n) else {
                    return Err(self.wrong(format!("there is no entry {n}, a source")));
                };
                if !may_be_source(length, count) || !may_be_source(stored.div_ceil(2), count) {
                    let what = format!("{} is too large a source", self.reader.place(*n));
                    return Err(self.wrong(what));
                }
                let open = Self::open_at(self.reader, *n, Asked::AsSource)?.threads(self.threads);
                let bytes = self.source(&open).map_err(|e| e.within(self.reader.place(*n)))?;
                let numbers = split(&open.entry, *view, &bytes, *part).map_err(self.claim())?;
                self.reader.last.sources.keep(open.descriptor.holder, bytes);
                Ok(numbers)
            }
            PartOf::Other { entry: EntryRef::Base(name), view, part } => {
                let part = self.of_base(name, *view, before)?.into_iter().nth(*part);
                part.map(Numbers::of).ok_or_else(|| self.wrong(NO_PART))
            }
        }
    }

    /// The bytes of an entry that is a source.
    fn source(&self, open: &OpenTensor<'_, S>) -> Result<Vec<u8>> {
        open.check_whole()?;
        let (sources, holder) = (&self.reader.last.sources, open.descriptor.holder);
        if let Some(kept) = sources.take(holder, open.entry.length) {
            return Ok(kept);
        }
        if holder < self.descriptor.holder {
            sources.missed();
        }
        let mut bytes = Vec::new();
        open.checked_bytes(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn symbols<'b>(
        &'b self,
        number: usize,
        symbols: &'b SymbolsRecord,
        bits: u32,
        bitplane: bool,
        rules: &'b Rules,
    ) -> Result<SymbolDecoder<'b>> {
        let none = || self.wrong(format!("there is no part {number}"));
        let kept = &self.descriptor.part(number).ok_or_else(none)?.slots;
        let slots = match kept.get() {
            Some(slots) => slots,
            None if bitplane => kept.get_or_init(|| Slots::Narrow(Vec::new())),
            None => {
                let spare = self.reader.last.spare();
                let made = Slots::new(symbols, bits, self.reader.bank()?, spare);
                let made = made.map_err(self.claim())?;
                kept.get_or_init(|| made)
            }
        };
        let reference = self.reference(number, symbols, bits)?;
        let terms = symbols.classes.as_ref().map(|rule| Terms {
            rule,
            levels: Cow::Borrowed(&rules.levels),
            zero: rules.zero.as_ref().map(Cow::Borrowed),
        });
        let (windows, back) = (rules.windows.as_ref(), rules.back.as_ref());
        let without_planes = self.without_planes;
        let least = self.layout.least(bits);
        Ok(SymbolDecoder {
            symbols,
            bits,
            bitplane,
            without_planes,
            least,
            slots,
            terms,
            windows,
            back,
            reference,
        })
    }
}

fn split(entry: &EntryRecord<'_>, view: View, bytes: &[u8], part: usize) -> Result<Numbers> {
    let parts = layout(entry, view).ok().and_then(|l| l.split(bytes));
    let part = parts.and_then(|p| p.into_iter().nth(part));
    part.map(Numbers::of).ok_or_else(|| Error::corrupt(0, NO_PART))
}
