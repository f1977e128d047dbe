//! From a histogram to a table.

mod closer;
mod curve;

use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::layout::table::{Shape, Table};

use curve::curve;

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
