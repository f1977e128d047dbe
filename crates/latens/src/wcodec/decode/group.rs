//! One group: its stored bytes to symbols.

mod buffers;
mod escapes;
mod opened;
mod stacked;
mod streams;
mod whole;

use crate::error::{Error, Result};
use crate::wcodec::class::Terms;
use crate::wcodec::class::windows::Windows;
use crate::wcodec::data::Data;
use crate::wcodec::decode::tables::Slots;
use crate::wcodec::layout::prediction::{COLUMN, LINEAR, NONE, Prediction, REFERENCE};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::pairs;
use crate::wcodec::tiled::{Tiles, of_reference};
use buffers::Buffer;
use latens_kernels::dispatch::Present;
use latens_kernels::rans::{LANES, Spacing};
use latens_kernels::rearrange::Rearrangement;
use std::borrow::Cow;
use streams::Stream;

pub(crate) use buffers::{Buffers, MOST, TOGETHER};

/// Everything that the groups of a part of symbols have in common.
pub(crate) struct SymbolDecoder<'a> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) bits: u32,
    /// By bitplanes rather than by tables.
    pub(crate) bitplane: bool,
    /// The lowest bitplanes that are left out.
    pub(crate) without_planes: usize,
    /// The symbol that stands for the least number.
    pub(crate) least: u8,
    pub(crate) slots: &'a Slots,
    pub(crate) terms: Option<Terms<'a>>,
    /// The terms for kernels, where they have that form.
    pub(crate) windows: Option<&'a Windows>,
    /// From columns as they are coded to columns as they are.
    pub(crate) back: Option<&'a Rearrangement>,
    /// Symbols of the reference, which may be more than the part has, or fewer.
    pub(crate) reference: Option<Data<'a>>,
}

/// What a group is decoded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A symbol a byte.
    Symbols,
    /// A pair of symbols a byte, as it is coded; for PAIRS alone.
    Pairs,
    /// A symbol a byte, in rows so far from each other; where [they can be](SymbolDecoder::can_be_spaced).
    Spaced(Spacing),
}

impl Target {
    fn spacing(self) -> Spacing {
        match self {
            Target::Spaced(spacing) => spacing,
            Target::Symbols | Target::Pairs => Spacing::NONE,
        }
    }
}

impl SymbolDecoder<'_> {
    /// Where the row ends that has the symbol before `end`, if groups need not be decoded beyond it: where their rows
    /// come one after the other, and do not depend on what is below them.
    pub(crate) fn end_of_row(&self, end: usize) -> Option<usize> {
        let by_row = |p: &Prediction| {
            !p.transform && matches!(p.predictor, NONE | COLUMN | REFERENCE | LINEAR)
        };
        let prediction = self.symbols.prediction.as_ref();
        let in_order = !self.bitplane && self.symbols.stack.is_none();
        (in_order && prediction.is_none_or(by_row))
            .then(|| end.next_multiple_of(self.symbols.cols.max(1)))
    }

    /// Whether symbols are what kernels put out, so that these can put them where they belong, rows of lanes apart.
    pub(crate) fn can_be_spaced(&self) -> bool {
        let symbols = self.symbols;
        let as_they_are = !self.bitplane && !symbols.pairs && symbols.prediction.is_none();
        let in_order = symbols.stack.is_none() && symbols.escape.is_none();
        as_they_are && in_order && symbols.cols > 0 && symbols.cols.is_multiple_of(LANES)
    }

    /// Decodes group `group` from `stored` into `out`, which is as long as the group, or ends with a row before
    /// [where it may](SymbolDecoder::end_of_row). Offsets in errors count from the start of `stored`.
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
        if self.symbols.has_transform() {
            let opened = self.open(group, stored, out.len())?;
            return self.coefficients(group, opened, out);
        }
        self.side_by_side(group, [stored], into, buffers, [out])
    }

    /// Decodes up to [`MOST`] groups, `out` being cut into as many as are `stored`.
    pub(crate) fn decode_some(
        &self,
        group: usize,
        stored: &[&[u8]],
        into: Target,
        buffers: &mut Buffers,
        out: &mut [&mut [u8]],
    ) -> Result<()> {
        if !self.bitplane && !self.symbols.has_transform() {
            match (stored, &mut *out) {
                (&[p, q], [a, b]) => {
                    return self.side_by_side(group, [p, q], into, buffers, [a, b]);
                }
                (&[p, q, r], [a, b, c]) => {
                    return self.side_by_side(group, [p, q, r], into, buffers, [a, b, c]);
                }
                (&[p, q, r, s], [a, b, c, d]) => {
                    return self.side_by_side(group, [p, q, r, s], into, buffers, [a, b, c, d]);
                }
                (&[p, q, r, s, t], [a, b, c, d, e]) => {
                    let stored = [p, q, r, s, t];
                    return self.side_by_side(group, stored, into, buffers, [a, b, c, d, e]);
                }
                _ => {}
            }
        }
        for (i, (stored, out)) in stored.iter().zip(out).enumerate() {
            self.decode(group + i, stored, into, buffers, out)?;
        }
        Ok(())
    }

    fn side_by_side<const G: usize>(
        &self,
        group: usize,
        stored: [&[u8]; G],
        into: Target,
        buffers: &mut Buffers,
        mut out: [&mut [u8]; G],
    ) -> Result<()> {
        let (mut opened, spacing) = (Vec::with_capacity(G), into.spacing());
        for ((group, stored), out) in (group..).zip(stored).zip(&out) {
            opened.push(self.open(group, stored, spacing.symbols(out.len()))?);
        }
        let each = opened.iter_mut().zip(&mut buffers.0).zip(&mut out);
        let streams = each.zip(group..).map(|(((opened, buffer), out), group)| {
            let Buffer { classes, stacked, pairs } = buffer;
            let out = self.coded(into, pairs, out);
            Stream { group, opened, classes, stacked, out, spacing }
        });
        let mut streams: Vec<_> = streams.collect();
        if let Ok(streams) = <&mut [Stream<'_, '_>; G]>::try_from(&mut streams[..]) {
            self.rans(streams)?;
        }
        for ((i, out), (opened, buffer)) in
            out.into_iter().enumerate().zip(opened.iter().zip(&mut buffers.0))
        {
            if !self.symbols.pairs {
                self.restore(group + i, &opened.tiles, out)?;
            } else if into == Target::Pairs {
                self.restore_pairs(opened.end(), out)?;
            } else {
                self.restore_pairs(opened.end(), &mut buffer.pairs)?;
                pairs::apart(&buffer.pairs, out);
            }
        }
        Ok(())
    }

    /// Where symbols go: `out`, or a buffer for pairs that are still to be taken apart.
    fn coded<'o>(&self, into: Target, pairs: &'o mut Vec<u8>, out: &'o mut [u8]) -> &'o mut [u8] {
        if !self.symbols.pairs || into == Target::Pairs {
            return out;
        }
        pairs.resize(out.len() / 2, 0);
        pairs
    }

    /// A pair has room for symbols of 4 bits.
    fn check_nibbles(&self, pairs: &[u8], at: u64) -> Result<()> {
        let all = Present::in_use().call(
            #[inline(always)]
            || pairs.iter().fold(0, |all, pair| all | pair),
        );
        match u32::from((all & 15) | all >> 4) >> self.bits {
            0 => Ok(()),
            _ => Err(Error::corrupt(at, format!("pairs of more than {} bits each", self.bits))),
        }
    }

    /// Puts columns in order, and adds their means to pairs, which are of residuals then. `end` is where their bytes end.
    fn restore_pairs(&self, end: u64, pairs: &mut [u8]) -> Result<()> {
        if self.bits < 4 {
            self.check_nibbles(pairs, end)?;
        }
        if let Some(back) = self.back {
            back.apply(Present::in_use(), pairs);
        }
        let prediction = self.symbols.prediction.as_ref();
        if let Some(means) = prediction.and_then(|prediction| prediction.means.as_deref()) {
            pairs::add(pairs, means, self.bits);
        }
        Ok(())
    }

    /// Adds predictions.
    fn restore(&self, group: usize, tiles: &Tiles, out: &mut [u8]) -> Result<()> {
        let Some(prediction) = &self.symbols.prediction else { return Ok(()) };
        let rows = self.rows(out.len());
        let reference = self.reference_of(group, out.len())?;
        tiles.band(prediction, self.bits, rows, self.symbols.cols, &reference)?.restore(out)
    }

    fn rows(&self, count: usize) -> usize {
        count.checked_div(self.symbols.cols).unwrap_or(0)
    }

    /// The symbols of the reference, where there is one, for the first ones of a group.
    fn reference_of(&self, group: usize, count: usize) -> Result<Cow<'_, [u8]>> {
        let first = self.symbols.group_range(group).start;
        let there = |reference| of_reference(reference, first..first + count);
        self.reference.map_or_else(|| Ok(Cow::default()), there)
    }
}
