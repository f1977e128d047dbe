//! Modes and delta encodings of a chunk as its reader sees them.

use crate::number::Latent;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::trend;
use std::fmt;

/// How the numbers of a chunk split into latents. Displays as the command line spells it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mode {
    /// The ordered latent itself.
    Classic,
    /// Multiples of an integer and remainders.
    IntMult(u64),
    /// The same with a base that is a large part of the type's range, as a sum mod 2^k: a trend and what
    /// numbers are above it. A small multiple of the base is the size of a cell, by which the trend moves.
    Trend {
        /// What is written as IntMult's.
        base: u64,
        /// Displayed, as the command line takes it.
        cell: u64,
    },
    /// Multiples of a float and distances in units in the last place.
    FloatMult(f64),
    /// So many low mantissa bits apart.
    FloatQuant(u32),
    /// Indices into so many distinct values.
    Dict(usize),
}

impl Mode {
    pub(crate) fn of<L: Latent>(payload: &ModePayload<L>) -> Self {
        match payload {
            ModePayload::Classic => Mode::Classic,
            ModePayload::IntMult { base } => {
                let base64 = base.to_u64();
                trend::cell_of(*base).map_or(Mode::IntMult(base64), |cell| Mode::Trend {
                    base: base64,
                    cell: cell.to_u64(),
                })
            }
            ModePayload::FloatMult { base } => Mode::FloatMult(base.ordered_to_f64()),
            ModePayload::FloatQuant { q } => Mode::FloatQuant(*q),
            ModePayload::Dict { values } => Mode::Dict(values.len()),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Mode::Classic => f.write_str("classic"),
            Mode::IntMult(base) => write!(f, "int-mult@{base}"),
            Mode::Trend { cell, .. } => write!(f, "trend@{cell}"),
            Mode::FloatMult(base) => {
                // The shortest text that gives the base back in the narrowest type that holds it.
                #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
                let narrow = base as f32;
                if f64::from(narrow) == base {
                    write!(f, "float-mult@{narrow:?}")
                } else {
                    write!(f, "float-mult@{base:?}")
                }
            }
            Mode::FloatQuant(q) => write!(f, "float-quant@{q}"),
            Mode::Dict(_) => f.write_str("dict"),
        }
    }
}

/// How the latents of a chunk are predicted. Displays as the command line spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeltaEncoding {
    /// Not at all.
    None,
    /// Differences of neighbours, `order` times.
    Consecutive {
        /// 1 to 7.
        order: u32,
        /// Whether the secondary latents are delta encoded too.
        secondary: bool,
    },
    /// Differences to an earlier value.
    Lookback {
        /// log2 of the farthest that a lookback reaches.
        window_log: u32,
        /// log2 of the count of values that each page starts with.
        state_log: u32,
        /// Whether the secondary latents are delta encoded too.
        secondary: bool,
    },
    /// Differences to a linear prediction.
    Conv1 {
        /// Values that the prediction looks at, 1 to 32.
        order: usize,
    },
}

impl DeltaEncoding {
    pub(crate) fn of(payload: &DeltaPayload) -> Self {
        match *payload {
            DeltaPayload::None => DeltaEncoding::None,
            DeltaPayload::Consecutive { order, secondary } => {
                DeltaEncoding::Consecutive { order, secondary }
            }
            DeltaPayload::Lookback { window_log, state_log, secondary } => {
                DeltaEncoding::Lookback { window_log, state_log, secondary }
            }
            DeltaPayload::Conv1(ref conv) => DeltaEncoding::Conv1 { order: conv.weights.len() },
        }
    }
}

impl fmt::Display for DeltaEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let both = |secondary: bool| if secondary { "+secondary" } else { "" };
        match *self {
            DeltaEncoding::None => f.write_str("none"),
            DeltaEncoding::Consecutive { order, secondary } => {
                write!(f, "consecutive@{order}{}", both(secondary))
            }
            DeltaEncoding::Lookback { secondary, .. } => write!(f, "lookback{}", both(secondary)),
            DeltaEncoding::Conv1 { order } => write!(f, "conv1@{order}"),
        }
    }
}
