//! About how many bits latents take, without making bins: good enough to tell which candidates
//! are worth a closer look.

use crate::number::Latent;
use crate::pco::delta::consecutive::differences;
use crate::pco::logarithm::log2;
use latens_kernels::dispatch::Present;
use std::ops::Range;

/// Cells that a doubling of the distance from the middle is cut into, as a log2.
const FINE: u32 = 2;
/// Cells on one side of the middle, of the widest latents.
const SIDE: usize = 64 << FINE;
/// Places that a cell is counted in, and latents whose cells are found before they are counted.
const LANES: usize = 2;
const BLOCK: usize = 64;
/// Cells that are looked at together when they have been counted.
const GROUP: usize = 8;

/// Bits per latent that an order takes more than the best, behind which none is better again: differences of noise
/// are more noise.
const WORSE: f64 = 0.2;

/// Counts of latents by their distance from a middle, in cells that are the finer the nearer.
pub(crate) struct Cells {
    /// In several places each, as neighbours often share a cell, and a sum waits for the one before.
    counts: [[u32; LANES]; 2 * SIDE],
    total: usize,
}

impl Cells {
    pub(crate) fn new() -> Self {
        Self { counts: [[0; LANES]; 2 * SIDE], total: 0 }
    }

    /// Counts the distances of latents from a middle, taken as signed.
    #[inline(always)]
    pub(crate) fn count<L: Latent>(&mut self, latents: &[L], middle: L) {
        self.total += latents.len();
        let mut cells = [0u16; BLOCK];
        for block in latents.chunks(BLOCK) {
            for (to, &x) in cells.iter_mut().zip(block) {
                *to = cell(x.sub(middle));
            }
            for cells in cells[..block.len()].chunks(LANES) {
                for (lane, &cell) in cells.iter().enumerate() {
                    self.counts[usize::from(cell)][lane] += 1;
                }
            }
        }
    }

    /// Bits per latent: of the cell and of the place in it.
    pub(crate) fn bits(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a chunk has 2^24 latents at most")]
        let total = self.total.max(1) as f64;
        let log_total = log2(total);
        let mut bits = 0.0;
        // Most cells have none.
        let groups = (0..).step_by(GROUP).zip(self.counts.chunks(GROUP));
        for (start, group) in
            groups.filter(|(_, group)| group.iter().flatten().fold(0, |any, c| any | c) > 0)
        {
            for (cell, counts) in (start..).zip(group) {
                let count: u32 = counts.iter().sum();
                if count > 0 {
                    let shift = ((cell % SIDE) >> FINE).saturating_sub(1);
                    #[expect(clippy::cast_precision_loss, reason = "below 64")]
                    let place = shift as f64;
                    let count = f64::from(count);
                    bits += count * (log_total - log2(count) + place);
                }
            }
        }
        bits / total
    }
}

/// The cell of a distance, taken as signed.
#[inline(always)]
fn cell<L: Latent>(distance: L) -> u16 {
    // Sign bits spread over all bits: no branch, as signs are as good as random.
    let left = 0u64.wrapping_sub(u64::from(distance >= L::MID));
    let length = L::truncate(distance.to_u64() ^ left).to_u64();
    let shift = (length | 1 << FINE).ilog2() - FINE;
    let cell = (u64::from(shift) << FINE) + (length >> shift) + (left & SIDE as u64);
    #[expect(clippy::cast_possible_truncation, reason = "below twice SIDE")]
    let cell = cell.min(2 * SIDE as u64 - 1) as u16;
    cell
}

/// Bits per latent of the differences of each order from 1, within stripes, by their distances from 0
/// or from a typical one of them, as even steps lie far from 0 and close together. Stops two orders
/// behind the best, or one that is clearly worse.
pub(crate) fn bits_by_order<L: Latent>(
    latents: &[L],
    stripes: &[Range<usize>],
    most: u32,
) -> Vec<f64> {
    let mut stripes: Vec<Vec<L>> =
        stripes.iter().map(|range| latents[range.clone()].to_vec()).collect();
    let mut found = Vec::new();
    let (mut least, mut since) = (f64::INFINITY, 0);
    for _ in 0..most {
        let mut cells = [Cells::new(), Cells::new()];
        let [around_zero, around_typical] = &mut cells;
        Present::in_use().call(
            #[inline(always)]
            || {
                for stripe in &mut stripes {
                    differences(stripe, L::ZERO);
                    around_zero.count(stripe, L::ZERO);
                }
                if let Some(typical) = typical(&stripes) {
                    for stripe in &stripes {
                        around_typical.count(stripe, typical);
                    }
                }
            },
        );
        let of_counted = |cells: &Cells| if cells.total > 0 { cells.bits() } else { f64::INFINITY };
        let bits = f64::min(cells[0].bits(), of_counted(&cells[1]));
        found.push(bits);
        since = if bits < least { 0 } else { since + 1 };
        least = least.min(bits);
        if since == 2 || bits > least + WORSE {
            break;
        }
    }
    found
}

/// The median of a few latents, taken as signed; `None` where they lie on both sides of 0.
#[inline(always)]
fn typical<L: Latent>(stripes: &[Vec<L>]) -> Option<L> {
    const FEW: usize = 9;
    let mut few = [L::ZERO; FEW];
    for (i, x) in few.iter_mut().enumerate() {
        let stripe = &stripes[i * stripes.len() / FEW];
        *x = stripe.get((i + 1) * stripe.len() / (FEW + 1))?.add(L::MID);
    }
    few.sort_unstable();
    let one_side = few[1] > L::MID || few[FEW - 2] < L::MID;
    one_side.then(|| few[FEW / 2].sub(L::MID))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_latents_take_their_width() {
        let mut cells = Cells::new();
        cells.count(&(0..1024u32).collect::<Vec<_>>(), 0);
        assert!((cells.bits() - 10.0).abs() < 0.01, "{}", cells.bits());
        let mut cells = Cells::new();
        cells.count(&(0..4096u64).collect::<Vec<_>>(), 2048);
        assert!((cells.bits() - 12.0).abs() < 0.01, "{}", cells.bits());
    }

    #[test]
    fn even_steps_are_seen() {
        let step = |at: &mut u64, i: u64| {
            let noise = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            *at += 1_000_000 + (noise ^ noise >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) % 1000;
            Some(*at)
        };
        let latents: Vec<u64> = (0..2000).scan(0, step).collect();
        let bits = bits_by_order(&latents, &[0..1000, 1000..2000], 7);
        assert!(bits[0] < 12.0 && bits[0] < bits[1], "{bits:?}");
    }

    #[test]
    fn the_order_of_a_parabola_is_seen() {
        let latents: Vec<u32> = (0..900u32).map(|i| 7 * i * i + i * 31 % 13).collect();
        let bits = bits_by_order(&latents, &[0..400, 400..900], 7);
        assert!(bits[1] < bits[0] && bits.len() < 7, "{bits:?}");
    }
}
