//! How many bytes parts take: what is known of it before their groups are encoded, and after.

use super::{PlannedPart, Way};
use crate::bits::varint;
use crate::error::Result;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::words;
use crate::wcodec::layout::part::Group;
use std::ops::Range;

/// Groups that are encoded before the bounds of the size are looked at again: as many whatever the threads, as what is
/// known of a part decides between it and others.
const AT_ONCE: usize = 4;

/// The least and the most that something may take.
pub(crate) type Bounds = Range<usize>;

impl<'a> PlannedPart<'a> {
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
        let head = self.head().len();
        // The length of each, and its checksum.
        let of_group = |group: &Group| varint::len(group.length as u64) + 4;
        let record = |groups: &[Group]| head + groups.iter().map(of_group).sum::<usize>();
        if left == 0 || matches!(self.way, Way::Raw { .. }) {
            let groups = self.described();
            let all = stored(&groups) + record(&groups);
            return all..all;
        }
        let (known, fixed) = (stored(&self.known), record(&self.known));
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
            Some(part) => part.know(AT_ONCE, bank)?,
            None => return Ok(false),
        }
    }
}
