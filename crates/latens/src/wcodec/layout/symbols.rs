//! How a part of symbols is coded: geometry, prediction, tables, classes.
//!
//! | field | form |
//! |---|---|
//! | flags | varint: 1 RECUT, 2 PAIRS, 4 PREDICT, 8 TRANSFORM, 16 CLASSES, 32 ORDER, 64 STACKED, 128 ESCAPES, 256 COMPACT |
//! | columns | RECUT: varint |
//! | group rows | varint |
//! | escape | ESCAPES: u8 |
//! | prediction | PREDICT |
//! | tables | bits u8, how many varint, the number of each in the bank |
//! | classes | CLASSES |

use crate::ans::rans::MAX_TABLE_BITS;
use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::prediction::{COLUMN, Prediction};
use crate::wcodec::layout::table::MAX_TABLES;
use crate::wcodec::order::Order;
use crate::wcodec::stack::{MAX_ROWS, Stack};

const RECUT: u64 = 1;
const PAIRS: u64 = 2;
const PREDICT: u64 = 4;
const TRANSFORM: u64 = 8;
const CLASSES: u64 = 16;
const ORDER: u64 = 32;
const STACKED: u64 = 64;
const ESCAPES: u64 = 128;
const COMPACT: u64 = 256;

/// Most classes, and tables, of a tensor.
pub(crate) const MAX_CLASSES: usize = 64;
/// Kinds of the bitplane coder, and of coefficients; plain values have the first half where there
/// are coefficients.
pub(crate) const KINDS: usize = 16;
/// How many times its stored bytes a group may hold.
pub(crate) const MOST_EXPANSION: usize = 1 << 16;
/// Everything about the coding of symbols but the groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Symbols {
    /// Symbols in all, before they are paired.
    pub(crate) count: usize,
    /// Columns as coded (before pairing), where not those of the part.
    pub(crate) recut: Option<usize>,
    /// Columns in force.
    pub(crate) cols: usize,
    /// Two symbols of 4 bits are coded as one of 8.
    pub(crate) pairs: bool,
    /// The order in which columns are paired, where that is not their own.
    pub(crate) order: Option<Order>,
    /// Where pairs are of two rows and not of two columns: the order of these.
    pub(crate) stack: Option<Stack>,
    /// Rows of a group.
    pub(crate) group_rows: usize,
    /// The symbol in whose place another one is said apart.
    pub(crate) escape: Option<u8>,
    /// Whether lanes' states take no more room than they need, and hold the last symbols.
    pub(crate) compact: bool,
    pub(crate) prediction: Option<Prediction>,
    pub(crate) table_bits: u32,
    /// By class: number in the bank.
    pub(crate) tables: Vec<usize>,
    pub(crate) classes: Option<ClassRule>,
}

impl Symbols {
    /// Whether sub-blocks may be transformed: then what is coded are signed numbers.
    pub(crate) fn has_transform(&self) -> bool {
        self.prediction.as_ref().is_some_and(|p| p.transform)
    }

    /// Rows as coded; the last one may be short.
    pub(crate) fn rows(&self) -> usize {
        self.count.div_ceil(self.cols.max(1))
    }

    /// Symbols of a row as they are coded: pairs count once.
    pub(crate) fn coded_cols(&self) -> usize {
        if self.pairs { self.cols / 2 } else { self.cols }
    }

    /// Bits of a symbol as it is coded, where those of the plane are `bits`.
    pub(crate) fn coded_bits(&self, bits: u32) -> u32 {
        if self.pairs || self.has_transform() { 8 } else { bits }
    }

    /// Symbols of a group as they are coded.
    pub(crate) fn coded(&self, group: usize) -> usize {
        let (rows, symbols) = (self.rows_of(group).len(), self.group_range(group).len());
        match (&self.stack, self.pairs) {
            // The last one of an odd number of rows is paired with itself.
            (Some(_), _) => rows.div_ceil(2) * self.cols,
            (None, true) => symbols / 2,
            (None, false) => symbols,
        }
    }

    /// Number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.rows().div_ceil(self.group_rows.max(1))
    }

    /// The symbols (not pairs) of a group, from the first one on.
    pub(crate) fn group_range(&self, group: usize) -> std::ops::Range<usize> {
        let symbols = self.group_rows.saturating_mul(self.cols);
        let start = group.saturating_mul(symbols).min(self.count);
        start..start.saturating_add(symbols).min(self.count)
    }

    /// The rows of a group.
    pub(crate) fn rows_of(&self, group: usize) -> std::ops::Range<usize> {
        let first = group.saturating_mul(self.group_rows).min(self.rows());
        first..first.saturating_add(self.group_rows).min(self.rows())
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, flag: u64| if set { flag } else { 0 };
        varint::write(
            flag(self.recut.is_some(), RECUT)
                | flag(self.pairs, PAIRS)
                | flag(self.prediction.is_some(), PREDICT)
                | flag(self.has_transform(), TRANSFORM)
                | flag(self.classes.is_some(), CLASSES)
                | flag(self.order.is_some(), ORDER)
                | flag(self.stack.is_some(), STACKED)
                | flag(self.escape.is_some(), ESCAPES)
                | flag(self.compact, COMPACT),
            out,
        );
        if let Some(cols) = self.recut {
            varint::write(cols as u64, out);
        }
        varint::write(self.group_rows as u64, out);
        out.extend(self.escape);
        if let Some(prediction) = &self.prediction {
            prediction.write(out);
        }
        out.extend_from_slice(&self.table_bits.to_le_bytes()[..1]);
        varint::write(self.tables.len() as u64, out);
        self.tables.iter().for_each(|&table| varint::write(table as u64, out));
        match (&self.classes, &self.order) {
            (None, _) => {}
            (Some(classes), None) => classes.write(&classes.cols, out),
            (Some(classes), Some(order)) => classes.write(order.levels(), out),
        }
    }

    /// Reads what belongs to a part of `rows` × `cols` symbols of `bits` bits, for the bitplane
    /// coder or the direct one.
    pub(crate) fn read(
        fields: &mut Fields<'_>,
        bits: u32,
        rows: usize,
        cols: usize,
        bitplane: bool,
    ) -> Result<Self> {
        let count = rows * cols;
        let at = fields.at();
        let flags = read_flags(fields, bits, bitplane)?;
        let has = |flag: u64| flags & flag != 0;
        let recut = if has(RECUT) { Some(fields.size("the columns as coded")?) } else { None };
        let coded = recut.unwrap_or(cols);
        let whole_rows = coded != 0 && count.is_multiple_of(coded);
        if (coded == 0 && count > 0)
            || (has(PAIRS) && !(coded.is_multiple_of(2) && count.is_multiple_of(2)))
            || ((has(PREDICT) || has(ORDER) || has(STACKED)) && count > 0 && !whole_rows)
        {
            return Err(Error::corrupt(at, format!("{count} symbols in rows of {coded}")));
        }
        let group_rows = fields.size("the rows of a group")?;
        if group_rows == 0 {
            return Err(Error::corrupt(at, "groups of no rows"));
        }
        if has(STACKED) && group_rows > MAX_ROWS {
            return Err(Error::corrupt(at, format!("pairs of two of {group_rows} rows")));
        }
        let (pairs, compact) = (has(PAIRS), has(COMPACT));
        let coded_bits = if pairs { 8 } else { bits };
        let escape = if has(ESCAPES) { Some(read_escape(fields, coded_bits)?) } else { None };
        let mut symbols = Self {
            count,
            recut,
            cols: coded,
            pairs,
            group_rows,
            escape,
            compact,
            ..Self::default()
        };
        if has(PREDICT) {
            let prediction = Prediction::read(fields, bits, coded, has(TRANSFORM))?;
            // Residuals of pairs are symbols by themselves where each depends on its column alone.
            if has(PAIRS) && prediction.predictor != COLUMN {
                return Err(Error::corrupt(at, "pairs are predicted by means of columns alone"));
            }
            symbols.prediction = Some(prediction);
        }
        let at = fields.at();
        if bitplane && (!has(PREDICT) || has(PAIRS)) {
            return Err(Error::corrupt(at, "bitplanes need values, and a prediction gives them"));
        }
        if !bitplane && has(TRANSFORM) && has(CLASSES) {
            let what = "the direct coder has coefficients by kind, not by class";
            return Err(Error::corrupt(at, what));
        }
        let classes = symbols.read_tables(fields, bitplane)?;
        if has(CLASSES) {
            symbols.read_classes(fields, classes, has(ORDER), has(STACKED))?;
        }
        Ok(symbols)
    }

    /// Reads the rule of so many classes, and what pairs of an order or of two rows need of it.
    fn read_classes(
        &mut self,
        fields: &mut Fields<'_>,
        classes: usize,
        ordered: bool,
        stacked: bool,
    ) -> Result<()> {
        let at = fields.at();
        let cols = if ordered || stacked { self.cols } else { self.coded_cols() };
        let mut rule = ClassRule::read(fields, self.rows(), cols, classes)?;
        if ordered {
            if rule.cols.is_empty() {
                return Err(Error::corrupt(at, "an order of columns without levels of columns"));
            }
            let order = Order::new(std::mem::take(&mut rule.cols));
            rule.cols = order.of_pairs();
            self.order = Some(order);
        }
        if stacked {
            let what = "pairs of two rows with zero points, blocks of an odd number of columns, or very many";
            let stack = Stack::new(&rule, self.cols);
            self.stack = Some(stack.ok_or_else(|| Error::corrupt(at, what))?);
        }
        self.classes = Some(rule);
        Ok(())
    }

    /// Reads the tables; how many classes, or kinds, there may be.
    fn read_tables(&mut self, fields: &mut Fields<'_>, bitplane: bool) -> Result<usize> {
        let at = fields.at();
        self.table_bits = u32::from(fields.u8("the size of tables")?);
        let count = fields.varint("the number of tables")?;
        if !(1..=MAX_TABLE_BITS).contains(&self.table_bits) || count > MAX_CLASSES as u64 {
            let what = format!("{count} tables of 2^{} slots", self.table_bits);
            return Err(Error::corrupt(at, what));
        }
        for _ in 0..count {
            let table = fields.varint_up_to(MAX_TABLES as u64, "the number of a table")?;
            self.tables.push(usize::try_from(table).unwrap_or(usize::MAX));
        }
        let (count, transform) = (self.tables.len(), self.has_transform());
        let fits = match (bitplane, transform) {
            (true, _) => count == 0,
            (false, true) => count == KINDS || (count < KINDS && self.count == 0),
            (false, false) => true,
        };
        if !fits {
            return Err(Error::corrupt(at, format!("{count} tables for this coder")));
        }
        Ok(match (bitplane, transform) {
            (true, true) => KINDS / 2,
            (true, false) => KINDS,
            (false, _) => count,
        })
    }
}

/// Reads the symbol in whose place others are said apart.
fn read_escape(fields: &mut Fields<'_>, bits: u32) -> Result<u8> {
    let at = fields.at();
    let escape = fields.u8("the escape")?;
    if u32::from(escape) >> bits != 0 {
        return Err(Error::corrupt(at, format!("the escape {escape} is no symbol of {bits} bits")));
    }
    Ok(escape)
}

/// Reads flags that go with each other, with symbols of `bits`, and with the coder.
fn read_flags(fields: &mut Fields<'_>, bits: u32, bitplane: bool) -> Result<u64> {
    let at = fields.at();
    let flags = fields.varint("the flags of symbols")?;
    let has = |flag: u64| flags & flag != 0;
    let known = RECUT | PAIRS | PREDICT | TRANSFORM | CLASSES | ORDER | STACKED | ESCAPES | COMPACT;
    let unknown = flags & !known != 0 || (bitplane && (has(ESCAPES) || has(COMPACT)));
    let in_order = has(ORDER) || has(STACKED);
    let lacking = (has(TRANSFORM) && !has(PREDICT)) || (in_order && !(has(PAIRS) && has(CLASSES)));
    let both = (has(ORDER) && has(STACKED)) || (has(ESCAPES) && has(TRANSFORM));
    if unknown || lacking || both || (has(PAIRS) && (has(TRANSFORM) || bits > 4)) {
        return Err(Error::corrupt(at, format!("{flags:#x} are not flags of {bits}-bit symbols")));
    }
    Ok(flags)
}

#[cfg(test)]
mod tests;
