//! Curves: tables by logarithms of weights at some distances from a centre.

use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::wcodec::layout::golomb::Memory;

/// The log of a curve's centre.
pub(crate) const TOP_LOG: i32 = 1023;
/// Steps in which logs are coded.
pub(crate) const LOG_STEP: i32 = 4;
/// Distances at which a curve has knots, besides its last two.
const KNOTS: [i32; 15] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192];

/// Weights that fall (mostly) with the distance from a centre, around the circle of symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Curve {
    pub(crate) centre: u8,
    /// The largest distance on the side of smaller symbols.
    pub(crate) below: i32,
    /// The largest distance on the side of larger symbols.
    pub(crate) above: i32,
    /// Logs at the knots above the centre.
    pub(crate) logs_above: Vec<i32>,
    /// Logs at the knots below; `None` if they follow those above.
    pub(crate) logs_below: Option<Vec<i32>>,
}

/// The knots of a side of extent `extent`.
pub(crate) fn knots(extent: i32) -> Vec<i32> {
    let mut knots: Vec<i32> = KNOTS.into_iter().take_while(|&k| k < extent - 1).collect();
    knots.extend((extent >= 2).then_some(extent - 1));
    knots.extend((extent >= 1).then_some(extent));
    knots
}

/// The weight of a log: a power of two, taken piecewise linear.
fn weight(log: i32) -> u64 {
    u64::from((64 + log.cast_unsigned() % 64) << (log / 64))
}

/// The log whose weight is nearest below `weight` times that of the centre; `relative` is at most 1.
pub(crate) fn log_of(relative: f64) -> i32 {
    let full = relative * f64::from((64u32 + 63) << 15);
    if full < 64.0 {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^22")]
    let value = full.min(f64::from((64u32 + 63) << 15)) as i32;
    let shift = value.ilog2().cast_signed() - 6;
    64 * shift + (value >> shift) - 64
}

/// Logs at distances 0 to `extent`.
fn interpolate(extent: i32, logs: &[i32]) -> Vec<i32> {
    let mut out = vec![TOP_LOG];
    let (mut p, mut a) = (0, TOP_LOG);
    for (q, &b) in knots(extent).into_iter().zip(logs) {
        out.extend((p + 1..=q).map(|d| a + ((b - a) * (d - p)).div_euclid(q - p)));
        (p, a) = (q, b);
    }
    out
}

impl Curve {
    /// The weights in the order of distance 0, 1, −1, 2, −2, …, each with its symbol.
    pub(super) fn weights(&self, bits: u32) -> Vec<(u8, u64)> {
        let above = interpolate(self.above, &self.logs_above);
        let below = match &self.logs_below {
            Some(logs) => interpolate(self.below, logs),
            None => above.clone(),
        };
        let symbol = |distance: i32| -> u8 {
            let symbol = (i32::from(self.centre) + distance).rem_euclid(1 << bits);
            u8::try_from(symbol).unwrap_or(0)
        };
        let mut out = vec![(self.centre, weight(TOP_LOG))];
        for d in 1..=self.above.max(self.below) {
            let side = |logs: &[i32]| {
                usize::try_from(d).ok().and_then(|d| logs.get(d)).map(|&log| weight(log))
            };
            if d <= self.above {
                out.extend(side(&above).map(|w| (symbol(d), w)));
            }
            if d <= self.below {
                out.extend(side(&below).map(|w| (symbol(-d), w)));
            }
        }
        out
    }

    /// Appends the curve.
    pub(super) fn write(&self, bits: u32, out: &mut BitWriter) {
        out.write(u64::from(self.centre), bits);
        for extent in [self.below, self.above] {
            out.write(u64::from(extent.cast_unsigned()), bits);
        }
        out.write(u64::from(self.logs_below.is_none()), 1);
        let mut memory = Memory::new();
        for logs in [Some(&self.logs_above), self.logs_below.as_ref()].into_iter().flatten() {
            let mut before = TOP_LOG;
            for &log in logs {
                memory.write_signed((log - before) / LOG_STEP, out);
                before = log;
            }
        }
    }

    /// Reads a curve of an alphabet of `bits`.
    pub(super) fn read(r: &mut BitReader<'_>, bits: u32) -> Result<Self> {
        let at = r.byte();
        let centre = u8::try_from(r.read_u32(bits, "a curve's centre")?).unwrap_or(0);
        let below = r.read_u32(bits, "a curve's extent")?.cast_signed();
        let above = r.read_u32(bits, "a curve's extent")?.cast_signed();
        let symmetric = r.read(1, "a curve's symmetry")? == 1;
        if below + above >= 1 << bits || (symmetric && below > above) {
            return Err(Error::corrupt(
                at,
                format!("a curve of {below} and {above} in {bits} bits"),
            ));
        }
        let mut memory = Memory::new();
        let mut side = |extent: i32| {
            let mut log = i64::from(TOP_LOG);
            let read = |_| {
                let at = r.byte();
                log += i64::from(LOG_STEP) * memory.read_signed(r, "a curve's logs")?;
                i32::try_from(log).ok().filter(|log| (0..=TOP_LOG).contains(log)).ok_or_else(|| {
                    Error::corrupt(
                        at,
                        format!("a curve has a log of {log}; 0 to {TOP_LOG} are legal"),
                    )
                })
            };
            knots(extent).into_iter().map(read).collect::<Result<Vec<i32>>>()
        };
        let logs_above = side(above)?;
        let logs_below = if symmetric { None } else { Some(side(below)?) };
        Ok(Self { centre, below, above, logs_above, logs_below })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knots_end_with_the_extent_and_its_neighbour() {
        assert!(knots(0).is_empty());
        assert_eq!(knots(1), [1]);
        assert_eq!(knots(3), [1, 2, 3]);
        assert_eq!(knots(8), [1, 2, 3, 4, 6, 7, 8]);
        assert_eq!(knots(127).last_chunk(), Some(&[96, 126, 127]));
    }

    #[test]
    fn logs_and_weights_are_inverse() {
        for log in 0..=TOP_LOG {
            assert_eq!(log_of(weight(log) as f64 / weight(TOP_LOG) as f64), log);
        }
    }
}
