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
use crate::pco::encode::plan::{ModeChoice, ModeLatents};
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

/// An encoded chunk.
pub(crate) struct Piece<L> {
    pub(crate) n: usize,
    pub(crate) meta: ChunkMeta<L>,
    /// From its type byte to the end of its page.
    pub(crate) bytes: Vec<u8>,
}

impl<L: Latent> Piece<L> {
    fn new(latents: Vec<L>, ty: NumberType, config: &Config) -> Result<Self> {
        let n = latents.len();
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

/// Encodes numbers of type `ty`, given as ordered latents, as one chunk or more.
pub(crate) fn encode<L: Latent>(
    latents: Vec<L>,
    ty: NumberType,
    config: &Config,
) -> Result<Vec<Piece<L>>> {
    if !config.cuts() || latents.len() < LEAST {
        return Ok(vec![Piece::new(latents, ty, config)?]);
    }
    let numbers = Numbers { latents: &latents, ty, config };
    numbers.cut(numbers.piece(0..latents.len())?)
}

/// Numbers that may be cut, as ordered latents.
#[derive(Clone, Copy)]
struct Numbers<'a, L> {
    latents: &'a [L],
    ty: NumberType,
    config: &'a Config,
}

impl<L: Latent> Numbers<'_, L> {
    /// Some of them as a chunk.
    fn piece(&self, range: Range<usize>) -> Result<Piece<L>> {
        Piece::new(self.latents[range].to_vec(), self.ty, self.config)
    }

    /// All of them as the chunk that they are already, or as what it is better cut into, again and
    /// again: pieces have modes and delta encodings of their own, by which they change elsewhere.
    fn cut(self, whole: Piece<L>) -> Result<Vec<Piece<L>>> {
        if self.latents.len() < LEAST {
            return Ok(vec![whole]);
        }
        let pieces = match parts::tries(&whole) {
            true => self.by_size()?,
            false => self.by_estimate(&whole.meta)?,
        };
        if pieces.len() < 2 || bytes(&pieces) >= whole.bytes.len() {
            return Ok(vec![whole]);
        }
        let mut all = Vec::with_capacity(pieces.len());
        let mut rest = self.latents;
        for piece in pieces {
            let latents;
            (latents, rest) = rest.split_at(piece.n);
            all.extend(Numbers { latents, ..self }.cut(piece)?);
        }
        Ok(all)
    }

    /// Cut where they seem to change; neighbours that may belong together are encoded so too.
    fn by_estimate(&self, meta: &ChunkMeta<L>) -> Result<Vec<Piece<L>>> {
        let cuts = cuts(self.latents, meta, self.config);
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
                let joined = self.piece(end - cut.n - last.n..end)?;
                if joined.bytes.len() <= last.bytes.len() + piece.bytes.len() {
                    *last = joined;
                    continue;
                }
            }
            pieces.push(piece);
        }
        Ok(pieces)
    }
}

fn bytes<L>(pieces: &[Piece<L>]) -> usize {
    pieces.iter().map(|piece| piece.bytes.len()).sum()
}

/// The segments that the chunk seems worth to be cut into.
fn cuts<L: Latent>(latents: &[L], meta: &ChunkMeta<L>, config: &Config) -> Vec<Cut> {
    let mode = match &meta.mode {
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
    };
    let consecutive = |order| DeltaPayload::Consecutive { order, secondary: false };
    let mut deltas = vec![meta.delta.clone()];
    if config.delta == DeltaSpec::Auto {
        for delta in [DeltaPayload::None, consecutive(1)] {
            if !deltas.contains(&delta) {
                deltas.push(delta);
            }
        }
    }
    let mut encodings: Vec<Encodings<L>> = Vec::new();
    encodings.extend(
        ModeLatents::split(latents.to_vec(), mode).map(|latents| Encodings { latents, deltas }),
    );
    if matches!(meta.mode, ModePayload::Dict { .. })
        && config.mode == ModeSpec::Auto
        && config.delta == DeltaSpec::Auto
    {
        // Where most values are new, a dictionary is not worth it.
        let deltas = vec![DeltaPayload::None, consecutive(1)];
        encodings.extend(
            ModeLatents::split(latents.to_vec(), ModeChoice::Classic)
                .map(|latents| Encodings { latents, deltas }),
        );
    }
    segments::find(latents.len(), &encodings)
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
        let pieces = encode(latents.clone(), NumberType::U32, &config).unwrap();
        assert!(pieces.len() > 1);
        assert_eq!(pieces.iter().map(|piece| piece.n).sum::<usize>(), latents.len());
        let whole = Piece::new(latents, NumberType::U32, &config).unwrap();
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
        let numbers = Numbers { latents: &latents, ty: NumberType::F32, config: &config };
        let whole = numbers.piece(0..latents.len()).unwrap();
        assert!(parts::tries(&whole), "{:?} {}", whole.meta.mode.written_bits(), whole.bytes.len());
        let pieces = numbers.cut(whole).unwrap();
        assert!(pieces.len() > 1);
        assert_eq!(pieces.iter().map(|piece| piece.n).sum::<usize>(), latents.len());
        assert!(pieces[0].n.abs_diff(20_000) <= 1 << 10, "{}", pieces[0].n);
    }
}
