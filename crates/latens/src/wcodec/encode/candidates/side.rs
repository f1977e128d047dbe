//! Side information of rules: levels of rows and columns as they are written, and what that takes.

use crate::wcodec::encode::levels::to_bytes;
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::golomb::Memory;
use crate::wcodec::layout::short_stream;

/// Steps by which levels of rows are moved at most, as they take fewer bits then.
const MOST_STEPS: i32 = 3;

/// Symbols from which on levels may be decided on without counting: where they differ by so many bits, of a squared
/// nat a symbol, for each bit that they take. A third of that is what they gain, more or less.
pub(super) const DECIDED: usize = 1 << 17;
const SURELY_PAY: f64 = 4.0;
const SURELY_NOT: f64 = 1.5;
/// Bytes that it takes to name a source.
pub(super) const OF_SOURCE: usize = 8;

/// Levels of rows or columns as they are written, and the bytes that this takes.
#[derive(Clone)]
pub(super) struct Levels {
    pub(super) bytes: Vec<u8>,
    pub(super) side: usize,
    /// Whether they surely pay, or do not, where that is clear without counting symbols.
    pays: Option<bool>,
}

impl Levels {
    /// Of levels with what it costs to be off one of them by a step; whether they pay is said if it is to be
    /// `decided`: their squares count above those that are `chance`, each.
    pub(super) fn new(levels: &[f32], loss: f64, decided: bool, chance: f64) -> Self {
        let mut bytes = to_bytes(levels).0;
        let side = match bytes.is_empty() {
            true => 0,
            false if loss > 0.0 => short_stream::bytes_of(round_by_cost(&mut bytes, levels, loss)),
            false => short_stream::cost(&bytes),
        };
        let squares = squares(levels) - chance * levels.len() as f64;
        let share = 2.0 * loss * squares / (8 * side.max(1)) as f64;
        let pays = match share {
            _ if !decided || side == 0 => None,
            SURELY_PAY.. => Some(true),
            ..SURELY_NOT => Some(false),
            _ => None,
        };
        Self { bytes, side, pays }
    }

    /// Whether it is clear that rules had better not be as they are, with these levels or without.
    pub(super) fn is_decided_against(&self, with: bool) -> bool {
        self.pays.is_some_and(|pays| pays != with)
    }
}

/// The sum of the squares by which levels differ from their mean.
fn squares(levels: &[f32]) -> f64 {
    let sum: f64 = levels.iter().map(|&level| f64::from(level)).sum();
    let mean = sum / levels.len().max(1) as f64;
    levels.iter().map(|&level| (f64::from(level) - mean).powi(2)).sum()
}

/// Bits of the side information of a rule, its maps aside.
pub(crate) fn side_bits(rule: &ClassRule) -> f64 {
    let stream = |levels: &[u8]| if levels.is_empty() { 0 } else { short_stream::cost(levels) };
    side_bits_of(rule, stream(&rule.rows) + stream(&rule.cols))
}

/// As [`side_bits`], of which `levels` bytes are those of rows and columns.
pub(super) fn side_bits_of(rule: &ClassRule, levels: usize) -> f64 {
    let sources = rule.levels.len() + usize::from(rule.zero.is_some());
    8.0 * (levels + OF_SOURCE * sources + 16) as f64
}

/// Moves levels, rounded to `bytes`, towards the most common one where they then take fewer bits than
/// symbols take more: `loss` times the square of how far off a level is. The bits that they take as a stream,
/// whose base stays what it was: none of them is moved past it.
pub(crate) fn round_by_cost(bytes: &mut [u8], levels: &[f32], loss: f64) -> u64 {
    let least = levels.iter().copied().fold(f32::INFINITY, f32::min).round();
    let (base, mut memory, mut all) = (short_stream::base(bytes), Memory::new(), 0);
    for (byte, &level) in bytes.iter_mut().zip(levels) {
        let (exact, away) = (f64::from(level - least), i32::from(*byte) - i32::from(base));
        // No step is left out: a look at which of them may be cheaper takes longer than all of them.
        let (mut fewest, mut best) = (f64::INFINITY, away);
        for steps in 0..=MOST_STEPS {
            let to = away - away.signum() * steps.min(away.abs());
            let off = f64::from(i32::from(base) + to) - exact;
            let bits = f64::from(memory.bits_of_signed(to)) + loss * off * off;
            let is_better = bits < fewest;
            fewest = if is_better { bits } else { fewest };
            best = if is_better { to } else { best };
        }
        *byte = u8::try_from(i32::from(base) + best).unwrap_or(base);
        all += u64::from(memory.cost_signed(best));
    }
    debug_assert!(short_stream::base(bytes) == base, "levels were moved past their base");
    all
}
