//! The path of a trend: by how many cells each number is above it, chosen by what steps and
//! residuals cost.
//!
//! Costs are those of the choices of the pass before, as where lookbacks are chosen; for given costs
//! the path is the best of all (Viterbi).

use latens_kernels::dispatch::Present;
use latens_kernels::trellis::{self, STATE, STATES};

/// Longer steps between numbers count as this.
pub(super) const FAR: i8 = 80;
/// Longer steps of the trend cost alike.
const NEAR: usize = 64;
/// Steps of the trend between numbers so far apart.
const WIDEST: usize = FAR as usize + STATES - 1;

/// Numbers by which costs are learned, and passes over them before those over all.
const LEARN: usize = 1 << 13;
const PASSES: usize = 6;
const PASSES_OF_ALL: usize = 2;
/// Passes over all numbers where a guess will do.
const PASSES_OF_GUESS: usize = 2;

/// Numbers whose paths are kept at a time.
const BLOCK: usize = 1 << 14;
/// Numbers after which sums of costs are lowered again.
const LOWER: usize = 1 << 8;
/// Parts of a bit that costs are counted in; below them is the state that a sum comes from.
const PARTS: f64 = 32.0;
const STATE_BITS: u32 = STATES.ilog2();
/// More than anything else costs.
const NEVER: u32 = 1 << 24;

/// A path, and about how many bits its steps and residuals take.
pub(super) struct Path {
    /// By number, how many cells it is above the trend.
    pub(super) above: Vec<u8>,
    pub(super) bits: f64,
}

/// The best path for the steps from each number to the next, in cells; the first is the first
/// number's own, which counts for nothing.
#[inline(never)]
pub(super) fn find(steps: &[i8]) -> Path {
    let start = steps.len().saturating_sub(LEARN) / 2;
    let middle = &steps[start..steps.len().min(start + LEARN)];
    let mut costs = Costs::guessed();
    for _ in 0..PASSES {
        costs = Costs::of(middle, &costs.best(middle));
    }
    let mut above = Vec::new();
    for _ in 0..PASSES_OF_ALL {
        above = costs.best(steps);
        costs = Costs::of(steps, &above);
    }
    Path { above, bits: costs.bits }
}

/// About the bits that such a path takes, in less than half the time for few steps.
pub(super) fn guess(steps: &[i8]) -> f64 {
    let guessed = Costs::guessed();
    (0..PASSES_OF_GUESS).fold(guessed, |costs, _| Costs::of(steps, &costs.best(steps))).bits
}

/// What states and steps of the trend cost, moved up by [`STATE_BITS`].
struct Costs {
    state: [u32; STATES],
    /// From the widest step down to the widest back.
    step: [u32; 2 * WIDEST + 1],
    /// Bits of the path that they were counted on.
    bits: f64,
}

fn cost(bits: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^12")]
    let parts = (bits.clamp(0.0, 100.0) * PARTS) as u32;
    parts << STATE_BITS
}

/// Steps longer than [`NEAR`] are told apart by about so many bits.
const FAR_BITS: f64 = 12.0;

impl Costs {
    fn guessed() -> Self {
        let middle = STATES / 2;
        let state = std::array::from_fn(|i| cost(1.5 * i.abs_diff(middle) as f64));
        let of_step = |size: usize| if size == 0 { 0.2 } else { 3.0 + 0.7 * size as f64 };
        let step = std::array::from_fn(|i| cost(of_step(i.abs_diff(WIDEST))));
        Self { state, step, bits: f64::INFINITY }
    }

    /// By how often states and steps come on a path.
    fn of(steps: &[i8], above: &[u8]) -> Self {
        let mut states = [0u32; STATES];
        let mut trend = [0u32; 2 * WIDEST + 1];
        let mut before = above.first().copied().unwrap_or_default();
        for (&step, &state) in steps.iter().zip(above) {
            states[usize::from(state)] += 1;
            trend[place(step, before, state)] += 1;
            before = state;
        }
        let total = steps.len() as f64;
        let of = |count: u32, least: f64| (total + 1.0).log2() - (f64::from(count) + least).log2();
        let mut bits = 0.0;
        let state = states.map(|count| {
            bits += f64::from(count) * of(count.max(1), 0.0);
            cost(of(count, 0.3))
        });
        let is_far = |i: usize| i.abs_diff(WIDEST) > NEAR;
        let far: u32 = (trend.iter().enumerate()).filter(|(i, _)| is_far(*i)).map(|(_, n)| n).sum();
        let step = std::array::from_fn(|i| {
            let count = trend[i];
            if is_far(i) {
                bits += f64::from(count) * (of(far.max(1), 0.0) + FAR_BITS);
                return cost(of(far, 0.05) + FAR_BITS);
            }
            bits += f64::from(count) * of(count.max(1), 0.0);
            cost(of(count, 0.05))
        });
        Self { state, step, bits }
    }

    /// The best path by these costs.
    #[inline(never)]
    fn best(&self, steps: &[i8]) -> Vec<u8> {
        let mut path = vec![0; steps.len()];
        let Some(costs) = trellis::Costs::new(self.state, self.step.to_vec()) else { return path };
        let mut from = vec![[0u8; STATES]; BLOCK.min(steps.len())];
        let mut start = None;
        for (steps, path) in steps.chunks(BLOCK).zip(path.chunks_mut(BLOCK)) {
            let sums = match start {
                Some(start) => starting_at(start),
                // The first number's own step counts for nothing.
                None => std::array::from_fn(|i| self.state[i] | state(i)),
            };
            let free = usize::from(start.is_none());
            let sums = ways(&costs, &steps[free..], sums, &mut from[free..]);
            let least = sums.iter().min().map_or(0, |sum| sum & STATE);
            #[expect(clippy::cast_possible_truncation, reason = "below STATES")]
            let mut state = least as u8;
            start = Some(state);
            for (at, from) in path.iter_mut().zip(&from).rev() {
                *at = state;
                state = from[usize::from(state)];
            }
        }
        path
    }
}

/// Sums of ways that start in a state.
fn starting_at(start: u8) -> [u32; STATES] {
    let never = NEVER << STATE_BITS;
    std::array::from_fn(|i| state(i) | if i == usize::from(start) { 0 } else { never })
}

/// By state of the last number what the best way to there costs, with the state below; `from` is where
/// the best ways to each number's states come from.
fn ways(
    costs: &trellis::Costs,
    steps: &[i8],
    mut sums: [u32; STATES],
    from: &mut [[u8; STATES]],
) -> [u32; STATES] {
    let mut places = [0; LOWER];
    for (steps, from) in steps.chunks(LOWER).zip(from.chunks_mut(LOWER)) {
        let least = sums.iter().min().map_or(0, |sum| sum & !STATE);
        sums = sums.map(|sum| sum - least);
        for (place, step) in places.iter_mut().zip(steps) {
            *place = FAR.saturating_sub(*step).cast_unsigned();
        }
        trellis::ways(Present::in_use(), costs, &places[..steps.len()], &mut sums, from);
    }
    sums
}

/// A state as it stands below a sum.
#[expect(clippy::cast_possible_truncation, reason = "below STATES")]
fn state(i: usize) -> u32 {
    i as u32
}

/// Where the step of the trend stands between two numbers that are so far apart and above it.
#[inline(always)]
fn place(step: i8, before: u8, after: u8) -> usize {
    let trend = isize::from(step) + isize::from(before) - isize::from(after);
    (WIDEST as isize - trend).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a path costs, by hand.
    fn total(costs: &Costs, steps: &[i8], path: &[u8]) -> u32 {
        let mut sum = 0;
        for (i, &state) in path.iter().enumerate() {
            sum += costs.state[usize::from(state)];
            if i > 0 {
                sum += costs.step[place(steps[i], path[i - 1], state)];
            }
        }
        sum
    }

    #[test]
    fn no_path_costs_less() {
        let costs = Costs::guessed();
        let steps = [0, 3, -3, 0, 1, 70];
        let best = total(&costs, &steps, &costs.best(&steps));
        let mut path = [0u8; 6];
        let mut least = u32::MAX;
        for code in 0..1u32 << 19 {
            // All paths within four states of the middle, and those of the last number.
            for (i, state) in path.iter_mut().enumerate() {
                *state = 4 + (code >> (3 * i) & 7) as u8;
            }
            path[5] = (code >> 15 & 15) as u8;
            least = least.min(total(&costs, &steps, &path));
        }
        assert!(best <= least, "{best} {least}");
    }

    #[test]
    fn costs_of_steps_are_found_where_they_are_counted() {
        let steps = [0i8, 5, -5, 80, -80, 0];
        let above = [8u8, 8, 0, 15, 0, 15];
        let costs = Costs::of(&steps, &above);
        assert!(costs.bits > 0.0);
        assert!(costs.state[8] < costs.state[1]);
        assert!(costs.step[place(5, 8, 8)] < costs.step[place(9, 8, 8)]);
    }
}
