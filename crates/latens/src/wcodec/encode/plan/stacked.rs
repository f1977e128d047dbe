//! What explains pairs of two rows, one above the other: what explains single symbols, but where rows that add something
//! else to sums are paired. Their class is one between, in which their symbols must have a place.

use super::explained::{ByClass, Explained};
use crate::error::Result;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::sources::{Near, Sources};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::symbols::MAX_CLASSES;
use crate::wcodec::stack::{Rows, Stack};

/// Symbols of four bits that occur, a bit for each, by class.
type Occurring = [u16; MAX_CLASSES];

impl Explained {
    /// The same for pairs of two rows of groups of so many; `None` where they cannot be coded so.
    pub(crate) fn stacked(
        &self,
        matrix: Matrix<'_>,
        sources: &Sources<'_>,
        group_rows: usize,
    ) -> Result<Option<Self>> {
        let Some(ByClass { rule, .. }) = &self.classes else { return Ok(None) };
        let Some(stack) = Stack::new(rule, matrix.cols) else { return Ok(None) };
        let between = between(matrix, sources, rule, &stack, group_rows)?;
        let mut explained = Self { own: Vec::new(), ..self.clone() };
        let histograms = explained.classes.iter_mut().flat_map(|classes| &mut classes.of_maps);
        for (histogram, occurring) in histograms.flatten().zip(between) {
            for (symbol, n) in histogram.iter_mut().enumerate().take(16) {
                *n = (*n).max(u32::from(occurring >> symbol & 1));
            }
        }
        Ok(Some(explained))
    }
}

/// Which symbols are in pairs of rows that differ, by the class of these.
fn between(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    stack: &Stack,
    group_rows: usize,
) -> Result<Occurring> {
    let (rows, cols) = (matrix.rows(), matrix.cols);
    let map = rule.maps.first().unwrap_or(&[0; 256]);
    let make = || ([0; MAX_CLASSES], Rows::default(), Vec::new(), Vec::new());
    let group = |own: &mut (Occurring, Rows, Vec<u32>, Vec<u8>), group: usize| {
        let (occurring, sorted, order, buffer) = own;
        let rows = group * group_rows..rows.min((group + 1) * group_rows);
        let symbols = matrix.symbols.get(rows.start * cols..rows.end * cols, buffer)?;
        let mut own = Near::default();
        let terms = sources.near(rows.clone(), &mut own)?.terms(rule);
        for span in stack.spans() {
            order.clear();
            sorted.sort(&terms, rows.clone(), &span, order);
            for (pair, sum) in sorted.unlike(order) {
                let row = |row: u32| &symbols[row as usize * cols + span.first..];
                let both = row(pair[0]).iter().zip(row(pair[1]));
                for (&line, (a, b)) in span.lines.iter().zip(both) {
                    let class = map[span.sum_of(line, sum)];
                    let of_class = &mut occurring[usize::from(class) % MAX_CLASSES];
                    *of_class |= 1 << (a & 15) | 1 << (b & 15);
                }
            }
        }
        Ok(())
    };
    let all = matrix.crew.each(rows.div_ceil(group_rows), make, group)?;
    let mut occurring = [0; MAX_CLASSES];
    for (some, ..) in all {
        occurring.iter_mut().zip(some).for_each(|(all, some)| *all |= some);
    }
    Ok(occurring)
}
