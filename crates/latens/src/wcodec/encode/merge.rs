//! From histograms by sum to a few classes of neighbouring sums.

use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::matrix::FEW_BITS;
use crate::wcodec::encode::symbols::MANY;
use crate::wcodec::layout::class_rule::Map;

/// Bits that a class costs besides its symbols: its table, more or less. Those of few bits have few numbers, and
/// most get a table that is there.
const CLASS_BITS: f64 = 160.0;
const CLASS_BITS_OF_FEW: f64 = 80.0;
/// What fewer classes than pay may lose, as a share of all bits: decoders are held up by the memory
/// that tables take. Those of symbols of few bits are small, so that these lose it where they are many.
const LOSS: f64 = 0.0005;
/// Pairs of symbols of few bits have large tables again; of so many symbols reading takes long enough
/// for that to be worth more.
const LOSS_OF_PAIRS: f64 = 0.0003;
const LOSS_OF_MANY_PAIRS: f64 = 0.001;

/// Runs of sums that are looked at, about, and where that may take longer.
const SUMS: u64 = 48;
const MORE_SUMS: u64 = 200;

/// What fewer classes are worth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worth {
    /// Bits of a class besides its symbols.
    class: f64,
    /// The share of all bits that fewer of them may take more.
    share: f64,
    /// How many runs of sums are looked at, about: neighbours that are few are joined without a look.
    sums: u64,
}

impl Worth {
    /// Of so many single symbols of `bits`.
    pub(crate) fn of(bits: u32, symbols: usize) -> Self {
        match bits {
            ..=FEW_BITS => {
                let share = if symbols < MANY { 0.0 } else { LOSS };
                Self { class: CLASS_BITS_OF_FEW, share, sums: SUMS }
            }
            _ => Self { class: CLASS_BITS, share: LOSS, sums: SUMS },
        }
    }

    /// The same, where reading may take longer.
    pub(crate) fn of_slow_reading(self) -> Self {
        Self { share: 0.0, ..self }
    }

    /// The same, where writing may.
    pub(crate) fn of_slow_writing(self) -> Self {
        Self { sums: MORE_SUMS, ..self }
    }

    /// Of pairs, of so many symbols.
    pub(crate) fn of_pairs(symbols: usize) -> Self {
        let share = if symbols < MANY { LOSS_OF_PAIRS } else { LOSS_OF_MANY_PAIRS };
        Self { class: CLASS_BITS, share, sums: SUMS }
    }
}

/// Histograms of symbols by sum, of sums that occur.
pub(crate) type BySum = Vec<(usize, Histogram)>;

/// A run of sums that share a class.
struct Run {
    /// The last sum.
    last: usize,
    histogram: Histogram,
    bits: f64,
}

/// Symbols of no run.
const NONE: Histogram = [0; 256];

/// Symbols that occur are below this, a multiple of eight.
fn used(sums: &BySum) -> usize {
    let mut all = NONE;
    for (_, histogram) in sums {
        all.iter_mut().zip(histogram).for_each(|(all, n)| *all |= n);
    }
    (256 - all.iter().rev().take_while(|&&n| n == 0).count()).next_multiple_of(8)
}

/// Merges neighbours while that costs fewer bits than a class does, and until there are at most
/// `most`; in the end for a share of all bits more. The map, the classes' histograms, and the bits of
/// all. Of a sample, `scale` is how much larger the whole is: bits are as if its symbols had been
/// drawn from what the classes are there.
pub(crate) fn merge(
    sums: &BySum,
    worth: Worth,
    most: usize,
    scale: Option<f64>,
) -> (Map, Vec<Histogram>, f64) {
    let price = Price { used: used(sums), scale };
    let mut runs = price.runs(sums, worth.sums);
    let joined = |a: &Run, b: &Run| price.of(&a.histogram, &b.histogram) - a.bits - b.bits;
    let mut loss: Vec<f64> = runs.windows(2).map(|w| joined(&w[0], &w[1])).collect();
    let mut spare = worth.share * runs.iter().map(|run| run.bits).sum::<f64>();
    while let Some((i, &least)) =
        loss.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1).then(a.0.cmp(&b.0)))
    {
        if least > worth.class && runs.len() <= most.max(1) {
            spare -= least - worth.class;
            if spare < 0.0 {
                break;
            }
        }
        let Run { last, histogram, bits } = runs.remove(i + 1);
        let run = &mut runs[i];
        run.bits = run.bits + bits + least;
        run.last = last;
        price.add(&mut run.histogram, &histogram);
        loss.remove(i);
        if i > 0 {
            loss[i - 1] = joined(&runs[i - 1], &runs[i]);
        }
        if i + 1 < runs.len() {
            loss[i] = joined(&runs[i], &runs[i + 1]);
        }
    }
    let bits = runs.iter().map(|run| run.bits + worth.class).sum();
    (map(&runs), runs.into_iter().map(|run| run.histogram).collect(), bits)
}

/// The run of each sum as its class.
fn map(runs: &[Run]) -> Map {
    let (mut map, mut from) = ([0u8; 256], 0);
    let class = |i: usize| u8::try_from(i).unwrap_or(u8::MAX);
    for (i, run) in runs.iter().enumerate() {
        map[from..=run.last].fill(class(i));
        from = run.last + 1;
    }
    map[from..].fill(class(runs.len().saturating_sub(1)));
    map
}

/// What histograms of symbols below `used` take; of few bits most of a histogram is empty.
struct Price {
    used: usize,
    scale: Option<f64>,
}

impl Price {
    /// Of two together.
    fn of(&self, a: &Histogram, b: &Histogram) -> f64 {
        match self.scale {
            None => cost::entropy_of(&a[..self.used], &b[..self.used]),
            Some(scale) => cost::learned_of(&a[..self.used], &b[..self.used]) * scale,
        }
    }

    fn add(&self, a: &mut Histogram, b: &Histogram) {
        a[..self.used].iter_mut().zip(&b[..self.used]).for_each(|(a, b)| *a += b);
    }

    /// Runs of sums, about so many: neighbours that come rarely are one.
    fn runs(&self, sums: &BySum, about: u64) -> Vec<Run> {
        let count = |h: &Histogram| h[..self.used].iter().map(|&n| u64::from(n)).sum::<u64>();
        let counts: Vec<u64> = sums.iter().map(|s| count(&s.1)).collect();
        let few = counts.iter().sum::<u64>() / about;
        let (mut runs, mut last): (Vec<Run>, u64) = (Vec::with_capacity(sums.len()), 0);
        for ((sum, histogram), &count) in sums.iter().zip(&counts) {
            match runs.last_mut() {
                Some(run) if last + count <= few => {
                    run.last = *sum;
                    self.add(&mut run.histogram, histogram);
                    last += count;
                }
                _ => {
                    runs.push(Run { last: *sum, histogram: *histogram, bits: 0.0 });
                    last = count;
                }
            }
        }
        runs.iter_mut().for_each(|run| run.bits = self.of(&run.histogram, &NONE));
        runs
    }
}

/// As [`merge`], of each band of zero points, which have at most `most` classes together: bands that want few leave
/// theirs to others.
pub(crate) fn merge_all(
    bands: &[BySum],
    worth: Worth,
    most: usize,
    scale: Option<f64>,
) -> Vec<(Map, Vec<Histogram>, f64)> {
    let merged = |sums: &BySum, most: usize| merge(sums, worth, most, scale);
    let mut all: Vec<_> = bands.iter().map(|sums| merged(sums, most)).collect();
    let fits = |each: usize| all.iter().map(|of| of.1.len().min(each)).sum::<usize>() <= most;
    let each = (1..=most).rev().find(|&each| fits(each)).unwrap_or(1);
    for (of, sums) in all.iter_mut().zip(bands) {
        if of.1.len() > each {
            *of = merged(sums, each);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_neighbours_become_one_class() {
        let mut sums = vec![[0u32; 256]; 256];
        for (sum, histogram) in sums.iter_mut().enumerate().skip(100).take(40) {
            let narrow = sum < 120;
            for (s, n) in histogram.iter_mut().enumerate() {
                *n = if narrow { u32::from(s < 4) * 1000 } else { 16 };
            }
        }
        let sums: BySum = sums.into_iter().enumerate().skip(100).take(40).collect();
        let (map, classes, _) = merge(&sums, Worth::of(8, 1000), 64, None);
        assert_eq!(classes.len(), 2);
        assert_eq!((map[0], map[119], map[120], map[255]), (0, 0, 1, 1));
        assert_eq!(merge(&sums, Worth::of(8, 1000), 1, Some(1.0)).1.len(), 1);
    }

    #[test]
    fn bands_that_want_few_classes_leave_theirs_to_others() {
        let band = |sums: usize| -> BySum {
            let one = |sum: usize| std::array::from_fn(|s| u32::from(s / 4 == sum) * 1000);
            (0..sums).map(|sum| (sum, one(sum))).collect()
        };
        let bands = [band(1), band(12), band(0), band(2), band(12)];
        let classes = |most: usize| -> Vec<usize> {
            let all = merge_all(&bands, Worth::of(8, 1000), most, None);
            all.into_iter().map(|of| of.1.len()).collect()
        };
        assert_eq!(classes(64), [1, 12, 0, 2, 12]);
        assert_eq!(classes(16), [1, 6, 0, 2, 6]);
        assert_eq!(classes(4), [1, 1, 0, 1, 1]);
    }
}
