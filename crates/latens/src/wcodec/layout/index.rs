//! The index: records of a tag, a length and a content.
//!
//! | tag | record |
//! |---|---|
//! | 2 | HEAD: CRC of the header u32, model hash |
//! | 4 | BASE: model hash of the base, its name |
//! | 6 | BANK: number of tables, bytes, CRC |
//! | 8 | ENTRY |
//! | 10 | FILE |
//! | 13 | QUANTIZATION: method and format, bits and group size, as files beside the checkpoint tell |
//! | 19 | TABLES: the [XOR](super::xor) of the bank, or all of it once more where it is short |
//! | 17 | [PARITY](super::parity) |
//! | 15 | [SUMS](super::sums), the last one |
//!
//! Odd tags are ancillary.

use crate::bits::varint;
use crate::error::Result;
use crate::wcodec::layout::entry::{Entry, Storage};
use crate::wcodec::layout::fields::{Fields, write_string};
use crate::wcodec::layout::file::SourceFileRecord;
use crate::wcodec::layout::header::{ALIGN, PLAIN_ALIGN, align};
use crate::wcodec::layout::parity;
use crate::wcodec::layout::xor;
use std::ops::Range;

/// Everything the index says, as it is written. [`records`](super::records) reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) header_crc: u32,
    pub(crate) model_hash: [u8; 32],
    pub(crate) base: Option<Base>,
    pub(crate) bank: BankRecord,
    pub(crate) entries: Vec<Entry>,
    pub(crate) files: Vec<SourceFileRecord>,
    pub(crate) quantization: Option<Quantization>,
    /// What [`tables_of`] says of the bank, or nothing.
    pub(crate) tables: Vec<u8>,
    /// Bytes of parity that there may be whatever the index's length is.
    pub(crate) most_of_parity: usize,
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

/// Tag of an ENTRY.
pub(crate) const ENTRY: u64 = 8;
/// Tag of a FILE.
pub(crate) const FILE: u64 = 10;
/// Tag of a QUANTIZATION.
pub(crate) const QUANTIZATION: u64 = 13;
/// Tag of a TABLES.
pub(crate) const TABLES: u64 = 19;
/// Most bytes of a TABLES.
const MOST_OF_TABLES: usize = 4096;
/// Longest text in a QUANTIZATION.
pub(crate) const LONGEST_TEXT: u64 = 255;

/// Bytes of a TABLES of so many bytes of the bank.
pub(crate) fn tables_length(bank: usize) -> usize {
    bank.min(MOST_OF_TABLES)
}

/// The content of a TABLES.
pub(crate) fn tables_of(bank: &[u8]) -> Vec<u8> {
    xor::of(bank, tables_length(bank.len()))
}

/// Appends a record.
pub(crate) fn record(tag: u64, content: &[u8], out: &mut Vec<u8>) {
    varint::write(tag, out);
    varint::write(content.len() as u64, out);
    out.extend_from_slice(content);
}

/// Bytes that all names may have together in an index of `bytes`: they share beginnings, so that few
/// bytes may stand for long ones, and an index in memory is to be of its size in the file.
pub(crate) fn names_allowed(bytes: usize) -> usize {
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
            record(ENTRY, &entry.bytes(shared), &mut out);
            before = &entry.name;
        }
        for file in &self.files {
            record(FILE, &file.bytes(), &mut out);
        }
        if let Some(told) = &self.quantization {
            record(QUANTIZATION, &told.bytes(), &mut out);
        }
        if !self.tables.is_empty() {
            record(TABLES, &self.tables, &mut out);
        }
        let parity = parity::length_within(out.len(), self.most_of_parity);
        parity::close(&mut out, parity);
        out
    }
}

/// What files beside a checkpoint say of its quantisation; no text and 0 where they do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quantization {
    pub(crate) method: String,
    pub(crate) format: String,
    pub(crate) bits: u64,
    pub(crate) group_size: u64,
}

impl Quantization {
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for text in [&self.method, &self.format] {
            let fits = text.len() as u64 <= LONGEST_TEXT;
            write_string(if fits { text } else { "" }, &mut out);
        }
        varint::write(self.bits, &mut out);
        varint::write(self.group_size, &mut out);
        out
    }

    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self> {
        Ok(Self {
            method: fields.string(LONGEST_TEXT, "the method of quantisation")?.to_owned(),
            format: fields.string(LONGEST_TEXT, "the format of quantisation")?.to_owned(),
            bits: fields.varint("the bits of weights")?,
            group_size: fields.varint("weights that share a scale")?,
        })
    }
}

/// The bytes of an entry behind those that end at byte `end`.
pub(crate) fn place<Bytes>(end: u64, storage: &Storage<Bytes>) -> Range<u64> {
    match storage {
        Storage::Stored { groups, descriptor, .. } => {
            let start = align(end, if *descriptor == 0 { PLAIN_ALIGN } else { ALIGN });
            start..start.saturating_add(*groups as u64).saturating_add(*descriptor as u64)
        }
        _ => end..end,
    }
}
