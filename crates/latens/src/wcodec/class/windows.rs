//! Classes as windows of a map, as the kernels take them: one for each row of 32 symbols, in which
//! the columns have their places. What they hold takes 16 bits for 32 symbols, and no pass over these.

use super::{Terms, coded};
use crate::ans::rans::LANES;
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::source::Source;
use crate::wcodec::layout::symbols::Symbols;
use latens_kernels::rans::WINDOW;

/// Classes of all maps, at most: windows begin at 16 bits.
const MOST: usize = 1 << 16;

/// A rule in that form.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// Classes, map after map.
    pub(crate) map: Vec<u8>,
    /// Where in a window the columns have their classes.
    pub(crate) cols: Vec<u8>,
    form: Form,
}

/// The windows of a map: one for each sum of what columns do not say, as far as classes differ by it.
#[derive(Clone, Copy, Debug)]
struct Form {
    windows: u16,
    /// From one to the next: they share what they have in common, or nothing.
    apart: u16,
    /// The number of the window of sum 0.
    zero: i32,
}

impl Form {
    /// For levels that differ by less than a window from the `least` one: places are by how much.
    fn sliding(least: u8) -> Self {
        Self { windows: 64 + 256 + 1, apart: 1, zero: 64 + i32::from(least) }
    }

    /// For few levels: places are their numbers.
    const BY_LEVEL: Self = Self { windows: 255 + 256 + 1, apart: 64, zero: 255 };

    /// Classes of a map.
    fn len(self) -> usize {
        usize::from(self.windows - 1) * usize::from(self.apart) + WINDOW
    }

    /// Where the window of a sum begins.
    #[inline(always)]
    fn start(self, sum: i32) -> u16 {
        let number = (sum + self.zero).clamp(0, i32::from(self.windows) - 1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a u16")]
        let number = number as u16;
        number * self.apart
    }
}
const _: () = assert!(WINDOW == 64);

impl Windows {
    /// Those of symbols with classes, as [`Windows::new`]; none of pairs of two rows.
    pub(crate) fn of(symbols: &Symbols) -> Option<Self> {
        // Columns beyond all symbols, which RECUT may name, take no stored bytes.
        if symbols.stack.is_some() || symbols.cols > symbols.count {
            return None;
        }
        let step = if symbols.pairs { 2 } else { 1 };
        Self::new(symbols.classes.as_ref()?, step, symbols.coded_cols())
    }

    /// Those of a rule, where rows have `cols` coded symbols, each of them `step` symbols. `None`
    /// where blocks begin within a row of lanes, columns have more levels than a window holds, or there are
    /// very many maps.
    fn new(rule: &ClassRule, step: usize, cols: usize) -> Option<Self> {
        let whole = |source: &Source| {
            coded(source.block_cols, step) >= cols
                || source.block_cols.is_multiple_of(step.saturating_mul(LANES))
        };
        let fits = cols > 0
            && cols.is_multiple_of(LANES)
            && (rule.cols.is_empty() || rule.cols.len() == cols)
            && rule.levels.iter().chain(&rule.zero).all(whole);
        if !fits {
            return None;
        }
        let mut cols_of = rule.cols.clone();
        cols_of.resize(cols, 0);
        let mut levels = cols_of.clone();
        levels.sort_unstable();
        levels.dedup();
        let (least, most) = (*levels.first()?, *levels.last()?);
        let form = if usize::from(most - least) < WINDOW {
            levels = (least..=most).collect();
            Form::sliding(least)
        } else {
            Form::BY_LEVEL
        };
        if levels.len() > WINDOW || rule.maps.len() * form.len() > MOST {
            return None;
        }
        let mut places = [0; 256];
        for (place, &level) in (0..).zip(&levels) {
            places[usize::from(level)] = place;
        }
        cols_of.iter_mut().for_each(|col| *col = places[usize::from(*col)]);
        let mut map = Vec::with_capacity(rule.maps.len() * form.len());
        for classes in &rule.maps {
            // By sums from −256 to 511.
            let mut wide = [classes[0]; 3 * 256];
            wide[256..512].copy_from_slice(classes);
            wide[512..].fill(classes[255]);
            if form.apart == 1 {
                map.extend_from_slice(&wide[256 - 64..][..form.len()]);
            } else {
                levels.resize(WINDOW, least);
                for window in 1..=usize::from(form.windows) {
                    map.extend(levels.iter().map(|&level| wide[window + usize::from(level)]));
                }
            }
        }
        Some(Self { map, cols: cols_of, form })
    }

    /// Where the windows of the rows from `first` on begin, row after row.
    pub(crate) fn starts_of_rows(
        &self,
        terms: &Terms<'_>,
        first: usize,
        step: usize,
        out: &mut [u16],
    ) {
        let mut a_row = (self.cols.len() / LANES).max(1);
        let ([blocks], None) = (&*terms.levels, &terms.zero) else {
            let rows = (first..).zip(out.chunks_mut(a_row));
            return rows.for_each(|(row, out)| self.starts(terms, row, step, out));
        };
        // By far the most common: what is the same in all rows is done once.
        let whole = blocks.stride * (coded(blocks.block_cols, step) / LANES) == a_row;
        if whole && blocks.rows_follow() && terms.rule.rows.is_empty() {
            // All of them are as one.
            a_row = out.len().max(1);
        }
        let rows = (first..).zip(out.chunks_mut(a_row));
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
                            out.fill(self.form.start(base - blocks.at(at)));
                        }
                    }),
                }
            };
        }
        by!(1 2 4);
    }

    /// Where the windows of row `row` begin, by 32 coded symbols.
    fn starts(&self, terms: &Terms<'_>, row: usize, step: usize, out: &mut [u16]) {
        let (cols, a_map) = (self.cols.len(), self.form.len());
        let last = terms.rule.maps.len().saturating_sub(1);
        let base = terms.base(row);
        terms.runs(row, base, step, cols, |run, offset| {
            lanes(out, &run).fill(self.form.start(offset));
        });
        terms.zeros(row, step, cols, |run, zero| {
            let map = u16::try_from(zero.min(last) * a_map).unwrap_or(0);
            lanes(out, &run).iter_mut().for_each(|start| *start += map);
        });
    }

    /// The starts of blocks of `N` rows of lanes, `base` less their `values`; 0 where these end.
    #[inline(always)]
    fn spread<const N: usize>(&self, base: i32, values: &[i16], out: &mut [u16]) {
        let (blocks, rest) = out.as_chunks_mut::<N>();
        let (known, unknown) = blocks.split_at_mut(values.len().min(blocks.len()));
        for (out, value) in known.iter_mut().zip(values) {
            *out = [self.form.start(base - i32::from(*value)); N];
        }
        unknown.fill([self.form.start(base); N]);
        rest.fill(self.form.start(base - values.get(blocks.len()).copied().map_or(0, i32::from)));
    }
}

/// The rows of lanes of a run of symbols.
fn lanes<'o>(out: &'o mut [u16], run: &std::ops::Range<usize>) -> &'o mut [u16] {
    let to = (run.end / LANES).min(out.len());
    &mut out[(run.start / LANES).min(to)..to]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
