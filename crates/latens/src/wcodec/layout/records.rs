//! Reading the records of an [index](super::index).

use crate::error::{Error, Result};
use crate::wcodec::layout::entry::{EntryRecord, Lengths};
use crate::wcodec::layout::fields::{Fields, MAX_SIZE};
use crate::wcodec::layout::file::FileRecord;
use crate::wcodec::layout::index::{
    BankRecord, Base, ENTRY, FILE, QUANTIZATION, Quantization, TABLES, names_allowed, tables_length,
};
use crate::wcodec::layout::parity::{self, PARITY};
use crate::wcodec::layout::source::MAX_NAME;
use crate::wcodec::layout::sums::{self, SUMS};
use crate::wcodec::layout::table::MAX_TABLES;
use std::ops::Range;

/// A record, read.
pub(crate) enum Record<'a> {
    Head {
        header_crc: u32,
        model_hash: [u8; 32],
    },
    Base(Base),
    Bank(BankRecord),
    Entry(EntryRecord<'a>),
    File,
    Quantization(Quantization),
    /// Its bytes.
    Parity(&'a [u8]),
    /// Of an odd tag: nothing that must be known.
    Ancillary,
}

/// A record's tag and content, and where the content begins.
fn split<'a>(fields: &mut Fields<'a>) -> Result<(u64, usize, &'a [u8])> {
    let tag = fields.varint("a record's tag")?;
    let length = fields.varint("a record's length")?;
    let start = usize::try_from(fields.at()).unwrap_or(usize::MAX);
    Ok((tag, start, fields.bytes(length, "a record of the index")?))
}

/// Reads and checks an index record by record. That names differ is not looked at.
pub(crate) struct Check<'a> {
    bytes: &'a [u8],
    fields: Fields<'a>,
    lengths: Lengths,
    name: String,
    names_left: usize,
    bank: BankRecord,
    /// The tag of the last record that was in its place.
    last: u64,
    /// Whether records of odd tags may come that are none of those that are known.
    ancillary: bool,
    /// Where the record begins that was read last.
    pub(crate) at: usize,
}

impl<'a> Check<'a> {
    pub(crate) fn new(bytes: &'a [u8], ancillary: bool) -> Self {
        let entries = raw(bytes).filter(|&(_, tag, _)| tag == ENTRY).count();
        Self {
            bytes,
            fields: Fields::new(bytes),
            lengths: Lengths::with_capacity(entries),
            name: String::new(),
            names_left: names_allowed(bytes.len()),
            bank: BankRecord::default(),
            last: 0,
            ancillary,
            at: 0,
        }
    }

    /// Bytes of the name of the last entry.
    pub(crate) fn name_bytes(&self) -> usize {
        self.name.len()
    }

    /// All before the record that was read last.
    pub(crate) fn before(&self) -> &'a [u8] {
        self.bytes.get(..self.at).unwrap_or_default()
    }

    /// Where the record ends that was read last.
    pub(crate) fn end(&self) -> usize {
        self.bytes.len() - self.fields.left()
    }

    /// The next record; `None` at the end.
    pub(crate) fn record(&mut self) -> Result<Option<Record<'a>>> {
        self.at = self.bytes.len() - self.fields.left();
        if self.fields.left() == 0 {
            return Ok(None);
        }
        let at = self.at as u64;
        let (tag, start, content) = split(&mut self.fields)?;
        let known = matches!(tag, QUANTIZATION | TABLES | PARITY | SUMS);
        if tag % 2 == 1 && !known && self.ancillary {
            return Ok(Some(Record::Ancillary));
        }
        let in_order = match tag {
            2 => self.last == 0,
            4 => self.last == 2,
            6 => self.last == 2 || self.last == 4,
            ENTRY => self.last == 6 || self.last == ENTRY,
            FILE => matches!(self.last, 6 | ENTRY | FILE),
            QUANTIZATION => matches!(self.last, 6 | ENTRY | FILE),
            TABLES => {
                let behind = matches!(self.last, 6 | ENTRY | FILE | QUANTIZATION);
                behind && !content.is_empty() && content.len() == tables_length(self.bank.bytes)
            }
            PARITY => {
                let behind = matches!(self.last, 6 | ENTRY | FILE | QUANTIZATION | TABLES);
                behind && parity::is_length(content.len())
            }
            SUMS => {
                let last = self.last >= 6 && self.fields.left() == 0;
                last && sums::has_length_of(self.at, content.len())
            }
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
        self.last = tag;
        let read = self.content(tag, content).map_err(|e| e.offset_by(start as u64));
        read.map(Some)
    }

    fn content(&mut self, tag: u64, bytes: &'a [u8]) -> Result<Record<'a>> {
        let mut content = Fields::new(bytes);
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
                self.bank = BankRecord {
                    tables: usize::try_from(tables).unwrap_or(0),
                    bytes: content.size("the bank's bytes")?,
                    crc: content.u32("the bank's checksum")?,
                };
                Record::Bank(self.bank)
            }
            ENTRY => {
                let entry = EntryRecord::read(&mut content, &mut self.name, Some(&self.lengths))?;
                let left = self.names_left.checked_sub(self.name.len());
                self.names_left = left.ok_or_else(|| Error::corrupt(0, "too many long names"))?;
                self.lengths.push(&entry);
                Record::Entry(entry)
            }
            QUANTIZATION => Record::Quantization(Quantization::read(&mut content)?),
            // What they say is needed only where the index does not have its checksum.
            PARITY => return Ok(Record::Parity(bytes)),
            TABLES | SUMS => return Ok(Record::Ancillary),
            _ => {
                FileRecord::read(&mut content, Some(&self.lengths))?;
                Record::File
            }
        };
        content.finish("a record of the index")?;
        Ok(record)
    }

    /// What can be said only once all records are read.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.last < 6 {
            return Err(Error::truncated(
                self.bytes.len() as u64,
                "the index ends before the bank's record",
            ));
        }
        if self.lengths.total().is_none_or(|total| total > MAX_SIZE) {
            return Err(Error::corrupt(0, "the tensors are larger than any memory"));
        }
        Ok(())
    }
}

/// Where records are, their tags and contents, up to what is not sound.
pub(crate) fn raw(bytes: &[u8]) -> impl Iterator<Item = (Range<usize>, u64, &[u8])> {
    let mut fields = Fields::new(bytes);
    std::iter::from_fn(move || {
        let start = bytes.len() - fields.left();
        let (tag, _, content) =
            if fields.left() > 0 { split(&mut fields).ok()? } else { return None };
        Some((start..bytes.len() - fields.left(), tag, content))
    })
}
