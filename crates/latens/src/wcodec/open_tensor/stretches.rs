//! A tensor of several parts, joined a stretch at a time: its planes lie in memory that is used again.

use super::OpenTensor;
use crate::error::Result;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::part::{DecodedAs, most_together};
use crate::wcodec::decode::pieces;
use crate::wcodec::decode::pool::{Lent, Scratch};
use crate::wcodec::layout::part::{Codec, PartRecord, PartShape};
use crate::wcodec::threads::{self, Failed};
use crate::wcodec::view::{InPlace, Layout};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// How a tensor is cut. A *piece* is the least that has parts of its own, as in [`Layout::pieces`].
pub(crate) struct Stretches {
    /// Of pieces.
    layout: Layout,
    pieces: usize,
    /// Pieces of each stretch but the last.
    step: usize,
    parts: Vec<OfPart>,
}

/// What there is of a part.
struct OfPart {
    /// Bytes of a piece.
    bytes: usize,
    plane: Plane,
}

enum Plane {
    /// All its bytes.
    Whole(Vec<u8>),
    /// Groups of so many pieces, of which each stretch has whole ones.
    InStretches(usize),
    /// Groups of so many pieces, which do not end where stretches do.
    Across(usize),
    /// As in stretches, with symbols that go where they belong.
    InPlace(usize, InPlace),
}

/// Parts that have so many times fewer bytes than the largest are decoded as a whole.
const FEW: usize = 8;

impl Stretches {
    pub(crate) fn len(&self) -> usize {
        self.pieces.div_ceil(self.step)
    }

    fn range(&self, i: usize) -> Range<usize> {
        let start = i.saturating_mul(self.step).min(self.pieces);
        start..start.saturating_add(self.step).min(self.pieces)
    }

    /// Bytes of a piece that are decoded with each stretch.
    fn in_stretches(&self) -> usize {
        let bytes = |part: &OfPart| match part.plane {
            Plane::InStretches(_) | Plane::Across(_) => part.bytes,
            Plane::Whole(_) | Plane::InPlace(..) => 0,
        };
        self.parts.iter().map(bytes).sum()
    }

    /// The part whose symbols go where they belong, and the pieces of its groups.
    fn in_place(&self) -> Option<(usize, InPlace)> {
        self.parts.iter().find_map(|part| match part.plane {
            Plane::InPlace(group, in_place) => Some((group, in_place)),
            _ => None,
        })
    }

    /// Bytes of the tensor in so many pieces.
    fn bytes(&self, pieces: usize) -> usize {
        usize::try_from(self.layout.unit_bytes).unwrap_or(usize::MAX).saturating_mul(pieces)
    }
}

impl<S: ReadAt> OpenTensor<'_, S> {
    /// How a tensor of several parts is cut; `None` where it is not of several, or they are not as they should be, or
    /// groups of the largest are not of whole pieces. Nor where stored bytes are not enough to earn memory for planes.
    pub(crate) fn stretches(&self) -> Result<Option<Stretches>> {
        let records = &self.descriptor.parts;
        if !self.is_trusted() {
            return Ok(None);
        }
        let raw = |record: &PartRecord| matches!(record.shape, PartShape::Bytes { .. });
        if records.len() < 2 || records.iter().any(raw) {
            return Ok(None);
        }
        let layout = self.layout.pieces();
        let Ok(pieces) = usize::try_from(layout.rows) else { return Ok(None) };
        let bytes: Option<Vec<usize>> = (0..records.len()).map(|i| layout.part_bytes(i)).collect();
        let Some(bytes) = bytes.filter(|bytes| !bytes.contains(&0) && pieces > 0) else {
            return Ok(None);
        };
        let group = |(record, &bytes): (&PartRecord, &usize)| {
            let group = record.group_range(0).len().saturating_mul(record.shape.width());
            if group.is_multiple_of(bytes) { group / bytes } else { 0 }
        };
        let groups: Vec<usize> = records.iter().zip(&bytes).map(group).collect();
        // Of the same size it is one that takes time to be decoded.
        let is_coded = |i: usize| !matches!(records[i].codec, Codec::Raw { .. });
        let size = |&i: &usize| (bytes[i], is_coded(i), groups[i]);
        let Some(largest) = (0..records.len()).max_by_key(size) else { return Ok(None) };
        let (most, group) = (bytes[largest], groups[largest]);
        if group == 0 {
            return Ok(None);
        }
        let together =
            self.with_part(largest, |decoder, _| Ok(decoder.together(pieces.div_ceil(group))))?;
        let step = group.saturating_mul(together).min(pieces);
        let mut parts = Vec::with_capacity(records.len());
        for (i, ((record, bytes), group)) in records.iter().zip(bytes).zip(groups).enumerate() {
            let in_place = layout.in_place().filter(|in_place| in_place.part == i);
            let goes_in_place = || self.with_part(i, |decoder, _| Ok(decoder.goes_in_place()));
            let plane = if let Some(in_place) = in_place
                && i == largest
                && goes_in_place()?
            {
                Plane::InPlace(group, in_place)
            } else if group > 0 && (step.is_multiple_of(group) || step == pieces) {
                Plane::InStretches(group)
            } else if group > 0 && bytes * FEW > most {
                Plane::Across(group)
            } else {
                Plane::Whole(self.part(i, 0..record.shape.count())?.into_bytes())
            };
            parts.push(OfPart { bytes, plane });
        }
        Ok(Some(Stretches { layout, pieces, step, parts }))
    }

    /// Decodes a stretch to where `out` has so many bytes for it.
    pub(crate) fn stretch<'o>(
        &self,
        stretches: &Stretches,
        i: usize,
        scratch: &mut Scratch,
        out: impl FnOnce(usize) -> &'o mut [u8],
    ) -> Result<()> {
        let range = stretches.range(i);
        let mut planes = std::mem::take(&mut scratch.planes);
        let done = self.planes(stretches, &range, scratch, &mut planes).and_then(|()| {
            let mut rest = &planes[..];
            let parts = stretches.parts.iter().map(|part| match &part.plane {
                Plane::Whole(bytes) => &bytes[range.start * part.bytes..range.end * part.bytes],
                Plane::InStretches(_) | Plane::Across(_) => {
                    rest.split_off(..range.len() * part.bytes).unwrap_or_default()
                }
                Plane::InPlace(..) => &[],
            });
            let (parts, out): (Vec<&[u8]>, _) =
                (parts.collect(), out(stretches.bytes(range.len())));
            let Some((group, in_place)) = stretches.in_place() else {
                stretches.layout.join_some(&parts, out);
                return Ok(());
            };
            self.put_in_place(stretches, &range, (group, in_place), scratch, out)?;
            (in_place.join_others)(&parts, out);
            Ok(())
        });
        scratch.planes = planes;
        done
    }

    /// Decodes what a stretch has of parts, one behind the other.
    fn planes(
        &self,
        stretches: &Stretches,
        range: &Range<usize>,
        scratch: &mut Scratch,
        planes: &mut Vec<u8>,
    ) -> Result<()> {
        let bytes = range.len().saturating_mul(stretches.in_stretches());
        // What is there is written over.
        if planes.len() < bytes {
            planes.resize(bytes, 0);
        }
        let mut rest = &mut planes[..bytes];
        for (number, part) in stretches.parts.iter().enumerate() {
            let group = match part.plane {
                Plane::Whole(_) | Plane::InPlace(..) => continue,
                Plane::InStretches(group) => group,
                Plane::Across(group) => {
                    let plane = rest.split_off_mut(..range.len() * part.bytes);
                    let plane = plane.unwrap_or_default();
                    self.across((number, part.bytes, group), range, scratch, plane)?;
                    continue;
                }
            };
            // What rows have in common is another part's.
            scratch.buffers.forget();
            self.with_part(number, |decoder, fetch| {
                let groups = range.start / group..range.end.div_ceil(group);
                // A stretch is one thread's.
                pieces::cut(groups, most_together(), 1).into_iter().try_for_each(|now| {
                    decoder.decode_piece(now, DecodedAs::Plain, fetch, scratch, |bytes| {
                        rest.split_off_mut(..bytes).unwrap_or_default()
                    })
                })
            })?;
        }
        Ok(())
    }

    /// Decodes what a stretch has of the part whose symbols go where they belong.
    fn put_in_place(
        &self,
        stretches: &Stretches,
        range: &Range<usize>,
        (group, in_place): (usize, InPlace),
        scratch: &mut Scratch,
        mut out: &mut [u8],
    ) -> Result<()> {
        scratch.buffers.forget();
        self.with_part(in_place.part, |decoder, fetch| {
            let groups = range.start / group..range.end.div_ceil(group);
            pieces::cut(groups, most_together(), 1).into_iter().try_for_each(|now| {
                let bytes = stretches.bytes(now.len().saturating_mul(group)).min(out.len());
                let out = out.split_off_mut(..bytes).unwrap_or_default();
                decoder.decode_in_place(now, in_place, fetch, scratch, out)
            })
        })
    }

    /// Decodes what a stretch has of a part whose groups end elsewhere: the last one is kept for the next stretch.
    fn across(
        &self,
        (number, bytes, group): (usize, usize, usize),
        range: &Range<usize>,
        scratch: &mut Scratch,
        mut plane: &mut [u8],
    ) -> Result<()> {
        for i in range.start / group..range.end.div_ceil(group) {
            let key = (self.descriptor.holder, number, i);
            let mut held = scratch.across.remove(&number).unwrap_or_default();
            if held.of != Some(key) {
                held.of = None;
                scratch.buffers.forget();
                self.with_part(number, |decoder, fetch| {
                    decoder.decode_piece(i..i + 1, DecodedAs::Plain, fetch, scratch, |count| {
                        held.bytes.resize(count, 0);
                        &mut held.bytes
                    })
                })?;
                held.of = Some(key);
            }
            let start = i * group;
            let from = range.start.max(start) - start;
            let to = range.end.min(start + group) - start;
            let now = held.bytes.get(from * bytes..to * bytes).unwrap_or_default();
            let out = plane.split_off_mut(..now.len()).unwrap_or_default();
            out.copy_from_slice(now);
            scratch.across.insert(number, held);
        }
        Ok(())
    }

    /// Decodes all stretches into `out`, which is as long as they are. After an error only so many bytes of it have
    /// changed, and so many are right, as that says.
    pub(super) fn join_into(&self, stretches: &Stretches, out: &mut [u8]) -> Result<()> {
        let (all, step) = (out.len(), stretches.bytes(stretches.step).max(1));
        let places: Vec<_> = out.chunks_mut(step).map(Mutex::new).collect();
        let one = |lent: &mut Lent<'_>, i: usize| {
            let Some(place) = places.get(i) else { return Ok(()) };
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            self.stretch(stretches, i, &mut lent.scratch, |_| &mut place)
        };
        let make = || self.reader.open.pool.lend();
        let done = threads::until_error(places.len(), self.threads, make, one);
        // Stretches that other threads had begun behind the wrong one have changed; it has where symbols go where they belong.
        done.map_err(|Failed { at, begun, error }| {
            let is_whole = begun == at + 1 && stretches.in_place().is_none();
            let changed = if is_whole { at } else { begun };
            let bytes = |stretches: usize| stretches.saturating_mul(step).min(all) as u64;
            error.after_some(bytes(at), bytes(changed))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
