//! Symbols for the direct coder.

use crate::ans::compact;
use crate::watch::Watch;
use crate::wcodec::data::Data;
use crate::wcodec::encode::matrix::{FEW_BITS, Matrix};
use crate::wcodec::encode::sources::Hints;
use crate::wcodec::encode::tiled::Reference;
use crate::wcodec::layout::part::PartShape;
use crate::wcodec::layout::symbols::MOST_EXPANSION;
use crate::wcodec::plane::Role;
use crate::wcodec::stack::MAX_ROWS;

/// Settings of the direct coder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectConfig {
    /// Symbols of a group, at least; 0 for what suits the tensor.
    pub(crate) group_symbols: usize,
    pub(crate) table_bits: u32,
    /// Threads for groups.
    pub(crate) threads: usize,
    /// By how much symbols coded in pairs, which decode twice as fast, may be larger.
    pub(crate) pairs_slack: f64,
    /// What classes by columns must save, as a share of all bits, where symbols have more than few: without them as many take a
    /// sixth to a quarter less time.
    pub(crate) least_of_classes: f64,
    /// Whether reading may take longer: columns are predicted from others then.
    pub(crate) slow_reading: bool,
    /// Whether means of columns are weighed on a few rows only.
    pub(crate) quick: bool,
    /// Whether states of groups are to weigh less, where few rows would else be read in less time.
    pub(crate) large_groups: bool,
}

/// What the lane states of a group take at least.
pub(crate) const STATES_BYTES: usize = compact::BYTES.start;

/// What a group takes beside its states: a length, a checksum, padding.
const BESIDE: usize = 9;

/// Symbols of a group; those of large tensors are smaller, so that it takes little to read a few rows,
/// but where lane states would weigh too much.
pub(crate) const GROUP: usize = 1 << 18;
const LARGE: usize = 1 << 24;
const SMALL_GROUP: usize = GROUP / 4;
/// Symbols of a group where reading may take longer.
const LARGE_GROUP: usize = 1 << 20;
/// From so many symbols on groups come in fours, and are a little larger for that; and pairs have fewer tables.
pub(crate) const MANY: usize = if cfg!(test) { 1 << 14 } else { 1 << 22 };

/// Fewest symbols that are cut in two, or in four where they have more than few bits, but where reading may take longer: a row
/// of a group waits for the one before, so that two side by side take little more time than one, and four five
/// sixths of that of two and two.
const TWO: usize = 1 << 17;
/// Fewest symbols of more than few bits that are cut in two: models of small tensors would else be read a group at a time.
const TWO_OF_MANY: usize = 1 << 15;
/// Fewest symbols that are cut in four, whatever their bits.
const FOUR: usize = 1 << 19;

/// What small groups take a symbol, of symbols that take so many bits: the last of these take nothing beside the states.
pub(crate) fn small_groups(bits: f64) -> f64 {
    let last = compact::in_states(SMALL_GROUP, 8) as f64;
    (8.0 * (STATES_BYTES + BESIDE) as f64 - last * bits).max(0.0) / SMALL_GROUP as f64
}

/// Rows of a group: about as many symbols as `config` says, and no more than readers believe of
/// `fewest` stored bytes, fewer than which no group takes.
pub(crate) fn group_rows(matrix: Matrix<'_>, config: DirectConfig, fewest: usize) -> usize {
    let (symbols, cols) = (matrix.len(), matrix.cols.max(1));
    let rows = symbols.div_ceil(cols);
    let groups = match config.group_symbols {
        0 if config.slow_reading => (symbols / LARGE_GROUP).max(1),
        0 if symbols >= LARGE && matrix.bits > 4 && !config.large_groups => symbols / SMALL_GROUP,
        0 if symbols >= LARGE => symbols / (GROUP / 2),
        // None is left over where two or four are decoded at a time.
        0 if symbols >= MANY => (symbols / (GROUP + GROUP / 4)) & !3,
        0 if symbols >= FOUR || symbols >= TWO && matrix.bits > FEW_BITS => {
            ((symbols / GROUP) & !3).max(4)
        }
        0 if symbols >= TWO || symbols >= TWO_OF_MANY && matrix.bits > FEW_BITS => 2,
        0 => 1,
        given => symbols / given,
    };
    let groups = groups.clamp(1, rows.max(1));
    rows.div_ceil(groups).clamp(1, most_rows(fewest, cols))
}

/// Rows that readers believe of so many stored bytes.
fn most_rows(bytes: usize, cols: usize) -> usize {
    (bytes * MOST_EXPANSION / cols.max(1)).max(1)
}

/// Rows that are paired with each other, at least: of so few, most have one that adds the same to sums, and vectors are
/// full.
pub(crate) const STACKED_ROWS: usize = 64;

/// Rows of a group where they are paired with each other: whole vectors of pairs, where these are not too many.
pub(crate) fn stacked_rows(matrix: Matrix<'_>, config: DirectConfig) -> usize {
    let rows = group_rows(matrix, config, STATES_BYTES);
    let whole = rows.next_multiple_of(STACKED_ROWS);
    let most = most_rows(STATES_BYTES, matrix.cols);
    if whole <= most { whole } else { rows }.min(MAX_ROWS)
}

/// Symbols of a part, where they are in memory or where they can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneRef<'a> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) bits: u32,
    /// The symbol that stands for the least number.
    pub(crate) least: u8,
    pub(crate) data: Data<'a>,
}

/// Symbols to be encoded.
#[derive(Clone, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) role: Role,
    pub(crate) plane: PlaneRef<'a>,
    pub(crate) shape: PartShape,
    pub(crate) hints: Hints<'a>,
    /// A plane that this one may be predicted by.
    pub(crate) reference: Option<Reference<'a>>,
    pub(crate) config: DirectConfig,
    pub(crate) watch: Watch,
}
