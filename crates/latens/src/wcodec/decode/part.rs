//! A part, or a run of its elements.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::wcodec::decode::group::{MOST, SymbolDecoder, TOGETHER, Target};
use crate::wcodec::decode::pieces;
use crate::wcodec::decode::places::Places;
use crate::wcodec::decode::pool::{Lent, Pool};
use crate::wcodec::decode::telling::Telling;
use crate::wcodec::layout::part::{PartRecord, PartShape};
use crate::wcodec::plane::{Content, Part, Plane};
use crate::wcodec::threads::{self, Failed};
use crate::wcodec::view::{Packing, WordOrder};
use latens_kernels::dispatch::simd;
use latens_kernels::rans::Kernel;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Finds the stored bytes of a group, which are checked against their CRC there: in memory already,
/// or (`None`) read into the vector.
pub(crate) type Fetch<'a> = dyn Fn(usize, &mut Vec<u8>) -> Result<Option<&'a [u8]>> + Sync + 'a;

/// What decodes a part.
pub(crate) struct PartDecoder<'a> {
    pub(crate) record: &'a PartRecord,
    /// For symbols.
    pub(crate) symbols: Option<SymbolDecoder<'a>>,
    pub(crate) limits: Limits,
    pub(crate) threads: usize,
    pub(crate) pool: &'a Pool,
    pub(crate) places: Places<'a>,
    pub(crate) telling: &'a Telling,
}

/// What a part is decoded to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DecodedAs {
    /// Its elements.
    Plain,
    /// Symbols packed in words, in rows of so many.
    Packed(Packing, usize),
    /// Words of so many bytes, no longer in the order of the numbers that they stand for.
    Words(WordOrder, u8),
}

impl DecodedAs {
    /// Elements that cannot be taken apart.
    fn unit(self) -> usize {
        match self {
            Self::Packed(packing, cols) => packing.unit(cols).max(1),
            Self::Plain | Self::Words(..) => 1,
        }
    }
}

/// An error, and how many bytes of what was to be decoded had changed by then.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) error: Error,
    pub(crate) changed: usize,
}

/// An error that is one of several pieces, some of which were worked on at once.
struct StoppedAmong {
    error: Error,
    changed: usize,
    /// How many bytes are right: those of the pieces before it.
    right: usize,
}

/// A tensor that claims to be more than so many times its stored bytes earns its memory by what
/// has been decoded.
pub(crate) const TRUSTED: usize = 64;

/// How many groups take less time together than one by one.
pub(crate) fn most_together() -> usize {
    Kernel::new(simd()).groups().min(TOGETHER)
}

impl PartDecoder<'_> {
    /// Decodes the bytes of elements `range`, a symbol a byte. Groups are numbered in the part.
    pub(crate) fn decode(&self, range: Range<usize>, fetch: &Fetch<'_>) -> Result<Vec<u8>> {
        let width = self.record.shape.width();
        let per_group = self.record.group_range(0).len().max(1);
        let groups = range.start / per_group..range.end.div_ceil(per_group);
        let mut out = Vec::new();
        if range.is_empty() {
            return Ok(out);
        }
        let start = groups.start * per_group * width;
        let stored: usize = groups.clone().map(|g| self.stored(g)).sum();
        let all = self.reach(groups.end - 1, range.end) * width - start;
        let (from, to) = (range.start * width - start, range.end * width - start);
        let is_trusted = all <= stored.saturating_mul(TRUSTED);
        if !is_trusted {
            // What was asked for is within the limits; a few bytes may stand for much that lies before it.
            self.limits.check_aside(all as u64, "what is decoded for it")?;
        }
        let few = self.threads <= 1 && (2..=MOST).contains(&groups.len());
        if is_trusted && few && from > 0 {
            return self.few(groups, from..to, all, fetch);
        }
        let batch = if is_trusted { groups.len() } else { 4 * self.threads.max(1) };
        let mut next = groups.start;
        while next < groups.end {
            let now = next..groups.end.min(next + batch);
            let have = out.len();
            let end = self.reach(now.end - 1, range.end) * width - start;
            out.resize(end, 0);
            self.groups(now.clone(), DecodedAs::Plain, fetch, &mut out[have..])
                .map_err(|s| s.error)?;
            next = now.end;
        }
        out.truncate(to);
        out.drain(..from);
        Ok(out)
    }

    /// Bytes `range` of a few groups that are decoded together, to `all` bytes: what comes before it is not moved away.
    fn few(
        &self,
        groups: Range<usize>,
        range: Range<usize>,
        all: usize,
        fetch: &Fetch<'_>,
    ) -> Result<Vec<u8>> {
        let one = self.record.group_range(groups.start).len() * self.record.shape.width();
        let mut lent = self.pool.lend();
        let mut first = std::mem::take(&mut lent.scratch.symbols);
        first.resize(one, 0);
        let mut out = vec![0; all - range.start];
        let (of_first, others) = out.split_at_mut(one - range.start);
        let each = std::iter::once(&mut first[..]).chain(others.chunks_mut(one)).collect();
        let done = self.groups_to(groups.start, each, Target::Symbols, fetch, &mut lent.scratch);
        of_first.copy_from_slice(&first[range.start..]);
        lent.scratch.symbols = first;
        done.map_err(|stopped| stopped.error)?;
        self.tell(DecodedAs::Plain, all)?;
        out.truncate(range.len());
        Ok(out)
    }

    /// Where the elements of `group` end that are decoded for those up to `end`.
    fn reach(&self, group: usize, end: usize) -> usize {
        let whole = self.record.group_range(group).end;
        match &self.symbols {
            Some(symbols) => symbols.end_of_row(end).unwrap_or(whole).min(whole),
            None => whole,
        }
    }

    /// Decodes all elements into `out`, if it is as long as they are in this form. After an error only so many bytes of
    /// it have changed, and so many are right, as that says. `false` where groups [are not whole](PartDecoder::is_whole), or `out` is not.
    pub(crate) fn decode_into(
        &self,
        form: DecodedAs,
        fetch: &Fetch<'_>,
        out: &mut [u8],
    ) -> Result<bool> {
        if !self.is_whole(form) || self.bytes_of(form, self.record.shape.count()) != out.len() {
            return Ok(false);
        }
        if out.is_empty() {
            return Ok(true);
        }
        let done = self.groups(0..self.record.groups.len(), form, fetch, out);
        done.map_err(|s| s.error.after_some(s.right as u64, s.changed as u64))?;
        Ok(true)
    }

    /// Whether groups can be decoded to this form by themselves: they hold whole words of it.
    pub(crate) fn is_whole(&self, form: DecodedAs) -> bool {
        let (group, all) = (self.record.group_range(0).len(), self.record.shape.count());
        group.is_multiple_of(form.unit()) && all.is_multiple_of(form.unit())
    }

    pub(crate) fn stored(&self, group: usize) -> usize {
        self.record.groups.get(group).map_or(0, |g| g.length)
    }

    /// Decodes whole groups into `out`, some of them side by side.
    fn groups(
        &self,
        groups: Range<usize>,
        form: DecodedAs,
        fetch: &Fetch<'_>,
        out: &mut [u8],
    ) -> std::result::Result<(), StoppedAmong> {
        let one = self.bytes_of(form, self.record.group_range(0).len());
        let all = out.len();
        let cut = pieces::cut(groups.clone(), self.together(groups.len()), self.threads);
        // Where piece `i` begins.
        let start = |i: usize| cut.get(i).map_or(all, |p| (p.start - groups.start) * one);
        let mut rest = &mut *out;
        let pieces = (0..cut.len()).map(|i| {
            let bytes = start(i + 1).min(all) - start(i).min(all);
            Mutex::new(rest.split_off_mut(..bytes.min(rest.len())).unwrap_or_default())
        });
        let pieces: Vec<Mutex<&mut [u8]>> = pieces.collect();
        let stopped_at = AtomicUsize::new(0);
        let decode = |lent: &mut Lent<'_>, i: usize| -> Result<()> {
            let Some(piece) = pieces.get(i) else { return Ok(()) };
            let mut piece = piece.lock().unwrap_or_else(PoisonError::into_inner);
            let first = cut.get(i).map_or(0, |groups| groups.start);
            let done = self.piece(first, form, fetch, &mut piece, &mut lent.scratch);
            let told = done.and_then(|()| {
                let told = self.tell(form, piece.len());
                told.map_err(|error| Stopped { error, changed: piece.len() })
            });
            told.map_err(|Stopped { error, changed }| {
                stopped_at.fetch_max(start(i) + changed, Ordering::Relaxed);
                error
            })
        };
        let done = threads::until_error(pieces.len(), self.threads, || self.pool.lend(), decode);
        done.map_err(|Failed { at, begun, error }| {
            // Pieces that other threads had begun behind the wrong one have changed as a whole.
            let behind = if begun > at + 1 { start(begun) } else { 0 };
            let changed = behind.min(all).max(stopped_at.into_inner());
            // Those before it have come to their end: they were begun before.
            StoppedAmong { error, changed, right: start(at).min(all) }
        })
    }

    /// Tells of so many decoded bytes.
    pub(crate) fn tell(&self, form: DecodedAs, bytes: usize) -> Result<()> {
        self.telling.done(match (form, self.record.shape) {
            (DecodedAs::Plain, PartShape::Symbols { bits: bits @ ..8, .. }) => {
                bytes * usize::try_from(bits).unwrap_or(8) / 8
            }
            _ => bytes,
        })
    }

    /// How many of so many groups are decoded together: some take less time so than one by one, but
    /// not while threads idle.
    pub(crate) fn together(&self, groups: usize) -> usize {
        (groups / self.threads.max(1)).clamp(1, most_together())
    }

    /// What so many elements are decoded to.
    pub(crate) fn bytes_of(&self, form: DecodedAs, elements: usize) -> usize {
        match form {
            DecodedAs::Plain | DecodedAs::Words(..) => {
                elements.saturating_mul(self.record.shape.width())
            }
            DecodedAs::Packed(packing, _) => packing.bytes_of(elements),
        }
    }

    /// The content of a decoded part; `rows` is how many rows of a matrix were decoded.
    pub(crate) fn content(&self, data: Vec<u8>) -> Part {
        let content = match self.record.shape {
            PartShape::Symbols { bits, cols, rows } => {
                let rows = data.len().checked_div(cols).unwrap_or(rows);
                Content::Symbols(Plane { rows, cols, bits, data })
            }
            PartShape::Words { width, float, .. } => Content::Words { width, float, data },
            PartShape::Bytes { .. } => Content::Raw(data),
        };
        Part { role: self.record.role, content }
    }
}
