//! Linear predictions: glanced at on a sample, decided by a larger one.

use super::{Bits, Lengths, Stretch};
use crate::number::Latent;
use crate::pco::config::Favor;
use crate::pco::delta::conv1_fit::{self, Fit};
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::few;
use crate::pco::encode::plan::ModeLatents;
use crate::pco::encode::rough::Cells;
use crate::pco::encode::sample::{self, Sample};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use latens_kernels::dispatch::Present;
use std::ops::Range;

/// Orders of linear predictions that are tried.
const ORDERS: [usize; 5] = [2, 4, 8, 16, 32];
/// The order that a glance tries, and of fewer numbers.
const GLANCE: usize = 16;
const GLANCE_OF_FEW: usize = 8;
/// So many times the best they may roughly take at quick levels.
const ROUGHLY: f64 = 0.95;
/// Numbers that linear predictions are glanced at and decided by, at most.
const GLANCED: usize = 1 << 13;
const DECIDED: usize = 1 << 14;

impl Search<'_> {
    /// Linear predictions against the best so far, glanced at on the sample and decided by a larger one.
    pub(super) fn try_conv1<L: Latent>(
        &self,
        all: &[L],
        sample: &Sample<L>,
        lengths: &Lengths,
        best: &mut Candidate<L>,
    ) {
        let is_wide = best.sample.primary.latents().is_some() && L::BITS > 32;
        if is_wide || self.config.favor == Favor::Speed {
            return;
        }
        let every = if sample.latents.len() > GLANCED { 2 } else { 1 };
        let few: Vec<Range<usize>> = sample.stripes.iter().step_by(every).cloned().collect();
        let order = if all.len() < few::MOST { GLANCE_OF_FEW } else { GLANCE };
        let fit = match &best.sample.primary {
            Primary::Latents(primary) => Fit::new(primary, &few, order),
            Primary::Indices(indices) => Fit::new(indices, &few, order),
        };
        if self.is_rough(all.len())
            && let Some(secondary) = best.secondary_bits()
        {
            let rough = about_bits(&fit, order) * all.len() as f64;
            let promising = if self.config.is_quick() { ROUGHLY } else { lengths.conv1_promising };
            if best.mode_bits + secondary + rough > best.bits * promising {
                return;
            }
        }
        let delta = match &best.sample.primary {
            Primary::Latents(_) => fit.quantized::<L>(order),
            Primary::Indices(_) => fit.quantized::<u32>(order),
        };
        let glance = self.bits(best, sample, &DeltaPayload::Conv1(delta));
        if glance > best.bits * lengths.conv1_promising {
            return;
        }
        let n = (all.len() / 16).clamp(sample.latents.len(), DECIDED.max(sample.latents.len()));
        let Some(stretch) = Stretch::of(all, best, sample::stripes(all.len(), n)) else { return };
        let without = if self.is_all(sample) {
            Bits { all: best.bits, secondary: best.secondary_bits() }
        } else {
            self.as_it_is(best, &stretch)
        };
        let mut with = (f64::INFINITY, DeltaPayload::None);
        for delta in fits(&stretch.latents, &stretch.sample.stripes, &ORDERS) {
            let bits = self.with(&delta, best, &stretch, without.secondary);
            with = if bits < with.0 { (bits, delta) } else { with };
        }
        let gain = with.0 / without.all;
        if gain < 1.0 - self.slow_must_save() {
            best.take(with.1, best.bits * gain);
        }
    }
}

/// About how many bits a latent takes with a linear prediction, of which nothing is rounded but what is left.
fn about_bits(fit: &Fit, order: usize) -> f64 {
    /// Latents that are predicted together.
    const BLOCK: usize = 64;
    /// Behind it whole numbers are the low bits of a double.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let weights = fit.weights(order);
    let mut cells = Cells::new();
    Present::in_use().call(
        #[inline(always)]
        || {
            let mut residuals = [0u32; BLOCK];
            for xs in &fit.stripes {
                for start in (order..xs.len()).step_by(BLOCK) {
                    let mut left = [0.0; BLOCK];
                    let n = BLOCK.min(xs.len() - start);
                    left[..n].copy_from_slice(&xs[start..start + n]);
                    for (j, weight) in weights.iter().enumerate() {
                        let before = &xs[start - order + j..][..n];
                        left.iter_mut().zip(before).for_each(|(left, x)| *left -= weight * x);
                    }
                    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
                    let whole = |left: f64| (left + ROUND).to_bits() as u32;
                    residuals.iter_mut().zip(left).for_each(|(to, left)| *to = whole(left));
                    cells.count(&residuals[..n], 0);
                }
            }
        },
    );
    cells.bits()
}

/// Linear predictions of some orders, fitted to stripes of latents.
fn fits<L: Latent>(
    latents: &ModeLatents<L>,
    stripes: &[Range<usize>],
    orders: &[usize],
) -> Vec<DeltaPayload> {
    let fits = match &latents.primary {
        Primary::Latents(primary) => conv1_fit::fits(primary, stripes, orders),
        Primary::Indices(indices) => conv1_fit::fits(indices, stripes, orders),
    };
    fits.into_iter().map(DeltaPayload::Conv1).collect()
}
