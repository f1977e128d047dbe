//! What the caller of an encoder may choose.

mod spelling;

use crate::error::{Error, Result};
use crate::number::{NumberKind, NumberType};
use crate::pco::layout::MAX_CHUNK_N;
use crate::pco::layout::delta::{
    MAX_CONSECUTIVE_ORDER, MAX_CONV1_ORDER, MAX_STATE_LOG, MAX_WINDOW_LOG,
};
use crate::pco::mode::trend;
use crate::watch::Watch;

/// The highest level.
pub const MAX_LEVEL: u32 = 12;
/// Most numbers in a chunk where the caller does not say.
const CHUNK_N: usize = 1 << 18;
/// The same where chunks are cut further.
const LONG_CHUNK_N: usize = 1 << 20;

/// The mode that an encoder uses. Spelled `auto`, `classic`, `int-mult@7`, `trend@3600`,
/// `float-mult@0.01`, `float-quant@29`, `dict`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ModeSpec {
    /// The best by measured size.
    #[default]
    Auto,
    /// Any type.
    Classic,
    /// Integers; the base is not 0 and fits in the type.
    IntMult(u64),
    /// Integers that scatter about what moves slowly: IntMult as a sum of a trend, in steps of cells of
    /// this size, and of what numbers are above it. 1 or more, and below 2^-6 of the type's values.
    Trend(u64),
    /// Floats; the base is finite, normal and not 0 in the type.
    FloatMult(f64),
    /// Floats; 1 to as many bits as the mantissa stores.
    FloatQuant(u32),
    /// Any type; at most 2^25 − 1 distinct values in a chunk.
    Dict,
}

/// The delta encoding that an encoder uses. Spelled `auto`, `none`, `consecutive@2`, `lookback`,
/// `conv1@8`; `+secondary` behind `consecutive@N` and `lookback` covers the secondary latents too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeltaSpec {
    /// The best by measured size.
    #[default]
    Auto,
    /// Latents as they are.
    None,
    /// Differences of neighbours.
    Consecutive {
        /// 1 to 7.
        order: u32,
        /// The secondary latents too, where there are any.
        secondary: bool,
    },
    /// Differences to an earlier value.
    Lookback {
        /// log2 of the window, 1 to 24; `None` lets the encoder choose.
        window_log: Option<u32>,
        /// log2 of the states, at most 15 and at most the window's; usually 0.
        state_log: u32,
        /// The secondary latents too, where there are any.
        secondary: bool,
    },
    /// Differences to a linear prediction; latents of at most 32 bits.
    Conv1 {
        /// 1 to 32.
        order: usize,
    },
}

/// What to give up for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Favor {
    /// No linear predictions (Conv1), which decode slowest, and no trends.
    Speed,
    /// Linear predictions and trends where they save 8 % or more. Lookbacks must save 2.5 %, up to level 5 5 %, here and
    /// with `Speed`.
    #[default]
    Balanced,
    /// Whatever is smallest. From level 10 on chunks are measured in full and cut, which takes longer.
    Size,
}

/// Settings of an encoder; the default is level 8, all chosen by the encoder, checksums on.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub(crate) level: u32,
    pub(crate) mode: ModeSpec,
    pub(crate) delta: DeltaSpec,
    pub(crate) favor: Favor,
    /// `None` where the caller leaves it open.
    pub(crate) chunk_n: Option<usize>,
    pub(crate) checksum: bool,
    /// Asked between the steps of a chunk.
    pub(crate) watch: Watch,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            level: 8,
            mode: ModeSpec::Auto,
            delta: DeltaSpec::Auto,
            favor: Favor::Balanced,
            chunk_n: None,
            checksum: true,
            watch: Watch::NONE,
        }
    }
}

impl Config {
    /// 0 (fastest) to 12 (smallest).
    #[must_use]
    pub fn level(mut self, level: u32) -> Self {
        self.level = level;
        self
    }

    /// The mode.
    #[must_use]
    pub fn mode(mut self, mode: ModeSpec) -> Self {
        self.mode = mode;
        self
    }

    /// The delta encoding.
    #[must_use]
    pub fn delta(mut self, delta: DeltaSpec) -> Self {
        self.delta = delta;
        self
    }

    /// What to give up for what.
    #[must_use]
    pub fn favor(mut self, favor: Favor) -> Self {
        self.favor = favor;
        self
    }

    /// Most numbers in a chunk, 1 to 2^24; 2^18 by default, and 2^20 where size is favoured at levels
    /// 10 to 12, which cut chunks further where their numbers change. Chunks are the unit of threads
    /// and of random access.
    #[must_use]
    pub fn chunk_n(mut self, n: usize) -> Self {
        self.chunk_n = Some(n);
        self
    }

    /// Whether a standalone file ends with a checksum trailer, which other readers skip: 20 bytes, and 16
    /// for each chunk. Of a file of ten numbers that is two fifths.
    #[must_use]
    pub fn checksum(mut self, checksum: bool) -> Self {
        self.checksum = checksum;
        self
    }

    /// Most numbers in a chunk.
    pub fn chunk_len(&self) -> usize {
        self.chunk_n.unwrap_or(if self.cuts() { LONG_CHUNK_N } else { CHUNK_N })
    }

    /// Whether mode and delta encoding are left to the encoder.
    pub(crate) fn is_auto(&self) -> bool {
        self.mode == ModeSpec::Auto && self.delta == DeltaSpec::Auto
    }

    /// Whether chunks are cut further where their numbers change.
    pub(crate) fn cuts(&self) -> bool {
        self.level >= 10 && self.favor == Favor::Size
    }

    /// Whether slow searches are kept short, and what is slow to code must save more for it.
    pub(crate) fn is_quick(&self) -> bool {
        self.level <= 5 && self.favor != Favor::Size
    }

    /// How `n` numbers are cut: into as few chunks as [`Config::chunk_n`] allows, of equal length
    /// but for one number more or less.
    pub fn chunk_lens(&self, n: usize) -> impl Iterator<Item = usize> + use<> {
        let chunks = n.div_ceil(self.chunk_len().max(1));
        let (least, longer) = (n / chunks.max(1), n % chunks.max(1));
        (0..chunks).map(move |i| least + usize::from(i < longer))
    }

    /// Whether numbers of that type can be encoded so.
    ///
    /// # Errors
    /// Invalid argument, naming the setting.
    pub fn validate(&self, ty: NumberType) -> Result<()> {
        let invalid = |what: String| Err(Error::invalid(what));
        if self.level > MAX_LEVEL {
            return invalid(format!("level {}; 0 to {MAX_LEVEL} exist", self.level));
        }
        if self.chunk_len() == 0 || self.chunk_len() > MAX_CHUNK_N {
            return invalid(format!(
                "chunks of {} numbers; 1 to {MAX_CHUNK_N} are possible",
                self.chunk_len()
            ));
        }
        let float = ty.kind() == NumberKind::Float;
        match self.mode {
            ModeSpec::IntMult(_) if float => {
                return invalid(format!("mode int-mult is for integers, not {ty}"));
            }
            ModeSpec::IntMult(base) if base == 0 || (ty.bits() < 64 && base >> ty.bits() != 0) => {
                return invalid(format!(
                    "the base {base} of int-mult must be 1 or more and fit in {ty}"
                ));
            }
            ModeSpec::Trend(_) if float => {
                return invalid(format!("mode trend is for integers, not {ty}"));
            }
            ModeSpec::Trend(cell) => {
                if let Some(wrong) = trend::not_a_cell(ty.bits(), cell) {
                    return invalid(wrong);
                }
            }
            ModeSpec::FloatMult(_) | ModeSpec::FloatQuant(_) if !float => {
                return invalid(format!(
                    "modes float-mult and float-quant are for floats, not {ty}"
                ));
            }
            ModeSpec::FloatMult(base) if !is_normal(base, ty) => {
                return invalid(format!("the base {base} of float-mult must be a normal {ty}"));
            }
            ModeSpec::FloatQuant(q) if q == 0 || q > ty.mantissa_bits() => {
                return invalid(format!("float-quant@{q}: {ty} takes 1 to {}", ty.mantissa_bits()));
            }
            _ => {}
        }
        match self.delta {
            DeltaSpec::Consecutive { order, .. } if order == 0 || order > MAX_CONSECUTIVE_ORDER => {
                invalid(format!("consecutive@{order}: 1 to {MAX_CONSECUTIVE_ORDER} exist"))
            }
            DeltaSpec::Lookback { window_log, state_log, .. }
                if state_log > MAX_STATE_LOG
                    || window_log
                        .is_some_and(|w| w == 0 || w > MAX_WINDOW_LOG || w < state_log) =>
            {
                invalid(
                    "lookback: windows are 2^1 to 2^24 and hold the states, at most 2^15"
                        .to_owned(),
                )
            }
            DeltaSpec::Conv1 { order } if order == 0 || order > MAX_CONV1_ORDER => {
                invalid(format!("conv1@{order}: 1 to {MAX_CONV1_ORDER} exist"))
            }
            DeltaSpec::Conv1 { .. } if ty.bits() > 32 && self.mode != ModeSpec::Dict => {
                invalid(format!("conv1 takes latents of at most 32 bits, not those of {ty}"))
            }
            _ => Ok(()),
        }
    }
}

fn is_normal(base: f64, ty: NumberType) -> bool {
    use half::f16;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the question is what the type makes of it"
    )]
    match ty {
        NumberType::F16 => f16::from_f64(base).is_normal(),
        NumberType::F32 => (base as f32).is_normal(),
        _ => base.is_normal(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_are_named() {
        let bad = |config: Config, ty| config.validate(ty).unwrap_err().to_string();
        assert!(bad(Config::default().level(13), NumberType::U8).contains("level 13"));
        assert!(
            bad(Config::default().mode(ModeSpec::IntMult(300)), NumberType::U8).contains("300")
        );
        let trend = |cell, ty| Config::default().mode(ModeSpec::Trend(cell)).validate(ty);
        assert!(trend(3, NumberType::I8).is_ok() && trend(1 << 57, NumberType::U64).is_ok());
        for (cell, ty) in [(0, NumberType::U32), (4, NumberType::U8), (1 << 58, NumberType::I64)] {
            assert!(trend(cell, ty).unwrap_err().to_string().contains("cells of"), "{cell} {ty}");
        }
        // A multiple of all multiples of bases.
        assert!(trend(100_280_245_065, NumberType::U64).is_err());
        assert!(trend(1, NumberType::F32).is_err());
        assert!(
            bad(Config::default().mode(ModeSpec::FloatMult(1e-320)), NumberType::F64)
                .contains("normal")
        );
        assert!(
            bad(Config::default().delta(DeltaSpec::Conv1 { order: 2 }), NumberType::F64)
                .contains("32 bits")
        );
        assert!(Config::default().validate(NumberType::F16).is_ok());
    }
}
