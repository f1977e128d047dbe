//! Symbols that are said apart: so rare that a slot of a table is worth more than they take there.

use crate::bits::varint;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::cost::Histogram;
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::plan::Plan;
use std::f64::consts::LOG2_E;

/// Bits of a symbol that is said apart, beside those of the escape.
const APART: f64 = 8.0;
/// Times that what is escaped is chosen by what an escape takes then.
const ROUNDS: usize = 3;

/// Which symbols are said apart, and the symbol in whose place they are.
#[derive(Clone, Debug)]
pub(crate) struct Escapes {
    pub(crate) symbol: u8,
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
            let more = (escape + APART - f64::from(table_bits)).max(1.0);
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

    /// Takes symbols out of `data` that are said apart; their list is what a group begins with.
    pub(crate) fn take(&self, data: &mut [u8]) -> Vec<u8> {
        let mut list = Vec::new();
        for symbol in data.iter_mut().filter(|symbol| self.apart[usize::from(**symbol)]) {
            list.push(std::mem::replace(symbol, self.symbol));
        }
        let mut head = Vec::new();
        varint::write(list.len() as u64, &mut head);
        head.append(&mut list);
        head
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
    let apart = APART * f64::from(escaped);
    let (tables, histograms) = (vec![table], vec![coded]);
    Some(Plan {
        tables,
        histograms,
        bits: of_table + apart,
        escapes: Some((escapes, apart)),
        ..Plan::default()
    })
}
