//! Whether floats may be smaller as planes of bytes than as words: scales and biases hardly ever are, and to choose
//! classes and tables for their planes takes longer than all else that is done for them.

use crate::wcodec::config::Config;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::taken::Taken;
use crate::wcodec::encode::words::SLOW;
use crate::wcodec::view::{Form, View};

/// Bytes of the states, the record and the checksum of each plane that say nothing of symbols, about.
const OF_PLANE: f64 = 64.0;
/// What classes may save, as a share of words, beyond what the symbol to the left says.
const SAVED: f64 = 0.01;

/// Whether the tensor may take less than `words` bytes, as which all of it is there: no class says much more of an
/// exponent than the one to its left in the same row, and none anything of mantissas.
pub(crate) fn may_take_less(taken: &Taken<'_>, words: usize, config: &Config) -> bool {
    let View::FloatBytes { .. } = taken.layout.view else { return true };
    if config.level >= SLOW || config.tools.is_some() {
        return true;
    }
    let mut least = 0.0;
    for (plane, part) in taken.of().into_iter().enumerate() {
        let Some(symbols) = taken.data(plane).held() else { return true };
        let all = cost::count(symbols);
        let mut bits = cost::learned(&all);
        if let (0, Form::Symbols { cols, .. }) = (plane, part.form) {
            let cols = usize::try_from(cols).unwrap_or(usize::MAX);
            bits = bits.min(after_the_left(symbols, cols, &all));
        }
        least += bits / 8.0 + OF_PLANE;
    }
    least <= words as f64 * (1.0 + SAVED)
}

/// Bits of symbols by the one to their left, in rows of `cols`; `all` are how often they occur.
fn after_the_left(symbols: &[u8], cols: usize, all: &Histogram) -> f64 {
    if !(2..=symbols.len() / 2).contains(&cols) {
        return f64::INFINITY;
    }
    // The number of each symbol that occurs, the first one's being that of rows that begin.
    let (mut numbers, mut count) = ([0; 256], 1);
    for (number, _) in numbers.iter_mut().zip(all).filter(|(_, n)| **n > 0) {
        *number = count;
        count += 1;
    }
    let mut pairs = vec![0u32; count * count];
    for row in symbols.chunks(cols) {
        let mut left = 0;
        for &symbol in row {
            let own = numbers[usize::from(symbol)];
            pairs.iter_mut().skip(left * count + own).take(1).for_each(|n| *n += 1);
            left = own;
        }
    }
    let mut bits = 0.0;
    for of_left in pairs.chunks(count) {
        let mut histogram = [0; 256];
        histogram.iter_mut().zip(of_left.iter().skip(1)).for_each(|(all, n)| *all = *n);
        bits += cost::learned(&histogram);
    }
    bits
}
