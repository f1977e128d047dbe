//! Whether symbols occur at all, which takes less time to find out than how often.

use super::FEW_BITS;
use super::places::{BITS, PLACES, places};
use crate::error::Result;
use crate::wcodec::class::RowSums;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::sources::{Near, Sources};
use crate::wcodec::layout::class_rule::ClassRule;
use latens_kernels::dispatch::{Present, Work};

/// Whether they occur, by class of a rule with one map and symbol.
pub(super) fn seen(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
) -> Result<Vec<bool>> {
    let make = || Looking {
        seen: vec![false; PLACES],
        occurring: [0; 256],
        found: vec![0; matrix.cols],
        places: Vec::new(),
        near: Near::default(),
    };
    let all = matrix.windows(1, make, |own, window| {
        let Looking { seen, occurring, found, places: places_of_row, near } = own;
        let terms = sources.near(window.rows.clone(), near)?.terms(rule);
        let by_runs = matrix.bits <= FEW_BITS && terms.by_runs();
        let mut scratch = RowSums::default();
        let Some(seen) = seen.first_chunk_mut::<PLACES>() else { return Ok(()) };
        for (r, row) in window.each() {
            if by_runs {
                terms.class_runs(r, 1, row.len(), |run, class| {
                    occurring[usize::from(class)] |= Present::in_use().run(Occurring(&row[run]));
                });
                continue;
            }
            let found = &mut found[..row.len()];
            terms.classes(r, 1, &mut scratch, found);
            for &place in places(found, row, BITS, places_of_row) {
                seen[usize::from(u16::from_le_bytes(place))] = true;
            }
        }
        Ok(())
    })?;
    let mut all_seen = vec![false; PLACES];
    for Looking { seen, occurring, .. } in all {
        all_seen.iter_mut().zip(seen).for_each(|(all, seen)| *all |= seen);
        for (seen, occurring) in all_seen.as_chunks_mut::<256>().0.iter_mut().zip(occurring) {
            for (symbol, seen) in seen.iter_mut().enumerate().take(1 << FEW_BITS) {
                *seen |= occurring >> symbol & 1 == 1;
            }
        }
    }
    Ok(all_seen)
}

/// What a thread has that looks for symbols.
struct Looking {
    seen: Vec<bool>,
    /// By class, where these come by runs: a bit for each symbol.
    occurring: [u16; 256],
    found: Vec<u8>,
    places: Vec<[u8; 2]>,
    near: Near,
}

/// Which symbols of [`FEW_BITS`] occur at all, a bit for each.
pub(crate) fn occurring(matrix: Matrix<'_>) -> Result<u16> {
    let all = matrix.windows(
        1,
        || 0,
        |all, window| {
            window.each().for_each(|(_, row)| *all |= Present::in_use().run(Occurring(row)));
            Ok(())
        },
    )?;
    Ok(all.into_iter().fold(0, |all, some| all | some))
}

/// Which symbols of [`FEW_BITS`] occur, a bit for each.
struct Occurring<'a>(&'a [u8]);

impl Work for Occurring<'_> {
    type Output = u16;

    #[inline(always)]
    fn run(self) -> u16 {
        self.0.iter().fold(0, |all, &symbol| all | 1 << (symbol & 15))
    }
}
