//! Symbols counted by what their rows, columns and blocks say of them.

use crate::error::Result;
use crate::wcodec::class::RowSums;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::merge::BySum;
use crate::wcodec::encode::part::MOST_KEPT;
use crate::wcodec::encode::sources::{Near, Sources};
use crate::wcodec::layout::class_rule::ClassRule;
use latens_kernels::dispatch::{Present, Work};
use std::sync::{Mutex, PoisonError};

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

/// Counts symbols by band of zero points and sum, of every so manieth row.
pub(crate) fn by_sum(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    rule: &ClassRule,
    every: usize,
    tallies: &Tallies,
) -> Result<Sums> {
    let make = || Counting {
        tallies: tallies.take(),
        used: 1,
        seen: 0,
        near: Near::default(),
        sums: vec![0; matrix.cols],
        bands: vec![0; matrix.cols],
    };
    let counted = matrix.windows(every, make, |own, window| {
        let Counting { tallies, used, seen, near, sums, bands } = own;
        let terms = sources.near(window.rows.clone(), near)?.terms(rule);
        let mut scratch = RowSums::default();
        for (r, row) in window.each() {
            let sums = &mut sums[..row.len()];
            terms.sums(r, 1, &mut scratch, sums);
            *seen += row.len();
            if let Some(zero) = terms.zero.as_deref().filter(|zero| zero.block_cols < FEW) {
                zero.spread(r, |z| sources.bands.of_value(z), &mut bands[..row.len()]);
                *used = Tally::deal(tallies, matrix.bits, bands, sums, row).max(*used);
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
    let mut each: Vec<Vec<Tally>> = counted.into_iter().map(|own| own.tallies).collect();
    let mut of_band = |z| Tally::take(each.iter_mut().filter_map(|all| all.get_mut(z)).collect());
    let maps = (0..used).map(&mut of_band).collect();
    each.into_iter().for_each(|some| tallies.give(some));
    Ok(Sums { maps, scale: matrix.len() as f64 / seen.max(1) as f64 })
}

/// What a thread has that counts.
struct Counting {
    tallies: Vec<Tally>,
    /// How many bands there are at least.
    used: usize,
    /// Symbols counted.
    seen: usize,
    near: Near,
    sums: Vec<u8>,
    bands: Vec<u8>,
}

/// Empty tallies by band, worth keeping.
#[derive(Default)]
pub(crate) struct Tallies(Mutex<Vec<Vec<Tally>>>);

impl Tallies {
    fn take(&self) -> Vec<Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give(&self, tallies: Vec<Tally>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(tallies);
    }
}

/// Histograms of the classes of a rule with one map, from those of every so manieth row, and whether they
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

/// Whether they occur, by class of a rule with one map and symbol: found out in less time than how often.
fn seen(matrix: Matrix<'_>, sources: &Sources<'_>, rule: &ClassRule) -> Result<Vec<bool>> {
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

/// Bits of symbols that a word has a bit for each of.
pub(crate) const FEW_BITS: u32 = 4;

/// Which symbols of [`FEW_BITS`] occur, a bit for each.
struct Occurring<'a>(&'a [u8]);

impl Work for Occurring<'_> {
    type Output = u16;

    #[inline(always)]
    fn run(self) -> u16 {
        self.0.iter().fold(0, |all, &symbol| all | 1 << (symbol & 15))
    }
}

/// Places of symbols by their sums (or classes), all of them made before one is used: compilers make
/// many at a time then.
struct Zip<'a> {
    sums: &'a [u8],
    symbols: &'a [u8],
    /// Bits of a symbol in a place.
    bits: u32,
    out: &'a mut [[u8; 2]],
}

impl Work for Zip<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let bits = self.bits;
        for ((out, &sum), &symbol) in self.out.iter_mut().zip(self.sums).zip(self.symbols) {
            *out = (u16::from(sum) << bits | u16::from(symbol)).to_le_bytes();
        }
    }
}

/// The places of `symbols`, in `out`, two bytes each.
fn places<'o>(sums: &[u8], symbols: &[u8], bits: u32, out: &'o mut Vec<[u8; 2]>) -> &'o [[u8; 2]] {
    out.resize(symbols.len(), [0; 2]);
    Present::in_use().run(Zip { sums, symbols, bits, out });
    out
}

/// Blocks of fewer columns than this are counted symbol by symbol.
const FEW: usize = 16;
/// Places of all sums and symbols, and bits of these; of few bits as well, whose counts fit the nearest cache.
const PLACES: usize = 256 << BITS;
const BITS: u32 = 8;
const FEW_PLACES: usize = 256 << FEW_BITS;

/// Counts of pairs of a sum and a symbol.
pub(crate) struct Tally {
    /// The counts of neighbours are apart: few symbols would else wait for themselves.
    counts: [Vec<u32>; 2],
    /// Bits that a symbol has in a place.
    bits: u32,
    /// The least and the largest sum that occur.
    sums: (u8, u8),
    /// Memory that is used again.
    places: Vec<[u8; 2]>,
}

impl Tally {
    /// For symbols of `bits`.
    fn new(bits: u32) -> Self {
        let bits = if bits <= FEW_BITS { FEW_BITS } else { BITS };
        let counts = [vec![0; 256 << bits], vec![0; 256 << bits]];
        Self { counts, bits, sums: (u8::MAX, 0), places: Vec::new() }
    }

    fn add(&mut self, sums: &[u8], symbols: &[u8]) {
        let least = sums.iter().fold(self.sums.0, |least, &sum| least.min(sum));
        self.sums = (least, sums.iter().fold(self.sums.1, |most, &sum| most.max(sum)));
        let places = places(sums, symbols, self.bits, &mut self.places);
        match self.bits {
            FEW_BITS => add_to::<FEW_PLACES>(&mut self.counts, places),
            _ => add_to::<PLACES>(&mut self.counts, places),
        }
    }

    /// Counts each symbol in the tally of its band: blocks may be as narrow as a column, and then what
    /// is done once for a run is most of the work. How many bands there are at least.
    fn deal(
        tallies: &mut Vec<Self>,
        bits: u32,
        bands: &[u8],
        sums: &[u8],
        symbols: &[u8],
    ) -> usize {
        let bands = &bands[..symbols.len()];
        let used = bands.iter().fold(0, |most, &band| most.max(band));
        let used = usize::from(used) + 1;
        while tallies.len() < used {
            tallies.push(Self::new(bits));
        }
        let range = sums.iter().fold((u8::MAX, 0), |r, &sum| (sum.min(r.0), sum.max(r.1)));
        for tally in tallies.iter_mut().take(used) {
            tally.sums = (tally.sums.0.min(range.0), tally.sums.1.max(range.1));
        }
        for ((&band, &sum), &symbol) in bands.iter().zip(sums).zip(symbols) {
            let Some(tally) = tallies.get_mut(usize::from(band)) else { continue };
            let place = usize::from(u16::from(sum) << tally.bits | u16::from(symbol));
            if let Some(count) = tally.counts[0].get_mut(place) {
                *count += 1;
            }
        }
        used
    }

    /// Histograms of the sums that occur, by all of them; all counts are zero again.
    fn take(mut tallies: Vec<&mut Self>) -> BySum {
        let none = (u8::MAX, 0);
        let (least, most) =
            tallies.iter().fold(none, |all, t| (all.0.min(t.sums.0), all.1.max(t.sums.1)));
        tallies.iter_mut().for_each(|tally| tally.sums = none);
        let mut out = Vec::new();
        for sum in least..=most {
            let mut histogram = [0; 256];
            for tally in &mut tallies {
                let (each, sum) = (1usize << tally.bits, usize::from(sum));
                for counts in &mut tally.counts {
                    let counts = counts.get_mut(sum * each..(sum + 1) * each).unwrap_or_default();
                    histogram.iter_mut().zip(&*counts).for_each(|(all, n)| *all += n);
                    counts.fill(0);
                }
            }
            if histogram != [0; 256] {
                out.push((sum.into(), histogram));
            }
        }
        out
    }
}

/// Counts symbols by their places, of which there are `MANY`: an index below that needs no check then. Four
/// places are loaded at once, as loads and stores of counts are all that a core can do.
fn add_to<const MANY: usize>(counts: &mut [Vec<u32>; 2], places: &[[u8; 2]]) {
    let [even, odd] = counts;
    let Some(even) = even.first_chunk_mut::<MANY>() else { return };
    let Some(odd) = odd.first_chunk_mut::<MANY>() else { return };
    let (fours, rest) = places.as_flattened().as_chunks::<8>();
    let place =
        |places: u64, shift: u32| usize::try_from(places >> shift & 0xffff).unwrap_or(0) % MANY;
    for &four in fours {
        let four = u64::from_le_bytes(four);
        even[place(four, 0)] += 1;
        odd[place(four, 16)] += 1;
        even[place(four, 32)] += 1;
        odd[place(four, 48)] += 1;
    }
    for &place in rest.as_chunks::<2>().0 {
        even[usize::from(u16::from_le_bytes(place)) % MANY] += 1;
    }
}
