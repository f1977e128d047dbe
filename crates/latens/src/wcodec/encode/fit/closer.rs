//! Curves whose knots are moved one by one to where the symbols take the fewest bits. It takes a thousand times as
//! long as the curve itself.

use super::Own;
use crate::wcodec::encode::cost::Histogram;
use crate::wcodec::layout::table::{Curve, LOG_STEP, Shape, TOP_LOG, Table};

/// How often all knots are looked at, at most.
const SWEEPS: usize = 4;
/// By how many steps knots are moved.
const MOVES: [i32; 6] = [-1, 1, -2, 2, -5, 5];

impl Own {
    /// The same, or a curve that is closer to the histogram.
    pub(super) fn closer(mut self, histogram: &Histogram) -> Self {
        for _ in 0..SWEEPS {
            let before = self.bits;
            let knots = match &self.table.shape {
                Shape::Curve(curve) => {
                    curve.logs_above.len() + curve.logs_below.as_ref().map_or(0, Vec::len)
                }
                _ => 0,
            };
            for knot in 0..knots {
                for (steps, alone) in MOVES.into_iter().flat_map(|m| [(m, true), (m, false)]) {
                    let Table { bits, table_bits, ref shape, .. } = self.table;
                    let Shape::Curve(curve) = shape else { break };
                    let table = moved(curve, knot, steps, alone)
                        .and_then(|curve| Table::of_curve(bits, table_bits, curve));
                    let own = table.map(|table| Self::of(table, histogram));
                    if let Some(own) = own.filter(|own| own.bits < self.bits) {
                        self = own;
                    }
                }
            }
            if self.bits >= before {
                break;
            }
        }
        self
    }
}

/// A curve with a knot moved, those above the centre first; with all behind it on its side, or `alone`. `None`
/// where there can be no such log.
fn moved(curve: &Curve, knot: usize, steps: i32, alone: bool) -> Option<Curve> {
    let mut curve = curve.clone();
    let above = curve.logs_above.len();
    let logs = match knot.checked_sub(above) {
        None => curve.logs_above.get_mut(knot..)?,
        Some(knot) => curve.logs_below.as_mut()?.get_mut(knot..)?,
    };
    let count = if alone { 1 } else { logs.len() };
    for log in logs.iter_mut().take(count) {
        *log += steps * LOG_STEP;
        if !(0..=TOP_LOG).contains(log) {
            return None;
        }
    }
    Some(curve)
}
