//! A tensor of an open file: its descriptor read, its groups found, its sources decoded on demand.

mod bytes;
mod holder;
mod reference;
mod stretches;
mod symbols;

use crate::bits::checksum::crc32;
use crate::error::{Error, Result};
use crate::watch::Watch;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::part::{Fetch, PartDecoder};
use crate::wcodec::decode::places::Places;
use crate::wcodec::decode::telling::Telling;
use crate::wcodec::dtype::Dtype;
use crate::wcodec::ends::read_into;
use crate::wcodec::kept::{Kept, Rules};
use crate::wcodec::layout::entry::{EntryRecord, Storage};
use crate::wcodec::layout::header::check_zero;
use crate::wcodec::layout::part::{Codec, Group, PartShape};
use crate::wcodec::layout::symbols::MOST_EXPANSION;
use crate::wcodec::open_index::OpenEntry;
use crate::wcodec::plane::Part;
use crate::wcodec::reader::Reader;
use crate::wcodec::view::{Layout, View};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
pub(crate) use stretches::Stretches;

use holder::{Explained, Holder, places, unit};
use reference::PartOfBase;

/// An entry whose descriptor has been read.
pub(crate) struct OpenTensor<'a, S: ReadAt> {
    pub(crate) reader: &'a Reader<S>,
    /// The entry that was asked for.
    pub(crate) entry: EntryRecord<'a>,
    /// Its bytes in the view that they are stored in; parts are those of this.
    pub(crate) layout: Layout,
    /// Where the entry that holds the bytes has them.
    pub(crate) storage: Storage<&'a [u8]>,
    pub(crate) descriptor: Arc<Kept>,
    /// Where groups begin, part by part: in the file, or in the inline bytes.
    pub(crate) places: Vec<Vec<u64>>,
    /// Where in the file the descriptor begins, or the record of the index that holds it.
    explained_at: u64,
    /// Whether sources outside of the tensor may be followed.
    outermost: bool,
    /// Whether what is read of the base is kept for the next call.
    keeps: bool,
    /// The lowest bitplanes that are left out.
    without_planes: usize,
    threads: usize,
    telling: Telling,
    /// What parts need from elsewhere, and is not kept for the next call.
    needs: Vec<Needs<'a>>,
}

/// What a part needs of others.
#[derive(Default)]
struct Needs<'a> {
    /// What explains its classes, where it is too large to be kept.
    rules: OnceLock<Rules>,
    /// What it is predicted from.
    reference: OnceLock<Reference<'a>>,
}

/// The symbols that a part is predicted from, and of how many bits they are.
enum Reference<'a> {
    Held(u32, Arc<Vec<u8>>),
    Read(u32, PartOfBase<'a>),
}

impl<S: ReadAt> Drop for OpenTensor<'_, S> {
    fn drop(&mut self) {
        self.reader.last.done(&mut self.descriptor);
    }
}

/// Who wants an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// Somebody who may want more of it soon.
    Often,
    /// Somebody who wants all of it now.
    Once,
    /// Another entry, whose classes it explains.
    AsSource,
}

impl<'a, S: ReadAt> OpenTensor<'a, S> {
    /// Reads the descriptor of entry `number`, which is kept for the next call.
    pub(crate) fn open(reader: &'a Reader<S>, number: usize) -> Result<Self> {
        Self::open_by(reader, number, Asked::Often)
    }

    /// The same, for all of an entry at once.
    pub(crate) fn open_once(reader: &'a Reader<S>, number: usize) -> Result<Self> {
        Self::open_by(reader, number, Asked::Once)
    }

    fn open_by(reader: &'a Reader<S>, number: usize, asked: Asked) -> Result<Self> {
        let open = Self::open_at(reader, number, asked).and_then(|open| {
            if reader.watch != Watch::NONE
                && let Some(OpenEntry { name, record, .. }) = reader.open.index.entry(number)
                && record.dtype().is_some()
            {
                reader.watch.begin(&name)?;
            }
            Ok(open)
        });
        open.map_err(|e| e.within(reader.place(number)))
    }

    fn open_at(reader: &'a Reader<S>, number: usize, asked: Asked) -> Result<Self> {
        let holder = Holder::of(reader, number)?;
        let entry = holder.entry;
        let Explained { descriptor, at: explained_at, groups } = holder.explained(reader, asked)?;
        let places = places(&descriptor, groups, unit(holder.storage)).ok_or_else(|| {
            Error::corrupt(explained_at, "the groups do not take the bytes that the index states")
        })?;
        let outermost = asked != Asked::AsSource;
        let (threads, of) = (reader.threads, if outermost { entry.length } else { 0 });
        let telling = Telling::new(&reader.watch, of);
        let needs = descriptor.parts.iter().map(|_| Needs::default()).collect();
        let layout = layout(&entry, descriptor.view).map_err(|e| e.moved_to(explained_at))?;
        let open = Self {
            reader,
            entry,
            layout,
            storage: holder.storage,
            descriptor,
            places,
            explained_at,
            outermost,
            keeps: asked == Asked::Often,
            without_planes: 0,
            threads,
            telling,
            needs,
        };
        open.check_parts()?;
        open.check_claims()?;
        Ok(open)
    }

    /// Parts must be those of the layout: else they would join to other bytes than the index states.
    fn check_parts(&self) -> Result<()> {
        let (parts, wanted) = (&self.descriptor.parts, self.layout.parts());
        if parts.len() != wanted.len() {
            let (is, wanted) = (parts.len(), wanted.len());
            return Err(self.wrong(format!("{is} parts where its view has {wanted}")));
        }
        for (number, (part, wanted)) in parts.iter().zip(wanted).enumerate() {
            if part.role != wanted.role || !part.shape.is_of(wanted.form, self.layout.rows) {
                return Err(self.wrong(format!("part {number} is not what its view has there")));
            }
        }
        Ok(())
    }

    /// No group may claim to hold too much: what is made for a part's rows and columns, or decoded for its symbols, is
    /// bounded by stored bytes from here on.
    fn check_claims(&self) -> Result<()> {
        for (number, record) in self.descriptor.parts.iter().enumerate() {
            let width = record.shape.width();
            for (group, Group { length: stored, .. }) in record.groups.iter().enumerate() {
                let bytes = record.group_range(group).len().saturating_mul(width);
                if bytes > stored.saturating_mul(MOST_EXPANSION) {
                    let what = format!("its {stored} bytes claim to hold {bytes}");
                    return Err(self.places(number).locate(group, Error::corrupt(0, what)));
                }
            }
        }
        Ok(())
    }

    /// Decodes on so many threads.
    pub(crate) fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// In pieces for threads that have so many large tensors behind it: while there is one for each, none is shared.
    pub(crate) fn before(self, large: usize) -> Self {
        let threads = if large + 1 < self.threads { self.threads } else { 1 };
        self.threads(threads)
    }

    /// Leaves out the lowest bitplanes of what is coded in such, as its reader does: not of words, whose bytes are no
    /// weights.
    pub(crate) fn coarse(mut self) -> Self {
        if self.layout.meaning().is_some() {
            self.without_planes = self.reader.without_planes;
        }
        self
    }

    /// What is wrong with what the descriptor says.
    pub(crate) fn wrong(&self, what: impl Into<Cow<'static, str>>) -> Error {
        Error::corrupt(self.explained_at, what)
    }

    /// The same, where it was found by what does not know of places.
    pub(crate) fn claim(&self) -> impl Fn(Error) -> Error {
        let at = self.explained_at;
        move |error| error.moved_to(at)
    }

    /// Where the groups of a part are in the file.
    pub(crate) fn places(&self, part: usize) -> Places<'_> {
        match self.storage {
            Storage::Inline { .. } => Places::Inline(self.explained_at),
            _ => Places::File(self.places.get(part).map(Vec::as_slice).unwrap_or_default()),
        }
    }

    /// The stored bytes of a group, compared with their checksum, padding included: in memory
    /// already, or (`None`) read into `bytes`.
    pub(crate) fn stored(
        &self,
        part: usize,
        group: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<&'a [u8]>> {
        let none = || self.wrong(format!("there is no group {group}"));
        let record = self.descriptor.parts.get(part).and_then(|p| p.groups.get(group));
        let record = record.ok_or_else(none)?;
        let place = self.places.get(part).and_then(|p| p.get(group)).copied().ok_or_else(none)?;
        let padded = record.length.next_multiple_of(unit(self.storage));
        let (inline, held) = match self.storage {
            Storage::Inline { groups, .. } => {
                let place = usize::try_from(place).unwrap_or(usize::MAX);
                let stored = groups.get(place..).and_then(|rest| rest.get(..padded));
                (true, Some(stored.ok_or_else(none)?))
            }
            _ => (false, self.reader.open.source.held(place, padded)),
        };
        if held.is_none() {
            read_into(&self.reader.open.source, place, padded as u64, bytes)?;
        }
        let (stored, padding) = held.unwrap_or(bytes).split_at(record.length);
        let padding_at = if inline { self.explained_at } else { place + record.length as u64 };
        check_zero(padding, padding_at, "a group")?;
        if !inline && crc32(stored) != record.crc {
            return Err(Error::corrupt(place, "its bytes do not have their checksum")
                .within(format!("group {group}")));
        }
        bytes.truncate(record.length);
        Ok(held.map(|held| &held[..record.length]))
    }

    /// Decodes elements of a part.
    pub(crate) fn part(&self, number: usize, range: Range<usize>) -> Result<Part> {
        self.with_part(number, |decoder, fetch| Ok(decoder.content(decoder.decode(range, fetch)?)))
    }

    /// Hands over what decodes a part, and what reads its groups.
    pub(crate) fn with_part<T>(
        &self,
        number: usize,
        decode: impl FnOnce(&PartDecoder<'_>, &Fetch<'_>) -> Result<T>,
    ) -> Result<T> {
        let none = || self.wrong(format!("there is no part {number}"));
        let record = self.descriptor.parts.get(number).ok_or_else(none)?;
        let part = self.descriptor.part(number).ok_or_else(none)?;
        let needs = self.needs.get(number).ok_or_else(none)?;
        let rules = match part.rules().or_else(|| needs.rules.get()) {
            Some(rules) => rules,
            None => match part.keep(self.rules(number, record).map_err(Error::after_none)?) {
                Some(large) => needs.rules.get_or_init(|| large),
                None => part.rules().ok_or_else(none)?,
            },
        };
        let bits = match record.shape {
            PartShape::Symbols { bits, .. } => bits,
            _ => 8,
        };
        let (symbols, planes) = match &record.codec {
            Codec::Direct(symbols) => (Some(symbols), false),
            Codec::Bitplane(symbols) => (Some(symbols), true),
            _ => (None, false),
        };
        let decoder = |symbols| self.symbols(number, symbols, bits, planes, rules);
        // What was decoded elsewhere for it is none of its bytes.
        let symbols = symbols.map(decoder).transpose().map_err(Error::after_none)?;
        let decoder = PartDecoder {
            record,
            symbols,
            limits: self.reader.open.limits,
            threads: self.threads,
            pool: &self.reader.open.pool,
            places: self.places(number),
            telling: &self.telling,
        };
        let fetch = |group: usize, bytes: &mut Vec<u8>| self.stored(number, group, bytes);
        decode(&decoder, &fetch)
    }
}

fn layout(entry: &EntryRecord<'_>, view: View) -> Result<Layout> {
    let name = entry.dtype().unwrap_or("U8");
    let dtype = Dtype::named(name);
    let length = entry.length as u64;
    let shape = if entry.dtype().is_none() { vec![length] } else { entry.shape() };
    let layout = view.layout(dtype, &shape, length);
    layout.ok_or_else(|| Error::corrupt(0, format!("view {} does not fit {name}", view.name())))
}
