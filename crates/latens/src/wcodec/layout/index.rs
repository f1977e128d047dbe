//! The index: records of a tag, a length and a content.
//!
//! | tag | record |
//! |---|---|
//! | 2 | HEAD: CRC of the header u32, model hash |
//! | 4 | BASE: model hash of the base, its name |
//! | 6 | BANK: number of tables, bytes, CRC |
//! | 8 | ENTRY |
//! | 10 | FILE |
//!
//! Odd tags are ancillary.

use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::entry::{Entry, Lengths, Storage};
use crate::wcodec::layout::fields::{Fields, MAX_SIZE, write_string};
use crate::wcodec::layout::file::SourceFileRecord;
use crate::wcodec::layout::header::{ALIGN, HEADER_BYTES, align};
use crate::wcodec::layout::source::MAX_NAME;
use crate::wcodec::layout::table::MAX_TABLES;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

/// Everything the index says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) header_crc: u32,
    pub(crate) model_hash: [u8; 32],
    pub(crate) base: Option<Base>,
    pub(crate) bank: BankRecord,
    pub(crate) entries: Vec<Entry>,
    pub(crate) files: Vec<SourceFileRecord>,
}

/// The checkpoint that this one was coded against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) model_hash: [u8; 32],
    /// A hint for people.
    pub(crate) name: String,
}

/// Where the tables are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BankRecord {
    pub(crate) tables: usize,
    pub(crate) bytes: usize,
    pub(crate) crc: u32,
}

fn record(tag: u64, content: &[u8], out: &mut Vec<u8>) {
    varint::write(tag, out);
    varint::write(content.len() as u64, out);
    out.extend_from_slice(content);
}

/// Bytes that all names may have together in an index of `bytes`: they share beginnings, so that few
/// bytes may stand for long ones, and an index in memory is to be of its size in the file.
fn names_allowed(bytes: usize) -> usize {
    (8usize << 20).saturating_add(bytes.saturating_mul(2))
}

impl Index {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut head = self.header_crc.to_le_bytes().to_vec();
        head.extend_from_slice(&self.model_hash);
        record(2, &head, &mut out);
        if let Some(base) = &self.base {
            let mut content = base.model_hash.to_vec();
            write_string(&base.name, &mut content);
            record(4, &content, &mut out);
        }
        let mut bank = Vec::new();
        varint::write(self.bank.tables as u64, &mut bank);
        varint::write(self.bank.bytes as u64, &mut bank);
        bank.extend_from_slice(&self.bank.crc.to_le_bytes());
        record(6, &bank, &mut out);
        let (mut before, mut names) = ("", 0);
        for entry in &self.entries {
            names += entry.name.len();
            // A name written in full adds to the index what it adds to the names.
            let shared = if names <= names_allowed(out.len()) { before } else { "" };
            record(8, &entry.bytes(shared), &mut out);
            before = &entry.name;
        }
        for file in &self.files {
            record(10, &file.bytes(), &mut out);
        }
        out
    }

    /// Reads all of `bytes`. What is kept may be many times their size: [`Checked::of`] comes first,
    /// so that they are sound.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let mut index = Self::default();
        index.entries.reserve_exact(count(bytes, ENTRY));
        index.files.reserve_exact(count(bytes, FILE));
        scan(bytes, true, |record| match record {
            Record::Head { header_crc, model_hash } => {
                (index.header_crc, index.model_hash) = (header_crc, model_hash);
            }
            Record::Base(base) => index.base = Some(base),
            Record::Bank(bank) => index.bank = bank,
            Record::Entry(entry) => index.entries.push(entry),
            Record::File(file) => index.files.push(file),
        })?;
        Ok(index)
    }
}

/// What a file's other parts are compared with, of an index that is sound.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) header_crc: u32,
    pub(crate) model_hash: [u8; 32],
    pub(crate) tensors: usize,
    /// Where entries and tables end.
    pub(crate) end: u64,
}

impl Checked {
    /// Reads all of `bytes` and keeps some 16 bytes of each entry meanwhile.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self> {
        let mut checked =
            Self { header_crc: 0, model_hash: [0; 32], tensors: 0, end: HEADER_BYTES as u64 };
        let mut bank = 0;
        // Keyed at random: nobody can write an index of many names that are digested alike.
        let (digest, mut digests) = (RandomState::new(), Vec::new());
        digests.reserve_exact(count(bytes, ENTRY));
        scan(bytes, false, |record| match record {
            Record::Head { header_crc, model_hash } => {
                (checked.header_crc, checked.model_hash) = (header_crc, model_hash);
            }
            Record::Bank(record) => bank = record.bytes,
            Record::Entry(entry) => {
                checked.end = place(checked.end, &entry.storage).end;
                if !entry.is_blob() {
                    checked.tensors += 1;
                    digests.push(digest.hash_one(&entry.name));
                }
            }
            Record::Base(_) | Record::File(_) => {}
        })?;
        checked.end = align(checked.end, ALIGN).saturating_add(bank as u64);
        digests.sort_unstable();
        for pair in digests.windows(2).filter(|pair| pair[0] == pair[1]) {
            let mut names: Vec<String> = Vec::new();
            let mut twice = None;
            scan(bytes, false, |record| {
                if let Record::Entry(entry) = record
                    && !entry.is_blob()
                    && digest.hash_one(&entry.name) == pair[0]
                {
                    if names.contains(&entry.name) {
                        twice = Some(entry.name);
                    } else {
                        names.push(entry.name);
                    }
                }
            })?;
            if let Some(name) = twice {
                return Err(Error::corrupt(0, format!("there are two tensors {name:?}")));
            }
        }
        Ok(checked)
    }
}

/// The bytes of an entry behind those that end at byte `end`.
pub(crate) fn place(end: u64, storage: &Storage) -> Range<u64> {
    match storage {
        Storage::Stored { groups, descriptor, .. } => {
            let start = align(end, ALIGN);
            start..start.saturating_add(*groups as u64).saturating_add(*descriptor as u64)
        }
        _ => end..end,
    }
}

const ENTRY: u64 = 8;
const FILE: u64 = 10;

/// A record, read.
enum Record {
    Head { header_crc: u32, model_hash: [u8; 32] },
    Base(Base),
    Bank(BankRecord),
    Entry(Entry),
    File(SourceFileRecord),
}

/// How many records have a tag, up to what is not sound.
fn count(bytes: &[u8], wanted: u64) -> usize {
    let mut fields = Fields::new(bytes);
    let mut next = || {
        let tag = fields.varint("").ok()?;
        let length = fields.varint("").ok()?;
        fields.bytes(length, "").ok()?;
        Some(tag)
    };
    std::iter::from_fn(&mut next).filter(|&tag| tag == wanted).count()
}

/// Reads and checks all of `bytes`, record by record; files have their segments where `segments`
/// says so. That names differ is not looked at.
fn scan(bytes: &[u8], segments: bool, mut found: impl FnMut(Record)) -> Result<()> {
    let mut fields = Fields::new(bytes);
    let mut lengths = Lengths::with_capacity(count(bytes, ENTRY));
    let mut before = String::new();
    let mut names_left = names_allowed(bytes.len());
    let mut last = 0;
    while fields.left() > 0 {
        let at = fields.at();
        let tag = fields.varint("a record's tag")?;
        let length = fields.varint("a record's length")?;
        let start = fields.at();
        let content = fields.bytes(length, "a record of the index")?;
        if tag % 2 == 1 {
            continue;
        }
        let in_order = match tag {
            2 => last == 0,
            4 => last == 2,
            6 => last == 2 || last == 4,
            ENTRY => last == 6 || last == ENTRY,
            FILE => last >= 6,
            _ => {
                return Err(Error::corrupt(
                    at,
                    format!("record {tag} of the index is unknown: the file needs a newer reader"),
                ));
            }
        };
        if !in_order {
            return Err(Error::corrupt(at, format!("record {tag} of the index is out of place")));
        }
        last = tag;
        let mut content = Fields::new(content);
        let mut read = || {
            let record = match tag {
                2 => Record::Head {
                    header_crc: content.u32("the header's checksum")?,
                    model_hash: content.hash("the model hash")?,
                },
                4 => Record::Base(Base {
                    model_hash: content.hash("the base's hash")?,
                    name: content.string(MAX_NAME, "the base's name")?.to_owned(),
                }),
                6 => {
                    let tables = content.varint_up_to(MAX_TABLES as u64, "the number of tables")?;
                    Record::Bank(BankRecord {
                        tables: usize::try_from(tables).unwrap_or(0),
                        bytes: content.size("the bank's bytes")?,
                        crc: content.u32("the bank's checksum")?,
                    })
                }
                ENTRY => {
                    let entry = Entry::read(&mut content, &before, &lengths)?;
                    names_left = names_left
                        .checked_sub(entry.name.len())
                        .ok_or_else(|| Error::corrupt(0, "too many long names"))?;
                    before.clone_from(&entry.name);
                    lengths.push(&entry);
                    Record::Entry(entry)
                }
                _ => Record::File(SourceFileRecord::read(&mut content, &lengths, segments)?),
            };
            content.finish("a record of the index")?;
            Ok(record)
        };
        found(read().map_err(|e: Error| e.offset_by(start))?);
    }
    if last < 6 {
        return Err(Error::truncated(
            bytes.len() as u64,
            "the index ends before the bank's record",
        ));
    }
    if lengths.total().is_none_or(|total| total > MAX_SIZE) {
        return Err(Error::corrupt(0, "the tensors are larger than any memory"));
    }
    Ok(())
}
