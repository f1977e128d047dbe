//! Lookbacks: glanced at on one stretch of a chunk, decided by several.

use super::{Bits, Lengths, Stretch};
use crate::number::Latent;
use crate::pco::config::Favor;
use crate::pco::delta::lookback_search;
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::few;
use crate::pco::encode::plan::ModeChoice;
use crate::pco::encode::recurrence::Values;
use crate::pco::encode::rough::Cells;
use crate::pco::encode::split::PageLatents;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::logarithm::log2;
use crate::pco::mode::dict;

/// What lookbacks must save: they are slower than consecutive deltas, though not by that much.
const MUST_SAVE: f64 = 0.025;
/// The same at quick levels, as they take three to seven times as long to encode.
const QUICK_MUST_SAVE: f64 = 0.05;
/// Numbers that are glanced at for lookbacks where those are unlikely.
const SHORT_GLANCE: usize = 1 << 9;
/// So many times what linear predictions take on one stretch may lookbacks take there: elsewhere they may
/// be better, where predictions fit less well.
const PROMISING_OF_CONV1: f64 = 1.05;
/// Chunks up to this are looked at as a whole where a dictionary is best: of what repeats, a stretch has
/// seen too little.
const SHORT: usize = 1 << 14;
/// Where stretches lie, in eighths: the one that is glanced at for lookbacks, and those that decide with it.
const MIDDLE: usize = 4;
const ENDS: [usize; 2] = [1, 7];

/// Bits of a residual from which on a distance says little of values that come again.
const WIDE: f64 = 12.0;

/// How often each entry of a dictionary comes in all of a chunk. A stretch has fewer values, and by its own
/// counts it would take fewer bits to say which.
struct InAll {
    counts: Vec<u32>,
}

impl InAll {
    /// Of a candidate that has a dictionary without deltas.
    fn of<L: Latent>(candidate: &Candidate<L>) -> Option<Self> {
        let whole = candidate.whole.as_ref()?;
        let is_bare = !whole.counts.is_empty() && candidate.delta == DeltaPayload::None;
        is_bare.then(|| Self { counts: whole.counts.clone() })
    }

    /// About what the chunk would take if all of it were as the stretch is.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn bits<L: Latent>(&self, candidate: &Candidate<L>, stretch: &Stretch<L>) -> Option<f64> {
        let indices = stretch.latents.primary.indices()?;
        let n = self.counts.iter().map(|&count| f64::from(count)).sum::<f64>();
        let of = |&index: &u32| log2(f64::from(self.counts[index as usize]));
        let each = log2(n) - indices.iter().map(of).sum::<f64>() / indices.len() as f64;
        Some(candidate.mode_bits + each * n)
    }
}

/// Bits to say which of the values of some short lookbacks each is.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn entropy(lookbacks: &[u32]) -> f64 {
    let mut counts = [0u32; SHORT_GLANCE + 1];
    lookbacks.iter().for_each(|&lookback| counts[(lookback as usize).min(SHORT_GLANCE)] += 1);
    let n = lookbacks.len() as f64;
    let of = |count: f64| count * (log2(n) - log2(count));
    let taken = counts.iter().filter(|&&count| count > 0);
    taken.map(|&count| of(f64::from(count))).sum::<f64>() / n.max(1.0)
}

/// Bits of each of some few residuals by its distance from none, or of those that come again by how often they do.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn about_bits<L: Latent>(residuals: &[L]) -> f64 {
    const LOG: u32 = SHORT_GLANCE.ilog2() + 2;
    let mut cells = Cells::new();
    cells.count(residuals, L::MID);
    let all = cells.bits();
    if all < WIDE {
        return all;
    }
    let mut counts = [0u16; 1 << LOG];
    residuals.iter().for_each(|&x| counts[dict::hash(x, LOG)] += 1);
    let is_new = |x: &L| counts[dict::hash(*x, LOG)] == 1;
    let new: Vec<L> = residuals.iter().copied().filter(is_new).collect();
    if new.len() * 4 > residuals.len() * 3 {
        return all;
    }
    let mut cells = Cells::new();
    cells.count(&new, L::MID);
    let n = residuals.len() as f64;
    let of = |count: f64| if count > 0.0 { count * (log2(n) - log2(count)) } else { 0.0 };
    let again = counts.iter().filter(|&&count| count > 1);
    let again: f64 = again.map(|&count| of(f64::from(count)) + f64::from(L::BITS)).sum();
    let new = new.len() as f64;
    all.min((again + of(new) + new * cells.bits()) / n)
}

/// Lookbacks for a chunk of so many latents.
pub(crate) fn lookback(n: usize) -> DeltaPayload {
    let window_log = lookback_search::window_log(n);
    DeltaPayload::Lookback { window_log, state_log: 0, secondary: false }
}

impl Search<'_> {
    /// Whether lookbacks are tried at this level.
    pub(crate) fn tries_lookbacks(&self) -> bool {
        self.config.level > 1
    }

    /// What lookbacks must save.
    pub(crate) fn lookback_must_save(&self) -> f64 {
        match self.config.favor {
            Favor::Size => 0.0,
            _ if self.config.is_quick() => QUICK_MUST_SAVE,
            Favor::Speed | Favor::Balanced => MUST_SAVE,
        }
    }

    /// Lookbacks against the best so far, both on stretches of the chunk.
    pub(super) fn try_lookback<L: Latent>(
        &self,
        all: &[L],
        lengths: &Lengths,
        values: &Values<'_, L>,
        best: &mut Candidate<L>,
    ) {
        let is_known = best.sample.len() == all.len();
        let bits = |length: usize, eighths| {
            let stretch = Stretch::new(all, best, length, eighths)?;
            let delta = lookback(stretch.sample.latents.len());
            let pages = Self::pages(&stretch.latents, &stretch.sample, &delta);
            let is_short = (few::GLANCE..=SHORT_GLANCE).contains(&length.min(all.len()));
            if self.is_rough(all.len()) && is_short && self.is_hopeless(best, &pages) {
                return None;
            }
            let without = if is_known && length >= all.len() {
                Bits { all: best.bits, secondary: best.secondary_bits() }
            } else {
                self.as_it_is(best, &stretch)
            };
            Some((without.all, self.of_pages(&delta, best, &pages, without.secondary)))
        };
        let length = self.glance(all, lengths, values, best);
        let Some(glance) = bits(length, MIDDLE) else { return };
        let least = 1.0 - self.lookback_must_save();
        let (promising, near) = match best.delta {
            DeltaPayload::Conv1(_) => (PROMISING_OF_CONV1, PROMISING_OF_CONV1),
            _ => (lengths.promising, least),
        };
        if glance.1 > glance.0 * promising {
            return;
        }
        // Where chunks are long, one stretch may be unlike all others.
        let is_long = all.len() >= lengths.decision * ENDS.len();
        let ends = if is_long { &ENDS[..] } else { &[] };
        let middle = if length < all.len() { bits(lengths.decision, MIDDLE) } else { Some(glance) };
        let Some(middle) = middle else { return };
        if middle.1 >= middle.0 * near {
            return;
        }
        // These are shorter, and have less behind them to look back to.
        let ends = ends.iter().filter_map(|&eighths| bits(lengths.decision / 2, eighths));
        let (without, with) = ends.fold(middle, |a, b| (a.0 + b.0, a.1 + b.1));
        if with < without {
            best.take(lookback(all.len()), best.bits * f64::min(with / without, least));
        }
    }

    /// Whether few numbers take more with lookbacks than all do now on average, though neither bins nor places of
    /// lookbacks are paid for.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    #[inline(never)]
    fn is_hopeless<L: Latent>(&self, best: &Candidate<L>, pages: &[PageLatents<L>]) -> bool {
        let Some(secondary) = best.secondary_bits() else { return false };
        let about = |page: &PageLatents<L>| {
            let residuals = match &page.primary {
                Primary::Latents(stored) => about_bits(&stored.latents),
                Primary::Indices(stored) => about_bits(&stored.latents),
            };
            residuals + page.delta.as_ref().map_or(0.0, |lookbacks| entropy(&lookbacks.latents))
        };
        let now = (best.bits - best.mode_bits - secondary) / self.n as f64;
        pages.iter().all(|page| about(page) > now)
    }

    /// How many numbers are glanced at for lookbacks.
    fn glance<L: Latent>(
        &self,
        all: &[L],
        lengths: &Lengths,
        values: &Values<'_, L>,
        best: &Candidate<L>,
    ) -> usize {
        let is_thorough = self.config.favor == Favor::Size || self.config.level >= 10;
        let least = if self.config.is_quick() { few::QUICK_LEAST } else { few::LEAST };
        if !is_thorough
            && (least..=few::MOST).contains(&all.len())
            && few::is_unlikely(all, values.distinct, best.bits)
        {
            few::GLANCE
        } else if !is_thorough && self.is_short_glance(values, best) {
            SHORT_GLANCE
        } else {
            lengths.glance
        }
    }

    /// Whether lookbacks are so unlikely that few numbers are glanced at. Beside linear predictions, longer glances
    /// take little time.
    fn is_short_glance<L: Latent>(&self, values: &Values<'_, L>, best: &Candidate<L>) -> bool {
        if self.config.is_quick() {
            !values.recurrence().is_likely(self.bits_each(best))
        } else {
            !matches!(best.delta, DeltaPayload::Conv1(_)) && values.recurrence().is_rare()
        }
    }

    /// Lookbacks with other modes than the best, which may well hide what they save.
    pub(crate) fn try_lookback_of_modes<L: Latent>(
        &self,
        all: &[L],
        others: impl Iterator<Item = Candidate<L>>,
        best: &mut Candidate<L>,
    ) {
        let Some(lengths) = Lengths::new(all.len(), self.config) else { return };
        let least = 1.0 - self.lookback_must_save();
        let is_dict = matches!(best.mode, ModeChoice::Dict { .. });
        let most: &[_] = if all.len() <= SHORT && is_dict {
            &[(all.len(), least)]
        } else {
            &[(lengths.glance, lengths.promising), (lengths.decision, least)]
        };
        let mut in_all = InAll::of(best);
        'others: for mut other in others {
            let mut gain = 1.0;
            for &(length, most) in most {
                let with = Stretch::new(all, &other, length, MIDDLE);
                let without = Stretch::new(all, best, length, MIDDLE);
                let (Some(with), Some(without)) = (with, without) else { continue 'others };
                let bits = in_all.as_ref().and_then(|in_all| in_all.bits(best, &without));
                let bits = bits.unwrap_or_else(|| self.as_it_is(best, &without).all);
                gain = self.with_lookback(&other, &with, length, None) / bits;
                if gain >= most {
                    continue 'others;
                }
            }
            other.take(lookback(all.len()), best.bits * gain);
            *best = other;
            in_all = None;
        }
    }

    /// Bits of the chunk with lookbacks, by those of a stretch.
    fn with_lookback<L: Latent>(
        &self,
        candidate: &Candidate<L>,
        stretch: &Stretch<L>,
        length: usize,
        secondary: Option<f64>,
    ) -> f64 {
        let delta = lookback(length.min(stretch.sample.latents.len()));
        self.with(&delta, candidate, stretch, secondary)
    }
}
