//! Bits of symbols by sum and by move of a level: sums of them over rows, and for columns.

use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::matrix::FEW_BITS;
use crate::wcodec::layout::class_rule::Map;
use latens_kernels::dispatch::{Present, Work};

/// By how much levels may change at a time: places from four below on.
pub(super) const MOVES: usize = 8;
pub(super) const BELOW: usize = 4;
/// From one symbol to the next: sums, and those that moves lead to. No power of two, so that symbols have
/// different sets of the nearest cache.
const STRIDE: usize = 256 + 16;
/// Slots of the tables that prices are of, as a power of two.
const TABLE_BITS: u32 = 12;
/// Steps of a bit, and those of a symbol that has no code, at most: so many symbols sum up in 16 bits.
const FIXED: f32 = 256.0;
const MOST: f32 = 4095.0;
pub(super) const AT_ONCE: usize = 16;
/// Bytes of the prices of a symbol, and of all moves.
const OF_SYMBOL: usize = 2 * STRIDE;
const OF_MOVES: usize = 2 * MOVES;
/// Symbols of one kind of tables, and of the other one.
const MANY: usize = 256;
const FEW: usize = 1 << FEW_BITS;

/// Prices of 16 bits by symbol and sum, from four sums below on.
pub(super) enum OfSums {
    Many(Box<[u8; MANY * OF_SYMBOL]>),
    Few(Box<[u8; FEW * OF_SYMBOL]>),
}

/// Steps as bits.
pub(super) fn bits(steps: u64) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "of what is much more than a step")]
    let steps = steps as f32;
    steps / FIXED
}

/// Bits as steps.
fn steps(bits: f32) -> [u8; 2] {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to MOST")]
    let steps = (bits * FIXED).min(MOST).round() as u16;
    steps.to_le_bytes()
}

impl OfSums {
    /// Of the classes of a map, whose symbols are counted.
    pub(super) fn new(map: &Map, histograms: &[Histogram], bits: u32) -> Self {
        let of_class = |histogram: &Histogram| {
            let own = Own::new(histogram, bits, TABLE_BITS, false);
            let none = [f32::INFINITY; 256];
            own.map_or(none, |own| cost::prices(&own.table.frequencies, TABLE_BITS)).map(steps)
        };
        let tables: Vec<[[u8; 2]; 256]> = histograms.iter().map(of_class).collect();
        let none = [steps(f32::INFINITY); 256];
        let of_place = |place: usize| {
            let class = map[place.saturating_sub(BELOW).min(255)];
            tables.get(usize::from(class)).unwrap_or(&none)
        };
        let places: Vec<&[[u8; 2]; 256]> = (0..STRIDE).map(of_place).collect();
        let symbols = if bits <= FEW_BITS { FEW } else { MANY };
        let mut prices = vec![0u8; symbols * OF_SYMBOL];
        for (symbol, prices) in prices.chunks_exact_mut(OF_SYMBOL).enumerate() {
            let of_symbol = places.iter().map(|table| table[symbol % MANY]);
            prices.as_chunks_mut().0.iter_mut().zip(of_symbol).for_each(|(to, price)| *to = price);
        }
        match prices.into_boxed_slice().try_into() {
            Ok(many) => Self::Many(many),
            Err(prices) => {
                let mut few = Box::new([0; FEW * OF_SYMBOL]);
                few.iter_mut().zip(&prices).for_each(|(to, &price)| *to = price);
                Self::Few(few)
            }
        }
    }

    /// Adds what symbols of these sums take by move of all of them.
    #[inline(never)]
    pub(super) fn of_row(&self, sums: &[u8], symbols: &[u8], out: &mut [u64; MOVES]) {
        match self {
            Self::Many(prices) => Present::in_use().run(OfRow { prices, sums, symbols, out }),
            Self::Few(prices) => Present::in_use().run(OfRow { prices, sums, symbols, out }),
        }
    }

    /// Adds what each symbol of these sums takes by its move.
    #[inline(never)]
    pub(super) fn of_columns(&self, sums: &[u8], symbols: &[u8], out: &mut [OfColumn]) {
        match self {
            Self::Many(prices) => Present::in_use().run(OfColumns { prices, sums, symbols, out }),
            Self::Few(prices) => Present::in_use().run(OfColumns { prices, sums, symbols, out }),
        }
    }
}

/// What a column takes by move, in 16 bits each, of so few rows that these do not carry. As one number it is two
/// additions; as many the compiler would have columns side by side, and take all prices apart.
pub(super) type OfColumn = u128;

/// The prices of a symbol from a sum less four on.
#[inline(always)]
fn of_moves<const N: usize>(prices: &[u8; N], sum: u8, symbol: u8) -> [u8; OF_MOVES] {
    let symbol = usize::from(symbol) % (N / OF_SYMBOL);
    let at = symbol * OF_SYMBOL + 2 * usize::from(sum);
    let prices = prices.get(at..).and_then(|prices| prices.first_chunk());
    prices.copied().unwrap_or([0; OF_MOVES])
}

/// By move.
pub(super) fn by_move(column: OfColumn) -> [u16; MOVES] {
    apart(column.to_le_bytes())
}

#[inline(always)]
fn apart(bytes: [u8; OF_MOVES]) -> [u16; MOVES] {
    std::array::from_fn(|i| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]))
}

/// Written out for vectors of that many.
#[inline(always)]
fn add(to: &mut [u16; MOVES], more: [u8; OF_MOVES]) {
    let more = apart(more);
    for i in 0..MOVES {
        to[i] += more[i];
    }
}

struct OfRow<'a, const N: usize> {
    prices: &'a [u8; N],
    sums: &'a [u8],
    symbols: &'a [u8],
    out: &'a mut [u64; MOVES],
}

impl<const N: usize> Work for OfRow<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { prices, sums, symbols, out } = self;
        for (sums, symbols) in sums.chunks(AT_ONCE).zip(symbols.chunks(AT_ONCE)) {
            let mut some = [[0u16; MOVES]; 4];
            let (sums, sums_left) = sums.as_chunks::<4>();
            let (symbols, symbols_left) = symbols.as_chunks::<4>();
            for (sums, symbols) in sums.iter().zip(symbols) {
                add(&mut some[0], of_moves(prices, sums[0], symbols[0]));
                add(&mut some[1], of_moves(prices, sums[1], symbols[1]));
                add(&mut some[2], of_moves(prices, sums[2], symbols[2]));
                add(&mut some[3], of_moves(prices, sums[3], symbols[3]));
            }
            for (&sum, &symbol) in sums_left.iter().zip(symbols_left) {
                add(&mut some[0], of_moves(prices, sum, symbol));
            }
            for (i, out) in out.iter_mut().enumerate() {
                let [a, b, c, d] = some.map(|some| u64::from(some[i]));
                *out += a + b + c + d;
            }
        }
    }
}

struct OfColumns<'a, const N: usize> {
    prices: &'a [u8; N],
    sums: &'a [u8],
    symbols: &'a [u8],
    out: &'a mut [OfColumn],
}

impl<const N: usize> Work for OfColumns<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((&sum, &symbol), out) in self.sums.iter().zip(self.symbols).zip(self.out) {
            let more = u128::from_le_bytes(of_moves(self.prices, sum, symbol));
            *out = out.wrapping_add(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prices of two classes, of symbols that are the likelier the smaller and the larger they are.
    fn prices(bits: u32) -> (OfSums, usize) {
        let most = (1u32 << bits) - 1;
        let count = |s: usize, falls: bool| match u32::try_from(s) {
            Ok(s) if s <= most => 1 + if falls { most - s } else { s },
            _ => 0,
        };
        let histograms = [true, false].map(|falls| std::array::from_fn(|s| count(s, falls)));
        let map = std::array::from_fn(|sum| u8::from(sum >= 128));
        (OfSums::new(&map, &histograms, bits), 1 << bits)
    }

    #[test]
    fn rows_and_columns_take_what_their_symbols_do_one_by_one() {
        for bits in [2u32, 4, 6, 8] {
            let (prices, alphabet) = prices(bits);
            let mut seed = 1u32;
            let mut next = |below: usize| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                u8::try_from((seed >> 8) as usize % below).unwrap()
            };
            // So many rows as sums of 16 bits may be of.
            let rows: Vec<(Vec<u8>, Vec<u8>)> = (0..AT_ONCE)
                .map(|_| (0..101).map(|_| (next(256), next(alphabet))).unzip())
                .collect();
            let one = |sum: u8, symbol: u8| {
                let mut out = [0; MOVES];
                prices.of_row(&[sum], &[symbol], &mut out);
                out
            };
            let mut columns = vec![0; 101];
            let mut by_column = vec![[0u64; MOVES]; 101];
            for (sums, symbols) in &rows {
                let (mut row, mut by_row) = ([0; MOVES], [0; MOVES]);
                prices.of_row(sums, symbols, &mut row);
                prices.of_columns(sums, symbols, &mut columns);
                for ((&sum, &symbol), column) in sums.iter().zip(symbols).zip(&mut by_column) {
                    let some = one(sum, symbol);
                    by_row.iter_mut().zip(some).for_each(|(all, some)| *all += some);
                    column.iter_mut().zip(some).for_each(|(all, some)| *all += some);
                }
                assert_eq!(row, by_row);
            }
            let columns: Vec<[u64; MOVES]> =
                columns.into_iter().map(|column| by_move(column).map(u64::from)).collect();
            assert_eq!(columns, by_column);
        }
    }

    #[test]
    fn a_move_leads_to_the_class_of_another_sum() {
        let (prices, _) = prices(8);
        let mut small = [0; MOVES];
        prices.of_row(&[126], &[0], &mut small);
        // Sums of 122 to 129; from 128 on a small symbol is rare.
        assert!(small[..6].iter().all(|&bits| bits == small[0]));
        assert!(small[6..].iter().all(|&bits| bits > small[0]));
    }
}
