//! A mode with a delta encoding, and about how many bits a chunk takes with them.

use crate::number::Latent;
use crate::pco::binning::{self, Effort};
use crate::pco::config::Config;
use crate::pco::encode::plan::{ModeChoice, ModeLatents};
use crate::pco::encode::rough;
use crate::pco::encode::sample::Sample;
use crate::pco::encode::split::{self, PageLatents, Stored};
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
        self.delta = delta;
        self.lookbacks = None;
        self.bits = bits;
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
        let secondary = split.secondary.as_ref().map_or(0.0, |s| self.variable_bits(&[s], 0));
        let is_exact = split.secondary.as_ref().is_some_and(|s| s.iter().all(|x| *x == s[0]));
        let rest = mode_bits + secondary;
        if rest > bound {
            return None;
        }
        let (none, by_order) = match &split.primary {
            Primary::Indices(indices) => {
                (self.variable_bits(&[indices], 0), self.by_order(indices, sample))
            }
            Primary::Latents(primary) => {
                // Modes keep the order, so that nothing is sorted twice.
                let sorted = ModeLatents::split(sorted.to_vec(), mode)?;
                let none = match sorted.primary {
                    Primary::Latents(sorted) if sorted.is_sorted() => {
                        binning::estimate_sorted(&sorted, self.n, self.effort)
                    }
                    _ => self.variable_bits(&[primary], 0),
                };
                (none, self.by_order(primary, sample))
            }
        };
        Some(Candidate {
            mode,
            mode_bits,
            sample: split,
            whole,
            delta: DeltaPayload::None,
            lookbacks: None,
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
            let primary = match &candidate.sample.primary {
                Primary::Latents(primary) => self.primary_bits(primary, sample, &delta),
                Primary::Indices(indices) => self.primary_bits(indices, sample, &delta),
            };
            if candidate.rest + primary < candidate.bits {
                candidate.take(delta, candidate.rest + primary);
            }
        }
    }

    fn primary_bits<V: Latent, L: Latent>(
        &self,
        primary: &[V],
        sample: &Sample<L>,
        delta: &DeltaPayload,
    ) -> f64 {
        let stored: Vec<Stored<V>> = sample
            .stripes
            .iter()
            .map(|range| split::apply(primary[range.clone()].to_vec(), delta, &[]))
            .collect();
        let parts: Vec<&[V]> = stored.iter().map(|s| s.latents.as_slice()).collect();
        self.variable_bits(&parts, delta.state_n())
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

    /// What a sample's stripes store.
    pub(crate) fn pages<L: Latent>(
        latents: &ModeLatents<L>,
        sample: &Sample<L>,
        delta: &DeltaPayload,
    ) -> Vec<PageLatents<L>> {
        sample.stripes.iter().map(|range| split::page(latents, delta, range.clone())).collect()
    }

    /// Bits of the chunk's delta and primary variables, and of the delta encoding.
    pub(crate) fn bits_but_secondary<L: Latent>(
        &self,
        pages: &[PageLatents<L>],
        delta: &DeltaPayload,
    ) -> f64 {
        let state_n = delta.state_n();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let meta = delta.written_bits() as f64;
        let primary = slices(pages, |p| p.primary.latents());
        let indices = slices(pages, |p| p.primary.indices());
        let primary = if indices.is_empty() {
            self.variable_bits(&primary, state_n)
        } else {
            self.variable_bits(&indices, state_n)
        };
        meta + primary + self.variable_bits(&slices(pages, |p| p.delta.as_ref()), 0)
    }

    /// Bits of the chunk's secondary variable.
    pub(crate) fn secondary_bits<L: Latent>(
        &self,
        pages: &[PageLatents<L>],
        delta: &DeltaPayload,
    ) -> f64 {
        let state_n = if delta.covers_secondary() { delta.state_n() } else { 0 };
        self.variable_bits(&slices(pages, |p| p.secondary.as_ref()), state_n)
    }

    /// Bits of one variable of the chunk, by what a sample stores of it.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn variable_bits<V: Latent>(&self, parts: &[&[V]], state_n: usize) -> f64 {
        let stored = self.n.saturating_sub(state_n);
        let state_bits = (state_n * V::BITS as usize) as f64;
        state_bits + binning::estimate_bits(&mut parts.concat(), stored, self.effort)
    }
}

/// One variable of some pages.
fn slices<'a, L: Latent, V: Latent>(
    pages: &'a [PageLatents<L>],
    pick: impl Fn(&'a PageLatents<L>) -> Option<&'a Stored<V>> + 'a,
) -> Vec<&'a [V]> {
    pages.iter().filter_map(pick).map(|stored| stored.latents.as_slice()).collect()
}
