//! What only the whole chunk shows, weighed on all of it.

use crate::number::Latent;
use crate::pco::binning::ranked::Ranked;
use crate::pco::binning::{self, Effort};
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::plan::{ModeChoice, ModeLatents};
use crate::pco::encode::refine::lookback;
use crate::pco::encode::whole::Whole;
use crate::pco::layout::delta::DeltaPayload;
use crate::spare;

/// Bits a number of linear predictions that are right nearly always.
const FORETOLD: f64 = 0.25;
/// Longer chunks would take more memory than they may.
const FORETOLD_MOST: usize = 1 << 18;

/// Whether a linear prediction is right so often that numbers may well be the same again and again.
pub(super) fn is_foretold<L>(candidate: &Candidate<L>, n: usize, bits: f64) -> bool {
    matches!(candidate.delta, DeltaPayload::Conv1(_)) && bits < FORETOLD && n <= FORETOLD_MOST
}

impl Search<'_> {
    /// At high levels, whose many bins are nearly a dictionary themselves, the bits of the whole
    /// chunk with and without one.
    pub(super) fn weigh_in_full<L: Latent>(
        &self,
        all: &[L],
        dict: &mut Candidate<L>,
        plain: &mut Candidate<L>,
    ) {
        let is_bare = plain.mode == ModeChoice::Classic
            && [&*dict, plain].iter().all(|c| c.delta == DeltaPayload::None);
        let indices = dict.whole.as_ref().and_then(|whole| whole.primary.indices());
        if let (10.., true, Some(indices)) = (self.config.level, is_bare, indices) {
            let effort = Effort::of_level(self.config.level);
            plain.bits = binning::estimate_bits(&Ranked::of(all.to_vec()), self.n, effort);
            let indices = Ranked::of(indices.clone());
            dict.bits = dict.mode_bits + binning::estimate_bits(&indices, self.n, effort);
        }
    }

    /// Lookbacks on the whole chunk, with the best mode so far and without its dictionary: where
    /// latents repeat, they are stored about once either way, which no stretch shows.
    pub(super) fn repeats_in_full<L: Latent>(
        &self,
        all: &[L],
        mut best: Candidate<L>,
        plain: Option<Candidate<L>>,
    ) -> Candidate<L> {
        let delta = lookback(all.len());
        let of = |candidate: &Candidate<L>| {
            let split = match &candidate.whole {
                Some(whole) => whole.without_dict(),
                None => ModeLatents::split(spare::copy(all), candidate.mode)?,
            };
            let whole = Whole::new(split, &delta, None, self.effort);
            Some((candidate.mode_bits + whole.bits, whole.lookbacks))
        };
        if let Some((bits, lookbacks)) = of(&best)
            && (bits < best.bits * (1.0 - self.lookback_must_save())
                || matches!(best.delta, DeltaPayload::Lookback { .. }))
        {
            best.take(delta.clone(), bits);
            best.lookbacks = lookbacks;
        }
        if let Some(mut plain) = plain
            && let Some((bits, lookbacks)) = of(&plain)
            && bits < best.bits * (1.0 - self.lookback_must_save())
        {
            plain.take(delta, bits);
            plain.lookbacks = lookbacks;
            best = plain;
        }
        best
    }
}
