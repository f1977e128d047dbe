//! Everything of a file decoded and compared with what it states.

use crate::bits::checksum::crc32;
use crate::error::{Error, ErrorKind, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::read;
use crate::wcodec::hash::ModelHash;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::layout::header::{HEADER_BYTES, check_zero};
use crate::wcodec::layout::index::tables_of;
use crate::wcodec::open_index::{Doubt, OpenEntry};
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use crate::wcodec::side_by_side::SMALL;
use std::collections::HashSet;
use std::io::{self, Write};

/// Bytes of padding that are looked at together.
const PIECE: u64 = 1 << 20;

/// Groups of a tensor without their checksums that are told one by one.
const MOST_GROUPS: usize = 1 << 12;

/// Something that is wrong with a file, as [`Reader::faults`] finds it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fault {
    /// The number of the tensor that cannot be read; none where it is something else of the file.
    pub tensor: Option<usize>,
    /// What it is, and where.
    pub error: Error,
}

impl<S: ReadAt> Reader<S> {
    /// Decodes everything and checks every checksum, all padding and the model hash.
    ///
    /// # Errors
    /// The first thing that is wrong; [`Reader::faults`] tells of all.
    pub fn verify(&self) -> Result<()> {
        self.bank()?;
        self.can_be_mended()?;
        self.each_padding(&mut |from, to| self.check_padding(from, to))?;
        self.write_segments(segments(self.entries_of(false)), &mut io::sink())?;
        self.write_segments(self.woven(), &mut io::sink())?;
        match self.has_its_hash()? {
            true => Ok(()),
            false => Err(self.has_another_hash()),
        }
    }

    /// All that is wrong with a file of which [`Reader::verify`] has told the first thing: goes on behind damage, one
    /// tensor after the other. Of each tensor it is the first thing that is wrong with it, and every other group without
    /// its checksum; one that needs a base that was not given is among them. Of very many groups of one tensor that have not theirs some thousand are
    /// told, and the last.
    ///
    /// # Errors
    /// I/O, a limit, that of a watch: what ends the search.
    pub fn faults(&self) -> Result<Vec<Fault>> {
        let (mut faults, mut damaged) = (Vec::new(), HashSet::new());
        let mut note = |tensor: Option<usize>, outcome: Result<()>| match outcome {
            Err(e) if e.is_stopped() || e.is_limit() || e.kind() == ErrorKind::Io => Err(e),
            Err(error) => {
                faults.push(Fault { tensor, error });
                Ok(())
            }
            Ok(()) => Ok(()),
        };
        note(None, self.bank().map(|_| ()))?;
        note(None, self.can_be_mended())?;
        self.each_padding(&mut |from, to| note(None, self.check_padding(from, to)))?;
        let alone = self.again().threads(1);
        for entry in self.open.index.entries() {
            let tensor = entry.record.dtype().is_some().then_some(entry.number);
            let one = std::iter::once(SegmentRecord::Entry(entry.number));
            // Threads of their own would take longer than a small one.
            let reader = if entry.record.length > SMALL { self } else { &alone };
            let outcome = reader.write_segments(one, &mut io::sink());
            if outcome.is_err() {
                damaged.insert(entry.number);
            }
            // The groups of a copy are another entry's.
            let own = matches!(entry.record.storage, Storage::Stored { .. });
            let first = outcome.as_ref().err().filter(|_| own).map(Error::at);
            note(tensor, outcome)?;
            if let Some(first) = first {
                let (mut told, mut last) = (0, None);
                self.each_group(entry.number, &mut |group| match group {
                    Err(e) if e.at() == first => Ok(()),
                    Err(e) if told == MOST_GROUPS => {
                        last = Some(e);
                        Ok(())
                    }
                    Err(e) => {
                        told += 1;
                        note(tensor, Err(e))
                    }
                    Ok(()) => Ok(()),
                })?;
                note(tensor, last.map_or(Ok(()), Err))?;
            }
        }
        for segment in self.woven() {
            // What is wrong with an entry has been told.
            if let SegmentRecord::Woven(woven) = segment
                && !damaged.contains(&woven.of)
            {
                let outcome = self.write_segments(std::iter::once(segment), &mut io::sink());
                damaged.extend(outcome.is_err().then_some(woven.of));
                note(None, outcome)?;
            }
        }
        if faults.is_empty() && !self.has_its_hash()? {
            faults.push(Fault { tensor: None, error: self.has_another_hash() });
        }
        Ok(faults)
    }

    /// Calls `each` with whether a group of an entry has its checksum, for those of which its descriptor tells.
    fn each_group(
        &self,
        number: usize,
        each: &mut dyn FnMut(Result<()>) -> Result<()>,
    ) -> Result<()> {
        let open = match OpenTensor::open_once(self, number) {
            Ok(open) => open,
            // What is wrong with the descriptor has been told.
            Err(e) => return each(Err(e)),
        };
        let mut buffer = Vec::new();
        for (part, record) in open.descriptor.parts.iter().enumerate() {
            for group in 0..record.groups.len() {
                let stored = open.stored(part, group, &mut buffer).map(|_| ());
                each(stored.map_err(|e| e.within(self.place(number))))?;
            }
        }
        Ok(())
    }

    /// What the index has against its own damage and that of the tables is of them, or is lacking.
    fn can_be_mended(&self) -> Result<()> {
        let index = &self.open.index;
        let what = match index.can_be_mended || index.doubt != Doubt::Nothing {
            true if self.tables_can_be_mended() => return Ok(()),
            true => "what the index says of the tables is of others: they could not be salvaged",
            false => "the index's sums or parity are those of another: it could not be salvaged",
        };
        Err(Error::corrupt(self.open.index_offset, what))
    }

    /// What the index says of the tables is of them; of damaged ones nothing tells.
    fn tables_can_be_mended(&self) -> bool {
        let (stated, bytes) = (self.open.index.tables(), self.bank_bytes());
        let right = bytes.ok().filter(|bytes| crc32(bytes) == self.open.index.bank.crc);
        stated.zip(right).is_none_or(|(stated, right)| tables_of(&right) == stated)
    }

    fn has_another_hash(&self) -> Error {
        let what = "all tensors decode, but not to what the model hash states";
        Error::corrupt(self.open.index_offset, what)
    }

    /// Calls `check` with where each padding begins and ends: between entries, before and behind the tables.
    fn each_padding(&self, check: &mut dyn FnMut(u64, u64) -> Result<()>) -> Result<()> {
        let mut end = HEADER_BYTES as u64;
        for entry in self.open.index.entries() {
            if let Storage::Stored { .. } = entry.record.storage {
                check(end, entry.start)?;
                end = entry.start.saturating_add(entry.record.stored().0 as u64);
            }
        }
        let bank = self.open.index.bank_at;
        check(end, bank)?;
        check(bank + self.open.index.bank.bytes as u64, self.open.index_offset)
    }

    /// Whether all tensors decode to what the model hash states. What is beside them is not looked at.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`], for the first one that cannot be read.
    pub fn has_its_hash(&self) -> Result<bool> {
        Ok(self.hash_of_tensors()? == self.open.index.model_hash)
    }

    /// Decodes all tensors; the model hash that they have.
    pub(crate) fn hash_of_tensors(&self) -> Result<[u8; 32]> {
        let tensors = self.entries_of(true);
        let mut hashing = Hashing { hash: ModelHash::new(), tensors, left: 0 };
        self.write_segments(segments(self.entries_of(true)), &mut hashing)?;
        Ok(hashing.finish())
    }

    /// All tensors, or all that is beside them, in order.
    fn entries_of(&self, tensors: bool) -> impl Iterator<Item = OpenEntry<'_>> {
        let entries = self.open.index.entries();
        entries.filter(move |entry| entry.record.dtype().is_some() == tensors)
    }

    /// What of source files is put together of entries and names.
    fn woven(&self) -> impl Iterator<Item = SegmentRecord> {
        let segments = self.open.index.files().flat_map(|file| file.segments());
        let mut seen = HashSet::new();
        segments.filter(move |segment| match *segment {
            SegmentRecord::Woven(woven) => seen.insert(woven),
            _ => false,
        })
    }

    fn check_padding(&self, from: u64, to: u64) -> Result<()> {
        // Behind the entries of a damaged index may be all that is lost.
        let mut at = from;
        while at < to {
            let bytes = read(&self.open.source, at, (to - at).min(PIECE))?;
            check_zero(&bytes, at, "what comes before")?;
            at += bytes.len().max(1) as u64;
        }
        Ok(())
    }
}

fn segments<'a>(
    entries: impl Iterator<Item = OpenEntry<'a>>,
) -> impl Iterator<Item = SegmentRecord> {
    entries.map(|entry| SegmentRecord::Entry(entry.number))
}

/// Takes in the bytes of tensors, one behind the other, as the model hash has them.
struct Hashing<I> {
    hash: ModelHash,
    /// Those of which nothing has come yet.
    tensors: I,
    /// Bytes of the current one that are to come.
    left: usize,
}

impl<'a, I: Iterator<Item = OpenEntry<'a>>> Hashing<I> {
    /// Begins the next tensor, if there is one.
    fn begin(&mut self) -> Option<()> {
        let OpenEntry { name, record, .. } = self.tensors.next()?;
        self.hash.begin(&name, record.dtype().unwrap_or_default(), &record.shape(), record.length);
        self.left = record.length;
        Some(())
    }

    fn finish(mut self) -> [u8; 32] {
        // Those without bytes.
        while self.begin().is_some() {}
        self.hash.finish()
    }
}

impl<'a, I: Iterator<Item = OpenEntry<'a>>> Write for Hashing<I> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while self.left == 0 && !bytes.is_empty() {
            self.begin().ok_or(io::ErrorKind::WriteZero)?;
        }
        let now = &bytes[..bytes.len().min(self.left)];
        self.hash.bytes(now);
        self.left -= now.len();
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
