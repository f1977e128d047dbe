//! Parts of a tensor as plans, and which are decoded instead.

use super::stack::fits_a_plan;
use super::symbols::symbol_plan;
use super::{GroupPlan, PartPlan, TensorPlan};
use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::layout::part::{Codec, PartRecord, PartShape};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::plane::Content;
use std::ops::Range;

/// Symbols of a group or row of which there are more are decoded here: plans keep to numbers of 31
/// bits.
const MOST_SYMBOLS: usize = 1 << 31;

impl<S: ReadAt> OpenTensor<'_, S> {
    /// The plan of `rows` of the layout's matrix.
    pub(super) fn plan(&self, rows: Range<u64>) -> Result<TensorPlan> {
        let layout = self.layout;
        if rows.start > rows.end || rows.end > layout.rows {
            let what = format!("rows {} to {} of {}", rows.start, rows.end, layout.rows);
            return Err(Error::invalid(what));
        }
        let all = usize::try_from(layout.rows).unwrap_or(usize::MAX).max(1);
        let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let mut parts = Vec::with_capacity(self.descriptor.parts.len());
        for (number, record) in self.descriptor.parts.iter().enumerate() {
            let a_row = record.shape.count() / all;
            let range = of(rows.start) * a_row..of(rows.end) * a_row;
            parts.push(self.part_plan(number, record, range)?);
        }
        Ok(TensorPlan { layout, rows, parts })
    }

    fn part_plan(
        &self,
        number: usize,
        record: &PartRecord,
        range: Range<usize>,
    ) -> Result<PartPlan> {
        let apart = matches!(self.storage, Storage::Stored { .. });
        let (symbols, bitplane) = match &record.codec {
            Codec::Direct(symbols) => (symbols, false),
            Codec::Bitplane(symbols) => (symbols, true),
            _ => return self.decoded(number, range),
        };
        let small = symbols.cols < MOST_SYMBOLS && symbols.group_range(0).len() < MOST_SYMBOLS;
        let linear = symbols.prediction.as_ref().is_some_and(|p| p.weights.is_some());
        if !apart || !small || linear || !fits_a_plan(symbols) || range.is_empty() {
            return self.decoded(number, range);
        }
        let bits = match record.shape {
            PartShape::Symbols { bits, .. } => bits,
            _ => 8,
        };
        let rules = self.rules(number, record)?;
        let decoder = self.symbols(number, symbols, bits, bitplane, &rules)?;
        let per_group = symbols.group_range(0).len().max(1);
        let first = range.start / per_group;
        let numbers = first..range.end.div_ceil(per_group);
        let start = symbols.group_range(first).start;
        let wanted = range.start - start..range.end - start;
        let end = symbols.group_range(numbers.end - 1).end;
        let groups = numbers.map(|n| self.group_plan(number, record, symbols, n));
        let groups = groups.collect::<Result<Vec<_>>>()?;
        let tables = if bitplane { Vec::new() } else { self.frequencies(symbols)? };
        let plan = symbol_plan(&decoder, start..end, tables, groups, wanted)?;
        Ok(PartPlan::Symbols(Box::new(plan)))
    }

    fn decoded(&self, number: usize, range: Range<usize>) -> Result<PartPlan> {
        Ok(PartPlan::Decoded(match self.part(number, range)?.content {
            Content::Symbols(plane) => plane.data,
            Content::Words { data, .. } | Content::Raw(data) => data,
        }))
    }

    /// The frequencies of the tables of `symbols`.
    fn frequencies(&self, symbols: &Symbols) -> Result<Vec<Vec<u16>>> {
        let bank = self.reader.bank()?;
        let table = |&n: &usize| bank.get(n).map(|t| t.frequencies.clone()).unwrap_or_default();
        Ok(symbols.tables.iter().map(table).collect())
    }

    fn group_plan(
        &self,
        part: usize,
        record: &PartRecord,
        symbols: &Symbols,
        number: usize,
    ) -> Result<GroupPlan> {
        let group = record.groups.get(number);
        let place = self.places.get(part).and_then(|p| p.get(number));
        let (Some(group), Some(&at)) = (group, place) else {
            return Err(self.wrong(format!("there is no group {number}")));
        };
        let count = symbols.group_range(number).len();
        let row = number.saturating_mul(symbols.group_rows);
        Ok(GroupPlan { number, at, length: group.length, crc: group.crc, row, count })
    }
}
