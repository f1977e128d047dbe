//! Bands of columns by how far their means are from the symbols that were taken for them.

use crate::wcodec::layout::class_rule::ClassRule;
use latens_kernels::rans::WINDOW;
use std::iter::repeat;

/// How far bands are apart: three fill the 256 sums.
const APART: u8 = 80;

/// A rule whose columns have bands of sums by the leanings of their means; `None` where there are none, or
/// columns differ by too much.
pub(super) fn banded(rule: &ClassRule, leanings: &[u8]) -> Option<ClassRule> {
    let least = rule.cols.iter().min().copied().unwrap_or(0);
    let levels = rule.cols.iter().map(|col| col - least).chain(repeat(0));
    let cols =
        leanings.iter().zip(levels).map(|(&leaning, level)| level.checked_add(leaning * APART));
    let mut cols = cols.collect::<Option<Vec<u8>>>().filter(|cols| !cols.is_empty())?;
    fewer_levels(&mut cols);
    let bias = rule.bias + i32::from(least) - i32::from(APART);
    Some(ClassRule { cols, bias, ..rule.clone() })
}

/// Joins levels with those next to them until they fit in a window of a decoder's, at each step those by which
/// columns move least, in squares.
fn fewer_levels(cols: &mut [u8]) {
    loop {
        let mut columns = [0u64; 256];
        cols.iter().for_each(|&col| columns[usize::from(col)] += 1);
        let levels: Vec<u8> = (0..=255).filter(|&level| columns[usize::from(level)] > 0).collect();
        if levels.len() <= WINDOW {
            return;
        }
        let beside = levels.windows(2).flat_map(|two| [(two[0], two[1]), (two[1], two[0])]);
        let cost = |&(from, to): &(u8, u8)| {
            columns[usize::from(from)] * u64::from(from.abs_diff(to)).pow(2)
        };
        let Some((from, to)) = beside.min_by_key(cost) else { return };
        cols.iter_mut().filter(|col| **col == from).for_each(|col| *col = to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_bands() {
        let rule = ClassRule { cols: vec![7, 9, 7], bias: 100, ..ClassRule::default() };
        let banded = banded(&rule, &[0, 1, 2]).unwrap();
        assert_eq!((&banded.cols[..], banded.bias), (&[0, 82, 160][..], 27));
        assert!(super::banded(&rule, &[]).is_none());
        let apart = ClassRule { cols: vec![0, 100], ..rule };
        assert!(super::banded(&apart, &[0, 2]).is_none());
    }

    #[test]
    fn levels_fit_in_a_window() {
        // Those of 64 and 66 are of one column each, all others of two.
        let mut cols: Vec<u8> = (0..130).map(|i| i / 2 * 2).chain([129, 200]).collect();
        cols.retain(|col| ![64, 66].contains(col));
        cols.extend([64, 66]);
        let before = cols.clone();
        fewer_levels(&mut cols);
        let changed: Vec<_> = before.iter().zip(&cols).filter(|(a, b)| a != b).collect();
        assert_eq!(changed, [(&129, &128), (&64, &62), (&66, &68)]);
        fewer_levels(&mut cols);
        cols.sort_unstable();
        cols.dedup();
        assert_eq!(cols.len(), WINDOW);
    }
}
