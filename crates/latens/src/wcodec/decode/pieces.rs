//! A part in pieces: groups that are decoded together.

use crate::error::Result;
use crate::wcodec::decode::group::{MOST, SymbolDecoder, TOGETHER, Target};
use crate::wcodec::decode::part::{DecodedAs, Fetch, PartDecoder, TRUSTED};
use crate::wcodec::decode::pool::Scratch;
use crate::wcodec::view::InPlace;
use latens_kernels::rans::LANES;
use std::ops::Range;

impl PartDecoder<'_> {
    /// The groups of each piece of all elements in this form; `None` where groups [are not whole](PartDecoder::is_whole).
    pub(crate) fn cut(&self, form: DecodedAs) -> Option<Vec<Range<usize>>> {
        let (groups, count) = (self.record.groups.len(), self.record.shape.count());
        if !self.is_whole(form) {
            return None;
        }
        // A few at a time where little stands for much.
        let stored = (0..groups).fold(0usize, |sum, group| sum.saturating_add(self.stored(group)));
        let is_trusted = self.bytes_of(form, count) <= stored.saturating_mul(TRUSTED);
        let each = if is_trusted { self.together(groups) } else { 1 };
        Some(cut(0..groups, each, self.threads))
    }

    /// Decodes a piece to where `out` has so many bytes for it.
    pub(crate) fn decode_piece<'o>(
        &self,
        groups: Range<usize>,
        form: DecodedAs,
        fetch: &Fetch<'_>,
        scratch: &mut Scratch,
        out: impl FnOnce(usize) -> &'o mut [u8],
    ) -> Result<()> {
        let of = |group: usize| self.record.group_range(group);
        let elements = of(groups.end.saturating_sub(1)).end.saturating_sub(of(groups.start).start);
        let out = out(self.bytes_of(form, elements));
        self.piece(groups.start, form, fetch, out, scratch).map_err(|stopped| stopped.error)?;
        self.tell(form, out.len())
    }

    /// Whether [`PartDecoder::decode_in_place`] can be.
    pub(crate) fn goes_in_place(&self) -> bool {
        self.symbols.as_ref().is_some_and(SymbolDecoder::can_be_spaced)
    }

    /// Decodes groups to where each block in `out` has its row of symbols. After an error any of them may have changed.
    pub(crate) fn decode_in_place(
        &self,
        groups: Range<usize>,
        InPlace { first, spacing, .. }: InPlace,
        fetch: &Fetch<'_>,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Result<()> {
        let (row, gap) = (LANES, usize::from(spacing.0));
        let one = self.record.group_range(0).len() / row * (row + gap);
        let behind = gap.saturating_sub(first);
        let symbols = out.len() / (row + gap) * row;
        let each = out.chunks_mut(one.max(1)).map(|blocks| {
            let end = blocks.len().saturating_sub(behind);
            blocks.get_mut(first..end).unwrap_or_default()
        });
        let (each, into) = (each.collect(), Target::Spaced(spacing));
        let done = self.groups_to(groups.start, each, into, fetch, scratch);
        done.map_err(|stopped| stopped.error)?;
        self.tell(DecodedAs::Plain, symbols)
    }
}

/// Groups in pieces of `each`, the last ones smaller where threads would wait for each other there: but not single ones,
/// which take almost as long as two. The last of five of which four are a piece belongs to that.
pub(crate) fn cut(groups: Range<usize>, each: usize, threads: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::with_capacity(groups.len().div_ceil(each.max(1)) + 2);
    let mut next = groups.start;
    while next < groups.end {
        let left = groups.end - next;
        let now = match (left / threads.max(1)).max(2) {
            few @ ..TOGETHER if threads > 1 && few < each => few & !1,
            _ if each == TOGETHER && left == MOST => MOST,
            _ => each.max(1),
        };
        let end = groups.end.min(next + now);
        pieces.push(next..end);
        next = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{MOST, TOGETHER, cut};

    #[test]
    fn pieces_are_all_groups_once() {
        for groups in 0..70 {
            for threads in 1..9 {
                for each in 1..=TOGETHER {
                    let pieces = cut(3..3 + groups, each, threads);
                    let most = if each == TOGETHER { MOST } else { each };
                    assert!(pieces.iter().all(|p| (1..=most).contains(&p.len())));
                    let all: Vec<usize> = pieces.into_iter().flatten().collect();
                    assert_eq!(all, (3..3 + groups).collect::<Vec<_>>());
                }
            }
        }
        assert_eq!(cut(0..16, 4, 2), [0..4, 4..8, 8..12, 12..14, 14..16]);
        assert_eq!(cut(0..6, 4, 1), [0..4, 4..6]);
        assert_eq!(cut(0..9, 4, 1), [0..4, 4..9]);
    }
}
