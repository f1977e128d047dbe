//! Pairs of two rows as a plan: all rows of all groups, sorted.

use super::{GroupPlan, StackPlan};
use crate::wcodec::class::Terms;
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::stack::{Rows, Stack};

/// Where spans have fewer columns than this, on average, symbols are decoded here: each span has numbers of its own
/// for all rows, which would be most of what they are decoded from.
const LEAST_SPAN: usize = 8;
/// Rows of a group of which there are more are decoded here too: numbers of rows have 16 bits.
const MOST_ROWS: usize = 1 << 16;

/// Whether the plan of `symbols`, if they are pairs of two rows, has the size that plans may have.
pub(super) fn fits_a_plan(symbols: &Symbols) -> bool {
    symbols.stack.as_ref().is_none_or(|stack| {
        let most = (symbols.cols / LEAST_SPAN).max(1);
        stack.spans().nth(most).is_none() && symbols.rows_of(0).len() <= MOST_ROWS
    })
}

/// The plan of `groups` of `symbols` that [fit](fits_a_plan).
pub(super) fn stack_plan(
    symbols: &Symbols,
    stack: &Stack,
    terms: &Terms<'_>,
    groups: &[GroupPlan],
) -> StackPlan {
    let ends = stack.spans().map(|span| span.first + span.lines.len()).collect();
    let mut columns = vec![0; symbols.cols];
    for span in stack.spans() {
        for (col, &line) in (span.first..).zip(span.lines) {
            columns[span.first + line as usize] = u32::try_from(col).unwrap_or(u32::MAX);
        }
    }
    let mut plan = StackPlan { ends, columns, rows: Vec::new(), sums: Vec::new() };
    let (mut sorted, mut order) = (Rows::default(), Vec::new());
    for group in groups {
        for span in stack.spans() {
            order.clear();
            sorted.sort(terms, symbols.rows_of(group.number), &span, &mut order);
            let row = |row: u32| u16::try_from(row).unwrap_or(u16::MAX);
            plan.rows.extend(order.as_chunks().0.iter().map(|pair: &[u32; 2]| pair.map(row)));
            let sum = |sum: &i32| i16::try_from(*sum.clamp(&-255, &255)).unwrap_or(0);
            plan.sums.extend(sorted.sums().iter().map(sum));
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wcodec::layout::class_rule::ClassRule;

    fn symbols(rows: usize, cols: usize, group_rows: usize) -> Symbols {
        let rule = ClassRule {
            rows: (0..rows).map(|row| [9, 0, 255, 1, 0][row % 5]).collect(),
            cols: (0..cols).map(|col| [7, 3][col % 2]).collect(),
            bias: -6,
            maps: vec![[0; 256]],
            ..ClassRule::default()
        };
        let stack = Stack::new(&rule, cols);
        let count = rows * cols;
        Symbols { count, cols, group_rows, stack, classes: Some(rule), ..Symbols::default() }
    }

    #[test]
    fn rows_of_each_group_are_sorted() {
        let symbols = symbols(8, 4, 5);
        let (stack, rule) = (symbols.stack.as_ref().unwrap(), symbols.classes.as_ref().unwrap());
        let terms = Terms { rule, levels: vec![].into(), zero: None };
        let group = |number| GroupPlan { number, at: 0, length: 0, crc: 0, row: 0, count: 0 };
        let second = stack_plan(&symbols, stack, &terms, &[group(1)]);
        assert_eq!((second.rows, second.sums), (vec![[1, 0], [2, 2]], vec![-2, 249]));
        let plan = stack_plan(&symbols, stack, &terms, &[group(0), group(1)]);
        assert_eq!((plan.ends, plan.columns), (vec![4], vec![1, 3, 0, 2]));
        assert_eq!(plan.rows, [[1, 4], [3, 0], [2, 2], [1, 0], [2, 2]]);
        assert_eq!(plan.sums, [-6, -1, 249, -2, 249]);
    }

    #[test]
    fn groups_of_more_rows_are_left() {
        assert!(fits_a_plan(&symbols(1 << 17, 2, 1 << 16)));
        assert!(!fits_a_plan(&symbols(1 << 17, 2, (1 << 16) + 1)));
    }
}
