//! One group: its stored bytes to symbols.

use crate::ans::rans::{LANES, START};
use crate::error::{Error, Result};
use crate::wcodec::bitplane::{self, Order, Values, order_of};
use crate::wcodec::class::{RowSums, Terms};
use crate::wcodec::decode::tables::{Ready, Slots};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::tiled::{Tiles, tile_size};
use crate::wcodec::transform;
use latens_kernels::dispatch::simd;
use latens_kernels::rans::{Classes, Group, Kernel};

/// The symbol of a number of 255 or more; the excess follows the words.
const ESCAPE: u8 = 255;

/// Everything that the groups of a part of symbols have in common.
pub(crate) struct SymbolDecoder<'a> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) bits: u32,
    /// By bitplanes rather than by tables.
    pub(crate) bitplane: bool,
    pub(crate) slots: Slots,
    pub(crate) terms: Option<Terms<'a>>,
    /// Symbols of the reference, as many as the part has; or none.
    pub(crate) reference: Vec<u8>,
}

/// A group whose head has been read.
struct Opened<'s> {
    tiles: Tiles,
    states: [u32; LANES],
    words: &'s [u8],
    /// Where the words begin in the stored bytes.
    at: usize,
}

/// What groups that are decoded one after the other may use again; two at a time.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    classes: [Vec<u8>; 2],
    pairs: [Vec<u8>; 2],
    sums: RowSums,
}

/// What a group is decoded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A symbol a byte.
    Symbols,
    /// A pair of symbols a byte, as it is coded; for PAIRS alone.
    Pairs,
}

impl SymbolDecoder<'_> {
    /// Decodes group `group` from `stored` into `out`, which is as long as the group. Offsets in
    /// errors count from the start of `stored`.
    pub(crate) fn decode(
        &self,
        group: usize,
        stored: &[u8],
        into: Target,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<()> {
        if self.bitplane {
            return self.bitplanes(group, stored, out);
        }
        let Buffers { classes: [found, _], pairs: [pairs, _], sums } = buffers;
        let coded = self.coded(into, pairs, out).len();
        let opened = self.open(group, stored, out.len(), coded, found, sums)?;
        if self.symbols.has_transform() {
            return self.coefficients(group, opened, found, out);
        }
        let read = self.rans(&opened, found, self.coded(into, pairs, out))?;
        self.no_more(&opened, read)?;
        self.finish(group, &opened.tiles, into, pairs, out)
    }

    /// Decodes two groups side by side.
    pub(crate) fn decode_two(
        &self,
        group: usize,
        stored: [&[u8]; 2],
        into: Target,
        buffers: &mut Buffers,
        out: [&mut [u8]; 2],
    ) -> Result<()> {
        let [first, second] = out;
        let ready = self.slots.ready(self.symbols.table_bits);
        let Some(tables) = ready.filter(|_| !self.bitplane && !self.symbols.has_transform()) else {
            self.decode(group, stored[0], into, buffers, first)?;
            return self.decode(group + 1, stored[1], into, buffers, second);
        };
        let Buffers { classes: [found, other], pairs: [pairs, more], sums } = buffers;
        let coded = self.coded(into, pairs, first).len();
        let a = self.open(group, stored[0], first.len(), coded, found, sums)?;
        let coded = self.coded(into, more, second).len();
        let b = self.open(group + 1, stored[1], second.len(), coded, other, sums)?;
        let mut x = Group {
            words: a.words,
            states: a.states,
            classes: classes(found),
            out: self.coded(into, pairs, first),
        };
        let mut y = Group {
            words: b.words,
            states: b.states,
            classes: classes(other),
            out: self.coded(into, more, second),
        };
        let kernel = Kernel::new(simd());
        let read = match tables {
            Ready::Narrow(tables) => kernel.decode_two(tables, &mut x, &mut y),
            Ready::Wide(tables) => kernel.decode_wide_two(tables, &mut x, &mut y),
        };
        let (x, y) = (x.states, y.states);
        self.check(&a, x, read[0]).and_then(|read| self.no_more(&a, read))?;
        self.check(&b, y, read[1]).and_then(|read| self.no_more(&b, read))?;
        self.finish(group, &a.tiles, into, pairs, first)?;
        self.finish(group + 1, &b.tiles, into, more, second)
    }

    /// Where coded symbols go: `out`, or a buffer for pairs that are still to be taken apart.
    fn coded<'o>(&self, into: Target, pairs: &'o mut Vec<u8>, out: &'o mut [u8]) -> &'o mut [u8] {
        if !self.symbols.pairs || into == Target::Pairs {
            return out;
        }
        pairs.resize(out.len() / 2, 0);
        pairs
    }

    /// Reads tiles and states of a group of `count` symbols, `coded` of them as they are coded, and
    /// finds their classes; none where all have the same.
    fn open<'s>(
        &self,
        group: usize,
        stored: &'s [u8],
        count: usize,
        coded: usize,
        classes: &mut Vec<u8>,
        sums: &mut RowSums,
    ) -> Result<Opened<'s>> {
        let symbols = self.symbols;
        let (tiles, at) = self.tiles(stored, count)?;
        let rest = &stored[at..];
        let Some((head, words)) = rest.split_at_checked(LANES * 4) else {
            return Err(Error::corrupt(0, "a group is shorter than its 32 states"));
        };
        let mut states = [0u32; LANES];
        for (lane, (x, bytes)) in states.iter_mut().zip(head.as_chunks::<4>().0).enumerate() {
            *x = u32::from_le_bytes(*bytes);
            if *x < START {
                let at = (at + 4 * lane) as u64;
                return Err(Error::corrupt(at, format!("lane {lane} begins at {x}")));
            }
        }
        if words.len() % 2 != 0 {
            return Err(Error::corrupt(stored.len() as u64, "a group of half a word"));
        }
        if symbols.has_transform() {
            let Some(prediction) = &symbols.prediction else { return Err(misplaced()) };
            let rows = count.checked_div(symbols.cols).unwrap_or(0);
            let shape = (rows, symbols.cols);
            *classes = order_of(&tiles.codes, tile_size(prediction)?, shape, &[0])?.1;
        } else {
            self.classes(group, coded, classes, sums);
        }
        Ok(Opened { tiles, states, words, at: at + LANES * 4 })
    }

    fn tiles(&self, stored: &[u8], count: usize) -> Result<(Tiles, usize)> {
        let symbols = self.symbols;
        match &symbols.prediction {
            None => Ok((Tiles::default(), 0)),
            Some(prediction) => {
                let rows = count.checked_div(symbols.cols).unwrap_or(0);
                Tiles::read(prediction, rows, symbols.cols, stored)
            }
        }
    }

    /// The class of each coded symbol; nothing where all have the same.
    fn classes(&self, group: usize, count: usize, classes: &mut Vec<u8>, sums: &mut RowSums) {
        let Some(terms) = &self.terms else { return classes.clear() };
        classes.resize(count, 0);
        let step = if self.symbols.pairs { 2 } else { 1 };
        let first = group * self.symbols.group_rows;
        for (r, row) in classes.chunks_mut(self.symbols.coded_cols().max(1)).enumerate() {
            terms.classes(first + r, step, sums, row);
        }
    }

    /// Decodes all symbols; how many bytes of words they took.
    fn rans(&self, opened: &Opened<'_>, found: &[u8], out: &mut [u8]) -> Result<usize> {
        let mut group =
            Group { words: opened.words, states: opened.states, classes: classes(found), out };
        let kernel = Kernel::new(simd());
        let read = match self.slots.ready(self.symbols.table_bits) {
            Some(Ready::Narrow(tables)) => kernel.decode(tables, &mut group),
            Some(Ready::Wide(tables)) => kernel.decode_wide(tables, &mut group),
            None => return Err(Error::corrupt(0, "symbols without a table")),
        };
        let states = group.states;
        self.check(opened, states, read)
    }

    /// Words must not have run out, and all lanes must be back at their start.
    fn check(
        &self,
        opened: &Opened<'_>,
        states: [u32; LANES],
        read: Option<usize>,
    ) -> Result<usize> {
        let end = (opened.at + opened.words.len()) as u64;
        let read = read.ok_or_else(|| Error::corrupt(end, "a group's words run out"))?;
        if let Some(lane) = states.iter().position(|&x| x != START) {
            let x = states[lane];
            return Err(Error::corrupt(end, format!("lane {lane} ends at {x:#x}, not {START:#x}")));
        }
        Ok(read)
    }

    fn no_more(&self, opened: &Opened<'_>, read: usize) -> Result<()> {
        match opened.words.len() - read {
            0 => Ok(()),
            left => {
                let at = (opened.at + read) as u64;
                Err(Error::corrupt(at, format!("{left} bytes too many in a group")))
            }
        }
    }

    /// Pairs apart, predictions added.
    fn finish(
        &self,
        group: usize,
        tiles: &Tiles,
        into: Target,
        pairs: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        if self.symbols.pairs && into == Target::Symbols {
            for (two, pair) in out.as_chunks_mut::<2>().0.iter_mut().zip(pairs) {
                *two = [pair & 15, pair >> 4];
            }
        }
        let Some(prediction) = &self.symbols.prediction else { return Ok(()) };
        let (rows, reference) = (self.rows(out.len()), self.reference(group));
        tiles.band(prediction, self.bits, rows, self.symbols.cols, reference)?.restore(out)
    }

    fn rows(&self, count: usize) -> usize {
        count.checked_div(self.symbols.cols).unwrap_or(0)
    }

    fn reference(&self, group: usize) -> &[u8] {
        self.reference.get(self.symbols.group_range(group)).unwrap_or_default()
    }

    /// Symbols that stand for signed numbers by zigzag, larger ones with an escape.
    fn coefficients(
        &self,
        group: usize,
        opened: Opened<'_>,
        kinds: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        let read = self.rans(&opened, kinds, out)?;
        let mut escapes = opened.words[read..].as_chunks::<2>().0.iter();
        let mut data = vec![0i16; out.len()];
        for (value, &symbol) in data.iter_mut().zip(&*out) {
            let mut u = u16::from(symbol);
            if symbol == ESCAPE {
                let end = (opened.at + opened.words.len()) as u64;
                let none = || Error::corrupt(end, "an escape without its number");
                let more = u16::from_le_bytes(*escapes.next().ok_or_else(none)?);
                u = u.checked_add(more).ok_or_else(none)?;
            }
            *value = (u >> 1).cast_signed() ^ -(u & 1).cast_signed();
        }
        if escapes.len() > 0 {
            return Err(Error::corrupt(
                (opened.at + read) as u64,
                format!("{} numbers too many in a group", escapes.len()),
            ));
        }
        self.whole(group, &opened.tiles, data, out)
    }

    /// Undoes transforms and predictions of signed numbers.
    fn whole(&self, group: usize, tiles: &Tiles, mut data: Vec<i16>, out: &mut [u8]) -> Result<()> {
        let Some(prediction) = &self.symbols.prediction else { return Err(misplaced()) };
        let cols = self.symbols.cols;
        if prediction.transform {
            transform::inverse(&tiles.codes, tile_size(prediction)?, cols, &mut data)?;
        }
        let (rows, reference) = (self.rows(out.len()), self.reference(group));
        let band = tiles.band(prediction, self.bits, rows, cols, reference)?;
        band.restore_whole(&data, out)
    }

    fn bitplanes(&self, group: usize, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let Some(prediction) = &self.symbols.prediction else { return Err(misplaced()) };
        let (tiles, at) = self.tiles(stored, out.len())?;
        let (rows, cols) = (self.rows(out.len()), self.symbols.cols);
        let mut kinds = Vec::new();
        self.classes(group, out.len(), &mut kinds, &mut RowSums::default());
        if kinds.is_empty() {
            kinds.push(0);
        }
        let mut order = Order::Raster;
        if prediction.transform {
            (order, kinds) = order_of(&tiles.codes, tile_size(prediction)?, (rows, cols), &kinds)?;
        }
        let values = Values { rows, cols, kinds: &kinds, order: &order };
        let mut data = vec![0i16; out.len()];
        bitplane::decode(&values, &stored[at..], usize::MAX, &mut data)
            .map_err(|e| e.offset_by(at as u64))?;
        self.whole(group, &tiles, data, out)
    }
}

fn classes(each: &[u8]) -> Classes<'_> {
    if each.is_empty() { Classes::One(0) } else { Classes::PerSymbol(each) }
}

fn misplaced() -> Error {
    Error::corrupt(0, "coefficients without a prediction")
}
