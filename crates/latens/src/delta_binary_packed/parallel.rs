//! Streams on several threads, in pieces of whole blocks.
//!
//! A value is the sum of all differences before it, so pieces are decoded as though nothing came before
//! them, and what did is added once all pieces before are decoded. By then most of them are in the caches
//! of whoever decoded them. Where pieces begin is found by a walk over the widths of blocks, behind which
//! nothing can fail any more.

use super::encode::encode_blocks;
use super::{Decoded, Decoder, Element, Header, Layout, encode_to};
use crate::error::{Error, Result};
use crate::threads::{Jobs, side_by_side};
use crate::watch::Watch;
use latens_kernels::delta::Kernel;
use latens_kernels::dispatch::{Present, simd};
use latens_kernels::lane::Lane;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Values of a piece that is decoded, at least.
const PIECE: usize = 1 << 16;
/// Pieces of a stream, at most: what is kept of each is memory before anything is known to be sound.
const MOST: u64 = 1 << 10;
/// Values of a piece that is encoded, at least.
const ENCODED: usize = 1 << 18;

/// The stream of `values`, as [`encode`](super::encode) makes it, on `threads` threads (0 for as many as
/// there are cores), this one included, and with a [`Watch`].
///
/// ```
/// use latens::Watch;
/// use latens::delta_binary_packed::{Layout, encode, encode_with};
/// let ids: Vec<i64> = (0..300_000).map(|i| i * i).collect();
/// let layout = Layout::default_for::<i64>();
/// assert_eq!(encode_with(&ids, layout, 2, &Watch::NONE)?, encode(&ids, layout));
/// # Ok::<(), latens::Error>(())
/// ```
///
/// # Errors
/// That of `watch`.
pub fn encode_with<T: Element>(
    values: &[T],
    layout: Layout,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let size = ENCODED.next_multiple_of(layout.block_size());
    let lanes = T::as_lanes(values);
    let (Some((first, rest)), false) = (lanes.split_first(), threads == 1 || lanes.len() <= size)
    else {
        encode_to(values, layout, &mut out, watch)?;
        return Ok(out);
    };
    let total_count = lanes.len() as u64;
    Header { layout, total_count, first_value: first.to_signed(), size: 0 }.write(&mut out);
    let previous = std::iter::once(first).chain(rest.chunks(size).filter_map(<[_]>::last));
    let jobs = Jobs::new(rest.chunks(size).zip(previous));
    let threads = crate::threads::count(threads).min(rest.len().div_ceil(size));
    let done = side_by_side(threads, || {
        let (kernel, mut done) = (Kernel::new(simd()), Vec::new());
        while let Some((i, (piece, previous))) = jobs.next() {
            let mut bytes = Vec::with_capacity(size_of_val(piece) / 2);
            let told = encode_blocks(*previous, piece, layout, kernel, &mut bytes, |_| Ok(()));
            done.push((i, bytes));
            if let Err(error) = told.and_then(|()| watch.done(piece.len() as u64)) {
                jobs.end();
                return Err(error);
            }
        }
        Ok(done)
    });
    let done: Result<Vec<_>> = done.into_iter().collect();
    let mut done: Vec<(usize, Vec<u8>)> = done?.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(i, _)| *i);
    // The first value stands in no piece.
    watch.done(1)?;
    out.reserve_exact(done.iter().map(|(_, bytes)| bytes.len()).sum());
    done.iter().for_each(|(_, bytes)| out.extend_from_slice(bytes));
    Ok(out)
}

/// A sound stream in pieces.
pub(super) struct Pieces<'a, T: Element> {
    /// Where each begins, and how many values it has.
    pieces: Vec<(Decoder<'a, T>, usize)>,
    /// Bytes of the stream.
    consumed: usize,
    threads: usize,
}

impl<'a, T: Element> Pieces<'a, T> {
    /// All that `decoder` has, for at most `threads` threads (0 for as many as there are cores); `None`
    /// where one does as well, or where something is wrong.
    pub(super) fn of(decoder: &Decoder<'a, T>, threads: usize) -> Option<Self> {
        let total = usize::try_from(decoder.remaining()).ok()?;
        if threads == 1 || total <= PIECE {
            return None;
        }
        let threads = crate::threads::count(threads);
        if threads == 1 {
            return None;
        }
        let least = decoder.remaining().div_ceil(MOST).max(PIECE as u64);
        let (mut walk, mut pieces) = (decoder.clone(), Vec::new());
        while walk.remaining() > 0 {
            let begin = walk.clone();
            let passed = walk.skip_blocks(least).ok()?;
            pieces.push((begin, usize::try_from(passed).ok()?));
        }
        Some(Self { threads: threads.min(pieces.len()), consumed: walk.consumed(), pieces })
    }

    /// How many values there are.
    pub(super) fn values(&self) -> usize {
        self.pieces.iter().map(|(_, n)| n).sum()
    }

    /// Decodes to the front of `out`, which must have room for all.
    pub(super) fn decode_into(self, out: &mut [T], watch: &Watch) -> Result<Decoded> {
        let mut rest = out;
        let places = self.pieces.into_iter().map_while(|(decoder, n)| {
            let (place, behind) = std::mem::take(&mut rest).split_at_mut_checked(n)?;
            rest = behind;
            Some((decoder, place))
        });
        let jobs = Jobs::new(places.collect::<Vec<_>>());
        let sums = Sums::<T>::default();
        let all = side_by_side(self.threads, || {
            let mut done = 0;
            while let Some((i, (mut decoder, place))) = jobs.next() {
                let n = decoder.read(place)?;
                done += n;
                sums.decoded(i, place);
                if let Err(error) = watch.done(n as u64) {
                    jobs.end();
                    return Ok((done, Some(error)));
                }
            }
            Ok((done, None))
        });
        let all = all.into_iter().collect::<Result<Vec<(usize, Option<Error>)>>>()?;
        let count = all.iter().map(|(done, _)| done).sum();
        // Pieces are begun in order, and those that were begun are ended.
        match all.into_iter().find_map(|(_, error)| error) {
            Some(error) => Err(error.after_values(count as u64)),
            None => Ok(Decoded { count, consumed: self.consumed }),
        }
    }
}

/// Pieces that wait for the sum of all differences before them.
struct Sums<'o, T: Element>(Mutex<Waiting<'o, T>>);

#[derive(Default)]
struct Waiting<'o, T: Element> {
    /// All pieces before this one are decoded.
    next: usize,
    /// Their last value.
    sum: T::Lane,
    pieces: BTreeMap<usize, &'o mut [T]>,
}

impl<T: Element> Default for Sums<'_, T> {
    fn default() -> Self {
        Self(Mutex::new(Waiting { next: 0, sum: T::Lane::default(), pieces: BTreeMap::new() }))
    }
}

impl<'o, T: Element> Sums<'o, T> {
    /// Takes in a piece whose values lack the sum; adds it to all that it is known for now.
    fn decoded(&self, index: usize, piece: &'o mut [T]) {
        let mut known = Vec::new();
        {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.pieces.insert(index, piece);
            while let Some(piece) = {
                let next = waiting.next;
                waiting.pieces.remove(&next)
            } {
                let sum = waiting.sum;
                waiting.next += 1;
                waiting.sum = T::as_lanes(piece).last().map_or(sum, |last| sum.plus(*last));
                known.push((piece, sum));
            }
        }
        for (piece, sum) in known {
            let lanes = T::as_lanes_mut(piece);
            Present::in_use().call(
                #[inline(always)]
                || lanes.iter_mut().for_each(|x| *x = x.plus(sum)),
            );
        }
    }
}
