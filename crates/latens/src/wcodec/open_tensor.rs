//! A tensor of an open file: its descriptor read, its groups found, its sources decoded on demand.

mod symbols;

use crate::bits::checksum::crc32;
use crate::error::{Error, Result};
use crate::watch::Watch;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::part::{Fetch, PartDecoder, TRUSTED};
use crate::wcodec::decode::places::Places;
use crate::wcodec::decode::pool::Filled;
use crate::wcodec::decode::telling::Telling;
use crate::wcodec::dtype::Dtype;
use crate::wcodec::ends::{read, read_into};
use crate::wcodec::kept::{Kept, Rules};
use crate::wcodec::layout::descriptor::Descriptor;
use crate::wcodec::layout::entry::{EntryRecord, Storage};
use crate::wcodec::layout::header::check_zero;
use crate::wcodec::layout::part::{Codec, PartShape};
use crate::wcodec::open_index::OpenEntry;
use crate::wcodec::plane::Part;
use crate::wcodec::reader::Reader;
use crate::wcodec::view::{Form, Layout, PartLayout, Values, View, WordOrder};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// An entry whose descriptor has been read.
pub(crate) struct OpenTensor<'a, S: ReadAt> {
    pub(crate) reader: &'a Reader<S>,
    /// The entry that was asked for.
    pub(crate) entry: EntryRecord<'a>,
    /// Where the entry that holds the bytes has them.
    pub(crate) storage: Storage<&'a [u8]>,
    pub(crate) descriptor: Arc<Kept>,
    /// Where groups begin, part by part: in the file, or in the inline bytes.
    pub(crate) places: Vec<Vec<u64>>,
    /// Where in the file the descriptor begins, or the record of the index that holds it.
    explained_at: u64,
    /// Whether sources outside of the tensor may be followed.
    outermost: bool,
    threads: usize,
    telling: Telling,
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

/// Words of a part, and how they become those of the tensor.
struct Words {
    width: u8,
    order: WordOrder,
    /// Stored bytes.
    stored: usize,
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
        let none = || Error::invalid(format!("there is no entry {number}"));
        let OpenEntry { record: entry, start, at: record_at, .. } =
            reader.open.index.entry(number).ok_or_else(none)?;
        reader.open.limits.check_output(entry.length as u64)?;
        let (holder, storage, start, record_at) = match entry.storage {
            Storage::Copy(of) => {
                let holder = reader.open.index.entry(of).ok_or_else(none)?;
                (of, holder.record.storage, holder.start, holder.at)
            }
            _ => (number, entry.storage, start, record_at),
        };
        let record_at = reader.open.index_offset.saturating_add(record_at as u64);
        let alone = |number, storage: Storage<&[u8]>| {
            matches!(storage, Storage::Stored { .. })
                || !reader.open.index.doubtful.contains(&number)
        };
        if !alone(number, entry.storage) || !alone(holder, storage) {
            return Err(Error::corrupt(
                record_at,
                "it stands in the index, which is damaged, and has no checksum of its own",
            ));
        }
        let kept = if asked == Asked::Often { reader.last.get(holder) } else { None };
        let keep = |descriptor| Arc::new(Kept::new(holder, descriptor));
        let (descriptor, start, at) = match (storage, kept) {
            (Storage::Stored { groups, .. }, Some(kept)) => (kept, start, start + groups as u64),
            (Storage::Stored { groups, descriptor, crc }, None) => {
                let at = start + groups as u64;
                reader.open.limits.check_alloc(descriptor as u64, "a descriptor")?;
                let bytes = read(&reader.open.source, at, descriptor as u64)?;
                if crc32(&bytes) != crc {
                    return Err(Error::corrupt(at, "the descriptor does not have its checksum"));
                }
                let read = Descriptor::read(&bytes, false).map_err(|e| e.offset_by(at))?;
                let read = keep(read);
                if asked == Asked::Often {
                    reader.last.put(&read, descriptor);
                }
                (read, start, at)
            }
            (Storage::Inline { groups, descriptor }, _) => {
                let read = Descriptor::read(descriptor, true).map_err(|e| e.moved_to(record_at))?;
                (keep(read), 0, groups.len() as u64)
            }
            (Storage::Copy(_), _) => return Err(none()),
        };
        let mut places = Vec::new();
        let mut next = start;
        for part in &descriptor.parts {
            let mut of_part = Vec::with_capacity(part.groups.len());
            for group in &part.groups {
                of_part.push(next);
                next = next.saturating_add(group.length.next_multiple_of(4) as u64);
            }
            places.push(of_part);
        }
        let explained_at = if matches!(storage, Storage::Inline { .. }) { record_at } else { at };
        if next != at {
            return Err(Error::corrupt(
                explained_at,
                "the groups do not take the bytes that the index states",
            ));
        }
        let outermost = asked != Asked::AsSource;
        let (threads, of) = (reader.threads, if outermost { entry.length } else { 0 });
        let telling = Telling::new(&reader.watch, of);
        Ok(Self {
            reader,
            entry,
            storage,
            descriptor,
            places,
            explained_at,
            outermost,
            threads,
            telling,
        })
    }

    /// Decodes on so many threads.
    pub(crate) fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
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

    /// The layout of the view.
    pub(crate) fn layout(&self) -> Result<Layout> {
        layout(&self.entry, self.descriptor.view).map_err(self.claim())
    }

    /// Where the groups of a part are in the file.
    fn places(&self, part: usize) -> Places<'_> {
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
        let padded = record.length.next_multiple_of(4);
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
        let mut own = Rules::default();
        if part.rules().is_none() {
            own = part.keep(self.rules(number, record)?).unwrap_or_default();
        }
        let rules = part.rules().unwrap_or(&own);
        let bits = match record.shape {
            PartShape::Symbols { bits, .. } => bits,
            _ => 8,
        };
        let symbols = match &record.codec {
            Codec::Direct(symbols) => Some(self.symbols(number, symbols, bits, false, rules)?),
            Codec::Bitplane(symbols) => Some(self.symbols(number, symbols, bits, true, rules)?),
            _ => None,
        };
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

    /// All bytes of the tensor, in place of what `out` holds.
    pub(crate) fn bytes(&self, out: &mut Vec<u8>) -> Result<()> {
        let length = self.entry.length;
        if self.is_trusted() {
            self.reader.open.limits.check_output(length as u64)?;
            out.resize(length, 0);
            return self.bytes_into(out).map_err(Error::after_none);
        }
        *out = self.joined()?;
        self.end()
    }

    /// All bytes of the tensor, to the end of `out`.
    pub(crate) fn append(&self, out: &mut Filled) -> Result<()> {
        let length = self.entry.length;
        if self.is_trusted() {
            self.reader.open.limits.check_output(length as u64)?;
            return self.bytes_into(out.more(length)).map_err(Error::after_none);
        }
        let joined = self.joined()?;
        out.more(length).copy_from_slice(&joined);
        self.end()
    }

    /// Whether its stored bytes are enough to earn memory for all of it before it is decoded.
    fn is_trusted(&self) -> bool {
        let stored = self.alone().or_else(|| self.words().map(|words| words.stored));
        stored.is_some_and(|stored| self.entry.length <= stored.saturating_mul(TRUSTED))
    }

    /// Tells that all bytes of the tensor are decoded.
    pub(crate) fn end(&self) -> Result<()> {
        self.telling.end()
    }

    /// All bytes of the tensor, joined from its parts.
    fn joined(&self) -> Result<Vec<u8>> {
        let parts = self.descriptor.parts.iter().enumerate();
        let parts = parts.map(|(i, p)| self.part(i, 0..p.shape.count()));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let bytes = self.layout()?.join(parts).map_err(|e| self.wrong(e.what().to_owned()))?;
        if bytes.len() != self.entry.length {
            let (is, stated) = (bytes.len(), self.entry.length);
            return Err(self.wrong(format!("{is} bytes where the index states {stated}")));
        }
        Ok(bytes)
    }

    /// The stored bytes of the only part, where its groups decode to bytes of the tensor.
    pub(crate) fn alone(&self) -> Option<usize> {
        let [part] = &self.descriptor.parts[..] else { return None };
        let layout = self.layout().ok()?;
        let [of_layout] = &layout.parts()[..] else { return None };
        let length = self.entry.length;
        let same = match (self.descriptor.view, part.shape) {
            (View::Raw, PartShape::Bytes { count }) => count == length,
            (View::Bytes(_), PartShape::Symbols { bits: 8, rows, cols }) => {
                rows.checked_mul(cols) == Some(length) && u64::try_from(cols) == Ok(layout.cols)
            }
            (View::Packed(packing), PartShape::Symbols { bits, rows, cols }) => {
                u32::from(packing.bits) == bits
                    && u64::try_from(cols) == Ok(layout.cols)
                    && u64::try_from(rows) == Ok(layout.rows)
            }
            _ => false,
        };
        (same && part.role == of_layout.role).then_some(part.stored())
    }

    /// The words of the only part, where they become the bytes of the tensor one by one.
    fn words(&self) -> Option<Words> {
        let [part] = &self.descriptor.parts[..] else { return None };
        let View::Words { width, order } = self.descriptor.view else { return None };
        let of_layout = self.layout().ok()?.parts();
        let [PartLayout { role, form: Form::Words { float, .. } }] = of_layout[..] else {
            return None;
        };
        let count = self.entry.length / usize::from(width.max(1));
        let fits = part.role == role
            && part.shape == PartShape::Words { width, float, count }
            && count * usize::from(width) == self.entry.length;
        fits.then(|| Words { width, order, stored: part.stored() })
    }

    /// All bytes of the tensor into `out`, which is as long as they are. After an error only so many bytes
    /// of it have changed as that says.
    pub(crate) fn bytes_into(&self, out: &mut [u8]) -> Result<()> {
        if out.len() != self.entry.length {
            return Err(Error::invalid(format!(
                "a buffer of {} bytes for a tensor of {}",
                out.len(),
                self.entry.length
            )));
        }
        if self.outermost && self.reader.last.take_source(self.descriptor.holder, out) {
            return self.end();
        }
        if self.alone().is_some() {
            let cols = usize::try_from(self.layout()?.cols).unwrap_or(usize::MAX);
            let view = self.descriptor.view;
            let done = self.with_part(0, |decoder, fetch| match view {
                View::Packed(packing) => decoder.pack_into(packing, cols, fetch, out),
                _ => decoder.decode_into(fetch, out).map(|()| true),
            })?;
            if done {
                return self.end();
            }
        }
        if let Some(Words { width, order, .. }) = self.words() {
            self.with_part(0, |decoder, fetch| decoder.decode_into(fetch, out))?;
            order.map(out, width, false);
            return self.end();
        }
        out.copy_from_slice(&self.joined()?);
        self.end()
    }

    /// The numbers of rows of the logical weights.
    pub(crate) fn values(&self, rows: Range<u64>) -> Result<Values> {
        let layout = self.layout()?;
        if rows.start > rows.end || rows.end > layout.rows {
            let what = format!("rows {} to {} of {}", rows.start, rows.end, layout.rows);
            return Err(Error::invalid(what));
        }
        let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let all = of(layout.rows).max(1);
        let mut parts = Vec::new();
        for (i, part) in self.descriptor.parts.iter().enumerate() {
            let count = part.shape.count();
            if !count.is_multiple_of(all) {
                let what = format!("{count} elements of part {i} are not those of {all} rows");
                return Err(self.wrong(what));
            }
            let a_row = count / all;
            parts.push(self.part(i, of(rows.start) * a_row..of(rows.end) * a_row)?);
        }
        layout.logical(parts).map_err(self.claim())
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
