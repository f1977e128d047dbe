//! Many weights: some sums are begun together, with what comes from latents well before them.
//!
//! Products of one latent with as many neighbouring weights are what vectors do at once. Half of a
//! block later, the sums of its other half get what has come since. The latents of a half itself
//! are added one by one, and so are the last `HELD` before it: vectors are begun while these are
//! not there yet. The next block's sums are begun between the latents of this one: behind them,
//! a processor would not find them, as it looks no further than some hundred instructions ahead.

use super::MOST;
use super::chain::{next, scalar};
use super::row::{BLOCK, HALF, HalfRow, Row, Sums};
use crate::dispatch::Work;
use crate::latent::Latent;
use std::marker::PhantomData;

/// Latents before a half that vectors leave out.
const HELD: usize = 2;
/// Taken off each latent of the history, so that the difference is a signed number of 32 bits, which
/// vectors multiply.
const CENTRE: i64 = 1 << 31;

/// A prediction by more than a few weights, and the latents that it is made of.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    shift: u32,
    /// The same for each sum of a block, with [`CENTRE`] made up for in the latents that `taps` are
    /// for.
    biases: Row,
    /// `taps[i][t]` is what the i-th of the latents before a block counts in its t-th sum, but for
    /// the last [`HELD`]; of whole blocks, as which the oldest count nothing.
    taps: Vec<Row>,
    /// What those [`HELD`] and the ones behind them count in the sums of the second half.
    late: [HalfRow; HALF],
    /// By distance, from 1 on.
    newest: [i64; HALF + HELD - 1],
    order: usize,
    /// Whole blocks whose last `order` latents are the next to hand out, less [`CENTRE`]; then room
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
        let bias_of = |t: usize| {
            let sum: i64 = (t % HALF + 1 + HELD..=order).map(weight).sum();
            bias.wrapping_add(CENTRE.wrapping_mul(sum))
        };
        let span = order.next_multiple_of(BLOCK);
        let mut history = vec![0; span - order];
        history.extend(before.iter().map(|&x| centred(x)));
        history.resize(span + MOST.next_multiple_of(BLOCK), 0);
        Self {
            shift,
            biases: Row(std::array::from_fn(bias_of)),
            taps: (0..span - HELD)
                .map(|i| Row(std::array::from_fn(|t| weight(span - i + t))))
                .collect(),
            late: std::array::from_fn(|i| {
                HalfRow(std::array::from_fn(|t| weight(HALF + HELD - i + t)))
            }),
            newest: std::array::from_fn(|i| weight(i + 1)),
            order,
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
        // SAFETY: whoever chooses `S` runs this where it is for.
        let mut sums = unsafe {
            let products = p.taps.iter().zip(&p.history);
            products.fold(S::new(&p.biases), |sums, (taps, &x)| sums.plus(taps, x))
        };
        let held = |i: usize| scalar(i64::from(p.history[span - 1 - i]) + CENTRE);
        let mut held: [i64; HELD] = std::array::from_fn(held);
        let (blocks, rest) = latents.as_chunks();
        for (i, block) in blocks.iter().enumerate() {
            (sums, held) = p.block::<L, S, EARLIER>(i * BLOCK, sums, held, block);
        }
        if !rest.is_empty() {
            let mut block = [L::default(); BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            p.block::<L, S, EARLIER>(blocks.len() * BLOCK, sums, held, &block);
        }
        for (latent, &x) in latents.iter_mut().zip(&p.history[span - order..]) {
            *latent = L::from_low((i64::from(x) + CENTRE).cast_unsigned());
        }
        p.history.copy_within(latents.len()..latents.len() + span, 0);
    }
}

impl Blocks {
    /// Writes the latents of a block, whose sums are begun, behind all blocks from `at` on that have
    /// weights; `held` are the newest of these, the last one first. Begins the next sums, and
    /// returns them with the newest latents.
    #[inline(always)]
    fn block<L: Latent, S: Sums, const EARLIER: usize>(
        &mut self,
        at: usize,
        sums: S,
        held: [i64; HELD],
        residuals: &[L; BLOCK],
    ) -> (S, [i64; HELD]) {
        let Self { shift, ref biases, ref taps, ref late, ref newest, .. } = *self;
        let window = &mut self.history[at..at + (EARLIER + 2) * BLOCK];
        // The first block has no weights in the next one's sums.
        let (earlier, behind) = window[BLOCK..].split_at_mut(EARLIER * BLOCK);
        let (earlier_taps, taps) = taps[..(EARLIER + 1) * BLOCK - HELD].split_at(EARLIER * BLOCK);
        // SAFETY: whoever chooses `S` runs this where it is for.
        let ((first, begun), mut sums) = unsafe { (sums.halves(), S::new(biases)) };
        let mut half = Half { shift, newest, sums: first, known: [0; HELD + HALF] };
        for (x, held) in half.known.iter_mut().zip(held.iter().rev()) {
            *x = *held;
        }
        let since: [i32; HELD] =
            std::array::from_fn(|i| centred(L::from_low(half.known[i].cast_unsigned())));
        // As a loop, latents would go through memory.
        macro_rules! step {
            ($t:literal) => {
                half.step($t % HALF, residuals[$t], &mut behind[$t]);
                // SAFETY: as above.
                unsafe {
                    for i in $t * EARLIER..($t + 1) * EARLIER {
                        sums = sums.plus(&earlier_taps[i], earlier[i]);
                    }
                    if $t >= HELD {
                        sums = sums.plus(&taps[$t - HELD], behind[$t - HELD]);
                    }
                }
            };
        }
        step!(0);
        step!(1);
        step!(2);
        step!(3);
        let since = std::array::from_fn(|i| if i < HELD { since[i] } else { behind[i - HELD] });
        // SAFETY: as above.
        half.sums = unsafe { S::late(begun, late, &since) };
        half.known.copy_within(HALF.., 0);
        step!(4);
        step!(5);
        step!(6);
        step!(7);
        (sums, std::array::from_fn(|i| half.known[HELD + HALF - 1 - i]))
    }
}

/// The latents of half a block, one after the other.
struct Half<'a> {
    shift: u32,
    newest: &'a [i64; HALF + HELD - 1],
    sums: [i64; HALF],
    /// From the oldest on.
    known: [i64; HELD + HALF],
}

impl Half<'_> {
    #[inline(always)]
    fn step<L: Latent>(&mut self, t: usize, residual: L, behind: &mut i32) {
        let mut sum = self.sums[t];
        let weights = self.newest[1..HELD + t].iter().rev();
        for (x, weight) in self.known.iter().zip(weights) {
            sum = scalar(sum.wrapping_add(weight.wrapping_mul(*x)));
        }
        let product = self.newest[0].wrapping_mul(self.known[HELD + t - 1]);
        let new = next(self.shift, sum, product, residual);
        self.known[HELD + t] = scalar(new.widen().cast_signed());
        *behind = centred(L::from_low(self.known[HELD + t].cast_unsigned()));
    }
}

/// A latent less [`CENTRE`].
#[inline(always)]
fn centred<L: Latent>(x: L) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "32 bits at most")]
    let bits = x.widen() as u32;
    (bits ^ 1 << 31).cast_signed()
}
