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
use crate::wcodec::layout::entry::Entry;
use crate::wcodec::layout::fields::{Fields, MAX_SIZE, write_string};
use crate::wcodec::layout::file::SourceFileRecord;
use crate::wcodec::layout::source::MAX_NAME;
use crate::wcodec::layout::table::MAX_TABLES;
use std::collections::HashSet;

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

    /// Reads all of `bytes`.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let mut fields = Fields::new(bytes);
        let mut index = Self::default();
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
                8 => last == 6 || last == 8,
                10 => last >= 6,
                _ => {
                    return Err(Error::corrupt(
                        at,
                        format!(
                            "record {tag} of the index is unknown: the file needs a newer reader"
                        ),
                    ));
                }
            };
            if !in_order {
                return Err(Error::corrupt(
                    at,
                    format!("record {tag} of the index is out of place"),
                ));
            }
            last = tag;
            let mut content = Fields::new(content);
            let mut read = || {
                match tag {
                    2 => {
                        index.header_crc = content.u32("the header's checksum")?;
                        index.model_hash = content.hash("the model hash")?;
                    }
                    4 => {
                        let model_hash = content.hash("the base's hash")?;
                        let name = content.string(MAX_NAME, "the base's name")?.to_owned();
                        index.base = Some(Base { model_hash, name });
                    }
                    6 => {
                        let tables =
                            content.varint_up_to(MAX_TABLES as u64, "the number of tables")?;
                        index.bank = BankRecord {
                            tables: usize::try_from(tables).unwrap_or(0),
                            bytes: content.size("the bank's bytes")?,
                            crc: content.u32("the bank's checksum")?,
                        };
                    }
                    8 => {
                        let before = index.entries.last().map_or("", |e: &Entry| e.name.as_str());
                        let entry = Entry::read(&mut content, before, &index.entries)?;
                        names_left = names_left
                            .checked_sub(entry.name.len())
                            .ok_or_else(|| Error::corrupt(0, "too many long names"))?;
                        index.entries.push(entry);
                    }
                    _ => index.files.push(SourceFileRecord::read(&mut content, &index.entries)?),
                }
                content.finish("a record of the index")
            };
            read().map_err(|e| e.offset_by(start))?;
        }
        if last < 6 {
            return Err(Error::truncated(
                bytes.len() as u64,
                "the index ends before the bank's record",
            ));
        }
        let mut names: HashSet<&str> = HashSet::with_capacity(index.entries.len());
        let mut tensors = index.entries.iter().filter(|e| !e.is_blob());
        if let Some(twice) = tensors.find(|e| !names.insert(&e.name)) {
            return Err(Error::corrupt(0, format!("there are two tensors {:?}", twice.name)));
        }
        let total = index.entries.iter().try_fold(0usize, |sum, e| sum.checked_add(e.length));
        if total.is_none_or(|total| total > MAX_SIZE) {
            return Err(Error::corrupt(0, "the tensors are larger than any memory"));
        }
        Ok(index)
    }
}
