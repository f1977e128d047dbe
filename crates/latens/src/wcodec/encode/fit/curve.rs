//! The curve of a histogram: where its middle is, how far it reaches, how high it is at its knots.

use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::layout::table::{Curve, LOG_STEP, TOP_LOG, Table, knots, log_of};

/// The best curve found; `None` where the histogram is empty or a curve has no room.
pub(super) fn curve(histogram: &Histogram, bits: u32, table_bits: u32) -> Option<Table> {
    let bell = Bell::of(histogram, bits)?;
    let (below, above) = bell.extents()?;
    let centre = u8::try_from(bell.centre).ok()?;
    let top = bell.top(above.min(below));
    let logs = |extent: i32, height: &dyn Fn(i32) -> f64| logs(extent, top, height);
    let two = Curve {
        centre,
        below,
        above,
        logs_above: logs(above, &|d| bell.at(d)),
        logs_below: Some(logs(below, &|d| bell.at(-d))),
    };
    let two = Table::of_curve(bits, table_bits, two)?;
    if below > above {
        return Some(two);
    }
    let mean = |d| if d <= below { f64::midpoint(bell.at(d), bell.at(-d)) } else { bell.at(d) };
    let one = Curve { centre, below, above, logs_above: logs(above, &mean), logs_below: None };
    let cost = |t: &Table| {
        cost::under(histogram, &t.frequencies, table_bits) + 8.0 * t.write(Vec::new()).len() as f64
    };
    let one = Table::of_curve(bits, table_bits, one).filter(|one| cost(one) <= cost(&two));
    Some(one.unwrap_or(two))
}

/// A histogram around its middle. Its symbols form a circle.
struct Bell {
    counts: [f64; 256],
    symbols: i32,
    centre: i32,
    /// How far neighbours say of a symbol how likely it is.
    reach: i32,
}

impl Bell {
    fn of(histogram: &Histogram, bits: u32) -> Option<Self> {
        // Few symbols say little of where their middle is.
        let most = histogram.iter().copied().max()?;
        let reach = match bits {
            ..=4 => 0,
            _ if most >= 400 => 1,
            _ => 4,
        };
        let (counts, symbols) = (histogram.map(f64::from), 1 << bits);
        let mut bell = Self { counts, symbols, centre: 0, reach };
        let (mut centre, mut highest) = (0, -1.0);
        for s in 0..symbols {
            let height = bell.around(s, reach);
            if height > highest {
                (centre, highest) = (s, height);
            }
        }
        bell.centre = centre;
        Some(bell)
    }

    /// How often the symbol comes that is so far from the middle.
    fn at(&self, distance: i32) -> f64 {
        #[expect(clippy::cast_sign_loss, reason = "masked")]
        let symbol = ((self.centre + distance) & (self.symbols - 1)) as usize;
        self.counts[symbol]
    }

    /// How often those do that are at most `reach` from there.
    fn around(&self, distance: i32, reach: i32) -> f64 {
        (-reach..=reach).map(|d| self.at(distance + d)).sum()
    }

    /// How often the symbols in the middle come, of which at most `most` on each side are asked.
    fn top(&self, most: i32) -> f64 {
        let reach = if self.at(0) >= 50.0 { 0 } else { self.reach.min(2).min(most) };
        (self.around(0, reach) / f64::from(2 * reach + 1)).max(0.5)
    }

    /// How far symbols reach below the middle and above it. The circle is cut where the longest run of absent ones is,
    /// or, where there is none, opposite of the middle.
    fn extents(&self) -> Option<(i32, i32)> {
        let size = self.symbols;
        let present = |d: i32| self.at(d) > 0.0;
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
        Some((below.min(size - 1 - above), above))
    }
}

/// The logs of one side of a curve at its knots, of symbols that come `height` times by distance, `top` times in the
/// middle.
fn logs(extent: i32, top: f64, height: &dyn Fn(i32) -> f64) -> Vec<i32> {
    let level = |from: i32, to: i32| {
        let sum: f64 = (from..=to).map(height).sum();
        (sum + 0.3) / f64::from(to - from + 1)
    };
    let knots = knots(extent);
    let mut before = TOP_LOG;
    let log = |(i, &d): (usize, &i32)| {
        let left = if i == 0 { 0 } else { knots[i - 1] };
        // Around the knot as far as the nearer neighbour allows; the last one stands alone.
        let right = knots.get(i + 1).copied().unwrap_or(d);
        let reach = ((d - left).min(right - d) / 2).max(0);
        let log = log_of((level(d - reach, d + reach) / top).min(1.0));
        let steps = (log - before + LOG_STEP / 2).div_euclid(LOG_STEP);
        before = (before + steps * LOG_STEP).clamp(TOP_LOG % LOG_STEP, TOP_LOG);
        before
    };
    knots.iter().enumerate().map(log).collect()
}
