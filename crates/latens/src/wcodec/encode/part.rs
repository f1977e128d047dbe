//! Parts as they are stored: groups of bytes, and the record that describes them.

mod groups;
mod size;

use crate::wcodec::data::Data;
use crate::wcodec::encode::streams::Direct;
use crate::wcodec::encode::words::Words;
use crate::wcodec::layout::part::{Codec, Group, PartRecord, PartShape};
use crate::wcodec::layout::source::{EntryRef, PartOf};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::plane::Role;
use std::ops::Range;
use std::sync::OnceLock;

pub(crate) use size::{Bounds, take_less};

/// Elements, and stored bytes, of a part that are kept in memory at most: those of larger parts are
/// encoded as they are written.
pub(crate) const MOST_KEPT: usize = 1 << 22;
/// Bytes of a tensor up to which it is read into memory at once, as it is: all of it is looked at several times.
pub(crate) const MOST_READ: usize = 1 << 24;
/// Bytes a group of raw bytes holds.
const RAW_GROUP: usize = if cfg!(test) { 1250 } else { 1 << 18 };
/// How the groups of a part come about.
pub(crate) enum Way<'a> {
    /// As they are.
    Raw { data: Data<'a>, per_group: usize },
    /// Words, each group a Pco file.
    Words { data: Data<'a>, words: Words, per_group: usize },
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
    /// The record up to its groups.
    head: OnceLock<Vec<u8>>,
}

impl<'a> PlannedPart<'a> {
    pub(crate) fn new(role: Role, shape: PartShape, way: Way<'a>, threads: usize) -> Self {
        let (known, kept) = (Vec::new(), Vec::new());
        Self { role, shape, way, threads, known, kept, kept_bytes: 0, head: OnceLock::new() }
    }

    /// The part, whose groups may be encoded by so many threads.
    pub(crate) fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// A part of a codec that has made all groups.
    pub(crate) fn done(role: Role, shape: PartShape, codec: Codec, groups: Vec<Vec<u8>>) -> Self {
        let mut part = Self::new(role, shape, Way::Done(Box::new(codec)), 1);
        groups.into_iter().for_each(|group| part.push(group));
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

    /// Whether it is predicted from a tensor of the base.
    pub(crate) fn needs_base(&self) -> bool {
        let prediction = self.symbols().and_then(|symbols| symbols.prediction.as_ref());
        let of = prediction.and_then(|prediction| prediction.reference.as_ref());
        matches!(of, Some(PartOf::Other { entry: EntryRef::Base(_), .. }))
    }

    /// What is said of its symbols, where it is stored as symbols.
    fn symbols(&self) -> Option<&Symbols> {
        match &self.way {
            Way::Direct(direct) => Some(&direct.symbols),
            Way::Done(codec) => match &**codec {
                Codec::Direct(symbols) | Codec::Bitplane(symbols) => Some(symbols),
                Codec::Raw { .. } | Codec::Pco { .. } => None,
            },
            Way::Raw { .. } | Way::Words { .. } => None,
        }
    }

    /// Whether so few elements are in it that all its groups may be kept.
    fn is_small(&self) -> bool {
        self.shape.count().saturating_mul(self.shape.width()) <= MOST_KEPT
    }

    /// The next group, which is kept if all before it are.
    fn push(&mut self, group: Vec<u8>) {
        self.known.push(Group::of(&group));
        if self.kept.len() + 1 == self.known.len() {
            self.kept_bytes += group.len();
            self.kept.push(group);
        }
    }

    /// The record up to its groups, made once: levels take the time of it.
    pub(crate) fn head(&self) -> &[u8] {
        self.head.get_or_init(|| {
            let codec = match &self.way {
                Way::Raw { per_group, .. } => &Codec::Raw { per_group: *per_group },
                Way::Words { per_group, .. } => &Codec::Pco { per_group: *per_group },
                Way::Direct(direct) => &Codec::Direct(direct.symbols.clone()),
                Way::Done(codec) => codec,
            };
            PartRecord::head(self.role, self.shape, codec)
        })
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
        if let Some(symbols) = self.symbols() {
            let bits = match self.shape {
                PartShape::Symbols { bits, .. } => usize::try_from(bits).unwrap_or(8),
                _ => 8,
            };
            return symbols.group_range(group).len() * bits / 8;
        }
        let per_group = match &self.way {
            Way::Raw { per_group, .. } | Way::Words { per_group, .. } => *per_group,
            Way::Done(codec) => match **codec {
                Codec::Raw { per_group } | Codec::Pco { per_group } => per_group,
                Codec::Direct(_) | Codec::Bitplane(_) => 0,
            },
            Way::Direct(_) => 0,
        };
        self.bytes_of(group, per_group).len()
    }

    /// The stored bytes of a group, where it was encoded before and kept.
    pub(crate) fn kept(&self, group: usize) -> Option<&[u8]> {
        self.kept.get(group).map(Vec::as_slice)
    }
}
