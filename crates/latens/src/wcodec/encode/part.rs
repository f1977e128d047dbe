//! Parts as they are stored: groups of bytes, and the record that describes them.

use crate::ans::rans::EncodeTables;
use crate::bits::checksum::crc32;
use crate::error::Result;
use crate::pco;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::streams::{Direct, Scratch, encoder};
use crate::wcodec::encode::words;
use crate::wcodec::layout::part::{Codec, Group, PartRecord, PartShape};
use crate::wcodec::plane::Role;
use crate::wcodec::threads;
use std::ops::Range;

/// Elements, and stored bytes, of a part that are kept in memory at most: those of larger parts are
/// encoded as they are written.
pub(crate) const MOST_KEPT: usize = 1 << 22;
/// Bytes of a tensor up to which it is read into memory at once, as it is: all of it is looked at several times.
pub(crate) const MOST_READ: usize = 1 << 24;
/// Bytes a group of raw bytes holds.
const RAW_GROUP: usize = 1 << 18;
/// Groups that each thread encodes before the bounds of the size are looked at again.
const AT_ONCE: usize = 4;

/// How the groups of a part come about.
pub(crate) enum Way<'a> {
    /// As they are.
    Raw { data: Data<'a>, per_group: usize },
    /// Words, each group a Pco file.
    Words { data: Data<'a>, float: bool, per_group: usize, config: pco::Config },
    /// Symbols by static tables.
    Direct(Box<Direct<'a>>),
    /// All of them are there.
    Done(Box<Codec>),
}

/// A part whose coding is settled, and of which some groups may be encoded.
pub(crate) struct PlannedPart<'a> {
    role: Role,
    shape: PartShape,
    way: Way<'a>,
    threads: usize,
    /// The first groups, as they are known.
    known: Vec<Group>,
    /// The stored bytes of the first of these; those of planes, plane by plane.
    kept: Vec<Vec<u8>>,
    kept_bytes: usize,
}

/// The least and the most that something may take.
pub(crate) type Bounds = Range<usize>;

impl<'a> PlannedPart<'a> {
    pub(crate) fn new(role: Role, shape: PartShape, way: Way<'a>, threads: usize) -> Self {
        let (known, kept) = (Vec::new(), Vec::new());
        Self { role, shape, way, threads, known, kept, kept_bytes: 0 }
    }

    /// The part, whose groups may be encoded by so many threads.
    pub(crate) fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// A part of a codec that has made all groups.
    pub(crate) fn done(role: Role, shape: PartShape, codec: Codec, groups: Vec<Vec<u8>>) -> Self {
        let mut part = Self::new(role, shape, Way::Done(Box::new(codec)), 1);
        groups.into_iter().for_each(|group| part.push(group, true));
        part
    }

    /// The part as it is.
    pub(crate) fn raw(role: Role, shape: PartShape, data: Data<'a>) -> Self {
        // A count that is small takes fewer bytes.
        let per_group = (RAW_GROUP / shape.width()).min(shape.count()).max(1);
        Self::new(role, shape, Way::Raw { data, per_group }, 1)
    }

    /// Whether its elements are not stored as they are.
    pub(crate) fn is_coded(&self) -> bool {
        !matches!(self.way, Way::Raw { .. })
    }

    /// Whether so few elements are in it that all its groups may be kept.
    fn is_small(&self) -> bool {
        self.shape.count().saturating_mul(self.shape.width()) <= MOST_KEPT
    }

    fn push(&mut self, group: Vec<u8>, keep: bool) {
        self.known.push(Group { length: group.len(), crc: crc32(&group) });
        if keep && self.kept.len() + 1 == self.known.len() {
            self.kept_bytes += group.len();
            self.kept.push(group);
        }
    }

    fn codec(&self) -> Codec {
        match &self.way {
            Way::Raw { per_group, .. } => Codec::Raw { per_group: *per_group },
            Way::Words { per_group, .. } => Codec::Pco { per_group: *per_group },
            Way::Direct(direct) => Codec::Direct(direct.symbols.clone()),
            Way::Done(codec) => (**codec).clone(),
        }
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        match &self.way {
            Way::Raw { per_group, .. } | Way::Words { per_group, .. } => {
                self.shape.count().div_ceil(*per_group)
            }
            Way::Direct(direct) => direct.symbols.groups(),
            Way::Done(_) => self.known.len(),
        }
    }

    /// Bytes that the elements of a group have before they are coded.
    fn bytes_of(&self, group: usize, per_group: usize) -> Range<usize> {
        let (each, all) = (per_group * self.shape.width(), self.shape.count() * self.shape.width());
        (group * each).min(all)..((group + 1) * each).min(all)
    }

    /// Bytes of the tensor that a group stands for, padding aside.
    pub(crate) fn stands_for(&self, group: usize) -> usize {
        let symbols = match &self.way {
            Way::Raw { per_group, .. } | Way::Words { per_group, .. } => {
                return self.bytes_of(group, *per_group).len();
            }
            Way::Direct(direct) => &direct.symbols,
            Way::Done(codec) => match &**codec {
                Codec::Direct(symbols) | Codec::Bitplane(symbols) => symbols,
                Codec::Raw { per_group } | Codec::Pco { per_group } => {
                    return self.bytes_of(group, *per_group).len();
                }
            },
        };
        let bits = match self.shape {
            PartShape::Symbols { bits, .. } => usize::try_from(bits).unwrap_or(8),
            _ => 8,
        };
        symbols.group_range(group).len() * bits / 8
    }

    /// Its tables, where its groups need any.
    pub(crate) fn tables(&self, bank: &Bank) -> Result<Option<EncodeTables>> {
        match &self.way {
            Way::Direct(direct) => encoder(&direct.symbols, bank).map(Some),
            _ => Ok(None),
        }
    }

    /// Encodes a group.
    pub(crate) fn group(
        &self,
        group: usize,
        tables: Option<&EncodeTables>,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>> {
        match (&self.way, tables) {
            (Way::Raw { data, per_group }, _) => {
                let range = self.bytes_of(group, *per_group);
                data.get(range, &mut scratch.read).map(<[u8]>::to_vec)
            }
            (Way::Words { data, float, per_group, config }, _) => {
                let range = self.bytes_of(group, *per_group);
                let bytes = data.get(range, &mut scratch.read)?;
                words::group(bytes, self.shape.width(), *float, config)
            }
            (Way::Direct(direct), Some(tables)) => direct.group(group, tables, scratch),
            _ => Ok(Vec::new()),
        }
    }

    /// Encodes some groups and hands them to `take` in their order.
    fn encode(
        &self,
        groups: Range<usize>,
        bank: &Bank,
        take: impl FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let tables = self.tables(bank)?;
        let group = |scratch: &mut Scratch, i: usize| {
            self.group(groups.start + i, tables.as_ref(), scratch)
        };
        threads::in_order(groups.len(), self.threads, Scratch::default, group, take)
    }

    /// Encodes the next groups, `most` at most, and keeps them as long as they are few.
    pub(crate) fn know(&mut self, most: usize, bank: &Bank) -> Result<()> {
        let from = self.known.len();
        let to = self.groups().min(from.saturating_add(most.max(1)));
        let (mut more, small) = (Vec::new(), self.is_small());
        let (mut kept, mut known) = (self.kept_bytes, Vec::new());
        self.encode(from..to, bank, |group| {
            kept += group.len();
            known.push(Group { length: group.len(), crc: crc32(&group) });
            if small || kept <= MOST_KEPT {
                more.push(group);
            }
            Ok(())
        })?;
        if self.kept.len() == from {
            self.kept_bytes += more.iter().map(Vec::len).sum::<usize>();
            self.kept.append(&mut more);
        }
        self.known.append(&mut known);
        Ok(())
    }

    /// Encodes the groups of words, which may take anything; of symbols it is known from counts.
    pub(crate) fn settle(&mut self, bank: &Bank) -> Result<()> {
        match self.way {
            Way::Words { .. } if self.known.len() < self.groups() => self.know(usize::MAX, bank),
            _ => Ok(()),
        }
    }

    /// Encodes all groups and keeps them.
    pub(crate) fn keep(&mut self, bank: &Bank) -> Result<()> {
        let (groups, mut all) = (self.known.len()..self.groups(), Vec::new());
        self.encode(groups, bank, |group| {
            all.push(group);
            Ok(())
        })?;
        all.into_iter().for_each(|group| self.push(group, true));
        Ok(())
    }

    /// Encodes the groups of a part where they are few.
    pub(crate) fn kept_if_small(mut self, bank: &Bank) -> Result<Self> {
        if self.is_small() {
            self.keep(bank)?;
        }
        Ok(self)
    }

    /// This part, or its elements as they are where that is not larger; `before` tables were there
    /// before it.
    pub(crate) fn or_raw(self, data: Data<'a>, before: usize, bank: &mut Bank) -> Result<Self> {
        let raw = Self::raw(self.role, self.shape, data);
        let limit = raw.bytes().end.saturating_sub(bank.bytes_from(before));
        let mut coded = [self];
        if take_less(&mut coded, limit, bank)? {
            let [coded] = coded;
            return Ok(coded);
        }
        bank.take_from(before);
        Ok(raw)
    }

    /// Bytes of groups, padding and record, as far as that is known.
    pub(crate) fn bytes(&self) -> Bounds {
        let left = self.groups() - self.known.len();
        let stored = |groups: &[Group]| -> usize {
            groups.iter().map(|group| group.length.next_multiple_of(4)).sum()
        };
        let record = |groups: Vec<Group>| {
            let mut record = Vec::new();
            self.record(groups).write(false, &mut record);
            record.len()
        };
        if left == 0 || matches!(self.way, Way::Raw { .. }) {
            let groups = self.described();
            let all = stored(&groups) + record(groups);
            return all..all;
        }
        let (known, fixed) = (stored(&self.known), record(self.known.clone()));
        let rest = match &self.way {
            Way::Direct(direct) => {
                let all = direct.bytes();
                all.start.saturating_sub(known)..all.end.saturating_sub(known)
            }
            Way::Words { per_group, .. } => {
                let coded = self.bytes_of(self.known.len(), *per_group).start;
                let whole = self.shape.count() * self.shape.width();
                0..whole - coded + left * words::MOST_MORE
            }
            Way::Raw { .. } | Way::Done(_) => 0..0,
        };
        // Of each group: a length of one to four bytes, a checksum, padding.
        known + fixed + rest.start + 5 * left..known + fixed + rest.end + 11 * left
    }

    /// The groups that are known, or those of bytes that stay as they are.
    fn described(&self) -> Vec<Group> {
        let Way::Raw { per_group, .. } = self.way else { return self.known.clone() };
        let group = |i| Group { length: self.bytes_of(i, per_group).len(), crc: 0 };
        (0..self.groups()).map(group).collect()
    }

    /// The stored bytes of a group, where it was encoded before and kept.
    pub(crate) fn kept(&self, group: usize) -> Option<&[u8]> {
        self.kept.get(group).map(Vec::as_slice)
    }

    /// Describes the part, whose groups are all encoded.
    pub(crate) fn record(&self, groups: Vec<Group>) -> PartRecord {
        let (role, shape, codec) = (self.role, self.shape, self.codec());
        PartRecord { role, shape, codec, groups }
    }
}

/// Whether `parts` take less than `limit` bytes. Their groups are encoded where that cannot be told
/// without.
pub(crate) fn take_less(parts: &mut [PlannedPart<'_>], limit: usize, bank: &Bank) -> Result<bool> {
    loop {
        let bounds = parts.iter().map(PlannedPart::bytes);
        let (least, most) = bounds.fold((0, 0), |all, b| (all.0 + b.start, all.1 + b.end));
        if most < limit || least >= limit {
            return Ok(most < limit);
        }
        match parts.iter_mut().find(|part| part.known.len() < part.groups()) {
            Some(part) => part.know(AT_ONCE * part.threads, bank)?,
            None => return Ok(false),
        }
    }
}
