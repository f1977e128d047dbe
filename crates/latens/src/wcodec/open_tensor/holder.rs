//! Who holds an entry's bytes, itself or the one that it is a copy of, and how these are described.

use super::Asked;
use crate::bits::checksum::crc32;
use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::read;
use crate::wcodec::kept::Kept;
use crate::wcodec::layout::descriptor::Descriptor;
use crate::wcodec::layout::entry::{EntryRecord, Storage};
use crate::wcodec::open_index::Doubt;
use crate::wcodec::reader::Reader;
use std::ops::Range;
use std::sync::Arc;

/// An entry, and where its bytes are.
pub(super) struct Holder<'a> {
    /// The entry that was asked for.
    pub(super) entry: EntryRecord<'a>,
    /// How the holder is stored: not as a copy.
    pub(super) storage: Storage<&'a [u8]>,
    /// The holder's number.
    number: usize,
    /// Where its data begin, if it has any.
    start: u64,
    /// Where in the file its record is.
    record_at: u64,
}

/// What describes an entry's bytes.
pub(super) struct Explained {
    pub(super) descriptor: Arc<Kept>,
    /// Where that is in the file, or the record that holds it or stands for it.
    pub(super) at: u64,
    /// All groups: in the file, or in the inline bytes.
    pub(super) groups: Range<u64>,
}

impl<'a> Holder<'a> {
    /// Who holds the bytes of entry `number`. Of a damaged index it must be one that is told of by more than that.
    pub(super) fn of<S: ReadAt>(reader: &'a Reader<S>, number: usize) -> Result<Self> {
        let index = &reader.open.index;
        let find =
            |k| index.entry(k).ok_or_else(|| Error::invalid(format!("there is no entry {k}")));
        let asked = find(number)?;
        let entry = asked.record;
        let (holding, holder) = match entry.stored().1 {
            Some(of) => (of, find(of)?),
            None => (number, asked),
        };
        let (storage, start) = (holder.record.storage, holder.start);
        let record_at = reader.open.index_offset.saturating_add(holder.at as u64);
        let doubted = match index.doubt {
            Doubt::Nothing => false,
            Doubt::Blobs => entry.dtype().is_none(),
            Doubt::All => true,
        };
        if index.namesakes.binary_search(&number).is_ok() {
            let what = "there is another tensor of that name; of one of them it is damaged";
            return Err(Error::corrupt(record_at, what));
        }
        let is_proved = |number: usize, storage| {
            number < index.proved || matches!(storage, Storage::Stored { .. })
        };
        if doubted && !(is_proved(number, entry.storage) && is_proved(holding, storage)) {
            return Err(Error::corrupt(
                record_at,
                "it stands in the index, which is damaged, and has no checksum of its own",
            ));
        }
        Ok(Self { entry, storage, number: holding, start, record_at })
    }

    /// Reads the descriptor, or takes it from the last call, or stands in for it.
    pub(super) fn explained<S: ReadAt>(
        &self,
        reader: &Reader<S>,
        asked: Asked,
    ) -> Result<Explained> {
        let (length, record_at) = (self.entry.length, self.record_at);
        let (descriptor, at, groups) = match self.storage {
            Storage::Stored { descriptor: 0, .. } if length == 0 => {
                let what = "an entry without bytes is said to have some in the data";
                return Err(Error::corrupt(record_at, what));
            }
            Storage::Stored { groups, descriptor: 0, crc } => {
                let groups = self.start..self.start.saturating_add(groups as u64);
                (self.kept(Descriptor::plain(length, crc)), record_at, groups)
            }
            Storage::Stored { groups, descriptor, crc } => {
                let groups = self.start..self.start.saturating_add(groups as u64);
                let at = groups.end;
                (self.read_descriptor(reader, asked, (at, descriptor, crc))?, at, groups)
            }
            Storage::Inline { groups, descriptor: [] } => {
                let plain = Descriptor::plain(length, 0);
                (self.kept(plain), record_at, 0..groups.len() as u64)
            }
            Storage::Inline { groups, descriptor } => {
                let read = Descriptor::read(descriptor, true).map_err(|e| e.moved_to(record_at))?;
                (self.kept(read), record_at, 0..groups.len() as u64)
            }
            Storage::Copy(of) => {
                return Err(Error::corrupt(record_at, format!("entry {of} is a copy")));
            }
        };
        Ok(Explained { descriptor, at, groups })
    }

    /// The descriptor at a byte of the file, of so many bytes and this checksum.
    fn read_descriptor<S: ReadAt>(
        &self,
        reader: &Reader<S>,
        asked: Asked,
        (at, length, crc): (u64, usize, u32),
    ) -> Result<Arc<Kept>> {
        let kept = if asked == Asked::Often { reader.last.get(self.number) } else { None };
        if let Some(kept) = kept {
            return Ok(kept);
        }
        reader.open.limits.check_alloc(length as u64, "a descriptor")?;
        let bytes = read(&reader.open.source, at, length as u64)?;
        if crc32(&bytes) != crc {
            return Err(Error::corrupt(at, "the descriptor does not have its checksum"));
        }
        let read = self.kept(Descriptor::read(&bytes, false).map_err(|e| e.offset_by(at))?);
        if asked == Asked::Often {
            reader.last.put(&read, length);
        }
        Ok(read)
    }

    fn kept(&self, descriptor: Descriptor) -> Arc<Kept> {
        Arc::new(Kept::new(self.number, descriptor))
    }
}

/// What groups are padded to.
pub(super) fn unit(storage: Storage<&[u8]>) -> usize {
    match storage {
        Storage::Inline { descriptor: [], .. } => 1,
        _ => 4,
    }
}

/// Where groups begin, part by part; none where they do not take all of `all`.
pub(super) fn places(
    descriptor: &Descriptor,
    all: Range<u64>,
    unit: usize,
) -> Option<Vec<Vec<u64>>> {
    let mut next = all.start;
    let mut place = |length: usize| {
        let place = next;
        next = next.saturating_add(length.next_multiple_of(unit) as u64);
        place
    };
    let of_part = descriptor
        .parts
        .iter()
        .map(|part| part.groups.iter().map(|group| place(group.length)).collect::<Vec<_>>());
    let places = of_part.collect();
    (next == all.end).then_some(places)
}
