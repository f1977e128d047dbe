//! Symbols that are said apart: so rare that a slot of a table is worth more than they take there.

use crate::ans::rans::Classes;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::cost::Histogram;
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::plan::Plan;
use crate::wcodec::layout::table::Table;
use latens_kernels::dispatch::Present;
use latens_kernels::escapes::Set;
use std::f64::consts::LOG2_E;
use std::iter::repeat;

/// Bits of a symbol that is said apart, beside those of the escape.
pub(crate) const APART: f32 = 8.0;
/// Times that what is escaped is chosen by what an escape takes then.
const ROUNDS: usize = 3;

/// Which symbols are said apart, and the symbol in whose place they are.
#[derive(Clone, Debug)]
struct Escapes {
    symbol: u8,
    apart: [bool; 256],
}

impl Escapes {
    /// For symbols of `bits` and of one table of `2^table_bits` slots; none where all of them are worth theirs.
    fn choose(whole: &Histogram, bits: u32, table_bits: u32) -> Option<Self> {
        let all: f64 = whole.iter().map(|&n| f64::from(n)).sum();
        let slot = all * LOG2_E / f64::from(1u32 << table_bits);
        let mut escape = f64::from(table_bits);
        let mut apart = [false; 256];
        for _ in 0..ROUNDS {
            // What it takes more than with a slot of its own, of which there is one for all of them.
            let more = (escape + f64::from(APART) - f64::from(table_bits)).max(1.0);
            apart = whole.map(|n| n > 0 && f64::from(n) * more < slot);
            let some = whole.iter().zip(apart).filter(|(_, apart)| *apart);
            let some: f64 = some.map(|(&n, _)| f64::from(n)).sum();
            escape = (all / some.max(1.0)).log2();
        }
        let symbols = (0..=u8::MAX >> (8 - bits)).zip(whole);
        let (symbol, _) = symbols.min_by_key(|(_, n)| **n)?;
        apart[usize::from(symbol)] = true;
        let many = apart.iter().zip(whole).filter(|(apart, n)| **apart && **n > 0).count() > 1;
        many.then_some(Self { symbol, apart })
    }

    /// What is coded of symbols.
    fn coded(&self, whole: &Histogram) -> (Histogram, u32) {
        let (mut coded, mut escaped) = (*whole, 0);
        for (n, _) in coded.iter_mut().zip(self.apart).filter(|(_, apart)| *apart) {
            escaped += std::mem::take(n);
        }
        coded[usize::from(self.symbol)] = escaped;
        (coded, escaped)
    }
}

/// Symbols of which one word says where such may be that are said apart.
const TOGETHER: usize = u64::BITS as usize;

/// Takes out symbols that have no slots in the tables of their classes.
#[derive(Debug)]
pub(crate) struct Escaper {
    escape: u8,
    /// By symbol + 256 · class: 1 if it is said apart.
    apart: Box<[u8; 1 << 16]>,
    /// Those that are in some class.
    in_some: Set,
}

impl Escaper {
    /// Of tables, by class.
    pub(crate) fn new<'a>(escape: u8, tables: impl Iterator<Item = &'a Table>) -> Self {
        let (mut apart, mut in_some) = (Box::new([1; 1 << 16]), [false; 256]);
        for (apart, table) in apart.as_chunks_mut::<256>().0.iter_mut().zip(tables) {
            for (apart, &f) in apart.iter_mut().zip(&table.frequencies) {
                *apart = u8::from(f == 0);
            }
            apart[usize::from(escape)] = 1;
            in_some.iter_mut().zip(apart).for_each(|(some, apart)| *some |= *apart != 0);
        }
        Self { escape, apart, in_some: Set::new(&in_some) }
    }

    /// Puts the escape in place of symbols that have no slots, and returns these.
    pub(crate) fn take(&self, symbols: &mut [u8], classes: Classes<'_>) -> Vec<u8> {
        let mut places = Vec::with_capacity(symbols.len().div_ceil(TOGETHER));
        self.in_some.places(Present::in_use(), symbols, &mut places);
        match classes {
            Classes::PerSymbol(classes) => self.take_by(symbols, &places, classes.chunks(TOGETHER)),
            Classes::One(class) => self.take_by(symbols, &places, repeat(&[class; TOGETHER][..])),
            // Encoders have none.
            Classes::Levels(_) => Vec::new(),
        }
    }

    /// The same, with the classes of so many symbols at a time, and where they may be.
    fn take_by<'c>(
        &self,
        symbols: &mut [u8],
        places: &[u64],
        classes: impl Iterator<Item = &'c [u8]>,
    ) -> Vec<u8> {
        let mut taken = Vec::new();
        for ((symbols, classes), &places) in symbols.chunks_mut(TOGETHER).zip(classes).zip(places) {
            let mut places = places;
            while places != 0 {
                let at = places.trailing_zeros() as usize;
                places &= places - 1;
                let (symbol, class) = (&mut symbols[at], classes[at]);
                if self.apart[usize::from(u16::from_le_bytes([*symbol, class]))] != 0 {
                    taken.push(std::mem::replace(symbol, self.escape));
                }
            }
        }
        taken
    }
}

/// A plan with one table of `2^table_bits` slots, fitted `closely` or not, and with escapes, where these may pay.
pub(crate) fn plan(
    whole: &Histogram,
    (bits, table_bits): (u32, u32),
    closely: bool,
    bank: &mut Bank,
) -> Option<Plan> {
    let escapes = Escapes::choose(whole, bits, table_bits)?;
    let (coded, escaped) = escapes.coded(whole);
    let own = || Own::new(&coded, bits, table_bits, closely);
    let (table, of_table) = bank.choose(&coded, bits, table_bits, own);
    let apart = f64::from(APART) * f64::from(escaped);
    let (tables, histograms) = (vec![table], vec![coded]);
    Some(Plan {
        tables,
        histograms,
        bits: of_table + apart,
        escapes: Some((escapes.symbol, apart)),
        ..Plan::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wcodec::layout::table::Shape;
    use proptest::prelude::*;

    const ESCAPE: u8 = 7;

    /// A table in which `rare` and the symbols from 250 on have no slots.
    fn table(rare: u8) -> Table {
        let has_slots = |symbol: u8| u16::from(symbol != rare && symbol < 250);
        let frequencies = (0..=255).map(has_slots).collect();
        Table { bits: 8, table_bits: 8, shape: Shape::Explicit, frequencies }
    }

    proptest! {
        #[test]
        fn what_has_no_slot_is_taken_out(
            symbols in prop::collection::vec(prop_oneof![Just(ESCAPE), 0..20u8, any::<u8>()], 0..300),
            rare in [0..20u8, 0..20u8],
        ) {
            let escaper = Escaper::new(ESCAPE, rare.map(table).iter());
            let classes: Vec<u8> = symbols.iter().map(|symbol| symbol / 3 % 2).collect();
            for classes in [Classes::PerSymbol(&classes), Classes::One(1)] {
                let mut left = symbols.clone();
                let taken = escaper.take(&mut left, classes);
                let mut next = taken.iter();
                for (i, (&symbol, &left)) in symbols.iter().zip(&left).enumerate() {
                    let class = if let Classes::PerSymbol(classes) = classes { classes[i] } else { 1 };
                    if symbol == ESCAPE || symbol >= 250 || symbol == rare[usize::from(class)] {
                        prop_assert_eq!((left, next.next()), (ESCAPE, Some(&symbol)));
                    } else {
                        prop_assert_eq!(left, symbol);
                    }
                }
                prop_assert_eq!(next.next(), None);
            }
        }
    }
}
