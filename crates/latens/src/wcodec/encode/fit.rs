//! From a histogram to a table.

mod closer;

use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::layout::table::{Curve, LOG_STEP, Shape, TOP_LOG, Table, knots, log_of};

/// The cheapest table that can be made of a histogram, and the bits of both.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) table: Table,
    pub(crate) bits: f64,
}

impl Own {
    /// Of symbols of `bits`, with `2^table_bits` slots. `closely` takes much longer.
    pub(crate) fn new(
        histogram: &Histogram,
        bits: u32,
        table_bits: u32,
        closely: bool,
    ) -> Option<Self> {
        let own = |table| Self::of(table, histogram);
        let mut best = curve(histogram, bits, table_bits).map(own);
        if closely {
            best = best.map(|best| best.closer(histogram));
        }
        // A list of frequencies takes more than a bit for each symbol.
        let present = histogram.iter().filter(|&&n| n > 0).count();
        let floor = cost::entropy(histogram);
        if best.as_ref().is_none_or(|best| best.bits > floor + 1.5 * present as f64) {
            let explicit = Some(own(explicit(histogram, bits, table_bits)));
            best = explicit
                .filter(|own| own.bits < best.as_ref().map_or(f64::INFINITY, |b| b.bits))
                .or(best);
        }
        best.filter(|best| best.bits.is_finite())
    }

    fn of(table: Table, histogram: &Histogram) -> Self {
        let definition = 8.0 * table.write(Vec::new()).len() as f64;
        let bits = cost::under(histogram, &table.frequencies, table.table_bits) + definition + 8.0;
        Self { table, bits }
    }
}

/// The table of the histogram's own frequencies.
pub(crate) fn explicit(histogram: &Histogram, bits: u32, table_bits: u32) -> Table {
    let counts: Vec<(u8, u32)> =
        (0u8..=255).zip(histogram.iter().copied()).filter(|(_, n)| *n > 0).collect();
    let mut frequencies = vec![0u16; 1 << bits];
    let present: Vec<u32> = counts.iter().map(|c| c.1).collect();
    if present.is_empty() {
        frequencies[0] = 1 << table_bits;
    } else {
        let weights = crate::ans::frequencies::normalize(table_bits, &present);
        for (&(symbol, _), weight) in counts.iter().zip(weights) {
            frequencies[usize::from(symbol)] = u16::try_from(weight).unwrap_or(u16::MAX);
        }
    }
    Table { bits, table_bits, shape: Shape::Explicit, frequencies }
}

/// The best curve found; `None` where the histogram is empty or a curve has no room.
pub(crate) fn curve(histogram: &Histogram, bits: u32, table_bits: u32) -> Option<Table> {
    let size = 1i32 << bits;
    let counts: [f64; 256] = histogram.map(f64::from);
    #[expect(clippy::cast_sign_loss, reason = "masked")]
    let at = |symbol: i32| counts[(symbol & (size - 1)) as usize];
    let smooth = |s: i32, reach: i32| (-reach..=reach).map(|d| at(s + d)).sum::<f64>();
    // Few symbols say little of where their middle is.
    let most = histogram.iter().copied().max()?;
    let reach = match bits {
        ..=4 => 0,
        _ if most >= 400 => 1,
        _ => 4,
    };
    let (mut centre, mut highest) = (0, -1.0);
    for s in 0..size {
        let height = smooth(s, reach);
        if height > highest {
            (centre, highest) = (s, height);
        }
    }
    // The symbols form a circle; it is cut where the longest run of absent ones is, or, where there
    // is none, opposite of the centre.
    let present = |d: i32| at(centre + d) > 0.0;
    let (mut gap, mut run) = ((0, size / 2 - 1), 0);
    for d in 1..=size {
        run = if d < size && !present(d) { run + 1 } else { 0 };
        if run > gap.0 {
            gap = (run, d);
        }
    }
    let cut = gap.1 - gap.0;
    let above = (0..=cut.max(0)).rev().find(|&d| present(d) || d == 0)?;
    let below = (0..size - 1 - gap.1.max(above))
        .map(|i| size - 1 - gap.1 - i)
        .find(|&d| present(-d))
        .unwrap_or(0);
    let below = below.min(size - 1 - above);
    let side = |extent: i32, sign: i32, both: bool| -> Vec<i32> {
        let level = |from: i32, to: i32| {
            let sum: f64 = (from..=to)
                .map(|d| {
                    let own = at(centre + sign * d);
                    if both && d <= below { f64::midpoint(own, at(centre - sign * d)) } else { own }
                })
                .sum();
            (sum + 0.3) / f64::from(to - from + 1)
        };
        let around = if at(centre) >= 50.0 { 0 } else { reach.min(2).min(above).min(below) };
        let top = (smooth(centre, around) / f64::from(2 * around + 1)).max(0.5);
        let knots = knots(extent);
        let mut before = TOP_LOG;
        (0..knots.len())
            .map(|i| {
                let d = knots[i];
                let left = if i == 0 { 0 } else { knots[i - 1] };
                // Around the knot as far as the nearer neighbour allows; the last one stands alone.
                let right = knots.get(i + 1).copied().unwrap_or(d);
                let reach = ((d - left).min(right - d) / 2).max(0);
                let (from, to) = (d - reach, d + reach);
                let log = log_of((level(from, to) / top).min(1.0));
                let steps = (log - before + LOG_STEP / 2).div_euclid(LOG_STEP);
                let log = (before + steps * LOG_STEP).clamp(TOP_LOG % LOG_STEP, TOP_LOG);
                before = log;
                log
            })
            .collect()
    };
    let centre = u8::try_from(centre).ok()?;
    let two = Curve {
        centre,
        below,
        above,
        logs_above: side(above, 1, false),
        logs_below: Some(side(below, -1, false)),
    };
    let mut best = Table::of_curve(bits, table_bits, two)?;
    if below <= above {
        let one =
            Curve { centre, below, above, logs_above: side(above, 1, true), logs_below: None };
        if let Some(one) = Table::of_curve(bits, table_bits, one) {
            let cost = |t: &Table| {
                cost::under(histogram, &t.frequencies, table_bits)
                    + 8.0 * t.write(Vec::new()).len() as f64
            };
            if cost(&one) <= cost(&best) {
                best = one;
            }
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::reader::BitReader;
    use proptest::prelude::*;

    /// A histogram of a bell around `centre` of 8-bit symbols.
    fn bell(centre: i32, width: f64, n: f64) -> Histogram {
        let mut histogram = [0u32; 256];
        for d in -128i32..128 {
            let x = f64::from(d) / width;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test")]
            let count = (n * (-x * x / 2.0).exp() / (width * 2.5066)).round() as u32;
            histogram[usize::try_from((centre + d).rem_euclid(256)).unwrap()] += count;
        }
        histogram
    }

    #[test]
    fn a_curve_of_a_bell_costs_little_more_than_its_frequencies() {
        for (centre, width) in [(0, 30.0), (128, 20.0), (250, 5.0), (3, 1.0)] {
            let histogram = bell(centre, width, 1e6);
            let n: u32 = histogram.iter().sum();
            let table = curve(&histogram, 8, 12).unwrap();
            let best = explicit(&histogram, 8, 12);
            let cost = |t: &Table| cost::under(&histogram, &t.frequencies, 12) / f64::from(n);
            let extra = cost(&table) - cost(&best);
            assert!(extra < 0.01, "{centre} {width}: {extra}");
            assert!(table.write(Vec::new()).len() < 32);
        }
    }

    /// Some symbols of so many bits, or all, few and many of each.
    fn histograms() -> impl Strategy<Value = (u32, Histogram)> {
        let count = prop_oneof![Just(0u32), Just(1), 1u32..1000, 1u32..1_000_000];
        let sparse = prop::collection::vec((any::<u8>(), 1u32..1_000_000), 1..9);
        let counts = prop_oneof![
            prop::collection::vec(count, 256),
            sparse.prop_map(|some| {
                let mut all = vec![0; 256];
                some.into_iter().for_each(|(symbol, n)| all[usize::from(symbol)] = n);
                all
            }),
            Just(vec![3; 256]),
        ];
        (1u32..=8, counts).prop_map(|(bits, counts)| {
            let mut histogram = [0u32; 256];
            (0..).zip(counts).for_each(|(i, n): (usize, u32)| histogram[i % (1 << bits)] += n);
            (bits, histogram)
        })
    }

    proptest! {
        /// However many slots there are: those of a table are all taken, and what occurs can be coded.
        #[test]
        fn every_symbol_that_occurs_has_a_frequency((bits, histogram) in histograms(), slots in 8u32..=14) {
            let explicit = explicit(&histogram, bits, slots);
            let curve = curve(&histogram, bits, slots);
            let closer = curve.clone().map(|curve| Own::of(curve, &histogram).closer(&histogram).table);
            for table in [Some(explicit), curve, closer].into_iter().flatten() {
                prop_assert_eq!(table.frequencies.iter().map(|&f| u32::from(f)).sum::<u32>(), 1 << slots);
                prop_assert_eq!(table.frequencies.len(), 1 << bits);
                let lacks = histogram.iter().zip(&table.frequencies).any(|(&n, &f)| n > 0 && f == 0);
                prop_assert!(!lacks, "{:?}", table.shape);
                let bytes = table.write(Vec::new());
                prop_assert_eq!(&Table::read(&mut BitReader::new(&bytes, 0), &[]).unwrap(), &table);
            }
            let own = [false, true].map(|closely| Own::new(&histogram, bits, slots, closely));
            if histogram.iter().any(|&n| n > 0) {
                let [plain, closely] = own.map(Option::unwrap);
                prop_assert!(closely.bits <= plain.bits);
            }
        }
    }
}
