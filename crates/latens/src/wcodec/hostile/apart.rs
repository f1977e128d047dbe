//! Files taken apart and put together again, with checksums that fit.

use crate::bits::checksum::crc32;
use crate::limits::Limits;
use crate::wcodec::layout::entry::{Entry, Storage};
use crate::wcodec::layout::file::{FileRecord, SourceFileRecord};
use crate::wcodec::layout::header::{FOOTER_BYTES, Footer, align};
use crate::wcodec::layout::index::{Index, tables_of};
use crate::wcodec::open_index::OpenEntry;
use crate::wcodec::reader::Reader;

/// An entry as it was written.
fn owned(entry: &OpenEntry<'_>) -> Entry {
    Entry {
        name: entry.name.clone(),
        dtype: entry.record.dtype().map(str::to_owned),
        shape: entry.record.shape(),
        length: entry.record.length,
        storage: match entry.record.storage {
            Storage::Stored { groups, descriptor, crc } => {
                Storage::Stored { groups, descriptor, crc }
            }
            Storage::Inline { groups, descriptor } => {
                Storage::Inline { groups: groups.to_vec(), descriptor: descriptor.to_vec() }
            }
            Storage::Copy(of) => Storage::Copy(of),
        },
    }
}

/// A file as it was written.
fn written(file: &FileRecord<'_>) -> SourceFileRecord {
    SourceFileRecord {
        name: file.name.to_owned(),
        length: file.length,
        segments: file.segments().collect(),
    }
}

/// A file taken apart: stored entries, bank, index.
pub(super) struct Apart {
    header: Vec<u8>,
    pub(super) entries: Vec<Option<(Vec<u8>, Vec<u8>)>>,
    pub(super) bank: Vec<u8>,
    index: Index,
}

impl Apart {
    pub(super) fn of(file: &[u8]) -> Self {
        let reader = Reader::open(file.to_vec(), Limits::default()).unwrap();
        let at = |from: u64, len: usize| {
            let from = usize::try_from(from).unwrap();
            file[from..from + len].to_vec()
        };
        let stored = reader.open.index.entries().map(|entry| match entry.record.storage {
            Storage::Stored { groups, descriptor, .. } => {
                Some((at(entry.start, groups), at(entry.start + groups as u64, descriptor)))
            }
            _ => None,
        });
        let (entries, read) = (stored.collect(), &reader.open.index);
        let bank = at(read.bank_at, read.bank.bytes);
        let index = Index {
            header_crc: read.header_crc,
            model_hash: read.model_hash,
            base: read.base.clone(),
            bank: read.bank,
            entries: read.entries().map(|entry| owned(&entry)).collect(),
            files: read.files().map(|file| written(&file)).collect(),
            quantization: read.quantization.clone(),
            most_of_parity: read.parity,
            tables: read.tables().map_or_else(Vec::new, <[u8]>::to_vec),
        };
        Self { header: file[..128].to_vec(), entries, bank, index }
    }

    /// Together again, with checksums that fit; `damage` changes the index's bytes.
    pub(super) fn together(mut self, damage: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut file = self.header.clone();
        let pad_to = |file: &mut Vec<u8>, to| {
            file.resize(usize::try_from(align(file.len() as u64, to)).unwrap(), 0);
        };
        let pad = |file: &mut Vec<u8>| pad_to(file, 128);
        for (entry, stored) in self.index.entries.iter_mut().zip(&self.entries) {
            if let Some((groups, descriptor)) = stored {
                let plain = descriptor.is_empty();
                pad_to(&mut file, if plain { 4 } else { 128 });
                file.extend_from_slice(groups);
                file.extend_from_slice(descriptor);
                let summed =
                    if plain { &groups[..entry.length.min(groups.len())] } else { descriptor };
                entry.storage = Storage::Stored {
                    groups: groups.len(),
                    descriptor: descriptor.len(),
                    crc: crc32(summed),
                };
            }
        }
        pad(&mut file);
        file.extend_from_slice(&self.bank);
        self.index.bank.bytes = self.bank.len();
        self.index.bank.crc = crc32(&self.bank);
        if !self.index.tables.is_empty() {
            self.index.tables = tables_of(&self.bank);
        }
        pad(&mut file);
        let index_offset = file.len() as u64;
        let mut index = self.index.bytes();
        damage(&mut index);
        file.extend_from_slice(&index);
        let file_length = (file.len() + FOOTER_BYTES) as u64;
        let footer = Footer { index_offset, file_length, index_crc: crc32(&index) };
        file.extend_from_slice(&footer.bytes());
        file
    }
}
