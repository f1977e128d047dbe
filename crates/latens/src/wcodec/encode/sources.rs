//! What might explain symbols: numbers of their blocks, as they are and as levels.

use crate::error::Result;
use crate::watch::Watch;
use crate::wcodec::class::{Blocks, SourceBytes, Terms};
use crate::wcodec::data::Data;
use crate::wcodec::encode::bands::Bands;
use crate::wcodec::encode::levels::Measure;
use crate::wcodec::layout::class_rule::{ClassRule, MAX_SOURCES};
use crate::wcodec::layout::source::Source;
use std::borrow::Cow;
use std::ops::Range;

/// Numbers whose levels are all made at once; those of more blocks follow the rows.
const FEW: usize = 1 << 18;
/// Rows whose blocks are looked up at a time.
const ADDED: usize = 1 << 12;
/// Bytes of numbers that are read at a time.
const STRETCH: usize = 1 << 18;

/// What is done for few bytes, besides what always is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effort {
    /// How often levels of rows and columns are refined.
    pub(crate) rounds: usize,
    /// Whether tables are fitted closely.
    pub(crate) closely: bool,
    /// Whether reading may take longer.
    pub(crate) slow_reading: bool,
}

/// The numbers of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
    pub(crate) bytes: Data<'a>,
    /// Bytes of a number: 1, 2 or 4.
    pub(crate) width: usize,
    /// Significant bits of an integer.
    pub(crate) bits: u32,
}

/// A source that might help, with its numbers.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) source: Source,
    pub(crate) numbers: Numbers<'a>,
    pub(crate) row_map: Option<SourceBytes<'a>>,
}

/// What might explain the symbols.
#[derive(Clone, Debug)]
pub(crate) struct Hints<'a> {
    pub(crate) measure: Measure,
    /// Those that say how large symbols are, then those whose levels are added: with these they say where
    /// symbols are.
    pub(crate) levels: Vec<Candidate<'a>>,
    pub(crate) zero: Option<Candidate<'a>>,
    /// Whether levels of rows and columns may be tried.
    pub(crate) side: bool,
    /// What is done for few bytes.
    pub(crate) effort: Effort,
}

impl Hints<'_> {
    /// How many of the levels say how large symbols are.
    pub(crate) fn sizes(&self) -> usize {
        let sizes = self.levels.iter().filter(|c| !c.source.added).count();
        sizes.min(MAX_SOURCES)
    }

    /// Those of symbols of which nothing is known.
    pub(crate) fn none(measure: Measure) -> Self {
        Self { measure, levels: Vec::new(), zero: None, side: false, effort: Effort::default() }
    }
}

impl Candidate<'_> {
    fn count(&self) -> usize {
        self.numbers.bytes.len() / self.numbers.width.max(1)
    }

    /// The levels, or with `zero` the numbers, of the blocks of `rows`.
    fn blocks(&self, rows: Range<usize>, cols: usize, zero: bool) -> Result<Blocks> {
        let Source { block_rows, block_cols, .. } = self.source;
        let (block_rows, stride) = (block_rows.max(1), cols.div_ceil(block_cols.max(1)));
        // A map may name any block.
        let (first, end) = match self.row_map {
            Some(_) => (0, usize::MAX),
            None => (rows.start / block_rows, rows.end.div_ceil(block_rows)),
        };
        let place = |block_row: usize| block_row.saturating_mul(stride).min(self.count());
        let Numbers { bytes, width, bits } = self.numbers;
        let mut buffer = Vec::new();
        let bytes = bytes.get(place(first) * width..place(end) * width, &mut buffer)?;
        let numbers = SourceBytes { bytes, width, bits };
        let of = if zero { Blocks::zeros } else { Blocks::levels };
        Ok(Blocks { first, ..of(&self.source, numbers, self.row_map, cols)? })
    }

    /// How many blocks have each zero point.
    fn zeros(&self, cols: usize) -> Result<[u64; 256]> {
        let Numbers { bytes, width, bits } = self.numbers;
        let mut counts = [0; 256];
        bytes.each(STRETCH, width, |_, bytes| {
            let numbers = SourceBytes { bytes, width, bits };
            for zero in Blocks::zeros(&self.source, numbers, None, cols)?.values {
                counts
                    .iter_mut()
                    .skip(usize::try_from(zero).unwrap_or(0))
                    .take(1)
                    .for_each(|n| *n += 1);
            }
            Ok(())
        })?;
        Ok(counts)
    }

    /// The mean level of all blocks.
    fn typical(&self, cols: usize) -> Result<i32> {
        let Numbers { bytes, width, bits } = self.numbers;
        let mut sum = 0i64;
        bytes.each(STRETCH, width, |_, bytes| {
            let numbers = SourceBytes { bytes, width, bits };
            sum += Blocks::levels(&self.source, numbers, None, cols)?.sum();
            Ok(())
        })?;
        let count = i64::try_from(self.count().max(1)).unwrap_or(1);
        Ok(i32::try_from(sum / count).unwrap_or(0))
    }
}

/// Levels and zero points of the blocks of some rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    pub(crate) levels: Vec<Blocks>,
    pub(crate) zero: Option<Blocks>,
}

impl Near {
    /// A rule with its sources at hand.
    pub(crate) fn terms<'t>(&'t self, rule: &'t ClassRule) -> Terms<'t> {
        let levels = self.levels.get(..rule.levels.len()).unwrap_or_default();
        let zero = self.zero.as_ref().filter(|_| rule.zero.is_some()).map(Cow::Borrowed);
        Terms { rule, levels: Cow::Borrowed(levels), zero }
    }
}

/// The sources that hints name.
pub(crate) struct Sources<'a> {
    pub(crate) hints: Hints<'a>,
    cols: usize,
    /// The mean level of each.
    pub(crate) typical: Vec<i32>,
    /// Zero points that share classes.
    pub(crate) bands: Bands,
    /// Those of all rows, where there are few.
    all: Option<Near>,
    /// Who is asked whether to go on, where that takes long.
    pub(crate) watch: Watch,
}

impl<'a> Sources<'a> {
    /// Those of a matrix of `cols` columns.
    pub(crate) fn new(hints: Hints<'a>, cols: usize) -> Result<Self> {
        let cols = cols.max(1);
        let zeros = hints.zero.as_ref().map_or(Ok([0; 256]), |zero| zero.zeros(cols))?;
        let bands = Bands::new(&zeros);
        let watch = Watch::NONE;
        let mut sources = Self { hints, cols, typical: Vec::new(), bands, all: None, watch };
        let count: usize = sources.named().chain(&sources.hints.zero).map(Candidate::count).sum();
        if count <= FEW {
            let all = sources.of(0..usize::MAX)?;
            sources.typical = all.levels.iter().map(Blocks::typical).collect();
            sources.all = Some(all);
        } else {
            sources.typical = sources.named().map(|c| c.typical(cols)).collect::<Result<_>>()?;
        }
        Ok(sources)
    }

    /// The same for work that is watched.
    pub(crate) fn watched(self, watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..self }
    }

    fn named(&self) -> impl Iterator<Item = &Candidate<'a>> {
        self.hints.levels.iter().take(MAX_SOURCES)
    }

    /// Whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.hints.levels.is_empty() && self.hints.zero.is_none()
    }

    fn of(&self, rows: Range<usize>) -> Result<Near> {
        let levels = self.named().map(|c| c.blocks(rows.clone(), self.cols, false));
        let zero = self.hints.zero.as_ref().map(|c| c.blocks(rows.clone(), self.cols, true));
        Ok(Near { levels: levels.collect::<Result<_>>()?, zero: zero.transpose()? })
    }

    /// Adds to levels of rows those of their blocks, above what is typical; rows have one block each.
    pub(crate) fn add_levels(&self, rows: &mut [f32]) -> Result<()> {
        let middle = self.typical.first().copied().unwrap_or(0);
        for (first, rows) in (0..).step_by(ADDED).zip(rows.chunks_mut(ADDED)) {
            let mut own = Near::default();
            let near = self.near(first..first + rows.len(), &mut own)?;
            for blocks in near.levels.iter().take(self.hints.sizes()) {
                for (r, row) in (first..).zip(rows.iter_mut()) {
                    let at = blocks.row(r);
                    let level = if at < blocks.values.len() { blocks.at(at) - middle } else { 0 };
                    #[expect(clippy::cast_precision_loss, reason = "a logarithm")]
                    {
                        *row += level as f32;
                    }
                }
            }
        }
        Ok(())
    }

    /// Those of `rows`, in `own` where they have to be made.
    pub(crate) fn near<'n>(&'n self, rows: Range<usize>, own: &'n mut Near) -> Result<&'n Near> {
        if let Some(all) = &self.all {
            return Ok(all);
        }
        *own = self.of(rows)?;
        Ok(own)
    }
}
