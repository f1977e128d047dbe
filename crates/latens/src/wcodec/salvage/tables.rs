//! What the index says of the tables, which all tensors share, and what follows from them of the index.

use crate::bits::checksum::{crc32, flipped_bit};
use crate::limits::Limits;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::{ends_where, read, read_bank};
use crate::wcodec::layout::header::{ALIGN, align};
use crate::wcodec::layout::index::{BankRecord, TABLES, record, tables_of};
use crate::wcodec::layout::parity::{self, PARITY};
use crate::wcodec::layout::records::{Check, Record, raw};
use crate::wcodec::layout::sums::SUMS;
use crate::wcodec::layout::xor;
use crate::wcodec::open_index::OpenIndex;
use crate::wcodec::reader::Reader;
use crate::wcodec::salvage::place::Place;
use crate::wcodec::salvage::whole::{By, Whole};
use crate::wcodec::salvage::{Damage, mended};

/// Bytes that are compared with the checksum while a place is looked for, at most.
const MOST_COMPARED: u64 = 1 << 32;

impl<S: ReadAt> Reader<S> {
    /// Reads the tables where they are damaged, if a bit of them was flipped, or by what the index says of them.
    pub(super) fn mend_tables(&self) -> Option<Damage> {
        let (record, at) = (self.open.index.bank, self.open.index.bank_at);
        // Where there are not so many, what the index has may be all of them.
        let stated = self.open.index.tables().map_or(0, <[u8]>::len);
        let mut bytes = self.bank_bytes().unwrap_or_else(|_| vec![0; stated]);
        let difference = crc32(&bytes) ^ record.crc;
        if difference == 0 {
            return None;
        }
        let (from, what) = if let Some(bit) = flipped_bit(bytes.len(), difference) {
            *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
            (bit / 8, mended("tables"))
        } else {
            let from = self.by_the_index(&mut bytes)?;
            let what = "the tables are damaged here, which the index puts right in memory";
            (from, what.to_owned())
        };
        self.open.bank.set(read_bank(&bytes, record.tables, record.crc).ok()?).ok()?;
        Some(Damage { at: at + from as u64, what })
    }

    /// Puts the tables right by what the index says of them, and says where they were not.
    fn by_the_index(&self, bytes: &mut Vec<u8>) -> Option<usize> {
        let (record, stated) = (self.open.index.bank, self.open.index.tables()?);
        let is_it = |bytes: &[u8]| crc32(bytes) == record.crc;
        // Of tables beyond 64 KiB not all places are looked at.
        let most = usize::try_from(MOST_COMPARED / record.bytes.max(1) as u64);
        let most = most.unwrap_or(usize::MAX);
        let (changes, end) = (xor::changes(bytes, stated), bytes.len());
        if let Some(place) = xor::mend(bytes, &changes, (0..end.min(most), end), &is_it) {
            return Some(place.start);
        }
        // Or some are gone, and what is behind them was read, with something else in place of these.
        let by = self.open.source.moved.filter(|moved| moved.by < 0)?.by.unsigned_abs();
        let missing = usize::try_from(by).ok().filter(|missing| *missing <= stated.len())?;
        let last = record.bytes.checked_sub(missing)?;
        let rest = read(&self.open.source.source, self.open.index.bank_at, last as u64).ok()?;
        *bytes = [vec![0; missing], rest].concat();
        let changes = xor::changes(bytes, stated);
        xor::fill(bytes, changes, (0..=last.min(most), missing), &is_it)
    }
}

/// The index with what ends it made again: the tables, of which there are those before it, its parity and its sums.
pub(super) fn made_again<S: ReadAt>(
    source: &S,
    limits: Limits,
    bytes: &[u8],
    place: &Place,
) -> Option<Whole> {
    let crc = place.crc.filter(|_| !place.is_cut)?;
    let all = raw(bytes).take_while(|&(_, tag, _)| !matches!(tag, TABLES | PARITY | SUMS));
    let mut check = Check::new(bytes.get(..all.last()?.0.end)?, false);
    let mut bank = BankRecord::default();
    while let Ok(Some(record)) = check.record() {
        if let Record::Bank(record) = record {
            bank = record;
        }
    }
    let rest = bytes.get(..check.at)?;
    limits.check_alloc(bank.bytes as u64, "the tables").ok()?;
    let at = place.start.checked_sub(align(bank.bytes as u64, ALIGN))?;
    let tables =
        read(source, at, bank.bytes as u64).ok().filter(|tables| crc32(tables) == bank.crc);
    let with = [tables.as_deref(), None].into_iter().flat_map(|tables| {
        let mut index = rest.to_vec();
        tables.into_iter().for_each(|tables| record(TABLES, &tables_of(tables), &mut index));
        parity::lengths().map(move |length| {
            let mut index = index.clone();
            parity::close(&mut index, length);
            index
        })
    });
    let mut with = with.filter(|index| index.len() == bytes.len());
    let whole = with.find(|index| crc32(index) == crc)?;
    let from = whole.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    let what = "the index is damaged from here on, behind all that it says of tensors and files: what ends it follows from \
                the rest, and is put right in memory";
    let damage = Some(Damage { at: place.start + from as u64, what: what.to_owned() });
    let index = OpenIndex::read(whole).ok().filter(|i| ends_where(i, place.start).is_ok())?;
    Some(Whole { index, damage, by: By::Checksums })
}
