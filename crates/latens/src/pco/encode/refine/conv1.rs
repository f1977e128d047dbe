//! Linear predictions: glanced at on a sample, decided by a larger one.

use super::{Lengths, Stretch};
use crate::number::Latent;
use crate::pco::config::Favor;
use crate::pco::delta::conv1_fit;
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::few;
use crate::pco::encode::plan::ModeLatents;
use crate::pco::encode::sample::{self, Sample};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use std::ops::Range;

/// What slow encodings must save unless size is all that matters.
const MUST_SAVE: f64 = 0.08;
/// Orders of linear predictions that are tried.
const ORDERS: [usize; 5] = [2, 4, 8, 16, 32];
/// The order that a glance tries, and of fewer numbers.
const GLANCE: usize = 16;
const GLANCE_OF_FEW: usize = 8;
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
        let glance = fits(&best.sample, &few, &[order]).pop();
        let Some(glance) = glance.map(|delta| self.bits(best, sample, &delta)) else { return };
        if glance > best.bits * lengths.conv1_promising {
            return;
        }
        let n = (all.len() / 16).clamp(sample.latents.len(), DECIDED.max(sample.latents.len()));
        let Some(stretch) = Stretch::of(all, best, sample::stripes(all.len(), n)) else { return };
        let without = self.as_it_is(best, &stretch);
        let mut with = (f64::INFINITY, DeltaPayload::None);
        for delta in fits(&stretch.latents, &stretch.sample.stripes, &ORDERS) {
            let bits = self.with(&delta, best, &stretch, without.secondary);
            with = if bits < with.0 { (bits, delta) } else { with };
        }
        let must_save = if self.config.favor == Favor::Size { 0.0 } else { MUST_SAVE };
        let gain = with.0 / without.all;
        if gain < 1.0 - must_save {
            best.take(with.1, best.bits * gain);
        }
    }
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
