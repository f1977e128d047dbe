//! The best ways through sixteen states, step by step (Viterbi).

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_trellis, avx512_trellis};

/// States that a way may be in.
pub const STATES: usize = 16;
/// The bits of a sum that say a state; what is above them is what a way costs.
pub const STATE: u32 = 15;
/// What steps between any two states cost, from the last state to the first up to the first to the last.
pub(crate) const ROW: usize = 2 * STATES - 1;

/// What states and steps cost, moved up by the bits of [`STATE`].
#[derive(Clone, Debug)]
pub struct Costs {
    /// By state; the bits below hold the state.
    state: [u32; STATES],
    /// By distance: [`ROW`] of them from each place on are those of a step.
    step: Vec<u32>,
}

impl Costs {
    /// `None` where there are no places for a step. The bits of [`STATE`] are left out.
    pub fn new(state: [u32; STATES], step: Vec<u32>) -> Option<Self> {
        let mut costs = Self { state, step };
        for (i, cost) in (0..).zip(&mut costs.state) {
            *cost = *cost & !STATE | i;
        }
        costs.step.iter_mut().for_each(|cost| *cost &= !STATE);
        (costs.step.len() >= ROW).then_some(costs)
    }

    /// Those of a step that stand from there on, or the last there are.
    #[inline(always)]
    fn row(&self, place: u8) -> &[u32; ROW] {
        let at = usize::from(place).min(self.step.len().saturating_sub(ROW));
        // There are as many, as those who make it have seen.
        self.step[at..].first_chunk().unwrap_or(&[0; ROW])
    }
}

/// For each step, by state what state the best way there comes from. `sums` are, by state, what the best
/// way there costs and the state; they become those behind the last step.
///
/// The way from state j to state k costs what stands (15 − j + k) behind the step's place. Sums are to stay below 2^32.
///
/// # Panics
/// Where there are more steps than room for what they come from.
pub fn ways(
    present: Present,
    costs: &Costs,
    places: &[u8],
    sums: &mut [u32; STATES],
    from: &mut [[u8; STATES]],
) {
    let from = &mut from[..places.len()];
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `present` is what the processor has.
        Simd::Avx512 => unsafe { avx512_trellis::ways(costs, places, sums, from) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Simd::Avx2 => unsafe { avx2_trellis::ways(costs, places, sums, from) },
        _ => scalar(costs, places, sums, from),
    }
}

/// The costs of states, and those of each step.
#[inline(always)]
pub(crate) fn parts<'c>(
    costs: &'c Costs,
    places: &'c [u8],
) -> (&'c [u32; STATES], impl Iterator<Item = &'c [u32; ROW]>) {
    (&costs.state, places.iter().map(|&place| costs.row(place)))
}

fn scalar(costs: &Costs, places: &[u8], sums: &mut [u32; STATES], from: &mut [[u8; STATES]]) {
    let (states, rows) = parts(costs, places);
    for (row, from) in rows.zip(from) {
        let mut best = [u32::MAX; STATES];
        for (j, &sum) in sums.iter().enumerate() {
            for (best, &step) in best.iter_mut().zip(&row[STATES - 1 - j..]) {
                *best = (*best).min(sum.wrapping_add(step));
            }
        }
        for (((sum, from), best), state) in sums.iter_mut().zip(from).zip(best).zip(states) {
            *from = (best & STATE) as u8;
            *sum = (best & !STATE).wrapping_add(*state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    twin_test!(
        all_kernels_go_the_same_way,
        {
            let mut next = noise(9);
            let mut cases = Vec::new();
            for (len, most) in [(0usize, 9), (1, 1 << 10), (2, 3), (300, 1 << 20), (300, 1 << 32)] {
                let mut cost = |n: usize| {
                    (0..n).map(|_| u32::try_from(next() % most).unwrap()).collect::<Vec<_>>()
                };
                let (state, step, sums) = (cost(STATES), cost(ROW + 130), cost(STATES));
                let places: Vec<u8> = (0..len).map(|_| (next() & 0xff) as u8).collect();
                cases.push((state, step, sums, places));
            }
            cases
        },
        |simd, case| {
            let (state, step, sums, places) = case;
            let of = |some: &[u32]| *some.first_chunk::<STATES>().unwrap();
            let costs = Costs::new(of(state), step.clone()).unwrap();
            let (mut sums, mut from) = (of(sums), vec![[0; STATES]; places.len() + 1]);
            ways(Present::new(simd), &costs, places, &mut sums, &mut from);
            assert_eq!(from.last(), Some(&[0; STATES]), "nothing behind the last step");
            (sums, from)
        }
    );

    #[test]
    fn the_cheapest_way_is_taken() {
        // One back costs least of all, and state 3 next to nothing.
        let mut step = vec![1000 << 4; ROW];
        step[STATES - 2] = 1 << 4;
        let mut state = [50 << 4; STATES];
        state[3] = 0;
        let costs = Costs::new(state, step).unwrap();
        let mut sums: [u32; STATES] = std::array::from_fn(|i| 7 << 4 | u32::try_from(i).unwrap());
        let mut from = [[0; STATES]];
        ways(Present::in_use(), &costs, &[0], &mut sums, &mut from);
        assert_eq!((from[0][3], sums[3]), (4, 8 << 4 | 3));
        assert_eq!((from[0][14], sums[14]), (15, 58 << 4 | 14));
        assert_eq!(sums[15] >> 4, 7 + 1000 + 50);
        assert!(Costs::new(state, vec![0; ROW - 1]).is_none());
    }
}
