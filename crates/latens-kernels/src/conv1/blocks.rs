//! Many weights: some sums are begun together, with what comes from latents before them.
//!
//! Products of one latent with as many neighbouring weights are what vectors do at once. The way to
//! vectors and back takes as long as some latents do, so that a sum's last ones, `HELD` of them, are
//! added beside. The next block's sums are begun between the latents of this one: behind them, a
//! processor would not find them, as it looks no further than some hundred instructions ahead.

use super::MOST;
use super::chain::{next, scalar, unchecked};
use super::row::{BLOCK, Row, Singly, Sums};
use crate::dispatch::Work;
use crate::latent::Latent;
use std::marker::PhantomData;

/// Latents before a sum that vectors leave out.
const HELD: usize = 3;
/// Calls that are gone on with as though sums were negative, behind one where some are: what a
/// wrong guess takes is little beside these.
const WARY: usize = 32;
/// Taken off each latent of the history, so that the difference is a signed number of 32 bits, which
/// vectors multiply. Narrower ones are such as they are.
const fn centre<L: Latent>() -> i64 {
    if L::WIDTH == 32 { 1 << 31 } else { 0 }
}

/// A prediction by more than a few weights, and the latents that it is made of.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    shift: u32,
    /// The same for each sum of a block, with [`centre`] made up for in the latents that `taps` are
    /// for.
    biases: Row,
    /// `taps[i][t]` is what the i-th of the latents before a block, and then in it, counts in its t-th
    /// sum, but for the last [`HELD`] before that; of whole blocks, as which the oldest count nothing.
    taps: Vec<Row>,
    /// By distance, from 1 on.
    newest: [i64; HELD],
    order: usize,
    /// Next calls that may well have negative sums.
    wary: usize,
    /// Whole blocks whose last `order` latents are the next to hand out, less [`centre`]; then room
    /// for a call's.
    history: Vec<i32>,
}

impl Blocks {
    pub(super) fn new<L: Latent>(shift: u32, bias: i64, weights: &[i32], before: &[L]) -> Self {
        let order = weights.len();
        let weight = |distance: usize| match order.checked_sub(distance) {
            Some(i) if distance > 0 => i64::from(weights[i]),
            _ => 0,
        };
        let sum: i64 = (HELD + 1..=order).map(weight).sum();
        let span = order.next_multiple_of(BLOCK);
        let tap = |i: usize, t: usize| match (span + t).checked_sub(i) {
            Some(distance) if distance > HELD => weight(distance),
            _ => 0,
        };
        let mut history = vec![0; span - order];
        history.extend(before.iter().map(|&x| centred::<L>(x.widen().cast_signed())));
        history.resize(span + MOST.next_multiple_of(BLOCK), 0);
        Self {
            shift,
            biases: Row([bias.wrapping_add(centre::<L>().wrapping_mul(sum)); BLOCK]),
            taps: (0..span + BLOCK).map(|i| Row(std::array::from_fn(|t| tap(i, t)))).collect(),
            newest: std::array::from_fn(|i| weight(i + 1)),
            order,
            wary: 0,
            history,
        }
    }

    /// Residuals to latents, as those of [`Predictor::undo`](super::Predictor::undo).
    pub(super) fn undo<'a, L: Latent, S: Sums>(
        &'a mut self,
        latents: &'a mut [L],
    ) -> Undo<'a, L, S> {
        Undo { predictor: self, latents, sums: PhantomData }
    }
}

/// The undoing of a call's residuals.
pub(super) struct Undo<'a, L, S> {
    predictor: &'a mut Blocks,
    latents: &'a mut [L],
    sums: PhantomData<S>,
}

impl<L: Latent, S: Sums> Work for Undo<'_, L, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.predictor.order.div_ceil(BLOCK) {
            1 => self.over::<0>(),
            2 => self.over::<1>(),
            3 => self.over::<2>(),
            _ => self.over::<3>(),
        }
    }
}

impl<L: Latent, S: Sums> Undo<'_, L, S> {
    /// With weights for so many blocks, and for one more.
    #[inline(always)]
    fn over<const EARLIER: usize>(self) {
        let Undo { predictor: p, latents, .. } = self;
        let (order, span) = (p.order, (EARLIER + 1) * BLOCK);
        let is_done = S::HASTE && p.wary == 0 && p.blocks::<L, S, EARLIER, true>(latents) >= 0;
        if !is_done {
            p.wary = p.wary.checked_sub(1).unwrap_or(WARY);
            p.blocks::<L, S, EARLIER, false>(latents);
        }
        for (latent, &x) in latents.iter_mut().zip(&p.history[span - order..]) {
            *latent = L::from_low((i64::from(x) + centre::<L>()).cast_unsigned());
        }
        p.history.copy_within(latents.len()..latents.len() + span, 0);
    }
}

impl Blocks {
    /// Writes latents behind those that have weights. In haste they are wrong where what is returned
    /// is negative.
    #[inline(always)]
    fn blocks<L: Latent, S: Sums, const EARLIER: usize, const HASTY: bool>(
        &mut self,
        residuals: &[L],
    ) -> i64 {
        let Self { shift, ref biases, ref taps, newest, ref mut history, .. } = *self;
        let span = (EARLIER + 1) * BLOCK;
        let taps = &taps[..span + BLOCK];
        // SAFETY: whoever chooses `S` runs this where it is for.
        let sums = unsafe {
            let products = taps[..span - 1 - HELD].iter().zip(&*history);
            products.fold(S::new(biases), |sums, (taps, &x)| sums.plus(taps, x)).singly()
        };
        let held = |i: usize| scalar(i64::from(history[span - 1 - i]) + centre::<L>());
        let last = std::array::from_fn(held);
        let mut line = Line::<S> { shift, newest, last, sums, signs: 0 };
        for at in (0..residuals.len()).step_by(BLOCK) {
            let mut padded = [L::default(); BLOCK];
            let block = residuals[at..].first_chunk().unwrap_or_else(|| {
                let rest = &residuals[at..];
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            });
            let window = &mut history[at..at + span + BLOCK];
            line.block::<L, EARLIER, HASTY>(biases, taps, window, block);
        }
        line.signs
    }
}

/// Where the undoing stands.
struct Line<S: Sums> {
    shift: u32,
    newest: [i64; HELD],
    /// The last one first; those that are held, and the one before.
    last: [i64; HELD + 1],
    /// Those of the next block, with all that comes from before it.
    sums: S::Singly,
    /// Negative where a sum has been, in haste.
    signs: i64,
}

impl<S: Sums> Line<S> {
    /// Writes the latents of a block behind the others of a window.
    #[inline(always)]
    fn block<L: Latent, const EARLIER: usize, const HASTY: bool>(
        &mut self,
        biases: &Row,
        taps: &[Row],
        window: &mut [i32],
        residuals: &[L; BLOCK],
    ) {
        let span = (EARLIER + 1) * BLOCK;
        // The first block has no weights in the next one's sums.
        let (earlier, behind) = window[BLOCK..].split_at_mut(EARLIER * BLOCK);
        let (earlier_taps, taps) = taps[..span + BLOCK].split_at(EARLIER * BLOCK);
        // SAFETY: whoever chooses `S` runs this where it is for.
        let mut sums = unsafe { S::new(biases) };
        // As a loop, latents would go through memory.
        macro_rules! step {
            ($t:literal) => {
                let late = centred::<L>(self.last[HELD]);
                // SAFETY: as above.
                let sum = unsafe {
                    self.sums = self.sums.plus(&taps[BLOCK + $t - HELD - 1], late);
                    if let Some(i) = usize::checked_sub($t, HELD + 1) {
                        sums = sums.plus(&taps[i], late);
                    }
                    for i in $t * EARLIER..($t + 1) * EARLIER {
                        sums = sums.plus(&earlier_taps[i], earlier[i]);
                    }
                    self.sums.sum($t)
                };
                behind[$t] = centred::<L>(self.step::<L, HASTY>(sum, residuals[$t]));
            };
        }
        step!(0);
        step!(1);
        step!(2);
        step!(3);
        step!(4);
        step!(5);
        step!(6);
        step!(7);
        // SAFETY: as above.
        self.sums = unsafe { sums.singly() };
    }

    /// The next latent.
    #[inline(always)]
    fn step<L: Latent, const HASTY: bool>(&mut self, sum: i64, residual: L) -> i64 {
        let mut known = 0;
        for i in (1..HELD).rev() {
            known = scalar(self.newest[i].wrapping_mul(self.last[i]).wrapping_add(known));
        }
        let sum = scalar(sum).wrapping_add(known);
        let (weight, last) = (self.newest[0], self.last[0]);
        let new = if HASTY {
            let (new, whole) = unchecked(self.shift, sum, weight.wrapping_mul(last), residual);
            self.signs |= whole;
            new
        } else {
            next(self.shift, scalar(sum), weight.wrapping_mul(last), residual)
        };
        for i in (1..=HELD).rev() {
            self.last[i] = scalar(self.last[i - 1]);
        }
        self.last[0] = scalar(new.widen().cast_signed());
        self.last[0]
    }
}

/// A latent less [`centre`].
#[inline(always)]
fn centred<L: Latent>(x: i64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "32 bits at most")]
    let low = x as i32;
    #[expect(clippy::cast_possible_truncation, reason = "likewise")]
    let centre = centre::<L>() as i32;
    low ^ centre
}
