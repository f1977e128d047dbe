//! The streams of groups.

use crate::ans::compact;
use crate::ans::rans::{self, Classes, EncodeTables};
use crate::bits::varint;
use crate::error::{Error, Result};
use crate::spare;
use crate::wcodec::class::windows::Windows;
use crate::wcodec::class::{RowSums, Terms};
use crate::wcodec::data::{Data, Stretches};
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::columns::subtract;
use crate::wcodec::encode::escapes::Escaper;
use crate::wcodec::encode::part::Bounds;
use crate::wcodec::encode::referenced::Referenced;
use crate::wcodec::encode::sources::{Near, Sources};
use crate::wcodec::encode::stacked::Stacked;
use crate::wcodec::layout::prediction::COLUMN;
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::pairs;
use latens_kernels::dispatch::Present;
use latens_kernels::rans::Levels;
use latens_kernels::rearrange::Rearrangement;

/// What symbols are coded with.
#[derive(Debug)]
pub(crate) struct Coder {
    /// By class.
    pub(crate) tables: EncodeTables,
    escaper: Option<Escaper>,
}

impl Coder {
    /// By the tables that `symbols` names.
    pub(crate) fn new(symbols: &Symbols, bank: &Bank) -> Result<Self> {
        let tables = || symbols.tables.iter().filter_map(|&t| bank.tables().get(t));
        let frequencies = tables().map(|t| t.frequencies.as_slice());
        let sums = EncodeTables::new(symbols.table_bits, frequencies);
        let wrong = || Error::invalid("a table whose frequencies do not sum to its size");
        let escaper = symbols.escape.map(|escape| Escaper::new(escape, tables()));
        Ok(Self { tables: sums.ok_or_else(wrong)?, escaper })
    }

    /// Appends the stream of a group, whose coded symbols have `bits`, to `out`.
    fn stream(
        &self,
        (symbols, bits): (&[u8], u32),
        classes: Classes<'_>,
        (words, escaped): (&mut Vec<u8>, &mut Vec<u8>),
        mut out: Vec<u8>,
    ) -> Vec<u8> {
        let Some(escaper) = &self.escaper else {
            return rans::encode(symbols, bits, classes, &self.tables, words, out);
        };
        escaped.clear();
        escaped.extend_from_slice(symbols);
        let list = escaper.take(escaped, classes);
        varint::write(list.len() as u64, &mut out);
        out.extend(list);
        rans::encode(escaped, bits, classes, &self.tables, words, out)
    }
}

/// Symbols of which all is settled but the streams of their groups.
pub(crate) struct Direct<'a> {
    pub(crate) data: Data<'a>,
    /// What predictors leave that need the whole plane, or little.
    pub(crate) residuals: Option<Vec<u8>>,
    /// The plane that they are predicted from, where that is not made yet.
    pub(crate) reference: Option<Data<'a>>,
    pub(crate) symbols: Symbols,
    /// From columns as they are to columns as they are coded.
    pub(crate) there: Option<Rearrangement>,
    /// Their classes for kernels, where they have that form.
    pub(crate) windows: Option<Windows>,
    /// Bits a symbol.
    pub(crate) width: u32,
    pub(crate) sources: Sources<'a>,
    /// Bits of all symbols under their tables.
    pub(crate) cost: f64,
    /// Whether that is known only as far as a sample tells, as neighbours do not depend on each other, or as what may be
    /// said apart is.
    pub(crate) roughly: bool,
}

impl Direct<'_> {
    /// Bytes of all streams, by what the tables cost: a coder comes that close to it. States take what they have to
    /// say and the room of the last symbols, which take nothing beside.
    pub(crate) fn bytes(&self) -> Bounds {
        let share = if self.roughly { 0.01 } else { 0.001 };
        let (groups, bytes) = (self.symbols.groups(), self.cost / 8.0);
        let a_group = self.symbols.coded(0);
        let in_states = compact::in_states(a_group, self.coded_bits());
        // Which ones are in states is chance: they may take nothing, or more than others.
        let last = in_states as f64 / a_group.max(1) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let about = |share: f64, last: f64| (bytes * share * (1.0 - last).max(0.0)) as usize;
        // Their highest bits are less than a bit each, at both ends.
        let (states, few) = (compact::BYTES.start, rans::LANES / 8);
        about(1.0 - share, 2.0 * last) + groups * (states - few)
            ..about(1.0 + share, 0.0) + groups * (states + few)
    }

    /// Bits of a symbol as it is coded.
    fn coded_bits(&self) -> u32 {
        self.symbols.coded_bits(self.width)
    }

    /// The stream of a group.
    pub(crate) fn group(
        &self,
        group: usize,
        coder: &Coder,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>> {
        let (symbols, range) = (&self.symbols, self.symbols.group_range(group));
        let mut read = std::mem::take(&mut scratch.read);
        let mut made = std::mem::take(&mut scratch.made);
        let mut own = Near::default();
        let near = self.sources.near(symbols.rows_of(group), &mut own)?;
        let terms = symbols.classes.as_ref().map(|rule| near.terms(rule));
        let mut data = match (&self.residuals, self.reference) {
            (Some(residuals), _) => &residuals[range],
            (None, Some(reference)) => {
                Referenced { symbols: self.data, reference, bits: self.width }
                    .read(range, &mut read)?;
                &read
            }
            (None, None) => self.data.get(range, &mut read)?,
        };
        let prediction = symbols.prediction.as_ref().filter(|p| p.predictor == COLUMN);
        let means = prediction.and_then(|p| p.means.as_deref());
        if symbols.pairs {
            made.resize(data.len() / 2, 0);
            pairs::join(data, &mut made);
            means.iter().for_each(|means| pairs::subtract(&mut made, means, self.width));
            if let Some(there) = &self.there {
                there.apply(Present::in_use(), &mut made);
            }
            data = &made;
        } else if let Some(means) = means {
            made.clear();
            made.extend_from_slice(data);
            subtract(&mut made, means, self.width);
            data = &made;
        }
        let bits = self.coded_bits();
        let stream = match (&symbols.stack, &terms) {
            (Some(stack), Some(terms)) => {
                scratch.stacked.join(stack, terms, symbols.rows_of(group), symbols.cols, data);
                let Scratch { stacked: Stacked { coded, classes, .. }, words, escaped, .. } =
                    scratch;
                let classes = Classes::PerSymbol(classes);
                coder.stream((coded, bits), classes, (words, escaped), Vec::new())
            }
            _ => {
                let by = terms.as_ref().map(|terms| (terms, self.windows.as_ref()));
                scratch.stream((symbols, bits), by, coder, group, data, Vec::new())
            }
        };
        (scratch.read, scratch.made) = (read, made);
        Ok(stream)
    }
}

/// What says which classes symbols have, and the same for kernels, where it has that form.
pub(crate) type By<'a> = (&'a Terms<'a>, Option<&'a Windows>);

/// What groups that are encoded one after the other may use again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) classes: Vec<u8>,
    sums: RowSums,
    /// Where windows of classes begin.
    starts: Vec<u16>,
    words: Vec<u8>,
    /// Symbols without those that are said apart.
    escaped: Vec<u8>,
    /// Symbols as they were read.
    pub(crate) read: Vec<u8>,
    /// Symbols less their means, and in pairs.
    made: Vec<u8>,
    stacked: Stacked,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Self { classes, words, escaped, read, made, .. } = self;
        let buffers = [classes, words, escaped, read, made].into_iter();
        buffers.for_each(|buffer| spare::give_bytes(std::mem::take(buffer)));
    }
}

impl Scratch {
    /// Finds the classes of the coded symbols of a group.
    pub(crate) fn find(
        &mut self,
        symbols: &Symbols,
        (terms, windows): By<'_>,
        group: usize,
        count: usize,
    ) {
        let (cols, first) = (symbols.coded_cols().max(1), group * symbols.group_rows);
        let step = if symbols.pairs { 2 } else { 1 };
        if self.classes.is_empty() {
            self.classes = spare::stale_bytes(count);
        }
        self.classes.resize(count, 0);
        if let Some(windows) = windows {
            self.starts.resize(count.div_ceil(rans::LANES), 0);
            windows.starts_of_rows(terms, first, step, &mut self.starts);
            // As windows are made, that is what it is.
            if let Some(levels) = Levels::new(&windows.map, &self.starts, &windows.cols) {
                return levels.write(Present::in_use(), &mut self.classes);
            }
        }
        self.sums.forget();
        for (r, row) in self.classes.chunks_mut(cols).enumerate() {
            terms.classes(first + r, step, &mut self.sums, row);
        }
    }

    /// Appends the stream of a group, whose coded symbols have `bits`, to `out`.
    pub(crate) fn stream(
        &mut self,
        (symbols, bits): (&Symbols, u32),
        by: Option<By<'_>>,
        coder: &Coder,
        group: usize,
        data: &[u8],
        out: Vec<u8>,
    ) -> Vec<u8> {
        let mut classes = Classes::One(0);
        if let Some(by) = by {
            self.find(symbols, by, group, data.len());
            classes = Classes::PerSymbol(&self.classes);
        }
        if self.words.is_empty() {
            self.words = spare::stale_bytes(rans::most_bytes(data.len()));
        }
        coder.stream((data, bits), classes, (&mut self.words, &mut self.escaped), out)
    }
}
