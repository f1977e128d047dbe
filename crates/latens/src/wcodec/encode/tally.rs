//! Symbols counted by what their rows, columns and blocks say of them.

mod counts;
mod dealt;
mod places;
mod seen;
mod strips;

use crate::error::Result;
use crate::wcodec::class::RowSums;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::matrix::{FEW_BITS, Matrix};
use crate::wcodec::encode::merge::BySum;
use crate::wcodec::encode::part::MOST_KEPT;
use crate::wcodec::encode::sources::{Near, Sources};
use crate::wcodec::layout::class_rule::ClassRule;
use counts::Tally;
use dealt::Dealt;
use seen::seen;
use std::sync::{Mutex, PoisonError};
use strips::Strips;

pub(crate) use seen::occurring;

/// Blocks of fewer columns than this are counted symbol by symbol.
const FEW: usize = 16;

/// Histograms by band of zero points and sum, and how much larger the whole is than the sample.
pub(crate) struct Sums {
    pub(crate) maps: Vec<BySum>,
    pub(crate) scale: f64,
}

impl Sums {
    /// All of them in one.
    pub(crate) fn whole(&self) -> Histogram {
        let mut whole = [0; 256];
        self.maps.iter().flatten().for_each(|(_, histogram)| cost::add(&mut whole, histogram));
        whole
    }
}

/// Counts symbols by band of zero points and sum, of one row in so many.
pub(crate) fn by_sum(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    every: usize,
    tallies: &Tallies,
) -> Result<Sums> {
    by_sum_without(matrix, sources, rule, every, usize::MAX, tallies)
}

/// The same of all rows, `sample` being of one in `step`: these are not counted again.
pub(crate) fn rest_by_sum(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    (sample, step): (Sums, usize),
    tallies: &Tallies,
) -> Result<Sums> {
    let rest = by_sum_without(matrix, sources, rule, 1, step, tallies)?;
    let (mut maps, mut more) = (sample.maps, rest.maps);
    if maps.len() < more.len() {
        std::mem::swap(&mut maps, &mut more);
    }
    for (map, more) in maps.iter_mut().zip(more) {
        for (sum, histogram) in more {
            match map.binary_search_by_key(&sum, |(sum, _)| *sum) {
                Ok(at) => cost::add(&mut map[at].1, &histogram),
                Err(at) => map.insert(at, (sum, histogram)),
            }
        }
    }
    Ok(Sums { maps, scale: 1.0 })
}

/// As [`by_sum`], without one row in `left_out`.
fn by_sum_without(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    every: usize,
    left_out: usize,
    tallies: &Tallies,
) -> Result<Sums> {
    // No row 0 is left out by that.
    let is_left_out = |row: usize| left_out < usize::MAX && row.is_multiple_of(left_out);
    let strips = Strips::of(matrix, rule);
    let narrow = rule.zero.as_ref().is_some_and(|zero| zero.block_cols < FEW);
    let deals = narrow && Dealt::fits(matrix.bits, sources.bands.last());
    let make = || Counting {
        own: tallies.take(),
        sorted: strips::Sorted::default(),
        used: 1,
        seen: 0,
        near: Near::default(),
        sums: vec![0; matrix.cols],
        bands: vec![0; matrix.cols],
        bands_of: None,
    };
    let counted = matrix.windows(every, make, |own, window| {
        let Counting { own, sorted, used, seen, near, sums, bands, bands_of } = own;
        let Own { tallies, dealt } = own;
        let terms = sources.near(window.rows.clone(), near)?.terms(rule);
        if let Some(strips) = &strips {
            if tallies.is_empty() {
                tallies.push(Tally::new(matrix.bits));
            }
            let (symbols, rows) = window.starts();
            sorted.take_in(&terms, rows.filter(|(r, _)| !is_left_out(*r)));
            *seen += sorted.len() * matrix.cols;
            strips.count(&terms, symbols, sorted, &mut tallies[0]);
            return Ok(());
        }
        let by_runs = matrix.bits <= FEW_BITS && terms.by_runs();
        let mut scratch = RowSums::default();
        for (r, row) in window.each().filter(|(r, _)| !is_left_out(*r)) {
            *seen += row.len();
            if by_runs {
                if tallies.is_empty() {
                    tallies.push(Tally::new(matrix.bits));
                }
                terms.sum_runs(r, 1, row.len(), |run, sum| tallies[0].add_run(sum, &row[run]));
                continue;
            }
            let sums = &mut sums[..row.len()];
            terms.sums(r, 1, &mut scratch, sums);
            if let Some(zero) = terms.zero.as_deref().filter(|_| narrow) {
                let row_of = (zero.first, zero.row(r), row.len());
                if bands_of.replace(row_of) != Some(row_of) {
                    zero.spread(r, |z| sources.bands.of_value(z), &mut bands[..row.len()]);
                }
                if deals {
                    dealt.get_or_insert_with(Dealt::default).add(&bands[..row.len()], sums, row);
                } else {
                    *used = Tally::deal(tallies, matrix.bits, bands, sums, row).max(*used);
                }
                continue;
            }
            terms.zeros(r, 1, row.len(), |run, z| {
                let band = sources.bands.of(z);
                *used = (band + 1).max(*used);
                while tallies.len() < *used {
                    tallies.push(Tally::new(matrix.bits));
                }
                tallies[band].add(&sums[run.clone()], &row[run]);
            });
        }
        Ok(())
    })?;
    let used = counted.iter().map(|own| own.used).max().unwrap_or(1);
    let seen: usize = counted.iter().map(|own| own.seen).sum();
    let mut each: Vec<Own> = counted.into_iter().map(|own| own.own).collect();
    let maps = if deals {
        Dealt::take(each.iter_mut().filter_map(|own| own.dealt.as_mut()))
    } else {
        let of_band = |band| {
            let all = each.iter_mut().filter_map(|own| own.tallies.get_mut(band));
            Tally::take(all.collect())
        };
        (0..used).map(of_band).collect()
    };
    each.into_iter().for_each(|own| tallies.give(own));
    Ok(Sums { maps, scale: matrix.len() as f64 / seen.max(1) as f64 })
}

/// What a thread has that counts.
struct Counting {
    own: Own,
    /// Rows, where strips of columns are counted.
    sorted: strips::Sorted,
    /// How many bands there are at least.
    used: usize,
    /// Symbols counted.
    seen: usize,
    near: Near,
    sums: Vec<u8>,
    bands: Vec<u8>,
    /// Where the zero points that they are of begin, and how many those are.
    bands_of: Option<(usize, usize, usize)>,
}

/// Where a thread counts.
#[derive(Default)]
struct Own {
    /// By band.
    tallies: Vec<Tally>,
    dealt: Option<Dealt>,
}

/// Empty counts, worth keeping.
#[derive(Default)]
pub(crate) struct Tallies(Mutex<Vec<Own>>);

impl Tallies {
    fn take(&self) -> Own {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give(&self, own: Own) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(own);
    }
}

/// Histograms of the classes of a rule with one map, from those of one row in so many, and whether they
/// are estimates, in which no symbol that occurs is left without a count. Where symbols are many they are
/// counted, unless it takes far less time to find out what occurs.
pub(crate) fn scaled(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    mut sample: Vec<Histogram>,
    every: usize,
) -> Result<(Vec<Histogram>, bool)> {
    let quick = matrix.bits <= FEW_BITS && rule.cols.is_empty() && rule.zero.is_none();
    if matrix.len() > MOST_KEPT && !quick {
        return Ok((counted(matrix, sources, rule, sample.len())?, false));
    }
    let times = u32::try_from(every).unwrap_or(u32::MAX);
    let seen = seen(matrix, sources, rule)?;
    for (histogram, seen) in sample.iter_mut().zip(seen.as_chunks::<256>().0) {
        for (n, &seen) in histogram.iter_mut().zip(seen) {
            *n = n.saturating_mul(times).max(seen.into());
        }
    }
    Ok((sample, true))
}

/// The histograms of the classes of a rule with one map.
fn counted(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    classes: usize,
) -> Result<Vec<Histogram>> {
    let make = || (Tally::new(matrix.bits), vec![0u8; matrix.cols], Near::default());
    let mut all = matrix.windows(1, make, |(tally, found, own), window| {
        let terms = sources.near(window.rows.clone(), own)?.terms(rule);
        let mut scratch = RowSums::default();
        for (r, row) in window.each() {
            let found = &mut found[..row.len()];
            terms.classes(r, 1, &mut scratch, found);
            tally.add(found, row);
        }
        Ok(())
    })?;
    let mut counted = vec![[0; 256]; classes];
    for (class, histogram) in Tally::take(all.iter_mut().map(|own| &mut own.0).collect()) {
        counted.iter_mut().skip(class).take(1).for_each(|counted| *counted = histogram);
    }
    Ok(counted)
}
