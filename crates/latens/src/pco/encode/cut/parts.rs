//! Cuts at parts of a chunk's length, all of which are encoded.
//!
//! A part of the chunk may be better off without a dictionary, or with one of its own, which no
//! estimate by blocks tells: dictionaries pay where they are used for long.

use super::{Numbers, Piece};
use crate::error::Result;
use crate::number::Latent;

/// A dictionary is much of a chunk from this part of it on.
const LARGE: usize = 5;
/// Longer chunks are cut by estimates, as this encodes a chunk some fifteen times.
const MOST: usize = 1 << 18;
/// Parts, at most.
const PARTS: usize = 8;
/// Numbers of a part, at least.
const PART: usize = 1 << 12;
/// Borders are moved by so many numbers, at least.
const STEP: usize = 1 << 10;

/// Whether all ways to cut the chunk are tried.
pub(super) fn tries<L: Latent>(whole: &Piece<L>) -> bool {
    whole.n <= MOST && whole.meta.mode.written_bits() > whole.bytes.len() * 8 / LARGE
}

impl<L: Latent> Numbers<'_, L> {
    /// The best of all ways to cut at parts of the length, with borders moved to where they are best.
    pub(super) fn by_size(&self) -> Result<Vec<Piece<L>>> {
        let n = self.n;
        let parts = (n / PART).clamp(1, PARTS);
        let at = |part: usize| n * part / parts;
        // By end, the bytes of all up to there, and the last piece.
        let mut best: Vec<Option<(usize, Piece<L>)>> = (0..=parts).map(|_| None).collect();
        for start in 0..parts {
            let before = best[start].as_ref().map_or(0, |best| best.0);
            for end in start + 1..=parts {
                if end - start == parts {
                    continue;
                }
                let piece = self.piece(at(start)..at(end))?;
                let total = before + piece.bytes.len();
                if best[end].as_ref().is_none_or(|best| total < best.0) {
                    best[end] = Some((total, piece));
                }
            }
        }
        let mut pieces = Vec::new();
        let mut end = n;
        for (part, best) in best.into_iter().enumerate().rev() {
            if let Some((_, piece)) = best
                && at(part) == end
            {
                end -= piece.n;
                pieces.push(piece);
            }
        }
        pieces.reverse();
        self.settle(&mut pieces, n / parts)?;
        Ok(pieces)
    }

    /// Moves the borders of pieces, by half a part and then by less, to where they take the fewest bytes.
    fn settle(&self, pieces: &mut [Piece<L>], part: usize) -> Result<()> {
        let mut step = part / 2;
        while step >= STEP {
            let mut start = 0;
            for i in 1..pieces.len() {
                let border = start + pieces[i - 1].n;
                let end = border + pieces[i].n;
                for to in [border.saturating_sub(step), border + step] {
                    if to <= start || to >= end {
                        continue;
                    }
                    let (a, b) = (self.piece(start..to)?, self.piece(to..end)?);
                    if a.bytes.len() + b.bytes.len()
                        < pieces[i - 1].bytes.len() + pieces[i].bytes.len()
                    {
                        (pieces[i - 1], pieces[i]) = (a, b);
                        break;
                    }
                }
                start += pieces[i - 1].n;
            }
            step /= 2;
        }
        Ok(())
    }
}
