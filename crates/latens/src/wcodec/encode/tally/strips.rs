//! Symbols of few bits counted by strips of columns: those of rows whose sums are the same, but for the levels of
//! columns, all at once.

use super::FEW_BITS;
use super::counts::Tally;
use crate::wcodec::class::{Terms, clamp};
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::layout::class_rule::ClassRule;
use latens_kernels::dispatch::Present;
use latens_kernels::strips::{self, Columns, WIDTH};

/// Blocks of fewer columns than this are counted symbol by symbol.
const NARROW: usize = 32;
/// What rows and blocks add to levels of columns is between this and its negative: beyond that it is all the same.
const MOST: i32 = 255;
const ALL: usize = 2 * MOST as usize + 1;

/// Columns side by side with the same blocks.
struct Strip {
    first: usize,
    width: usize,
    /// Whether its blocks are not those of the strip before.
    of_its_own: bool,
    /// Levels of columns, and which have them.
    levels: Vec<(u8, u64)>,
}

impl Strip {
    /// The least and the largest level.
    fn range(&self) -> (i32, i32) {
        let levels = self.levels.iter().map(|of| i32::from(of.0));
        (levels.clone().min().unwrap_or(0), levels.max().unwrap_or(0))
    }
}

/// A matrix cut into strips.
pub(super) struct Strips(Vec<Strip>);

impl Strips {
    /// Those of a rule with levels of columns; `None` where symbols had better be counted one by one.
    pub(super) fn of(matrix: Matrix<'_>, rule: &ClassRule) -> Option<Self> {
        let Matrix { cols, bits, .. } = matrix;
        let blocks = || rule.levels.iter().map(|source| source.block_cols);
        let fits = bits <= FEW_BITS
            && rule.zero.is_none()
            && rule.cols.len() == cols
            && matrix.len().is_multiple_of(cols.max(1))
            && blocks().all(|block_cols| block_cols >= NARROW)
            && strips::is_quick(Present::in_use());
        let (mut all, mut first) = (Vec::new(), 0);
        while fits && first < cols {
            let ends = blocks().map(|block_cols| first / block_cols * block_cols + block_cols);
            let end = ends.fold(cols.min(first + WIDTH), usize::min);
            let of_its_own = first == 0 || blocks().any(|cols| first.is_multiple_of(cols));
            let mut levels: Vec<(u8, u64)> = Vec::new();
            for (i, &level) in rule.cols.get(first..end)?.iter().enumerate() {
                match levels.iter_mut().find(|of| of.0 == level) {
                    Some(of) => of.1 |= 1 << i,
                    None => levels.push((level, 1 << i)),
                }
            }
            all.push(Strip { first, width: end - first, of_its_own, levels });
            first = end;
        }
        (!all.is_empty()).then_some(Self(all))
    }

    /// Counts the symbols of rows, which begin in `symbols` where `rows` says.
    pub(super) fn count(
        &self,
        terms: &Terms<'_>,
        symbols: &[u8],
        rows: &mut Sorted,
        tally: &mut Tally,
    ) {
        let (present, mut columns) = (Present::in_use(), Vec::with_capacity(WIDTH));
        for strip in &self.0 {
            if strip.of_its_own {
                rows.sort(terms, strip.first);
            }
            let symbols = symbols.get(strip.first..).unwrap_or_default();
            let ends = (rows.groups.first(), rows.groups.last());
            let (Some(first), Some(last)) = ends else { continue };
            let (least, most) = strip.range();
            let (least, most) = (clamp(least + first.0), clamp(most + last.0));
            let Some(counts) = tally.of_few(least, most) else { return };
            for &(offset, end, begin) in &rows.groups {
                let starts = rows.sorted.get(begin..end).unwrap_or_default();
                columns.clear();
                columns.extend(
                    strip.levels.iter().map(|&(level, mask)| Columns {
                        mask,
                        sum: clamp(i32::from(level) + offset),
                    }),
                );
                strips::count(present, symbols, starts, strip.width, &columns, counts);
            }
        }
    }
}

/// Rows by what they, and their blocks, add to the levels of columns.
#[derive(Default)]
pub(super) struct Sorted {
    /// What each adds, and where it begins.
    rows: Vec<(i32, u32)>,
    /// Where the values of each row's blocks begin, source by source.
    places: Vec<usize>,
    /// What each adds with its blocks.
    offsets: Vec<i32>,
    /// Where rows begin, those that add the same side by side; and what these add, to where from where.
    sorted: Vec<u32>,
    groups: Vec<(i32, usize, usize)>,
}

impl Sorted {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Other rows: their numbers, and where they begin.
    pub(super) fn take_in(
        &mut self,
        terms: &Terms<'_>,
        rows: impl Iterator<Item = (usize, usize)>,
    ) {
        self.rows.clear();
        self.places.clear();
        for (row, start) in rows {
            self.rows.push((terms.base(row), u32::try_from(start).unwrap_or(u32::MAX)));
            self.places.extend(terms.levels.iter().map(|blocks| blocks.row(row)));
        }
    }

    /// Sorts the rows, by the blocks of column `col`.
    #[inline(never)]
    fn sort(&mut self, terms: &Terms<'_>, col: usize) {
        let Self { rows, places, offsets, sorted, groups } = self;
        offsets.clear();
        offsets.extend(rows.iter().map(|row| row.0));
        let sources = terms.levels.len();
        for (i, blocks) in terms.levels.iter().enumerate() {
            let block = col / blocks.block_cols.max(1);
            let places = places.iter().skip(i).step_by(sources);
            for (offset, place) in offsets.iter_mut().zip(places) {
                *offset -= blocks.at(place.saturating_add(block));
            }
        }
        let (mut least, mut most) = (MOST, -MOST);
        for offset in &mut *offsets {
            *offset = (*offset).clamp(-MOST, MOST);
            (least, most) = (least.min(*offset), most.max(*offset));
        }
        let mut ends = [0u32; ALL];
        let at = |offset: i32| usize::try_from(offset + MOST).unwrap_or(0).min(ALL - 1);
        offsets.iter().for_each(|&offset| ends[at(offset)] += 1);
        groups.clear();
        let mut end = 0;
        for offset in least..=most {
            let place = &mut ends[at(offset)];
            let count = std::mem::replace(place, end);
            end += count;
            if count > 0 {
                groups.push((offset, end as usize, (end - count) as usize));
            }
        }
        sorted.resize(rows.len(), 0);
        for (&offset, row) in offsets.iter().zip(&*rows) {
            let place = &mut ends[at(offset)];
            if let Some(sorted) = sorted.get_mut(*place as usize) {
                *sorted = row.1;
            }
            *place += 1;
        }
    }
}
