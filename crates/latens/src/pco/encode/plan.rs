//! How a chunk is to be encoded, in full: nothing is left to choose but the bins.

use crate::number::Latent;
use crate::pco::binning::ranked::Ranked;
use crate::pco::config::{DeltaSpec, ModeSpec};
use crate::pco::delta::{conv1_fit, lookback_search};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::mode::{MAX_DICT, ModePayload};
use crate::pco::mode::dict::{self, Dict};
use crate::pco::mode::{float_mult, float_quant, int_mult, trend};
use crate::spare;
use std::ops::Range;

/// The latents of a chunk after its mode is applied.
#[derive(Clone, Debug)]
pub(crate) struct ModeLatents<L> {
    pub(crate) mode: ModePayload<L>,
    /// How often each entry of the dictionary comes, if there is one for all of these latents.
    pub(crate) counts: Vec<u32>,
    pub(crate) primary: Primary<Vec<L>, Vec<u32>>,
    pub(crate) secondary: Option<Vec<L>>,
}

impl<L: Latent> ModeLatents<L> {
    /// Splits ordered latents; `None` when there are too many distinct values for a dictionary, or a
    /// trend's cells are too wide.
    pub(crate) fn split(latents: Vec<L>, mode: ModeChoice<L>) -> Option<Self> {
        let two = |mode, (primary, secondary)| {
            let (primary, secondary) = (Primary::Latents(primary), Some(secondary));
            Some(Self { mode, counts: Vec::new(), primary, secondary })
        };
        match mode {
            ModeChoice::Classic => Some(Self {
                mode: ModePayload::Classic,
                counts: Vec::new(),
                primary: Primary::Latents(latents),
                secondary: None,
            }),
            ModeChoice::IntMult(base) => {
                two(ModePayload::IntMult { base }, int_mult::split(latents, base))
            }
            ModeChoice::Trend(cell) => {
                let split = trend::split(latents, cell)?;
                two(ModePayload::IntMult { base: split.base }, (split.trend, split.above))
            }
            ModeChoice::FloatMult(base) => {
                two(ModePayload::FloatMult { base }, float_mult::split(latents, base))
            }
            ModeChoice::FloatQuant(q) => {
                two(ModePayload::FloatQuant { q }, float_quant::split(latents, q))
            }
            ModeChoice::Dict { most, order } => {
                let dict = Self::dict(&latents, most, order);
                spare::give(latents);
                dict
            }
        }
    }

    /// The same for a dictionary, which takes the latents' place nowhere.
    pub(crate) fn dict(latents: &[L], most: usize, order: dict::Order) -> Option<Self> {
        Dict::new(latents, most, order).map(Self::of_dict)
    }

    fn of_dict(dict: Dict<L>) -> Self {
        Self {
            mode: ModePayload::Dict { values: dict.values },
            counts: dict.counts,
            primary: Primary::Indices(dict.indices),
            secondary: None,
        }
    }

    /// The same with a dictionary in the order of its values; `None` where there is none.
    pub(crate) fn in_order(&self) -> Option<Self> {
        match (&self.mode, &self.primary) {
            (ModePayload::Dict { values }, Primary::Indices(indices)) => {
                Some(Self::of_dict(Dict::in_order(values, &self.counts, indices)))
            }
            _ => None,
        }
    }
}

impl<L: Latent> ModeLatents<L> {
    /// Numbers that are split.
    pub(crate) fn len(&self) -> usize {
        match &self.primary {
            Primary::Latents(primary) => primary.len(),
            Primary::Indices(indices) => indices.len(),
        }
    }

    /// A copy without the dictionary, if there is one.
    pub(crate) fn without_dict(&self) -> Self {
        Self {
            mode: self.mode.without_dict(),
            counts: Vec::new(),
            primary: match &self.primary {
                Primary::Latents(primary) => Primary::Latents(spare::copy(primary)),
                Primary::Indices(indices) => Primary::Indices(spare::copy(indices)),
            },
            secondary: self.secondary.as_deref().map(spare::copy),
        }
    }

    /// The latents of some ranges, end to end. A dictionary is not taken along.
    pub(crate) fn gather(&self, ranges: &[Range<usize>]) -> Self {
        fn of<V: Copy>(all: &[V], ranges: &[Range<usize>]) -> Vec<V> {
            ranges.iter().flat_map(|range| all[range.clone()].iter().copied()).collect()
        }
        Self {
            mode: self.mode.without_dict(),
            counts: Vec::new(),
            primary: match &self.primary {
                Primary::Latents(primary) => Primary::Latents(of(primary, ranges)),
                Primary::Indices(indices) => Primary::Indices(of(indices, ranges)),
            },
            secondary: self.secondary.as_ref().map(|secondary| of(secondary, ranges)),
        }
    }
}

/// A mode without what follows from the numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ModeChoice<L> {
    Classic,
    IntMult(L),
    /// IntMult as a trend that moves by cells of this size.
    Trend(L),
    FloatMult(L),
    FloatQuant(u32),
    /// At most so many distinct values.
    Dict {
        most: usize,
        order: dict::Order,
    },
}

impl<L: Latent> ModeChoice<L> {
    /// Whether it splits numbers in two variables.
    pub(crate) fn has_secondary(self) -> bool {
        !matches!(self, ModeChoice::Classic | ModeChoice::Dict { .. })
    }

    /// What the caller forces; `None` for auto.
    pub(crate) fn forced(spec: ModeSpec, delta: DeltaSpec) -> Option<Self> {
        match spec {
            ModeSpec::Auto => None,
            ModeSpec::Classic => Some(ModeChoice::Classic),
            ModeSpec::IntMult(base) => Some(ModeChoice::IntMult(L::truncate(base))),
            ModeSpec::Trend(cell) => Some(ModeChoice::Trend(L::truncate(cell))),
            ModeSpec::FloatMult(base) => {
                Some(ModeChoice::FloatMult(L::bits_from_f64(base).order()))
            }
            ModeSpec::FloatQuant(q) => Some(ModeChoice::FloatQuant(q)),
            ModeSpec::Dict => {
                let order = match delta {
                    DeltaSpec::Consecutive { .. } | DeltaSpec::Conv1 { .. } => dict::Order::Value,
                    _ => dict::Order::Count,
                };
                Some(ModeChoice::Dict { most: MAX_DICT, order })
            }
        }
    }
}

/// The plan for a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Plan<L> {
    pub(crate) latents: ModeLatents<L>,
    pub(crate) delta: DeltaPayload,
    /// Where they are settled already, for a page of all latents.
    pub(crate) lookbacks: Option<Vec<u32>>,
    /// What such a page stores, where that was ranked already.
    pub(crate) ranks: Ranks<L>,
}

/// What a page of a whole chunk stores by order, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct Ranks<L> {
    pub(crate) primary: Option<Primary<Ranked<L>, Ranked<u32>>>,
    pub(crate) secondary: Option<Ranked<L>>,
}

impl<L> Ranks<L> {
    pub(crate) const NONE: Self = Self { primary: None, secondary: None };
}

/// A forced delta encoding, its parameters fitted to the primary latents.
pub(crate) fn forced_delta<L: Latent>(spec: DeltaSpec, primary: &[L]) -> DeltaPayload {
    match spec {
        DeltaSpec::Auto | DeltaSpec::None => DeltaPayload::None,
        DeltaSpec::Consecutive { order, secondary } => {
            DeltaPayload::Consecutive { order, secondary }
        }
        DeltaSpec::Lookback { window_log, state_log, secondary } => DeltaPayload::Lookback {
            window_log: window_log
                .unwrap_or_else(|| lookback_search::window_log(primary.len()).max(state_log)),
            state_log,
            secondary,
        },
        DeltaSpec::Conv1 { order } => DeltaPayload::Conv1(conv1_fit::fit(primary, order)),
    }
}
