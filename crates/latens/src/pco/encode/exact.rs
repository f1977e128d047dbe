//! The plan that takes the fewest bits for a whole chunk: what a sample put first against what it
//! put close behind, each with bins for all that it would store.
//!
//! For those who favour size. Samples decide wrongly where candidates differ by less than a hundredth,
//! and cannot tell how far a linear prediction should go.

use crate::number::Latent;
use crate::pco::binning::Effort;
use crate::pco::delta::{conv1_close, lookback_parse};
use crate::pco::encode::candidate::{Candidate, Rival};
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, Ranks};
use crate::pco::encode::whole::Whole;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::{DeltaPayload, MAX_CONV1_ORDER};
use crate::pco::mode::{dict, trend};

/// Rivals are tried with linear predictions up to this times the best: those may well save so much.
const PREDICTED: f64 = 1.12;
/// Rivals that are measured, at most.
const RIVALS: usize = 2;

/// Orders of linear predictions that are measured.
const ORDERS: [usize; 7] = [2, 4, 8, 12, 16, 24, MAX_CONV1_ORDER];

/// What has been measured so far.
struct Trial<L> {
    effort: Effort,
    bits: f64,
    best: Option<(ModeChoice<L>, DeltaPayload, Option<Vec<u32>>)>,
}

/// The best plan for all latents; `None` where the best candidate's mode does not apply to them.
pub(crate) fn decide<L: Latent>(
    latents: Vec<L>,
    best: Candidate<L>,
    mut rivals: Vec<Rival<L>>,
    has_trends: bool,
    level: u32,
) -> Option<Plan<L>> {
    let mut trial = Trial { effort: Effort::of_level(level), bits: f64::INFINITY, best: None };
    let orders = best.orders();
    let (mode, delta) = (best.mode, best.delta);
    let split = match best.whole {
        Some(whole) => whole,
        None => ModeLatents::split(latents.clone(), mode)?,
    };
    let mut deltas = vec![DeltaPayload::None];
    deltas.extend(
        orders.into_iter().map(|order| DeltaPayload::Consecutive { order, secondary: false }),
    );
    if let DeltaPayload::Consecutive { order, .. } = delta
        && split.secondary.is_some()
    {
        deltas.push(DeltaPayload::Consecutive { order, secondary: true });
    }
    if let DeltaPayload::Lookback { window_log, state_log, .. } = delta
        && split.secondary.is_some()
    {
        deltas.push(DeltaPayload::Lookback { window_log, state_log, secondary: true });
    }
    if L::BITS <= 32 {
        trial.predictions(&split, mode);
        // Weights of wider indices are not cut short by what would overflow.
        let wide = ModeChoice::Dict { most: 1 << 8, order: dict::Order::Value };
        if L::BITS == 8
            && matches!(delta, DeltaPayload::Conv1(_))
            && let Some(split) = ModeLatents::split(latents.clone(), wide)
        {
            trial.predictions(&split, wide);
        }
    }
    let delta_before = delta.clone();
    if !deltas.contains(&delta) {
        deltas.push(delta);
    }
    for delta in deltas {
        trial.weigh(&split, mode, delta);
    }
    if let Some((delta, lookbacks)) = parsed(&split, &delta_before, trial.effort) {
        trial.weigh_with(&split, mode, delta, Some(lookbacks));
    }
    if has_trends {
        trial.trends(&latents, units(mode, &rivals));
    }
    rivals.retain(|rival| rival.mode != mode);
    rivals.sort_unstable_by(|a, b| a.bits.total_cmp(&b.bits));
    for rival in rivals.into_iter().take(RIVALS) {
        if let Some(split) = ModeLatents::split(latents.clone(), rival.mode) {
            let bits = trial.weigh(&split, rival.mode, rival.delta);
            // The sample's best was tried with linear predictions, this one was not.
            if L::BITS <= 32 && bits < trial.bits * PREDICTED {
                trial.predictions(&split, rival.mode);
            }
        }
    }
    let (chosen, delta, lookbacks) = trial.best?;
    let latents = if chosen == mode { split } else { ModeLatents::split(latents, chosen)? };
    Some(Plan { latents, delta, lookbacks, ranks: Ranks::NONE })
}

/// What numbers may be multiples of.
fn units<L: Latent>(mode: ModeChoice<L>, rivals: &[Rival<L>]) -> Vec<L> {
    let modes = std::iter::once(mode).chain(rivals.iter().map(|rival| rival.mode));
    let mut units: Vec<L> = modes
        .filter_map(|mode| if let ModeChoice::IntMult(base) = mode { Some(base) } else { None })
        .collect();
    if units.is_empty() {
        units.push(L::ONE);
    }
    units.sort_unstable();
    units.dedup();
    units
}

/// Shorter chunks have lookbacks only where the quick search finds them.
const LONG: usize = 1 << 16;
/// Numbers of stretches that tell whether lookbacks are worth choosing for all, and how many times
/// the bits of the best other encoding they may take there.
const STRETCHES: [(usize, f64); 2] = [(1 << 12, 1.03), (1 << 15, 1.01)];

/// Lookbacks chosen by cost, where they may win against `other`.
fn parsed<L: Latent>(
    latents: &ModeLatents<L>,
    other: &DeltaPayload,
    effort: Effort,
) -> Option<(DeltaPayload, Vec<u32>)> {
    let parse = |latents: &ModeLatents<L>| {
        let window_log = lookback_parse::window_log(latents.len());
        let lookbacks = match &latents.primary {
            Primary::Latents(primary) => lookback_parse::parse(primary, window_log),
            Primary::Indices(indices) => lookback_parse::parse(indices, window_log),
        };
        (DeltaPayload::Lookback { window_log, state_log: 0, secondary: false }, lookbacks)
    };
    let trial = Trial::<L> { effort, bits: 0.0, best: None };
    let is_promising = |&(n, times): &(usize, f64)| {
        let start = latents.len().saturating_sub(n) / 2;
        let range = start..latents.len().min(start + n);
        let stretch = latents.gather(std::slice::from_ref(&range));
        let (delta, lookbacks) = parse(&stretch);
        let with = trial.measured(&stretch, &delta, Some(lookbacks));
        with.bits < trial.measured(&stretch, other, None).bits * times
    };
    let is_promising = matches!(other, DeltaPayload::Lookback { .. })
        || latents.len() >= LONG && STRETCHES.iter().all(is_promising);
    is_promising.then(|| parse(latents))
}

impl<L: Latent> Trial<L> {
    fn weigh(&mut self, latents: &ModeLatents<L>, mode: ModeChoice<L>, delta: DeltaPayload) -> f64 {
        self.weigh_with(latents, mode, delta, None)
    }

    /// Linear predictions of several orders, of the kind that is best for the highest.
    fn predictions(&mut self, latents: &ModeLatents<L>, mode: ModeChoice<L>) {
        let fits = match &latents.primary {
            Primary::Latents(primary) => conv1_close::fits(primary, &ORDERS),
            Primary::Indices(indices) => conv1_close::fits(indices, &ORDERS),
        };
        let mut best: Option<(f64, Vec<DeltaPayload>)> = None;
        for convs in fits {
            let mut convs: Vec<DeltaPayload> = convs.into_iter().map(DeltaPayload::Conv1).collect();
            let Some(highest) = convs.pop() else { continue };
            let bits = self.weigh(latents, mode, highest);
            if best.as_ref().is_none_or(|best| bits < best.0) {
                best = Some((bits, convs));
            }
        }
        for delta in best.into_iter().flat_map(|best| best.1) {
            self.weigh(latents, mode, delta);
        }
    }

    /// Trends in cells of some of these units.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn trends(&mut self, latents: &[L], units: Vec<L>) {
        for unit in units {
            let bits_each = self.bits / latents.len() as f64;
            let mode = trend::cell(latents, unit, bits_each).map(ModeChoice::Trend);
            if let Some(mode) = mode
                && let Some(split) = ModeLatents::split(latents.to_vec(), mode)
            {
                let delta = DeltaPayload::Consecutive { order: 1, secondary: false };
                let head = split.mode.written_bits() as f64;
                // The split itself, not a copy: if it is the best, it is made again.
                let mut whole = Whole::new(split, &delta, None, self.effort);
                whole.bits += head;
                self.keep_better(whole, mode, delta);
            }
        }
    }

    /// With lookbacks that are settled, where there are some.
    fn weigh_with(
        &mut self,
        latents: &ModeLatents<L>,
        mode: ModeChoice<L>,
        delta: DeltaPayload,
        lookbacks: Option<Vec<u32>>,
    ) -> f64 {
        let whole = self.measured(latents, &delta, lookbacks);
        self.keep_better(whole, mode, delta)
    }

    /// Keeps it where it is better than the best; its bits.
    fn keep_better(&mut self, whole: Whole, mode: ModeChoice<L>, delta: DeltaPayload) -> f64 {
        if whole.bits < self.bits {
            self.bits = whole.bits;
            self.best = Some((mode, delta, whole.lookbacks));
        }
        whole.bits
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn measured(
        &self,
        latents: &ModeLatents<L>,
        delta: &DeltaPayload,
        lookbacks: Option<Vec<u32>>,
    ) -> Whole {
        let mut whole = Whole::new(latents.without_dict(), delta, lookbacks, self.effort);
        whole.bits += latents.mode.written_bits() as f64;
        whole
    }
}
