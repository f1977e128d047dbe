//! The order in which columns are coded in pairs: by their levels, within windows of 32. Two neighbours in it are much
//! alike, so that one class for both loses next to nothing.

use latens_kernels::rearrange::{Rearrangement, WINDOW};

/// Columns in another order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The level of each column.
    levels: Vec<u8>,
    /// In the order in which they are coded, each column less the first one of its window.
    columns: Vec<u8>,
}

impl Order {
    /// The order of columns of these levels, an even number.
    pub(crate) fn new(levels: Vec<u8>) -> Self {
        let mut columns = Vec::with_capacity(levels.len());
        for window in levels.chunks(WINDOW) {
            let first = columns.len();
            columns.extend((0u8..).zip(window).map(|(column, _)| column));
            columns[first..].sort_by_key(|&column| window[usize::from(column)]);
        }
        Self { levels, columns }
    }

    pub(crate) fn levels(&self) -> &[u8] {
        &self.levels
    }

    pub(crate) fn columns(&self) -> &[u8] {
        &self.columns
    }

    /// The level of each pair.
    pub(crate) fn of_pairs(&self) -> Vec<u8> {
        let windows = self.columns.chunks(WINDOW).zip(self.levels.chunks(WINDOW));
        let pairs = windows.flat_map(|(columns, levels)| {
            let level = |column: u8| levels[usize::from(column)];
            columns.as_chunks::<2>().0.iter().map(move |[a, b]| level(*a).midpoint(level(*b)))
        });
        pairs.collect()
    }

    /// The level of each column's pair.
    pub(crate) fn of_columns(&self) -> Vec<u8> {
        let mut of_columns = self.levels.clone();
        for (window, columns) in of_columns.chunks_mut(WINDOW).zip(self.columns.chunks(WINDOW)) {
            for &[a, b] in columns.as_chunks::<2>().0 {
                let (a, b) = (usize::from(a), usize::from(b));
                let level = window[a].midpoint(window[b]);
                (window[a], window[b]) = (level, level);
            }
        }
        of_columns
    }

    /// From columns as they are to columns as they are coded.
    pub(crate) fn there(&self) -> Option<Rearrangement> {
        Rearrangement::new(self.columns.clone())
    }

    /// The inverse of [`Order::there`].
    pub(crate) fn back(&self) -> Option<Rearrangement> {
        let mut places = self.columns.clone();
        for (places, columns) in places.chunks_mut(WINDOW).zip(self.columns.chunks(WINDOW)) {
            for (place, &column) in (0u8..).zip(columns) {
                places[usize::from(column)] = place;
            }
        }
        Rearrangement::new(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latens_kernels::dispatch::Present;

    #[test]
    fn columns_are_in_the_order_of_their_levels() {
        let order = Order::new(vec![7, 3, 7, 1, 3, 0]);
        assert_eq!(order.columns(), [5, 3, 1, 4, 0, 2]);
        assert_eq!(order.of_pairs(), [0, 3, 7]);
        assert_eq!(order.of_columns(), [7, 3, 7, 0, 3, 0]);
    }

    #[test]
    fn windows_are_by_themselves_and_the_last_one_is_short() {
        let levels: Vec<u8> = (0u8..70).map(|c| c.wrapping_mul(151) % 64).collect();
        let order = Order::new(levels.clone());
        for (first, columns) in [0, 32, 64].into_iter().zip(order.columns().chunks(WINDOW)) {
            let level = |column: &u8| (levels[first + usize::from(*column)], *column);
            assert!(columns.is_sorted_by_key(level));
        }
        let pairs: Vec<u8> = (0..105).collect();
        let mut moved = pairs.clone();
        order.there().unwrap().apply(Present::in_use(), &mut moved);
        assert_ne!(moved, pairs);
        order.back().unwrap().apply(Present::in_use(), &mut moved);
        assert_eq!(moved, pairs);
    }
}
