//! The plan that takes the fewest bits for a whole chunk: what a sample put first against what it
//! put close behind, each with bins for all that it would store.
//!
//! For those who favour size. Samples decide wrongly where candidates differ by less than a hundredth,
//! and cannot tell how far a linear prediction should go.

mod subject;

use crate::number::Latent;
use crate::pco::binning::Effort;
use crate::pco::delta::{conv1_close, lookback_parse};
use crate::pco::encode::candidate::{Candidate, Rival};
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, Ranks};
use crate::pco::encode::whole::Whole;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::{DeltaPayload, MAX_CONV1_ORDER};
use crate::pco::mode::{dict, trend};
use crate::spare;
use subject::Subject;

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
    mut best: Candidate<L>,
    mut rivals: Vec<Rival<L>>,
    has_trends: bool,
    level: u32,
) -> Option<Plan<L>> {
    let mut trial = Trial { effort: Effort::of_level(level), bits: f64::INFINITY, best: None };
    let orders = best.orders();
    let (mode, delta) = (best.mode, best.delta);
    let mut subject = match best.whole.take() {
        Some(whole) => Subject::of(&latents, mode, Some(whole)),
        None => Subject::new(&latents, mode)?,
    };
    let mut deltas = vec![DeltaPayload::None];
    deltas.extend(
        orders.into_iter().map(|order| DeltaPayload::Consecutive { order, secondary: false }),
    );
    match delta {
        DeltaPayload::Consecutive { order, .. } if mode.has_secondary() => {
            deltas.push(DeltaPayload::Consecutive { order, secondary: true });
        }
        DeltaPayload::Lookback { window_log, state_log, .. } if mode.has_secondary() => {
            deltas.push(DeltaPayload::Lookback { window_log, state_log, secondary: true });
        }
        _ => {}
    }
    if L::BITS <= 32 {
        trial.predictions(&mut subject);
        // Weights of wider indices are not cut short by what would overflow.
        let wide = ModeChoice::Dict { most: 1 << 8, order: dict::Order::Value };
        if L::BITS == 8
            && matches!(delta, DeltaPayload::Conv1(_))
            && let Some(mut subject) = Subject::new(&latents, wide)
        {
            trial.predictions(&mut subject);
        }
    }
    let delta_before = delta.clone();
    if !deltas.contains(&delta) {
        deltas.push(delta);
    }
    for delta in deltas {
        let lookbacks = best.lookbacks.take_if(|_| delta == delta_before);
        trial.weigh(&mut subject, delta, lookbacks);
    }
    trial.lookbacks(&mut subject, &delta_before);
    if has_trends {
        trial.trends(&latents, units(mode, &rivals));
    }
    rivals.retain(|rival| rival.mode != mode);
    rivals.sort_unstable_by(|a, b| a.bits.total_cmp(&b.bits));
    for rival in rivals.into_iter().take(RIVALS) {
        if let Some(mut subject) = Subject::new(&latents, rival.mode) {
            let bits = trial.weigh(&mut subject, rival.delta, None);
            // The sample's best was tried with linear predictions, this one was not.
            if L::BITS <= 32 && bits < trial.bits * PREDICTED {
                trial.predictions(&mut subject);
            }
        }
    }
    let (chosen, delta, lookbacks) = trial.best?;
    let dict = subject.into_dict().filter(|_| chosen == mode);
    let latents = match dict {
        Some(dict) => {
            spare::give(latents);
            dict
        }
        None => ModeLatents::split(latents, chosen)?,
    };
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

/// Lookbacks chosen by cost, and the delta encoding that they are.
fn parsed<L: Latent>(latents: &ModeLatents<L>) -> (DeltaPayload, Vec<u32>) {
    let window_log = lookback_parse::window_log(latents.len());
    let lookbacks = match &latents.primary {
        Primary::Latents(primary) => lookback_parse::parse(primary, window_log),
        Primary::Indices(indices) => lookback_parse::parse(indices, window_log),
    };
    (DeltaPayload::Lookback { window_log, state_log: 0, secondary: false }, lookbacks)
}

impl<L: Latent> Trial<L> {
    /// Linear predictions of several orders, of the kind that is best for the highest.
    fn predictions(&mut self, subject: &mut Subject<'_, L>) {
        let fits = match subject.split().map(|split| split.primary) {
            Some(Primary::Latents(primary)) => conv1_close::fits(&primary, &ORDERS),
            Some(Primary::Indices(indices)) => conv1_close::fits(&indices, &ORDERS),
            None => return,
        };
        let mut best: Option<(f64, Vec<DeltaPayload>)> = None;
        for convs in fits {
            let mut convs: Vec<DeltaPayload> = convs.into_iter().map(DeltaPayload::Conv1).collect();
            let Some(highest) = convs.pop() else { continue };
            let bits = self.weigh(subject, highest, None);
            if best.as_ref().is_none_or(|best| bits < best.0) {
                best = Some((bits, convs));
            }
        }
        for delta in best.into_iter().flat_map(|best| best.1) {
            self.weigh(subject, delta, None);
        }
    }

    /// Lookbacks chosen by cost, where they may win against `other`.
    fn lookbacks(&mut self, subject: &mut Subject<'_, L>, other: &DeltaPayload) {
        let is_long = subject.latents.len() >= LONG;
        let mut stretches = STRETCHES.into_iter();
        if matches!(other, DeltaPayload::Lookback { .. })
            || is_long && stretches.all(|stretch| self.promises(subject, other, stretch))
        {
            let Some((rest, split)) = subject.covered(&DeltaPayload::None, self.effort) else {
                return;
            };
            let (delta, lookbacks) = parsed(&split);
            let whole = Whole::beside(rest, split, &delta, Some(lookbacks), self.effort);
            self.keep_better(subject.mode, delta, whole);
        }
    }

    /// Whether lookbacks may win, as far as so many numbers tell.
    fn promises(
        &self,
        subject: &Subject<'_, L>,
        other: &DeltaPayload,
        (n, times): (usize, f64),
    ) -> bool {
        let Some(middle) = subject.middle(n) else { return false };
        let (delta, lookbacks) = parsed(&middle);
        let with = Whole::new(middle.clone(), &delta, Some(lookbacks), self.effort);
        with.bits < Whole::new(middle, other, None, self.effort).bits * times
    }

    /// Trends in cells of some of these units.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn trends(&mut self, latents: &[L], units: Vec<L>) {
        for unit in units {
            let bits_each = self.bits / latents.len() as f64;
            if let Some(cell) = trend::cell(latents, unit, bits_each) {
                let mut subject = Subject::of(latents, ModeChoice::Trend(cell), None);
                let delta = DeltaPayload::Consecutive { order: 1, secondary: false };
                self.weigh(&mut subject, delta, None);
            }
        }
    }

    /// Bits with a delta encoding, and with lookbacks that are settled, where there are some.
    fn weigh(
        &mut self,
        subject: &mut Subject<'_, L>,
        delta: DeltaPayload,
        lookbacks: Option<Vec<u32>>,
    ) -> f64 {
        let Some((rest, split)) = subject.covered(&delta, self.effort) else {
            return f64::INFINITY;
        };
        let whole = Whole::beside(rest, split, &delta, lookbacks, self.effort);
        self.keep_better(subject.mode, delta, whole)
    }

    /// Keeps it where it is better than the best; its bits.
    fn keep_better(&mut self, mode: ModeChoice<L>, delta: DeltaPayload, whole: Whole) -> f64 {
        if whole.bits < self.bits {
            self.bits = whole.bits;
            self.best = Some((mode, delta, whole.lookbacks));
        }
        whole.bits
    }
}
