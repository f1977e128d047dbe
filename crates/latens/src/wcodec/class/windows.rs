//! Classes as windows of a map, as the kernels take them: one for each row of 32 symbols, in which
//! the columns have their places. What they hold takes 16 bits for 32 symbols, and no pass over these.

use super::{Blocks, Terms, coded};
use crate::ans::rans::LANES;
use latens_kernels::rans::WINDOW;

/// Sums of a map: all that differ, and a window on both sides.
const SUMS: usize = 256 + 2 * WINDOW;

/// A rule in that form.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// Classes of sums from −64 to 319, map after map.
    pub(crate) map: Vec<u8>,
    /// Levels of the columns above the least one.
    pub(crate) cols: Vec<u8>,
    least: i32,
}

impl Windows {
    /// Those of `terms`, where rows have `cols` coded symbols, each of them `step` symbols. `None`
    /// where blocks begin within a row of lanes, columns differ by more than a window, or there are
    /// very many maps.
    pub(crate) fn new(terms: &Terms<'_>, step: usize, cols: usize) -> Option<Self> {
        let rule = terms.rule;
        let whole = |blocks: &Blocks| {
            coded(blocks.block_cols, step) >= cols
                || blocks.block_cols.is_multiple_of(step.saturating_mul(LANES))
        };
        let fits = cols > 0
            && cols.is_multiple_of(LANES)
            && (rule.cols.is_empty() || rule.cols.len() == cols)
            && rule.maps.len() * SUMS <= usize::from(u16::MAX)
            && terms.levels.iter().chain(terms.zero.as_deref()).all(whole);
        if !fits {
            return None;
        }
        let least = rule.cols.iter().copied().min().unwrap_or(0);
        let mut levels: Vec<u8> = rule.cols.iter().map(|col| col - least).collect();
        if levels.iter().any(|&level| usize::from(level) >= WINDOW) {
            return None;
        }
        levels.resize(cols, 0);
        let mut map = Vec::with_capacity(rule.maps.len() * SUMS);
        for classes in &rule.maps {
            map.extend([classes[0]; WINDOW]);
            map.extend(classes);
            map.extend([classes[255]; WINDOW]);
        }
        Some(Self { map, cols: levels, least: least.into() })
    }

    /// Where the windows of the rows from `first` on begin, row after row.
    pub(crate) fn starts_of_rows(
        &self,
        terms: &Terms<'_>,
        first: usize,
        step: usize,
        out: &mut [u16],
    ) {
        let a_row = (self.cols.len() / LANES).max(1);
        let rows = (first..).zip(out.chunks_mut(a_row));
        let ([blocks], None) = (&*terms.levels, &terms.zero) else {
            return rows.for_each(|(row, out)| self.starts(terms, row, step, out));
        };
        // By far the most common: what is the same in all rows is done once.
        let mut next = blocks.row(first);
        let mut from = |row: usize| {
            let from = if blocks.rows_follow() { next } else { blocks.row(row) };
            next = next.saturating_add(blocks.stride);
            from.min(blocks.values.len())
        };
        macro_rules! by {
            ($($lanes:literal)*) => {
                match coded(blocks.block_cols, step) / LANES {
                    $($lanes => rows.for_each(|(row, out)| {
                        self.spread::<$lanes>(terms.base(row), &blocks.values[from(row)..], out);
                    }),)*
                    lanes => rows.for_each(|(row, out)| {
                        let base = terms.base(row);
                        for (at, out) in (from(row)..).zip(out.chunks_mut(lanes.max(1))) {
                            out.fill(self.start(base - blocks.at(at)));
                        }
                    }),
                }
            };
        }
        by!(1 2 4);
    }

    /// Where the windows of row `row` begin, by 32 coded symbols.
    fn starts(&self, terms: &Terms<'_>, row: usize, step: usize, out: &mut [u16]) {
        let cols = self.cols.len();
        let last = terms.rule.maps.len().saturating_sub(1);
        let base = terms.base(row);
        terms.runs(row, base, step, cols, |run, offset| {
            lanes(out, &run).fill(self.start(offset));
        });
        terms.zeros(row, step, cols, |run, zero| {
            let map = u16::try_from(zero.min(last) * SUMS).unwrap_or(0);
            lanes(out, &run).iter_mut().for_each(|start| *start += map);
        });
    }

    /// The starts of blocks of `N` rows of lanes, `base` less their `values`; 0 where these end.
    #[inline(always)]
    fn spread<const N: usize>(&self, base: i32, values: &[i16], out: &mut [u16]) {
        let (blocks, rest) = out.as_chunks_mut::<N>();
        let (known, unknown) = blocks.split_at_mut(values.len().min(blocks.len()));
        for (out, value) in known.iter_mut().zip(values) {
            *out = [self.start(base - i32::from(*value)); N];
        }
        unknown.fill([self.start(base); N]);
        rest.fill(self.start(base - values.get(blocks.len()).copied().map_or(0, i32::from)));
    }

    /// Where the window of an offset begins.
    #[inline(always)]
    fn start(&self, offset: i32) -> u16 {
        // Beyond a window on either side of the 256 sums a map does not change.
        const BELOW: i32 = 64;
        const { assert!(BELOW.unsigned_abs() as usize == WINDOW) };
        let start = (offset + self.least).clamp(-BELOW, 256) + BELOW;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 320")]
        let start = start as u16;
        start
    }
}

/// The rows of lanes of a run of symbols.
fn lanes<'o>(out: &'o mut [u16], run: &std::ops::Range<usize>) -> &'o mut [u16] {
    let to = (run.end / LANES).min(out.len());
    &mut out[(run.start / LANES).min(to)..to]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wcodec::class::RowSums;
    use crate::wcodec::layout::class_rule::ClassRule;
    use latens_kernels::rans::Levels;
    use std::borrow::Cow;

    fn blocks(block_cols: usize, cols: usize, scale: i16) -> Blocks {
        let stride = cols.div_ceil(block_cols);
        let values = (0..3 * stride).map(|i| i16::try_from(i * 37 % 90).unwrap_or(0) * scale);
        Blocks {
            values: values.collect(),
            first: 0,
            block_rows: 1,
            block_cols,
            stride,
            row_map: None,
        }
    }

    /// Windows say what classes written down symbol by symbol say.
    #[test]
    fn windows_hold_the_classes() {
        let mut seen = 0;
        for step in [1, 2] {
            for (block, scale) in
                [(32, 1), (64, 7), (128, 3), (96, 1), (191, 2), (192, 40), (1000, 3), (40, 1)]
            {
                for (bias, spread) in [(100, 1), (0, 40), (-3000, 63), (3000, 20), (140, 64)] {
                    for maps in [1, 3] {
                        let cols = 192;
                        let map = |m: usize| {
                            std::array::from_fn(|i| u8::try_from((i + m) / 3 % 8).unwrap_or(0))
                        };
                        let level = |c: usize| u8::try_from(30 + c * 7 % (spread + 1)).unwrap_or(0);
                        let rule = ClassRule {
                            rows: vec![3, 90, 250],
                            cols: (0..cols / step).map(level).collect(),
                            bias,
                            maps: (0..maps).map(map).collect(),
                            ..ClassRule::default()
                        };
                        let zero = Cow::Owned(blocks(64, cols, 1));
                        let terms = Terms {
                            rule: &rule,
                            levels: vec![blocks(block, cols, scale)].into(),
                            zero: (maps > 1).then_some(zero),
                        };
                        let windows = Windows::new(&terms, step, cols / step);
                        let within =
                            block % (step * LANES) == 0 || coded(block, step) >= cols / step;
                        assert!(windows.is_some() == (within && spread < WINDOW));
                        let Some(windows) = windows else { continue };
                        for row in 0..3 {
                            let mut wanted = vec![0; cols / step];
                            terms.classes(row, step, &mut RowSums::default(), &mut wanted);
                            let mut starts = vec![0; cols / step / LANES];
                            windows.starts_of_rows(&terms, row, step, &mut starts);
                            assert!(Levels::new(&windows.map, &starts, &windows.cols).is_some());
                            let class = |c: usize| {
                                let start = usize::from(starts[c / LANES]);
                                windows.map[start + usize::from(windows.cols[c])]
                            };
                            assert_eq!((0..cols / step).map(class).collect::<Vec<_>>(), wanted);
                            seen += 1;
                        }
                    }
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }
}
