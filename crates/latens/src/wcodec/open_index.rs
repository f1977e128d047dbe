//! The index of an open file. In memory are its bytes, and of every few entries where they are;
//! what is asked for is read again. An index of the smallest records takes twice its bytes so, and
//! as structures it would take fourteen times that.

use crate::error::{Error, Result};
use crate::wcodec::layout::entry::EntryRecord;
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::file::FileRecord;
use crate::wcodec::layout::header::{ALIGN, HEADER_BYTES, align};
use crate::wcodec::layout::index::{BankRecord, Base, ENTRY, FILE, place};
use crate::wcodec::layout::records::{Check, Record, raw};
use crate::wcodec::names::Names;
use std::ops::Range;

/// Every so many entries, and files, it is kept where they are.
const EVERY: usize = 16;

/// Everything the index says.
#[derive(Debug, Default)]
pub(crate) struct OpenIndex {
    /// All records but ancillary ones, which could part entries by any distance.
    bytes: Vec<u8>,
    pub(crate) header_crc: u32,
    pub(crate) model_hash: [u8; 32],
    pub(crate) base: Option<Base>,
    pub(crate) bank: BankRecord,
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
    /// Entries that may be damaged where they stand in the index.
    pub(crate) doubtful: Range<usize>,
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
    /// Reads all of `bytes`.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self> {
        let (mut index, mut found) = (Self::default(), Found::default());
        let mut check = Check::new(&bytes, true);
        index.count(&mut check, &mut found)?;
        check.finish()?;
        drop(check);
        index.keep(bytes, &found);
        index.unique()?;
        Ok(index)
    }

    /// Reads of `bytes`, which are damaged, what comes before the first record that is not sound;
    /// and what is wrong there, if there is one. Ancillary records are not: most damage looks like
    /// one as often as not.
    pub(crate) fn read_front(mut bytes: Vec<u8>) -> (Self, Option<Wrong>) {
        let (mut index, mut found) = (Self::default(), Found::default());
        let mut check = Check::new(&bytes, false);
        let error = match index.count(&mut check, &mut found) {
            Ok(()) => check.finish().err(),
            Err(error) => Some(error),
        };
        let at = check.at;
        drop(check);
        let rest = bytes.get(at..).unwrap_or_default();
        let inside = raw(rest).last().is_some_and(|(place, _, _)| place.end == rest.len());
        bytes.truncate(at);
        index.keep(bytes, &found);
        (index, error.map(|error| Wrong { error, inside }))
    }

    /// Takes what is said once, and counts the rest.
    fn count(&mut self, check: &mut Check<'_>, found: &mut Found) -> Result<()> {
        loop {
            let before = check.name_bytes();
            match check.record()? {
                None => return Ok(()),
                Some(Record::Head { header_crc, model_hash }) => {
                    (self.header_crc, self.model_hash) = (header_crc, model_hash);
                }
                Some(Record::Base(base)) => self.base = Some(base),
                Some(Record::Bank(bank)) => self.bank = bank,
                Some(Record::Entry(entry)) => {
                    if u32::try_from(self.entries).is_err() {
                        return Err(Error::corrupt(0, "more than 2^32 entries"));
                    }
                    if self.entries.is_multiple_of(EVERY) {
                        found.name_bytes += before;
                    }
                    self.entries += 1;
                    found.tensors += usize::from(entry.dtype().is_some());
                }
                Some(Record::File) => self.files += 1,
                Some(Record::Ancillary) => found.ancillary = true,
            }
        }
    }

    /// Keeps `bytes`, which are sound, and marks where entries and files are.
    fn keep(&mut self, bytes: Vec<u8>, found: &Found) {
        self.bytes = if found.ancillary { without_ancillary(bytes) } else { bytes };
        self.marks = Vec::with_capacity(self.entries.div_ceil(EVERY));
        self.marked_names = String::with_capacity(found.name_bytes);
        self.names = Names::with_capacity(found.tensors);
        let mut entries = Entries::new(&self.bytes);
        for number in 0..self.entries {
            if number.is_multiple_of(EVERY) {
                self.marked_names.push_str(&entries.name);
                let (at, end, name_end) = (entries.at, entries.end, self.marked_names.len());
                self.marks.push(Mark { at, end, name_end });
            }
            let tensor = entries.advance().is_some_and(|(entry, _)| entry.dtype().is_some());
            if tensor {
                self.names.push(&entries.name, u32::try_from(number).unwrap_or(u32::MAX));
            }
        }
        self.names.sort();
        self.bank_at = align(entries.end, ALIGN);
        self.file_marks = Vec::with_capacity(self.files.div_ceil(EVERY));
        let files = raw(self.bytes.get(entries.at..).unwrap_or_default()).enumerate();
        let marked = files.filter(|(number, _)| number.is_multiple_of(EVERY));
        self.file_marks.extend(marked.map(|(_, (place, _, _))| entries.at + place.start));
    }

    /// No two tensors may have the same name, and no two files.
    fn unique(&self) -> Result<()> {
        let mut files = Names::with_capacity(self.files);
        (0..).zip(self.files()).for_each(|(number, file)| files.push(file.name, number));
        files.sort();
        for run in files.alike() {
            let mut seen: Vec<&str> = Vec::new();
            for &(_, number) in run {
                let Some(FileRecord { name, .. }) = self.file(number as usize) else { continue };
                if seen.contains(&name) {
                    let at = self.file_marks.first().copied().unwrap_or(0) as u64;
                    return Err(Error::corrupt(at, format!("there are two files {name:?}")));
                }
                seen.push(name);
            }
        }
        for run in self.names.alike() {
            let mut seen: Vec<String> = Vec::new();
            for &(_, number) in run {
                let Some(OpenEntry { name, at, .. }) = self.entry(number as usize) else {
                    continue;
                };
                if seen.contains(&name) {
                    let what = format!("there are two tensors {name:?}");
                    return Err(Error::corrupt(at as u64, what));
                }
                seen.push(name);
            }
        }
        Ok(())
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    /// How many of them are tensors.
    pub(crate) fn tensors(&self) -> usize {
        self.names.count()
    }

    /// All entries, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = OpenEntry<'_>> {
        let mut entries = Entries::new(&self.bytes);
        std::iter::from_fn(move || {
            let at = entries.at;
            let (record, start) = entries.advance()?;
            let (number, name) = (entries.number - 1, entries.name.clone());
            Some(OpenEntry { number, name, record, start, at })
        })
    }

    /// Entry `number`.
    pub(crate) fn entry(&self, number: usize) -> Option<OpenEntry<'_>> {
        let at = number / EVERY;
        let mark = self.marks.get(at)?;
        let name_at = at.checked_sub(1).and_then(|at| self.marks.get(at)).map_or(0, |m| m.name_end);
        let name = self.marked_names.get(name_at..mark.name_end)?.to_owned();
        let (at, end, bytes) = (mark.at, mark.end, &self.bytes);
        let mut entries = Entries { bytes, at, name, end, number: number / EVERY * EVERY };
        for _ in 0..number % EVERY {
            entries.advance()?;
        }
        let at = entries.at;
        let (record, start) = entries.advance()?;
        Some(OpenEntry { number, name: entries.name, record, start, at })
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

/// A record that is not sound.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) error: Error,
    /// Whether it is followed by others up to the end, so that tag and length are right.
    pub(crate) inside: bool,
}

/// What there is of what a mark is set for.
#[derive(Default)]
struct Found {
    tensors: usize,
    name_bytes: usize,
    ancillary: bool,
}

/// Entries one after the other.
struct Entries<'a> {
    bytes: &'a [u8],
    /// Where the next record begins.
    at: usize,
    /// Of the entry before.
    name: String,
    /// Where the data of the entry before end.
    end: u64,
    /// Of the next entry.
    number: usize,
}

impl<'a> Entries<'a> {
    /// All entries of an index.
    fn new(bytes: &'a [u8]) -> Self {
        let first = raw(bytes).find(|&(_, tag, _)| tag >= ENTRY);
        let at = first.map_or(bytes.len(), |(place, _, _)| place.start);
        Self { bytes, at, name: String::new(), end: HEADER_BYTES as u64, number: 0 }
    }

    /// The next entry, and where its data begin.
    fn advance(&mut self) -> Option<(EntryRecord<'a>, u64)> {
        let (at, tag, content) = raw(self.bytes.get(self.at..)?).next()?;
        if tag != ENTRY {
            return None;
        }
        let record = EntryRecord::read(&mut Fields::new(content), &mut self.name, None).ok()?;
        let data = place(self.end, &record.storage);
        (self.at, self.end, self.number) = (self.at + at.end, data.end, self.number + 1);
        Some((record, data.start))
    }
}

/// What is left of an index without its records of odd tags.
fn without_ancillary(mut bytes: Vec<u8>) -> Vec<u8> {
    let (mut at, mut kept) = (0, 0);
    loop {
        let next = raw(bytes.get(at..).unwrap_or_default()).next();
        let Some((place, tag)) = next.map(|(place, tag, _)| (place, tag)) else { break };
        let end = at + place.end;
        if tag % 2 == 0 {
            bytes.copy_within(at..end, kept);
            kept += end - at;
        }
        at = end;
    }
    bytes.truncate(kept);
    bytes.shrink_to_fit();
    bytes
}
