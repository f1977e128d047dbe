//! Chunks for the numbers of one: several where they change on the way, if size is favoured.
//!
//! Each chunk has its own mode, delta encoding and bins, and takes metadata for that. Segments are
//! proposed by estimate, or, where a dictionary is much of the chunk, are all that a few borders allow
//! (`parts`); what decides is their encoded size, also whether neighbours are better off together.

mod parts;

use crate::bits::writer::BitWriter;
use crate::error::Result;
use crate::number::{Latent, NumberType};
use crate::pco::config::{Config, DeltaSpec, ModeSpec};
use crate::pco::encode::chunk::Chunk;
use crate::pco::encode::plan::ModeChoice;
use crate::pco::encode::segments::{self, Cut, Encodings};
use crate::pco::layout::chunk_head::ChunkHead;
use crate::pco::layout::chunk_meta::ChunkMeta;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::{dict, trend};
use std::ops::Range;

/// Chunks with fewer numbers than this stay whole.
const LEAST: usize = 1 << 13;

/// Segments that by estimate save less than this part are also encoded together.
const UNSURE: f64 = 0.02;
/// And those that save less than this part are never apart.
const NOTHING: f64 = 1e-4;

/// An encoded chunk.
pub(crate) struct Piece<L> {
    pub(crate) n: usize,
    pub(crate) meta: ChunkMeta<L>,
    /// From its type byte to the end of its page.
    pub(crate) bytes: Vec<u8>,
}

impl<L: Latent> Piece<L> {
    fn new(latents: Vec<L>, n: usize, ty: NumberType, config: &Config) -> Result<Self> {
        let chunk = Chunk::new(latents, ty, &[n], config)?;
        config.watch.ask()?;
        Ok(Self::of(n, ty, chunk))
    }

    /// See [`Chunk::plain`].
    pub(crate) fn plain(latents: Vec<L>, ty: NumberType) -> Self {
        Self::of(latents.len(), ty, Chunk::plain(latents))
    }

    fn of(n: usize, ty: NumberType, chunk: Chunk<L>) -> Self {
        let head = ChunkHead { number_type: ty, n };
        let mut w = BitWriter::append_to(head.bytes().to_vec());
        chunk.write_meta(&mut w);
        chunk.write_page(0, &mut w);
        Self { n, bytes: w.finish(), meta: chunk.meta }
    }
}

/// The ordered latents of a range of numbers. They are made anew for each use: kept beside all else,
/// they would be memory that nothing needs.
pub(crate) type LatentsOf<'a, L> = &'a dyn Fn(Range<usize>) -> Vec<L>;

/// Encodes `n` numbers of type `ty` as one chunk or more.
pub(crate) fn encode<L: Latent>(
    latents_of: LatentsOf<'_, L>,
    n: usize,
    ty: NumberType,
    config: &Config,
) -> Result<Vec<Piece<L>>> {
    let numbers = Numbers { latents_of, start: 0, n, ty, config };
    let whole = numbers.piece(0..n)?;
    if config.cuts() { numbers.cut(whole) } else { Ok(vec![whole]) }
}

/// Numbers that may be cut.
#[derive(Clone, Copy)]
struct Numbers<'a, L> {
    latents_of: LatentsOf<'a, L>,
    /// The first of them, and how many.
    start: usize,
    n: usize,
    ty: NumberType,
    config: &'a Config,
}

impl<L: Latent> Numbers<'_, L> {
    fn latents(&self, range: Range<usize>) -> Vec<L> {
        (self.latents_of)(self.start + range.start..self.start + range.end)
    }

    /// Some of them as a chunk.
    fn piece(&self, range: Range<usize>) -> Result<Piece<L>> {
        Piece::new(self.latents(range.clone()), range.len(), self.ty, self.config)
    }

    /// All of them as the chunk that they are already, or as what it is better cut into, again and
    /// again: pieces have modes and delta encodings of their own, by which they change elsewhere.
    fn cut(self, whole: Piece<L>) -> Result<Vec<Piece<L>>> {
        if self.n < LEAST {
            return Ok(vec![whole]);
        }
        let pieces = match parts::tries(&whole) {
            true => self.by_size()?,
            false => self.by_estimate(&whole)?,
        };
        if pieces.len() < 2 || bytes(&pieces) >= whole.bytes.len() {
            return Ok(vec![whole]);
        }
        drop(whole);
        let mut all = Vec::with_capacity(pieces.len());
        let mut start = self.start;
        for piece in pieces {
            let n = piece.n;
            all.extend(Numbers { start, n, ..self }.cut(piece)?);
            start += n;
        }
        Ok(all)
    }

    /// Cut where they seem to change; neighbours that may belong together are encoded so too.
    fn by_estimate(&self, whole: &Piece<L>) -> Result<Vec<Piece<L>>> {
        let cuts = self.cuts(&whole.meta);
        if cuts.len() < 2 {
            return Ok(Vec::new());
        }
        let mut pieces: Vec<Piece<L>> = Vec::with_capacity(cuts.len());
        let mut end = 0;
        for cut in cuts {
            let piece = self.piece(end..end + cut.n)?;
            end += cut.n;
            if let Some(last) = pieces.last_mut()
                && cut.joining_costs < UNSURE
            {
                let apart = last.bytes.len() + piece.bytes.len();
                let start = end - cut.n - last.n;
                if (start, end) == (0, self.n) {
                    // These are encoded together already.
                    if whole.bytes.len() <= apart {
                        return Ok(Vec::new());
                    }
                } else {
                    let joined = self.piece(start..end)?;
                    if joined.bytes.len() <= apart {
                        *last = joined;
                        continue;
                    }
                }
            }
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// The segments that they seem worth to be cut into, once they are such a chunk.
    fn cuts(&self, meta: &ChunkMeta<L>) -> Vec<Cut> {
        let consecutive = |order| DeltaPayload::Consecutive { order, secondary: false };
        let mut deltas = vec![meta.delta.clone()];
        if self.config.delta == DeltaSpec::Auto {
            for delta in [DeltaPayload::None, consecutive(1)] {
                if !deltas.contains(&delta) {
                    deltas.push(delta);
                }
            }
        }
        let mut encodings = vec![Encodings { mode: mode_of(&meta.mode), deltas }];
        if matches!(meta.mode, ModePayload::Dict { .. })
            && self.config.mode == ModeSpec::Auto
            && self.config.delta == DeltaSpec::Auto
        {
            // Where most values are new, a dictionary is not worth it.
            let deltas = vec![DeltaPayload::None, consecutive(1)];
            encodings.push(Encodings { mode: ModeChoice::Classic, deltas });
        }
        let mut cuts = segments::find(self.n, &encodings, &|| self.latents(0..self.n));
        cuts.dedup_by(|cut, last| {
            let is_nothing = cut.joining_costs < NOTHING;
            last.n += if is_nothing { cut.n } else { 0 };
            is_nothing
        });
        cuts
    }
}

/// The choice that led to a chunk's mode.
fn mode_of<L: Latent>(mode: &ModePayload<L>) -> ModeChoice<L> {
    match mode {
        ModePayload::Classic => ModeChoice::Classic,
        ModePayload::IntMult { base } => {
            trend::cell_of(*base).map_or(ModeChoice::IntMult(*base), ModeChoice::Trend)
        }
        ModePayload::FloatMult { base } => ModeChoice::FloatMult(*base),
        ModePayload::FloatQuant { q } => ModeChoice::FloatQuant(*q),
        ModePayload::Dict { values } => {
            let order = if values.is_sorted() { dict::Order::Value } else { dict::Order::Count };
            ModeChoice::Dict { most: values.len(), order }
        }
    }
}

fn bytes<L>(pieces: &[Piece<L>]) -> usize {
    pieces.iter().map(|piece| piece.bytes.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;
    use crate::pco::config::Favor;
    use crate::pco::noise::mix;

    #[test]
    fn pieces_hold_all_numbers_in_less() {
        let latents: Vec<u32> = (0..50_000u32)
            .map(|i| (i ^ i >> 7).wrapping_mul(0x9e37_79b9) >> if i < 30_000 { 4 } else { 25 })
            .collect();
        let config = Config::default().level(12).favor(Favor::Size);
        let of = |range: Range<usize>| latents[range].to_vec();
        let pieces = encode(&of, latents.len(), NumberType::U32, &config).unwrap();
        assert!(pieces.len() > 1);
        let n = latents.len();
        assert_eq!(pieces.iter().map(|piece| piece.n).sum::<usize>(), n);
        let whole = Piece::new(latents, n, NumberType::U32, &config).unwrap();
        let total: usize = pieces.iter().map(|piece| piece.bytes.len()).sum();
        assert!(total * 10 < whole.bytes.len() * 9, "{total} {}", whole.bytes.len());
    }

    /// Few values first, of which a dictionary has all, then as many as numbers.
    #[test]
    fn a_dictionary_ends_where_values_are_new() {
        let step = |i: u32| {
            let of = if i < 20_000 { 300 } else { 5_000 };
            u32::try_from(mix(i.into()) % of).unwrap()
        };
        let value = |i: u32| 0.596_274_3 * f64::from(step(i));
        // Six digits, as they were printed.
        let digits = |x: f64| format!("{x:.5e}").parse::<f32>().unwrap();
        let latents: Vec<u32> = (0..40_000).map(|i| digits(value(i)).to_latent()).collect();
        let config = Config::default().level(12).favor(Favor::Size);
        let latents_of = |range: Range<usize>| latents[range].to_vec();
        let (n, ty) = (latents.len(), NumberType::F32);
        let numbers = Numbers { latents_of: &latents_of, start: 0, n, ty, config: &config };
        let whole = numbers.piece(0..n).unwrap();
        assert!(parts::tries(&whole), "{:?} {}", whole.meta.mode.written_bits(), whole.bytes.len());
        let pieces = numbers.cut(whole).unwrap();
        assert!(pieces.len() > 1);
        assert_eq!(pieces.iter().map(|piece| piece.n).sum::<usize>(), n);
        assert!(pieces[0].n.abs_diff(20_000) <= 1 << 10, "{}", pieces[0].n);
    }
}
