//! What the caller of an encoder may choose.

use crate::ans::rans::MAX_TABLE_BITS;
use crate::error::{Error, Result};
use crate::pco;
use crate::watch::Watch;
use crate::wcodec::checkpoint::{Checkpoint, all_matched};
use crate::wcodec::encode::sources::Effort;
use crate::wcodec::encode::symbols::DirectConfig;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::tile::TileSize;
use crate::wcodec::transform::Transform;
use crate::wcodec::view::{Axis, PackingChoice};
use std::str::FromStr;

/// The highest level.
pub const MAX_LEVEL: u32 = 12;

/// Settings of an encoder; the default is level 8 on all cores. What is written does not depend on
/// the threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub(crate) level: u32,
    pub(crate) threads: usize,
    pub(crate) group_symbols: usize,
    pub(crate) tools: Option<Tools>,
    /// Patterns of names, and how their tensors are packed.
    pub(crate) packings: Vec<(String, PackingChoice)>,
    pub(crate) watch: Watch,
}

/// How symbols are coded where the caller forces it, whether that pays or not: every matrix of
/// quantised weights, and whatever else is symbols in its tensor's view (zero points, scales of
/// GGUF's K-quants, bytes of floats where a tensor is split into these).
///
/// Exempt are words, which go to Pco (most scales, norms and biases), bytes of types that no view
/// takes apart, what belongs to no tensor (headers), copies of other tensors, and empty ones. LINEAR
/// becomes NONE in matrices of one column and of more than 8,192. A matrix is coded
/// without any of these where it would take less than a byte for 2^16 symbols: readers believe no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// Size of tiles.
    pub tile: TileSize,
    /// One predictor for all tiles, or several from which each tile gets its own. REFERENCE is left
    /// out where there is none, LINEAR where there are others.
    pub predictors: Vec<Predictor>,
    /// One transform for all sub-blocks, or several from which each gets its own by what its coefficients cost; no
    /// transform where there is none, or NONE alone.
    pub transforms: Vec<Transform>,
    /// The coder.
    pub coder: Coder,
    /// Whether symbols have classes.
    pub contexts: bool,
}

impl Default for Tools {
    /// No prediction, no transform, classes and the direct coder.
    fn default() -> Self {
        Self {
            tile: TileSize::SQUARE,
            predictors: vec![Predictor::None],
            transforms: Vec::new(),
            coder: Coder::Direct,
            contexts: true,
        }
    }
}

/// The coder of symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coder {
    /// Static tables.
    #[default]
    Direct,
    /// Bitplanes with adaptive contexts.
    Bitplane,
}

impl Default for Config {
    fn default() -> Self {
        let packings = Vec::new();
        Self { level: 8, threads: 0, group_symbols: 0, tools: None, packings, watch: Watch::NONE }
    }
}

impl Config {
    /// 0 (fastest) to 12 (smallest, and slower to read: embeddings are predicted by columns, tables and groups are
    /// larger). Those up to 8 hardly differ. From 9 on levels of rows and columns are refined, with which it takes three to five times as long as
    /// at 8, at 10 ten to fourteen times; at 11 and 12 every predictor is tried, which takes a hundred to three
    /// hundred times as long.
    #[must_use]
    pub fn level(mut self, level: u32) -> Self {
        self.level = level;
        self
    }

    /// Threads to use; 0 for as many as there are cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Smallest number of weights decoded together: those of a group of rows, the unit of access. A
    /// tensor of fewer is one group.
    ///
    /// 0, the default: 2^18, but for tensors of 2^24 weights and more 2^17, or 2^16 of five to eight bits where that costs
    /// little (16 rows of 4096); and 2^20 at level 12. Below that level a tensor of 2^17 weights and more has four groups at
    /// least, as four decode side by side, if it has as many rows; of up to four bits two, and four from 2^19 weights on. One of
    /// 2^15 weights and more of five to eight bits has two at least.
    #[must_use]
    pub fn group_symbols(mut self, symbols: usize) -> Self {
        self.group_symbols = symbols;
        self
    }

    /// Codes all symbols with these tools, or (`None`) with what is smallest as far as the level
    /// looks.
    #[must_use]
    pub fn tools(mut self, tools: Option<Tools>) -> Self {
        self.tools = tools;
        self
    }

    /// Says how tensors are packed, in place of what their names, types, shapes and metadata tell: those whose names are
    /// `pattern`, in which `*` stands for any text. Of several patterns of a tensor the last one counts. Along columns
    /// only; readers give the numbers that are meant so.
    ///
    /// ```
    /// use latens::Limits;
    /// use latens::wcodec::view::{PackingChoice, Values};
    /// use latens::wcodec::{self, Config, Reader, checkpoint::Tensors, dtype::Dtype};
    ///
    /// let mut tensors = Tensors::new();
    /// tensors.add("0.weight", Dtype::U8, &[2, 2], vec![0x12, 0x3f, 0x45, 0x60])?;
    /// let checkpoint = tensors.checkpoint("model.safetensors")?;
    /// let config = Config::default().packing("*.weight", "int4-high".parse::<PackingChoice>()?);
    /// let file = wcodec::compress_checkpoint(&checkpoint, None, &config, Vec::new())?;
    ///
    /// let reader = Reader::open(file, Limits::default())?;
    /// let Values::Signed(numbers) = reader.rows(0, 0..2)? else { unreachable!() };
    /// assert_eq!(numbers, [1, 2, 3, -1, 4, 5, 6, 0]);
    /// # Ok::<(), latens::Error>(())
    /// ```
    #[must_use]
    pub fn packing(mut self, pattern: impl Into<String>, choice: impl Into<PackingChoice>) -> Self {
        self.packings.push((pattern.into(), choice.into()));
        self
    }

    /// Whether the packings that were asked for fit their tensors, and each is for one. Writing a checkpoint begins with
    /// that.
    ///
    /// # Errors
    /// Invalid argument, naming the tensor and what fits, or the pattern that is no tensor's.
    pub fn fits(&self, checkpoint: &Checkpoint) -> Result<()> {
        self.packed(checkpoint).map(|_| ())
    }

    /// The checkpoint with these packings, where they change it.
    pub(crate) fn packed(&self, checkpoint: &Checkpoint) -> Result<Option<Checkpoint>> {
        let mut matched = Vec::new();
        let packed = checkpoint.packed_as(&self.packings, &mut matched)?;
        all_matched(&self.packings, &matched)?;
        Ok(packed)
    }

    /// Tells `watch` of each tensor that is begun and of the bytes of tensors that are encoded, and asks
    /// it whether to go on wherever that takes long.
    #[must_use]
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Whether these settings exist.
    ///
    /// # Errors
    /// Invalid argument, naming the setting.
    pub fn validate(&self) -> Result<()> {
        if self.level > MAX_LEVEL {
            return Err(Error::invalid(format!("level {}; 0 to {MAX_LEVEL} exist", self.level)));
        }
        for (pattern, choice) in &self.packings {
            if let PackingChoice::As(packing) = choice
                && !(packing.is_valid() && packing.axis == Axis::Columns)
            {
                let what = format!("no packing along columns, {packing:?}, for {pattern:?}");
                return Err(Error::invalid(what));
            }
        }
        Ok(())
    }

    /// Threads in force.
    pub(crate) fn threads_in_force(&self) -> usize {
        crate::threads::count(self.threads)
    }

    /// Settings of the direct coder for symbols of `bits`.
    pub(crate) fn direct(&self, bits: u32) -> DirectConfig {
        DirectConfig {
            group_symbols: self.group_symbols,
            table_bits: match bits {
                ..=4 if self.level < MAX_LEVEL => 11,
                5.. if self.level == MAX_LEVEL => MAX_TABLE_BITS,
                _ => 12,
            },
            threads: self.threads_in_force(),
            pairs_slack: if self.level > 8 { 0.0 } else { 0.002 },
            least_of_classes: if self.level > 8 { 0.0 } else { 0.002 },
            slow_reading: self.level == MAX_LEVEL,
            quick: self.level <= 9,
            large_groups: false,
        }
    }

    /// What is done for few bytes.
    pub(crate) fn effort(&self) -> Effort {
        let rounds = match self.level {
            ..=8 => 0,
            9 => 1,
            10 => 4,
            _ => 8,
        };
        Effort { rounds, closely: self.level > 10, slow_reading: self.level == MAX_LEVEL }
    }

    /// Settings of Pco.
    pub(crate) fn pco(&self) -> pco::Config {
        pco::Config::default().level(self.level).checksum(false)
    }
}

impl FromStr for Coder {
    type Err = Error;

    /// By its name: `direct` or `bitplane`.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "direct" => Ok(Self::Direct),
            "bitplane" => Ok(Self::Bitplane),
            _ => Err(Error::invalid(format!("{text:?} is no coder: direct, bitplane"))),
        }
    }
}
