//! Parts of symbols as records: their tables, predictions and classes go to the side buffer, their groups
//! to the input.

use super::{Batch, Fetch, take};
use crate::record::{self, BLOCK_GROUPS, Group, Part, Source, word};
use latens::Result;
use latens::wcodec::Coder;
use latens::wcodec::device::{
    BlockPlan, ClassPlan, GroupPlan, PredictionPlan, StackPlan, SymbolPlan,
};

impl Batch {
    pub(super) fn symbols(&mut self, plan: SymbolPlan, out: usize, to_output: bool) -> Result<()> {
        let transform = plan.prediction.as_ref().is_some_and(|p| p.transform);
        let bitplane = plan.coder == Coder::Bitplane;
        let eight = plan.pairs || (transform && !bitplane);
        let mut part = Part {
            bitplane,
            bits: plan.bits.into(),
            alphabet: if eight { 8 } else { plan.bits.into() },
            cols: plan.cols,
            table_bits: plan.table_bits.into(),
            tables: plan.tables.len(),
            ..Part::default()
        };
        if to_output {
            part.flags |= record::TO_OUTPUT;
        }
        if plan.pairs {
            part.flags |= record::IS_PAIRS;
        }
        if let Some(order) = plan.order {
            part.flags |= record::HAS_ORDER;
            part.order_at = self.aside(order);
        }
        if let Some(escape) = plan.escape {
            part.flags |= record::HAS_ESCAPES;
            part.escape = escape.into();
        }
        if plan.compact {
            part.flags |= record::IS_COMPACT;
        }
        let mut spans = 0;
        if let Some(stack) = plan.stack {
            spans = stack.ends.len();
            self.stack(stack, &mut part);
        }
        let tables = plan.tables.iter().flat_map(|t| table(t, plan.table_bits, part.alphabet));
        part.tables_at = self.aside(tables.collect::<Vec<u8>>());
        self.tables = self.tables.max(self.side.len() - part.tables_at);
        if let Some(prediction) = plan.prediction {
            self.prediction(prediction, &mut part);
        }
        if let Some(classes) = plan.classes {
            self.classes(classes, &mut part);
        }
        let number = self.parts.len() / record::PART_FIELDS;
        part.write(&mut self.parts);
        let (mut at, mut pairs, first) = (out, 0, self.group_count());
        for group in &plan.groups {
            let GroupPlan { length, crc, row, count, .. } = *group;
            let padded = length.next_multiple_of(4);
            let to = take(&mut self.input, padded, 4)?;
            self.fetches.push(Fetch { from: group.at, to, bytes: padded });
            let scratch = scratch_of(bitplane, transform, count, plan.cols);
            let scratch = take(&mut self.scratch, scratch, 4)?;
            let reference = at - out;
            let group = Group {
                part: number,
                at: to,
                length,
                crc,
                row,
                count,
                out: at,
                scratch,
                reference,
                pairs,
            };
            group.write(&mut self.groups);
            at += count;
            pairs += spans * count.checked_div(plan.cols).unwrap_or(0).div_ceil(2);
        }
        let end = self.group_count();
        for start in (first..end).step_by(BLOCK_GROUPS) {
            self.blocks.extend([start, BLOCK_GROUPS.min(end - start)].map(word));
        }
        Ok(())
    }

    /// Rows and spans in the order of pairs: see `kernels/stacked.cuh`.
    fn stack(&mut self, plan: StackPlan, part: &mut Part) {
        part.flags |= record::IS_STACKED;
        let firsts = [0].into_iter().chain(plan.ends.iter().copied());
        let lengths = firsts.zip(&plan.ends).map(|(first, &end)| end.saturating_sub(first));
        let spans = (0u32..).zip(lengths).flat_map(|(span, len)| std::iter::repeat_n(span, len));
        let lines = plan.columns.iter().zip(spans).flat_map(|(&column, span)| [column, span]);
        part.lines_at = self.aside(lines.flat_map(u32::to_le_bytes));
        let rows = plan.rows.iter().flatten().copied();
        part.two_rows_at = self.aside(rows.flat_map(u16::to_le_bytes));
        part.sums_at = self.aside(plan.sums.into_iter().flat_map(i16::to_le_bytes));
    }

    fn prediction(&mut self, plan: PredictionPlan, part: &mut Part) {
        part.flags |= record::IS_PREDICTED;
        part.tile = (plan.tile.rows(), plan.tile.cols());
        part.centre = plan.centre.into();
        match plan.predictor {
            Some(predictor) => part.predictor = predictor.id().into(),
            None => part.flags |= record::IS_BY_TILE,
        }
        if plan.transform {
            part.flags |= record::IS_TRANSFORMED;
        }
        if let Some(means) = plan.means {
            part.flags |= record::HAS_MEANS;
            part.means_at = self.aside(means);
        }
        if let Some(reference) = plan.reference {
            part.flags |= record::HAS_REFERENCE;
            part.reference_at = self.aside(reference);
        }
    }

    fn classes(&mut self, mut plan: ClassPlan, part: &mut Part) {
        part.flags |= record::HAS_CLASSES;
        // What rows and blocks add to stacked pairs is in their sums.
        if part.flags & record::IS_STACKED != 0 {
            plan.rows.clear();
            plan.levels.clear();
        }
        part.bias = plan.bias;
        part.rows = (self.aside(plan.rows.iter().copied()), plan.rows.len());
        part.col_levels = (self.aside(plan.cols.iter().copied()), plan.cols.len());
        part.maps = (self.aside(plan.maps.iter().flatten().copied()), plan.maps.len());
        part.levels = plan.levels.len();
        for (to, source) in part.sources.iter_mut().zip(plan.levels) {
            *to = self.source(source);
        }
        if let Some(zero) = plan.zero {
            part.flags |= record::HAS_ZERO;
            part.sources[4] = self.source(zero);
        }
    }

    fn source(&mut self, plan: BlockPlan) -> Source {
        let count = plan.values.len();
        let values = (self.aside(plan.values.iter().flat_map(|v| v.to_le_bytes())), count);
        let map = plan.row_map.map_or((0, 0), |map| {
            // A map of no rows is not the same as none: it has a value for no row.
            let rows = map.len().max(1);
            let nowhere = if map.is_empty() { Some(u32::MAX) } else { None };
            (self.aside(map.into_iter().chain(nowhere).flat_map(u32::to_le_bytes)), rows)
        });
        Source { values, block: (plan.block_rows, plan.block_cols), stride: plan.stride, map }
    }
}

/// A table as kernels take it: see `kernels/coder.cuh`.
fn table(frequencies: &[u16], bits: u32, alphabet: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity((4 << alphabet) + (1 << bits));
    let mut before = 0u32;
    for symbol in 0..1usize << alphabet {
        let f = u32::from(frequencies.get(symbol).copied().unwrap_or(0));
        out.extend((f << 16 | before).to_le_bytes());
        before += f;
    }
    for (symbol, &f) in (0u8..=255).zip(frequencies) {
        out.extend(std::iter::repeat_n(symbol, f.into()));
    }
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// Bytes that a group needs beside its symbols: see `kernels/bitplane.cuh`.
fn scratch_of(bitplane: bool, transform: bool, count: usize, cols: usize) -> usize {
    const CONTEXTS: usize = 4 * 16 * 16 + 16 + 16 * 16 * 32;
    let rows = count.checked_div(cols).unwrap_or(0);
    match (bitplane, transform) {
        (true, _) => {
            let known = rows.saturating_add(1).saturating_mul(cols.saturating_add(1));
            (6 * CONTEXTS).saturating_add(known.saturating_add(count).saturating_mul(2))
        }
        (false, true) => count.saturating_mul(2),
        (false, false) => 0,
    }
}
