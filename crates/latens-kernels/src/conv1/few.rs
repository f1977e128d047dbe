//! Few weights: one latent after the other.

use super::chain::{hasty, next, scalar, unchecked};
use super::{FEW, Predictor};
use crate::dispatch::Work;
use crate::latent::Latent;

/// Latents that are gone on with as though sums were negative, behind one that is: what a wrong
/// guess takes is little beside these.
const WARY: usize = 128;

/// The undoing of a call's residuals.
pub(super) struct Few<'a, L> {
    pub(super) predictor: &'a mut Predictor,
    pub(super) latents: &'a mut [L],
}

impl<L: Latent> Work for Few<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.predictor.order {
            1 => self.of::<1>(),
            2 => self.of::<2>(),
            3 => self.of::<3>(),
            _ => self.of::<FEW>(),
        }
    }
}

impl<L: Latent> Few<'_, L> {
    #[inline(always)]
    fn of<const ORDER: usize>(self) {
        let Few { predictor: p, latents } = self;
        let mut history = History::<ORDER> {
            shift: p.shift,
            bias: p.bias,
            weights: std::array::from_fn(|i| p.newest[i]),
            before: std::array::from_fn(|i| p.before[i]),
        };
        let mut rest = latents;
        loop {
            let (wary, behind) = rest.split_at_mut(p.wary.min(rest.len()));
            p.wary -= wary.len();
            history.warily(wary);
            let n = history.hastily(behind);
            if n == behind.len() {
                break;
            }
            rest = &mut behind[n..];
            p.wary = WARY;
        }
        p.before[..ORDER].copy_from_slice(&history.before);
    }
}

/// What predicts, and the latents that it is made of; by distance, from 1 on.
struct History<const ORDER: usize> {
    shift: u32,
    bias: i64,
    weights: [i64; ORDER],
    before: [i64; ORDER],
}

impl<const ORDER: usize> History<ORDER> {
    /// The sum but for the product of what came last.
    #[inline(always)]
    fn sum(&self) -> i64 {
        let mut sum = self.bias;
        for i in (1..ORDER).rev() {
            let product = scalar(self.weights[i].wrapping_mul(self.before[i]));
            sum = scalar(sum.wrapping_add(product));
        }
        sum
    }

    /// The oldest one for a new one.
    #[inline(always)]
    fn push<L: Latent>(&mut self, new: L) -> L {
        let oldest = L::from_low(self.before[ORDER - 1].cast_unsigned());
        for i in (1..ORDER).rev() {
            self.before[i] = scalar(self.before[i - 1]);
        }
        self.before[0] = scalar(new.widen().cast_signed());
        oldest
    }

    #[inline(always)]
    fn warily<L: Latent>(&mut self, latents: &mut [L]) {
        for x in latents {
            let product = self.weights[0].wrapping_mul(self.before[0]);
            let new = next(self.shift, self.sum(), product, *x);
            *x = self.push(new);
        }
    }

    /// Up to the first one whose sum is negative; how many.
    #[inline(always)]
    fn hastily<L: Latent>(&mut self, latents: &mut [L]) -> usize {
        for (i, x) in latents.iter_mut().enumerate() {
            let (sum, last) = (self.sum(), self.before[0]);
            let weight = self.weights[0];
            let (new, whole) = match L::WIDTH {
                // Cutting off their width takes no step, and the sum needs no product of its own.
                32 => unchecked(self.shift, sum, scalar(weight.wrapping_mul(last)), *x),
                _ => hasty(self.shift, sum, weight, last, *x),
            };
            if whole < 0 {
                return i;
            }
            *x = self.push(new);
        }
        latents.len()
    }
}
