//! Groups of a part as they are encoded, and which of them are kept.

use super::{MOST_KEPT, PlannedPart, Way};
use crate::error::Result;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::streams::{Coder, Scratch};
use crate::wcodec::layout::part::Group;
use crate::wcodec::threads;
use std::ops::Range;

impl PlannedPart<'_> {
    /// Its tables, where its groups need any.
    pub(crate) fn tables(&self, bank: &Bank) -> Result<Option<Coder>> {
        match &self.way {
            Way::Direct(direct) => Coder::new(&direct.symbols, bank).map(Some),
            _ => Ok(None),
        }
    }

    /// Encodes a group.
    pub(crate) fn group(
        &self,
        group: usize,
        tables: Option<&Coder>,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>> {
        match (&self.way, tables) {
            (Way::Raw { data, per_group }, _) => {
                let range = self.bytes_of(group, *per_group);
                data.get(range, &mut scratch.read).map(<[u8]>::to_vec)
            }
            (Way::Words { data, words, per_group }, _) => {
                let range = self.bytes_of(group, *per_group);
                let bytes = data.get(range, &mut scratch.read)?;
                words.group(bytes)
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
            known.push(Group::of(&group));
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
        all.into_iter().for_each(|group| self.push(group));
        Ok(())
    }

    /// Encodes the groups of a part where they are few.
    pub(crate) fn kept_if_small(mut self, bank: &Bank) -> Result<Self> {
        if self.is_small() {
            self.keep(bank)?;
        }
        Ok(self)
    }
}
