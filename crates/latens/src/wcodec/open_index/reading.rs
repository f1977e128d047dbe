//! An index read once from end to end: checked, and marked where entries and files are.

use super::entries::Entries;
use super::{EVERY, Mark, OpenEntry, OpenIndex};
use crate::error::{Error, Result};
use crate::wcodec::layout::file::FileRecord;
use crate::wcodec::layout::header::{ALIGN, align};
use crate::wcodec::layout::index::TABLES;
use crate::wcodec::layout::records::{Check, Record, raw};
use crate::wcodec::layout::sums::Sums;
use crate::wcodec::layout::xor;
use crate::wcodec::names::Names;
use std::collections::HashMap;

/// What there is of what a mark is set for.
#[derive(Default)]
struct Found {
    tensors: usize,
    name_bytes: usize,
    ancillary: bool,
    /// Whether there is no parity, or that of the index.
    parity_fits: bool,
    /// Bytes of a damaged index that are as they were.
    proved: usize,
}

impl OpenIndex {
    /// Reads all of `bytes`.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self> {
        let found = Found { parity_fits: true, ..Found::default() };
        let (mut index, mut found) = (Self::default(), found);
        let mut check = Check::new(&bytes, true);
        index.count(&mut check, &mut found)?;
        check.finish()?;
        drop(check);
        index.can_be_mended = found.parity_fits && Sums::ending(&bytes).is_none_or(Sums::prove);
        index.keep(bytes, &found);
        index.unique()?;
        Ok(index)
    }

    /// Reads of `bytes`, which are damaged, what comes before the first record that is not sound;
    /// and what is wrong there, if there is one. Ancillary records are not: most damage looks like
    /// one as often as not.
    pub(crate) fn read_front(mut bytes: Vec<u8>) -> (Self, Option<Error>) {
        let found =
            Found { proved: Sums::ending(&bytes).map_or(0, Sums::proved), ..Found::default() };
        let (mut index, mut found) = (Self::default(), found);
        let mut check = Check::new(&bytes, false);
        let error = match index.count(&mut check, &mut found) {
            Ok(()) => check.finish().err(),
            Err(error) => Some(error),
        };
        let at = check.at;
        drop(check);
        bytes.truncate(at);
        index.keep(bytes, &found);
        (index, error)
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
                    if check.end() <= found.proved {
                        self.proved = self.entries;
                    }
                    found.tensors += usize::from(entry.dtype().is_some());
                }
                Some(Record::File) => self.files += 1,
                Some(Record::Quantization(told)) => {
                    self.quantization = Some(told);
                    self.quantization_is_proved = check.end() <= found.proved;
                }
                Some(Record::Parity(parity)) => {
                    let own = xor::of(check.before(), parity.len());
                    (self.parity, found.parity_fits) = (parity.len(), own == parity);
                    found.ancillary = true;
                }
                Some(Record::Ancillary) => found.ancillary = true,
            }
        }
    }

    /// Keeps `bytes`, which are sound, and marks where entries and files are.
    fn keep(&mut self, bytes: Vec<u8>, found: &Found) {
        (self.bytes, self.left_out) =
            if found.ancillary { without_ancillary(bytes) } else { (bytes, Vec::new()) };
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

    /// The tensors with a name that others have too, in order.
    pub(crate) fn find_namesakes(&self) -> Vec<usize> {
        let mut all = Vec::new();
        for run in self.names.alike() {
            let mut named: HashMap<String, Vec<usize>> = HashMap::new();
            for entry in run.iter().filter_map(|&(_, number)| self.entry(number as usize)) {
                named.entry(entry.name).or_default().push(entry.number);
            }
            all.extend(named.into_values().filter(|same| same.len() > 1).flatten());
        }
        all.sort_unstable();
        all
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
                    let at = self.place(self.file_marks.first().copied().unwrap_or(0)) as u64;
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
}

/// What is left of an index without its records of odd tags, but for the tables; and where these were, each time with how many bytes of
/// them there are up to there.
fn without_ancillary(mut bytes: Vec<u8>) -> (Vec<u8>, Vec<(usize, usize)>) {
    let (mut at, mut kept, mut left_out) = (0, 0, Vec::<(usize, usize)>::new());
    loop {
        let next = raw(bytes.get(at..).unwrap_or_default()).next();
        let Some((place, tag)) = next.map(|(place, tag, _)| (place, tag)) else { break };
        let end = at + place.end;
        if tag % 2 == 0 || tag == TABLES {
            bytes.copy_within(at..end, kept);
            kept += end - at;
        } else {
            left_out.pop_if(|(place, _)| *place == kept);
            left_out.push((kept, end - kept));
        }
        at = end;
    }
    bytes.truncate(kept);
    bytes.shrink_to_fit();
    left_out.shrink_to_fit();
    (bytes, left_out)
}
