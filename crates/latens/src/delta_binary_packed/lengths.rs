//! Lengths as the two encodings of strings have them: a stream of 32-bit numbers, read as often as
//! it takes and never held.

use super::{Decoder, Options};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// Lengths that are decoded at a time.
const PIECE: usize = 512;

/// A sound stream of lengths. A short one may stand for very many: whoever goes through it first
/// checks, and allocates when all is known to be right.
#[derive(Clone, Debug)]
pub(super) struct Lengths<'a> {
    decoder: Decoder<'a, i32>,
    count: u64,
    size: usize,
}

impl<'a> Lengths<'a> {
    /// The stream at the start of `bytes`, all blocks of which are walked.
    ///
    /// # Errors
    /// As [`super::decode`].
    pub(super) fn new(bytes: &'a [u8], limits: Limits, options: Options) -> Result<Self> {
        let decoder = Decoder::<i32>::new(bytes, options)?;
        let count = decoder.remaining();
        limits.check_output(count.saturating_mul(4))?;
        let mut walk = decoder.clone();
        let sound = walk.skip(count)?;
        if sound < count {
            let says = |_| Error::corrupt(0, format!("{sound} of {count} lengths are there"));
            return Err(walk.skip(1).map_or_else(|error| error, says));
        }
        Ok(Self { decoder, count, size: walk.consumed() })
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Bytes that the stream takes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// All lengths, in order.
    ///
    /// # Errors
    /// Those of `visit`, which gets each with its index.
    pub(super) fn each(&self, mut visit: impl FnMut(usize, i32) -> Result<()>) -> Result<()> {
        self.with([0; PIECE], |index, lengths| {
            (index..).zip(lengths).try_for_each(|(index, &length)| visit(index, length))
        })
    }

    fn with(
        &self,
        mut piece: [i32; PIECE],
        mut visit: impl FnMut(usize, &[i32]) -> Result<()>,
    ) -> Result<()> {
        let (mut decoder, mut index) = (self.decoder.clone(), 0);
        while decoder.remaining() > 0 {
            let got = decoder.read(&mut piece)?;
            visit(index, piece.get(..got).unwrap_or_default())?;
            index += got;
        }
        Ok(())
    }

    /// The lengths of both streams, side by side, as far as both go.
    ///
    /// # Errors
    /// Those of `visit`, which gets the index, the one of this stream, the one of `other`.
    pub(super) fn each_with(
        &self,
        other: &Self,
        mut visit: impl FnMut(usize, i32, i32) -> Result<()>,
    ) -> Result<()> {
        let mut others = other.decoder.clone();
        let mut beside = [0; PIECE];
        self.with([0; PIECE], |index, lengths| {
            // Fewer only where there are no more: the stream is sound.
            let mut got = 0;
            while got < lengths.len() {
                match others.read(beside.get_mut(got..lengths.len()).unwrap_or_default())? {
                    0 => break,
                    n => got += n,
                }
            }
            let pairs = lengths.iter().zip(&beside).take(got);
            (index..).zip(pairs).try_for_each(|(index, (&a, &b))| visit(index, a, b))
        })
    }
}

/// A length that is not negative.
///
/// # Errors
/// Corrupt where it is.
pub(super) fn size_of_string(index: usize, length: i32) -> Result<usize> {
    usize::try_from(length)
        .map_err(|_| Error::corrupt(0, format!("string {index} has a negative length, {length}")))
}

/// Room for the ends of so many strings.
///
/// # Errors
/// Invalid argument where there is no memory for it.
pub(super) fn room_for_ends(count: u64) -> Result<Vec<usize>> {
    let mut ends = Vec::new();
    usize::try_from(count)
        .ok()
        .and_then(|n| ends.try_reserve_exact(n).ok())
        .ok_or_else(|| Error::invalid("there is no memory for the offsets of the strings"))?;
    Ok(ends)
}
