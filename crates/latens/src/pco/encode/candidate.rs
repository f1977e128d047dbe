//! A mode with a delta encoding, and about how many bits a chunk takes with them.

use crate::number::Latent;
use crate::pco::binning::Effort;
use crate::pco::binning::ranked::Ranked;
use crate::pco::config::{Config, Favor};
use crate::pco::dense;
use crate::pco::encode::few;
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Ranks};
use crate::pco::encode::rough;
use crate::pco::encode::sample::Sample;
use crate::pco::encode::split;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::{DeltaPayload, MAX_CONSECUTIVE_ORDER};

/// Rivals take no more than this times the best, as far as a sample says.
const CLOSE: f64 = 1.05;

/// Of samples from this length on, every other stripe tells the orders of deltas apart.
const LONG: usize = 1 << 13;

/// A mode with the best delta encoding that a sample found for it.
#[derive(Clone, Debug)]
pub(crate) struct Rival<L> {
    pub(crate) bits: f64,
    pub(crate) mode: ModeChoice<L>,
    pub(crate) delta: DeltaPayload,
}

/// A mode with its best delta encoding so far.
pub(crate) struct Candidate<L> {
    pub(crate) mode: ModeChoice<L>,
    /// Bits of the mode's payload.
    pub(crate) mode_bits: f64,
    /// The sample split by the mode.
    pub(crate) sample: ModeLatents<L>,
    /// The whole chunk split by the mode, where that had to be done.
    pub(crate) whole: Option<ModeLatents<L>>,
    pub(crate) delta: DeltaPayload,
    /// Those of all latents, where they had to be found.
    pub(crate) lookbacks: Option<Vec<u32>>,
    /// What the sample stores by order; of a primary variable, where a delta encoding was measured by it.
    pub(crate) ranks: Ranks<L>,
    /// About what the chunk takes.
    pub(crate) bits: f64,
    /// Bits of mode and secondary variable.
    rest: f64,
    /// What the chunk roughly takes with consecutive deltas, by order from 1.
    by_order: Vec<f64>,
    /// The part of the bits that counts against other modes.
    unseen: f64,
}

/// Where all of a sample are multiples, so are probably those that it has not seen. They cost less
/// as multiples, which the sample does not show.
const UNSEEN: f64 = 0.02;

impl<L: Latent> Candidate<L> {
    pub(crate) fn better(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.bits * b.unseen < a.bits * a.unseen { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    pub(crate) fn take(&mut self, delta: DeltaPayload, bits: f64) {
        if self.delta.covers_secondary() || delta.covers_secondary() {
            self.ranks.secondary = None;
        }
        self.ranks.primary = None;
        self.delta = delta;
        self.lookbacks = None;
        self.bits = bits;
    }

    /// Another mode, by which the whole chunk is split; what is known of both variables by order was of the mode before.
    pub(crate) fn take_mode(&mut self, mode: ModeChoice<L>, mode_bits: f64, whole: ModeLatents<L>) {
        (self.mode, self.mode_bits, self.whole) = (mode, mode_bits, Some(whole));
        self.ranks = Ranks::NONE;
    }

    /// Bits of the secondary variable, where no delta encoding covers it.
    pub(crate) fn secondary_bits(&self) -> Option<f64> {
        (!self.delta.covers_secondary()).then_some(self.rest - self.mode_bits)
    }

    /// What the chunk roughly takes with the best consecutive deltas.
    pub(crate) fn rough(&self) -> f64 {
        self.by_order.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Orders of consecutive deltas that roughly take hardly more than the best of them.
    pub(crate) fn orders(&self) -> Vec<u32> {
        let most = self.rough() * 1.02;
        (1..).zip(&self.by_order).filter(|&(_, &bits)| bits <= most).map(|(o, _)| o).collect()
    }

    /// What is left of it beside the best.
    fn rival(&self) -> Rival<L> {
        Rival { bits: self.bits * self.unseen, mode: self.mode, delta: self.delta.clone() }
    }

    /// Those of some that are close to the best of them.
    pub(crate) fn rivals(candidates: &[Self]) -> Vec<Rival<L>> {
        let least = candidates.iter().map(|c| c.bits * c.unseen).fold(f64::INFINITY, f64::min);
        let is_close = |rival: &Rival<L>| rival.bits <= least * CLOSE;
        candidates.iter().map(Self::rival).filter(is_close).collect()
    }
}

/// What all estimates for a chunk share.
pub(crate) struct Search<'a> {
    pub(crate) config: &'a Config,
    pub(crate) effort: Effort,
    /// Numbers in the chunk.
    pub(crate) n: usize,
}

impl Search<'_> {
    /// A mode without delta encoding; `None` where it does not apply, or where what is beside the
    /// primary variable takes more bits than `bound`. `sorted` is the sample in ascending order.
    pub(crate) fn candidate<L: Latent>(
        &self,
        all: &[L],
        sample: &Sample<L>,
        sorted: &[L],
        mode: ModeChoice<L>,
        bound: f64,
    ) -> Option<Candidate<L>> {
        let whole = match mode {
            // The dictionary is that of the whole chunk.
            ModeChoice::Dict { most, order } => Some(ModeLatents::dict(all, most, order)?),
            _ => None,
        };
        self.candidate_of(whole, sample, sorted, mode, bound)
    }

    /// The same where the whole chunk is split already.
    pub(crate) fn candidate_of<L: Latent>(
        &self,
        whole: Option<ModeLatents<L>>,
        sample: &Sample<L>,
        sorted: &[L],
        mode: ModeChoice<L>,
        bound: f64,
    ) -> Option<Candidate<L>> {
        let split = match &whole {
            Some(whole) => whole.gather(&sample.ranges),
            None => ModeLatents::split(sample.latents.clone(), mode)?,
        };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let mode_bits = whole.as_ref().map_or(&split, |w| w).mode.written_bits() as f64;
        let secondary = split.secondary.as_ref().map(|s| Ranked::of(s.clone()));
        let is_exact = split.secondary.as_ref().is_some_and(|s| s.iter().all(|x| *x == s[0]));
        let rest = mode_bits + secondary.as_ref().map_or(0.0, |s| self.ranked_bits(s, 0));
        if rest > bound {
            return None;
        }
        let (none, by_order, primary) = match &split.primary {
            Primary::Indices(indices) => {
                let ranked = Ranked::of(indices.clone());
                let none = self.ranked_bits(&ranked, 0);
                (none, self.by_order(indices, sample), Primary::Indices(ranked))
            }
            Primary::Latents(primary) => {
                let ranked = ranked_of(primary, sorted, mode)?;
                let none = self.ranked_bits(&ranked, 0);
                (none, self.by_order(primary, sample), Primary::Latents(ranked))
            }
        };
        Some(Candidate {
            mode,
            mode_bits,
            sample: split,
            whole,
            delta: DeltaPayload::None,
            lookbacks: None,
            ranks: Ranks { primary: Some(primary), secondary },
            bits: rest + none,
            rest,
            by_order: by_order.into_iter().map(|bits| rest + bits).collect(),
            unseen: if is_exact { 1.0 - UNSEEN } else { 1.0 },
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn by_order<V: Latent, L: Latent>(&self, primary: &[V], sample: &Sample<L>) -> Vec<f64> {
        let every = if primary.len() >= LONG { 2 } else { 1 };
        let stripes: Vec<_> = sample.stripes.iter().step_by(every).cloned().collect();
        rough::bits_by_order(primary, &stripes, MAX_CONSECUTIVE_ORDER)
            .into_iter()
            .map(|bits| bits * self.n as f64)
            .collect()
    }

    /// Measures the orders of consecutive deltas that may be best, and takes the best one if it
    /// is better than what the candidate has.
    pub(crate) fn consecutive<L: Latent>(
        &self,
        sample: &Sample<L>,
        candidate: &mut Candidate<L>,
        within: f64,
    ) {
        let least = candidate.rough();
        for (order, rough) in (1..).zip(candidate.by_order.clone()) {
            if rough > least * within {
                continue;
            }
            let delta = DeltaPayload::Consecutive { order, secondary: false };
            let (primary, ranks) = match &candidate.sample.primary {
                Primary::Latents(primary) => {
                    let (bits, ranked) = self.variable_with(primary, sample, &delta);
                    (bits, Primary::Latents(ranked))
                }
                Primary::Indices(indices) => {
                    let (bits, ranked) = self.variable_with(indices, sample, &delta);
                    (bits, Primary::Indices(ranked))
                }
            };
            if candidate.rest + primary < candidate.bits {
                candidate.take(delta, candidate.rest + primary);
                candidate.ranks.primary = Some(ranks);
            }
        }
    }

    /// Bits of one variable with a delta encoding that needs no search.
    pub(crate) fn variable_with<V: Latent, L: Latent>(
        &self,
        primary: &[V],
        sample: &Sample<L>,
        delta: &DeltaPayload,
    ) -> (f64, Ranked<V>) {
        let mut all = Vec::with_capacity(primary.len());
        for range in &sample.stripes {
            let mut stored = split::apply(primary[range.clone()].to_vec(), delta, &[]);
            all.append(&mut stored.latents);
        }
        let ranked = Ranked::of(all);
        (self.ranked_bits(&ranked, delta.state_n()), ranked)
    }

    /// About how many bits a number takes.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn bits_each<L>(&self, candidate: &Candidate<L>) -> f64 {
        candidate.bits / self.n.max(1) as f64
    }

    /// Bits of the chunk with a candidate's mode and a delta encoding.
    pub(crate) fn bits<L: Latent>(
        &self,
        candidate: &Candidate<L>,
        sample: &Sample<L>,
        delta: &DeltaPayload,
    ) -> f64 {
        let pages = Self::pages(&candidate.sample, sample, delta);
        let bits = self.bits_but_secondary(&pages, delta);
        if delta.covers_secondary() {
            candidate.mode_bits + bits + self.secondary_bits(&pages, delta)
        } else {
            candidate.rest + bits
        }
    }

    /// Whether so few numbers are searched roughly.
    pub(crate) fn is_rough(&self, n: usize) -> bool {
        n <= few::MOST && self.config.level < 10 && self.config.favor != Favor::Size
    }

    /// Whether a sample is all of the chunk, so that what it stores is what is stored.
    pub(crate) fn is_all<L: Latent>(&self, sample: &Sample<L>) -> bool {
        sample.stripes.len() == 1 && sample.latents.len() == self.n
    }
}

/// What a mode makes of a sample by order: modes keep the order, so that nothing is sorted twice; but for
/// trends, which are other ones where numbers come in another order.
fn ranked_of<L: Latent>(primary: &[L], sorted: &[L], mode: ModeChoice<L>) -> Option<Ranked<L>> {
    if let Some(counted) = dense::bounds(primary).and_then(|ends| Ranked::counted(primary, ends)) {
        return Some(counted);
    }
    if matches!(mode, ModeChoice::Trend(_)) {
        return Some(Ranked::of(primary.to_vec()));
    }
    Some(match ModeLatents::split(sorted.to_vec(), mode)?.primary {
        Primary::Latents(sorted) if sorted.is_sorted() => Ranked::Sorted(sorted),
        _ => Ranked::of(primary.to_vec()),
    })
}
