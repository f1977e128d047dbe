//! Classes of runs of columns in the same block: of many rows what is added to the levels of columns is the same.

use crate::wcodec::class::{Terms, clamp, shifted};
use latens_kernels::dispatch::Present;
use latens_kernels::lookup;

/// What is added to levels of columns is between this and its negative: beyond that it is all the same.
const MOST: i32 = 255;
const ALL: usize = 2 * MOST as usize + 1;
/// Runs of a row of which classes are kept.
const RUNS: usize = 64;

/// Classes that are known.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Where the classes are and one more, by run and by what is added; 0 where they are not known.
    places: Vec<u16>,
    classes: Vec<u8>,
}

impl Known {
    /// None, for rows of so many coded symbols; `None` where they have no runs, or too many of them.
    pub(crate) fn of(&mut self, terms: &Terms<'_>, cols: usize) -> Option<&mut Self> {
        let rule = terms.rule;
        let narrowest = terms.levels.iter().map(|blocks| blocks.block_cols).min()?;
        // As many runs as each source has blocks, at most, and pairs have fewer.
        let runs = (2 * cols).div_ceil(narrowest.max(1)) * terms.levels.len();
        let plain = terms.zero.is_none() && !terms.has_narrow() && rule.cols.len() == cols;
        if !plain || runs > RUNS || rule.maps.len() != 1 {
            return None;
        }
        self.places.clear();
        self.places.resize(runs * ALL, 0);
        self.classes.clear();
        Some(self)
    }

    /// The classes of row `row`, as [`Terms::classes`] finds them.
    #[inline(never)]
    pub(crate) fn find(&mut self, terms: &Terms<'_>, row: usize, step: usize, out: &mut [u8]) {
        let (mut number, count) = (0, out.len());
        terms.runs(row, terms.base(row), step, count, |run, offset| {
            let offset = offset.clamp(-MOST, MOST);
            let at = number * ALL + usize::try_from(offset + MOST).unwrap_or(0);
            number += 1;
            let out = &mut out[run.clone()];
            let place = self.places.get(at).copied().map_or(0, usize::from);
            let known = self.classes.get(place.wrapping_sub(1)..);
            if let Some(known) = known.and_then(|known| known.get(..out.len())) {
                // By vectors of a fixed length: a call for so few bytes takes as long as they do.
                let (vectors, rest) = out.as_chunks_mut::<32>();
                let (known, of_rest) = known.as_chunks::<32>();
                vectors.iter_mut().zip(known).for_each(|(out, known)| *out = *known);
                rest.copy_from_slice(of_rest);
                return;
            }
            match terms.rule.cols.get(run) {
                Some(cols) => shifted(cols, offset, out),
                None => out.fill(clamp(offset)),
            }
            let map = terms.rule.maps.first().unwrap_or(&[0; 256]);
            lookup::replace(Present::in_use(), map, out);
            if let (Ok(place), Some(at)) =
                (u16::try_from(self.classes.len() + 1), self.places.get_mut(at))
            {
                *at = place;
                self.classes.extend_from_slice(out);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wcodec::class::{Blocks, RowSums};
    use crate::wcodec::layout::class_rule::ClassRule;

    /// They are those that are found without, for rows that are alike and rows that are not.
    #[test]
    fn classes_are_those_of_the_rule() {
        let cols = 300;
        for (block_cols, step) in [(32, 1), (100, 1), (300, 1), (64, 2), (50, 2), (9, 1)] {
            let stride = cols / block_cols + 1;
            let value = |i: usize| i16::try_from(i * 7 % 23 * 20).unwrap_or(0);
            let values = (0..40 * stride).map(value).collect();
            let blocks =
                Blocks { values, first: 0, block_rows: 1, block_cols, stride, row_map: None };
            let byte = |i: usize| u8::try_from(i % 251).unwrap_or(0);
            let rule = ClassRule {
                rows: (0..40).map(|i| byte(i % 5 * 50)).collect(),
                cols: (0..cols / step).map(|i| byte(i * 31)).collect(),
                bias: 100,
                maps: vec![std::array::from_fn(|i| byte(i / 9))],
                ..ClassRule::default()
            };
            let terms = Terms { rule: &rule, levels: vec![blocks].into(), zero: None };
            let mut known = Known::default();
            let Some(known) = known.of(&terms, cols / step) else {
                assert_eq!(block_cols, 9);
                continue;
            };
            let (mut found, mut wanted) = (vec![0; cols / step], vec![0; cols / step]);
            for row in 0..40 {
                known.find(&terms, row, step, &mut found);
                terms.classes(row, step, &mut RowSums::default(), &mut wanted);
                assert_eq!(found, wanted, "blocks of {block_cols}, row {row}");
            }
        }
    }
}
