//! How often each symbol of four bits occurs, by sums that rows and columns have in common: columns side by side, some
//! rows of them.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
use crate::nibbles::Counts;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx512_strips;

/// Columns of a strip, at most.
pub const WIDTH: usize = 64;

/// Columns of a strip whose symbols are counted together.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// A bit for each.
    pub mask: u64,
    /// Where they are counted.
    pub sum: u8,
}

/// Whether [`count`] takes less time than to count symbol by symbol.
pub fn is_quick(present: Present) -> bool {
    #[cfg(target_arch = "x86_64")]
    return matches!(present.simd(), Simd::Avx512) && avx512_strips::is_available();
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = present;
        false
    }
}

/// Adds how often each symbol, which is below 16, occurs in rows that begin at `starts` in `symbols`, of which `width`
/// columns are in the strip. Rows that are not in `symbols` as a whole do not count.
pub fn count(
    present: Present,
    symbols: &[u8],
    starts: &[u32],
    width: usize,
    columns: &[Columns],
    counts: &mut [Counts; 256],
) {
    let width = width.min(WIDTH);
    #[cfg(target_arch = "x86_64")]
    if is_quick(present) {
        let last = starts.iter().fold(0, |last, &start| last.max(start));
        if (last as usize).saturating_add(width) <= symbols.len() {
            // SAFETY: `is_quick` says that the processor has what it takes, and all rows are in `symbols`.
            unsafe { avx512_strips::count(symbols, starts, width, columns, counts) };
            return;
        }
    }
    let _ = present;
    for &start in starts {
        let Some(row) = symbols.get(start as usize..).and_then(|s| s.get(..width)) else {
            continue;
        };
        scalar(row, columns, counts);
    }
}

fn scalar(row: &[u8], columns: &[Columns], counts: &mut [Counts; 256]) {
    for &Columns { mask, sum } in columns {
        let (counts, mut mask) = (&mut counts[usize::from(sum)], mask);
        while mask != 0 {
            if let Some(&symbol) = row.get(mask.trailing_zeros() as usize) {
                counts[usize::from(symbol & 15)] += 1;
            }
            mask &= mask - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    /// Symbols, where rows begin, columns and what these are counted by.
    type Case = (Vec<u8>, Vec<u32>, usize, Vec<Columns>);

    twin_test!(
        all_kernels_count_strips_alike,
        {
            let mut next = noise(21);
            let mut cases: Vec<Case> = Vec::new();
            for rows in [0usize, 1, 2, 7, 8, 9, 31, 247, 248, 249, 255, 256, 600] {
                for (width, sums) in [(64, 1), (64, 7), (63, 3), (1, 1), (40, 9)] {
                    let mut below = |n: usize| usize::from(next().to_le_bytes()[7]) % n;
                    let cols = width + below(40);
                    let symbols = (0..rows * cols).map(|_| next().to_le_bytes()[0] & 15).collect();
                    let mut columns: Vec<Columns> = (0..sums)
                        .map(|_| Columns { mask: 0, sum: next().to_le_bytes()[0] })
                        .collect();
                    for col in 0..width {
                        columns[usize::from(next().to_le_bytes()[7]) % sums].mask |= 1 << col;
                    }
                    let mut starts: Vec<u32> =
                        (0..rows).map(|r| u32::try_from(r * cols).unwrap()).collect();
                    starts.reverse();
                    cases.push((symbols, starts, width, columns));
                }
            }
            // A row that is not there.
            cases.push((
                vec![7; 100],
                vec![0, 37, 90],
                64,
                vec![Columns { mask: u64::MAX, sum: 3 }],
            ));
            cases.push((vec![15; 64], vec![0; 1000], 64, vec![Columns { mask: 5, sum: 255 }]));
            cases
        },
        |simd, case| {
            let (symbols, starts, width, columns) = case;
            let mut counts = [[1; 16]; 256];
            count(Present::new(simd), symbols, starts, *width, columns, &mut counts);
            counts
        }
    );
}
