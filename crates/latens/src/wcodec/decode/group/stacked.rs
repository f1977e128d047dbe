//! Pairs of two rows: through the kernels span by span, and from there to their rows.

use super::SymbolDecoder;
use super::buffers::OfStack;
use super::streams::Stream;
use crate::ans::rans::LANES;
use crate::error::{Error, Result};
use crate::wcodec::class::Terms;
use crate::wcodec::stack::{Span, Stack, pairs_of, window_map};
use latens_kernels::dispatch::Present;
use latens_kernels::rans::{Classes, Group, Levels, Spacing};

impl SymbolDecoder<'_> {
    /// Decodes all pairs of streams side by side: of as many spans at a time as fill whole rows of lanes, most often
    /// of one.
    pub(super) fn stacked<const G: usize>(
        &self,
        stack: &Stack,
        streams: &mut [Stream<'_, '_>; G],
    ) -> Result<()> {
        let Some(terms) = &self.terms else { return Err(Error::corrupt(0, "pairs of no class")) };
        let map = terms.rule.maps.first().unwrap_or(&[0; 256]);
        let windows = window_map(map);
        let pairs = streams.each_ref().map(|s| pairs_of(self.symbols.rows_of(s.group)));
        let (mut some, mut cols) = (Vec::new(), 0);
        let mut spans = stack.spans().peekable();
        while let Some(span) = spans.next() {
            cols += span.lines.len();
            some.push(span);
            let whole = pairs.iter().all(|pairs| (cols * pairs).is_multiple_of(LANES));
            if !whole && spans.peek().is_some() {
                continue;
            }
            let mut groups =
                streams.each_mut().map(|stream| self.band_of(stream, terms, &some, &windows));
            let read = self.decode_groups(groups.each_mut())?;
            let states = groups.map(|group| group.states);
            for ((stream, states), read) in streams.iter_mut().zip(states).zip(read) {
                let coded = &mut stream.stacked.coded;
                stream.opened.go_on(states, read, coded, Spacing::NONE)?;
                self.apart(stream, &some)?;
            }
            some.clear();
            cols = 0;
        }
        Ok(())
    }

    /// The next pairs of a stream, those of `spans`, with their classes.
    fn band_of<'b>(
        &'b self,
        stream: &'b mut Stream<'_, '_>,
        terms: &Terms<'_>,
        spans: &[Span<'_>],
        windows: &'b [u8],
    ) -> Group<'b> {
        let rows = self.symbols.rows_of(stream.group);
        let OfStack { rows: sorted, orders, each, places, starts, coded } = &mut *stream.stacked;
        let count = spans.iter().map(|span| span.len(pairs_of(rows.clone()))).sum();
        let map = terms.rule.maps.first().unwrap_or(&[0; 256]);
        orders.clear();
        each.clear();
        let mut levels = None;
        if let [span] = spans {
            sorted.sort(terms, rows, span, orders);
            if sorted.windows(span, places, starts) {
                levels = Levels::new(windows, starts, places);
            }
            if levels.is_none() {
                sorted.classes(map, span, each);
            }
        } else {
            for span in spans {
                sorted.sort(terms, rows.clone(), span, orders);
                sorted.classes(map, span, each);
            }
        }
        coded.resize(count, 0);
        let classes = levels.map_or(Classes::PerSymbol(each), Classes::Levels);
        let opened = &*stream.opened;
        let (words, count) = (&opened.words[opened.read..], opened.of_words(count));
        let (states, classes) = (opened.states, classes.first(count));
        Group { words, states, classes, out: &mut coded[..count], spacing: Spacing::NONE }
    }

    /// Takes decoded pairs of `spans` to their rows.
    fn apart(&self, stream: &mut Stream<'_, '_>, spans: &[Span<'_>]) -> Result<()> {
        let (rows, cols) = (self.symbols.rows_of(stream.group).len(), self.symbols.cols);
        let (pairs, of) = (rows.div_ceil(2), &*stream.stacked);
        let (mut coded, mut orders) = (&of.coded[..], &of.orders[..]);
        for span in spans {
            let (lines, order);
            (lines, coded) = coded.split_at(span.len(pairs));
            (order, orders) = orders.split_at(2 * pairs);
            let twice = |line: &[u8]| line.last().is_none_or(|pair| pair >> 4 == pair & 15);
            if rows % 2 == 1 && !lines.chunks(pairs.max(1)).all(twice) {
                let what = "the last of an odd number of rows is not paired with itself";
                return Err(Error::corrupt(stream.opened.end(), what));
            }
            let Some((pairing, place)) = span.pairing(order, rows, cols) else {
                return Err(Error::corrupt(0, "a span whose columns or rows are no pairs"));
            };
            pairing.apart(Present::in_use(), lines, place, stream.out);
        }
        Ok(())
    }
}
