//! The index of an open file. In memory are its bytes, and of every few entries where they are;
//! what is asked for is read again. An index of the smallest records takes twice its bytes so, and
//! as structures it would take fourteen times that.

mod entries;
mod reading;

use crate::wcodec::layout::entry::EntryRecord;
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::file::FileRecord;
use crate::wcodec::layout::index::{BankRecord, Base, FILE, Quantization, TABLES};
use crate::wcodec::layout::records::raw;
use crate::wcodec::names::Names;
use entries::Entries;
use std::sync::Mutex;

/// Every so many entries, and files, it is kept where they are.
const EVERY: usize = 16;

/// Everything the index says.
#[derive(Debug, Default)]
pub(crate) struct OpenIndex {
    /// All records but ancillary ones, other than tables, that may stand anywhere, which could part entries by any distance.
    bytes: Vec<u8>,
    /// Where in these others were left out, and how many bytes up to there.
    left_out: Vec<(usize, usize)>,
    /// Whether what is told of the index for its salvage is of it.
    pub(crate) can_be_mended: bool,
    pub(crate) header_crc: u32,
    pub(crate) model_hash: [u8; 32],
    pub(crate) base: Option<Base>,
    pub(crate) bank: BankRecord,
    pub(crate) quantization: Option<Quantization>,
    /// Whether checksums of its own prove that record, where the index is damaged.
    pub(crate) quantization_is_proved: bool,
    /// Bytes of its parity.
    pub(crate) parity: usize,
    /// Where the tables begin, behind the last entry.
    pub(crate) bank_at: u64,
    entries: usize,
    marks: Vec<Mark>,
    /// The names before marked entries, one after the other.
    marked_names: String,
    names: Names,
    files: usize,
    /// Where every few files' records begin.
    file_marks: Vec<usize>,
    /// What may be damaged where it stands in the index, and how many of the first entries are not: checksums of
    /// their own prove these.
    pub(crate) doubt: Doubt,
    pub(crate) proved: usize,
    /// Tensors with a name that others have too, in order: only a damaged index has any.
    pub(crate) namesakes: Vec<usize>,
    /// The entry that was asked for last: most often it is asked for again, or the next one is.
    last: Mutex<Option<Last>>,
}

/// What reading goes on from at any entry.
#[derive(Debug)]
struct Last {
    number: usize,
    at: usize,
    end: u64,
    /// Of the entry before.
    name: String,
}

/// What may be wrong with entries that have no checksum but the index's: all but the stored ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The index has its checksum.
    #[default]
    Nothing,
    /// It has not, but all tensors have their model hash.
    Blobs,
    /// It has not.
    All,
}

/// What reading goes on from at an entry.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Where its record begins.
    at: usize,
    /// Where the data before its own end.
    end: u64,
    /// Where the name before its own ends among those that are kept.
    name_end: usize,
}

/// An entry with its whole name.
#[derive(Clone, Debug)]
pub(crate) struct OpenEntry<'a> {
    pub(crate) number: usize,
    /// Empty for a blob.
    pub(crate) name: String,
    pub(crate) record: EntryRecord<'a>,
    /// Where its data begin.
    pub(crate) start: u64,
    /// Where its record begins in the index.
    pub(crate) at: usize,
}

impl OpenIndex {
    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    /// How many of them are tensors.
    pub(crate) fn tensors(&self) -> usize {
        self.names.count()
    }

    /// Whether it goes on behind its last entry, so that there are no more of these.
    pub(crate) fn tells_of_files(&self) -> bool {
        self.files > 0 || self.quantization.is_some()
    }

    /// What it says of the tables for their salvage; nothing where it does not.
    pub(crate) fn tables(&self) -> Option<&[u8]> {
        raw(&self.bytes).find(|&(_, tag, _)| tag == TABLES).map(|(_, _, content)| content)
    }

    /// All entries, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = OpenEntry<'_>> {
        let mut entries = Entries::new(&self.bytes);
        std::iter::from_fn(move || {
            let at = entries.at;
            let (record, start) = entries.advance()?;
            let (number, name, at) = (entries.number - 1, entries.name.clone(), self.place(at));
            Some(OpenEntry { number, name, record, start, at })
        })
    }

    /// Entry `number`.
    pub(crate) fn entry(&self, number: usize) -> Option<OpenEntry<'_>> {
        let mut entries = self.before(number)?;
        while entries.number < number {
            entries.advance()?;
        }
        let at = entries.at;
        if let Ok(mut last) = self.last.try_lock() {
            let mut name = last.take().map(|last| last.name).unwrap_or_default();
            name.clone_from(&entries.name);
            *last = Some(Last { number, at, end: entries.end, name });
        }
        let (record, start) = entries.advance()?;
        Some(OpenEntry { number, name: entries.name, record, start, at: self.place(at) })
    }

    /// Where in the index a place among its kept bytes is.
    fn place(&self, at: usize) -> usize {
        let before = self.left_out.partition_point(|&(place, _)| place <= at);
        let bytes = before.checked_sub(1).and_then(|last| self.left_out.get(last));
        at + bytes.map_or(0, |&(_, bytes)| bytes)
    }

    /// Entries from one on that comes a little before `number`, or is it.
    fn before(&self, number: usize) -> Option<Entries<'_>> {
        let bytes = &self.bytes;
        // Where another thread is at it, it is no wait that saves time.
        if let Ok(last) = self.last.try_lock()
            && let Some(Last { number: from, at, end, name }) = &*last
            && number.checked_sub(*from).is_some_and(|steps| steps <= number % EVERY)
        {
            return Some(Entries { bytes, at: *at, name: name.clone(), end: *end, number: *from });
        }
        let at = number / EVERY;
        let mark = self.marks.get(at)?;
        let name_at = at.checked_sub(1).and_then(|at| self.marks.get(at)).map_or(0, |m| m.name_end);
        let name = self.marked_names.get(name_at..mark.name_end)?.to_owned();
        Some(Entries { bytes, at: mark.at, name, end: mark.end, number: at * EVERY })
    }

    /// The tensor of that name.
    pub(crate) fn find(&self, name: &str) -> Option<OpenEntry<'_>> {
        let candidates = self.names.candidates(name).map(|number| self.entry(number as usize));
        candidates.flatten().find(|entry| entry.name == name)
    }

    /// All source files, in order.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileRecord<'_>> {
        self.files_from(0)
    }

    fn files_from(&self, mark: usize) -> impl Iterator<Item = FileRecord<'_>> {
        let bytes = self.file_marks.get(mark).and_then(|&at| self.bytes.get(at..));
        let records = raw(bytes.unwrap_or_default()).filter(|&(_, tag, _)| tag == FILE);
        records.map_while(|(_, _, content)| FileRecord::read(&mut Fields::new(content), None).ok())
    }

    /// Source file `number`.
    pub(crate) fn file(&self, number: usize) -> Option<FileRecord<'_>> {
        self.files_from(number / EVERY).nth(number % EVERY)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use crate::Limits;
    use crate::wcodec::{Config, Reader, compress_checkpoint, made};

    #[test]
    fn entries_are_the_same_in_any_order() {
        let name = |i: usize| &*format!("layer.{}.w{i}", i / 7).leak();
        let tensors: Vec<_> = (0..90).map(|i| (name(i), "U8", "[3]", 3)).collect();
        let source = made::safetensors(&tensors, |_, start, i| (start * 31 + i) % 251);
        let config = Config::default().threads(1);
        let file =
            compress_checkpoint(&made::checkpoint(source), None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        let index = &reader.open.index;
        let told = |entry: super::OpenEntry<'_>| {
            (entry.number, entry.name, entry.record.length, entry.start, entry.at)
        };
        let all: Vec<_> = index.entries().map(told).collect();
        assert!(all.len() >= 90);
        // Each behind each, the one before among them, itself, and one far away.
        for (i, first) in all.iter().enumerate() {
            for (k, second) in all.iter().enumerate() {
                assert_eq!(told(index.entry(i).unwrap()), *first);
                assert_eq!(told(index.entry(k).unwrap()), *second);
            }
        }
        assert!(index.entry(all.len()).is_none());
        assert_eq!(told(index.entry(5).unwrap()), all[5]);
    }
}
