//! Symbols counted by what their rows, columns and blocks say of them.

mod counts;
mod dealt;
mod pass;
mod places;
mod seen;
mod strips;

use crate::error::Result;
use crate::wcodec::class::RowSums;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::matrix::{FEW_BITS, Matrix};
use crate::wcodec::encode::merge::BySum;
use crate::wcodec::encode::part::MOST_KEPT;
use crate::wcodec::encode::sample::Sample;
use crate::wcodec::encode::sources::{Near, Sources};
use crate::wcodec::layout::class_rule::ClassRule;
use counts::Tally;
use dealt::Dealt;
use pass::{Counting, Pass};
use seen::seen;
use std::sync::{Mutex, PoisonError};

pub(crate) use seen::occurring;

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
    by_sum_without(matrix, sources, rule, every, None, tallies)
}

/// The same of all rows, `sample` being of one in `step`: these are not counted again.
pub(crate) fn rest_by_sum(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    (sample, step): (Sums, usize),
    tallies: &Tallies,
) -> Result<Sums> {
    let rest = by_sum_without(matrix, sources, rule, 1, Some(matrix.sample(step)), tallies)?;
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

/// As [`by_sum`], without the rows of `left_out`.
fn by_sum_without(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    every: usize,
    left_out: Option<Sample>,
    tallies: &Tallies,
) -> Result<Sums> {
    let pass = Pass::new(matrix, sources, rule, left_out);
    let make = || Counting::new(tallies.take(), matrix.cols);
    let counted = matrix.windows(every, make, |own, window| pass.window(own, &window))?;
    let seen: usize = counted.iter().map(|own| own.seen).sum();
    let (maps, each) = pass.maps(counted);
    each.into_iter().for_each(|own| tallies.give(own));
    Ok(Sums { maps, scale: matrix.len() as f64 / seen.max(1) as f64 })
}

/// Where a thread counts.
#[derive(Default)]
struct Own {
    /// By band.
    tallies: Vec<Tally>,
    dealt: Option<Dealt>,
}

impl Own {
    /// The tally of symbols without bands.
    fn first(&mut self, bits: u32) -> &mut Tally {
        if self.tallies.is_empty() {
            self.tallies.push(Tally::new(bits));
        }
        &mut self.tallies[0]
    }
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
