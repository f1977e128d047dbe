//! A part, or a run of its elements.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{Number, f16};
use crate::pco;
use crate::wcodec::decode::group::{MOST_EXPANSION, SymbolDecoder};
use crate::wcodec::layout::part::{Codec, PartRecord, PartShape};
use crate::wcodec::plane::{Content, Part, Plane};
use crate::wcodec::threads;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Where the stored bytes of a group come from; they are checked against their CRC there.
pub(crate) type Fetch<'a> = dyn Fn(usize) -> Result<Vec<u8>> + Sync + 'a;

/// What decodes a part.
pub(crate) struct PartDecoder<'a> {
    pub(crate) record: &'a PartRecord,
    /// For symbols.
    pub(crate) symbols: Option<SymbolDecoder<'a>>,
    pub(crate) limits: Limits,
    pub(crate) threads: usize,
}

impl PartDecoder<'_> {
    /// The elements that group `group` holds.
    fn group_range(&self, group: usize) -> Range<usize> {
        match &self.record.codec {
            Codec::Direct(symbols) | Codec::Bitplane(symbols) => symbols.group_range(group),
            Codec::Raw { per_group } | Codec::Pco { per_group } => {
                let count = self.record.shape.count();
                let start = group.saturating_mul(*per_group).min(count);
                start..start.saturating_add(*per_group).min(count)
            }
        }
    }

    /// Decodes the bytes of elements `range`, a symbol a byte. Groups are numbered in the part.
    pub(crate) fn decode(&self, range: Range<usize>, fetch: &Fetch<'_>) -> Result<Vec<u8>> {
        let width = self.record.shape.width();
        let per_group = self.group_range(0).len().max(1);
        let groups = range.start / per_group..range.end.div_ceil(per_group);
        let mut out = Vec::new();
        if range.is_empty() {
            return Ok(out);
        }
        // As many groups at a time as keep the threads busy: memory is earned by what was decoded.
        let batch = 4 * self.threads.max(1);
        let start = groups.start * per_group * width;
        let mut next = groups.start;
        while next < groups.end {
            let now = next..groups.end.min(next + batch);
            for group in now.clone() {
                let stored = self.record.groups.get(group).map_or(0, |g| g.length);
                let bytes = self.group_range(group).len().saturating_mul(width);
                if bytes > stored.saturating_mul(MOST_EXPANSION) {
                    let what = format!("group {group} of {stored} bytes claims to hold {bytes}");
                    return Err(Error::corrupt(0, what));
                }
            }
            let have = out.len();
            let end = self.group_range(now.end - 1).end * width - start;
            self.limits.check_output(end as u64)?;
            out.resize(end, 0);
            // Two groups are decoded side by side.
            let pieces = out[have..].chunks_mut(2 * per_group * width).map(Mutex::new);
            let pieces: Vec<Mutex<&mut [u8]>> = pieces.collect();
            let decode = |i: usize| -> Result<()> {
                let Some(piece) = pieces.get(i) else { return Ok(()) };
                let mut piece = piece.lock().unwrap_or_else(PoisonError::into_inner);
                let group = now.start + 2 * i;
                self.two(group, &mut piece, per_group * width, fetch)
            };
            for result in threads::map(pieces.len(), self.threads, decode) {
                result?;
            }
            next = now.end;
        }
        let (from, to) = (range.start * width - start, range.end * width - start);
        out.truncate(to);
        out.drain(..from);
        Ok(out)
    }

    /// Decodes group `group` and, where `out` is longer than one, the next one too.
    fn two(&self, group: usize, out: &mut [u8], one: usize, fetch: &Fetch<'_>) -> Result<()> {
        let stored = fetch(group)?;
        let (first, second) = out.split_at_mut(one.min(out.len()));
        let place = |e: Error, group: usize| e.within(format!("group {group}"));
        if second.is_empty() {
            return self.group(group, &stored, first).map_err(|e| place(e, group));
        }
        let after = fetch(group + 1)?;
        if let (Codec::Direct(_), Some(symbols)) = (&self.record.codec, &self.symbols)
            && symbols.decode_two(group, [&stored, &after], [&mut *first, &mut *second]).is_ok()
        {
            return Ok(());
        }
        // One by one, also to tell which of the two is wrong.
        self.group(group, &stored, first).map_err(|e| place(e, group))?;
        self.group(group + 1, &after, second).map_err(|e| place(e, group + 1))
    }

    /// Decodes one group into `out`.
    fn group(&self, group: usize, stored: &[u8], out: &mut [u8]) -> Result<()> {
        match (&self.record.codec, &self.symbols) {
            (Codec::Raw { .. }, _) => {
                if stored.len() != out.len() {
                    return Err(Error::corrupt(
                        0,
                        format!("{} raw bytes where {} belong", stored.len(), out.len()),
                    ));
                }
                out.copy_from_slice(stored);
                self.check_symbols(out)
            }
            (Codec::Pco { .. }, _) => self.pco(stored, out),
            (Codec::Direct(_) | Codec::Bitplane(_), Some(symbols)) => {
                symbols.decode(group, stored, out)
            }
            _ => Err(Error::corrupt(
                0,
                format!("codec {} is not known to this reader", self.record.codec.name()),
            )),
        }
    }

    /// Raw symbols must be within their alphabet.
    fn check_symbols(&self, out: &[u8]) -> Result<()> {
        if let PartShape::Symbols { bits, .. } = self.record.shape
            && let Some(at) = out.iter().position(|s| u32::from(*s) >> bits != 0)
        {
            return Err(Error::corrupt(
                at as u64,
                format!("{} is no symbol of {bits} bits", out[at]),
            ));
        }
        Ok(())
    }

    fn pco(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let PartShape::Words { width, float, .. } = self.record.shape else {
            return Err(Error::corrupt(0, "Pco of what are no words"));
        };
        let limits = &self.limits;
        match (width, float) {
            (1, _) => decompress(stored, out, limits, u8::to_le_bytes),
            (2, false) => decompress(stored, out, limits, u16::to_le_bytes),
            (4, false) => decompress(stored, out, limits, u32::to_le_bytes),
            (8, false) => decompress(stored, out, limits, u64::to_le_bytes),
            (2, true) => decompress(stored, out, limits, f16::to_le_bytes),
            (4, true) => decompress(stored, out, limits, f32::to_le_bytes),
            _ => decompress(stored, out, limits, f64::to_le_bytes),
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

/// A Pco file of exactly as many numbers as `out` holds.
fn decompress<T: Number, const WIDTH: usize>(
    stored: &[u8],
    out: &mut [u8],
    limits: &Limits,
    to: impl Fn(T) -> [u8; WIDTH],
) -> Result<()> {
    let words = out.as_chunks_mut::<WIDTH>().0;
    let mut decoder = pco::standalone::Decoder::new(stored, limits)?;
    let mut buffer = vec![T::default(); words.len().min(1 << 12)];
    let mut at = 0;
    while at < words.len() {
        let most = buffer.len().min(words.len() - at);
        let read = decoder.read(&mut buffer[..most])?;
        if read == 0 {
            return Err(Error::corrupt(0, format!("{at} numbers where {} belong", words.len())));
        }
        for (word, &x) in words[at..].iter_mut().zip(&buffer[..read]) {
            *word = to(x);
        }
        at += read;
    }
    let mut one = [T::default()];
    if decoder.read(&mut one)? != 0 {
        return Err(Error::corrupt(0, format!("more than {} numbers", words.len())));
    }
    let ending = decoder.finish()?;
    if ending.trailing {
        return Err(Error::corrupt(ending.consumed, "bytes behind a group of Pco"));
    }
    Ok(())
}
