//! Chunks for the numbers of one: several where they change on the way, if size is favoured.
//!
//! Each chunk has its own mode, delta encoding and bins, and takes metadata for that. Segments are
//! proposed by estimate; what decides is their encoded size, also whether neighbours are better
//! off together.

use crate::bits::writer::BitWriter;
use crate::error::Result;
use crate::number::{Latent, NumberType};
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::encode::chunk::Chunk;
use crate::pco::encode::plan::{ModeChoice, ModeLatents};
use crate::pco::encode::segments::{self, Cut};
use crate::pco::layout::chunk_head::ChunkHead;
use crate::pco::layout::chunk_meta::ChunkMeta;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::dict;

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
    let whole = Piece::new(latents.clone(), ty, config)?;
    let cuts = cuts(&latents, &whole.meta, config);
    if cuts.len() < 2 {
        return Ok(vec![whole]);
    }
    let mut pieces: Vec<Piece<L>> = Vec::with_capacity(cuts.len());
    let mut end = 0;
    for cut in cuts {
        let piece = Piece::new(latents[end..end + cut.n].to_vec(), ty, config)?;
        end += cut.n;
        if let Some(last) = pieces.last_mut()
            && cut.joining_costs < UNSURE
        {
            let joined = Piece::new(latents[end - cut.n - last.n..end].to_vec(), ty, config)?;
            if joined.bytes.len() <= last.bytes.len() + piece.bytes.len() {
                *last = joined;
                continue;
            }
        }
        pieces.push(piece);
    }
    let total: usize = pieces.iter().map(|piece| piece.bytes.len()).sum();
    Ok(if total < whole.bytes.len() { pieces } else { vec![whole] })
}

/// The segments that the chunk seems worth to be cut into.
fn cuts<L: Latent>(latents: &[L], meta: &ChunkMeta<L>, config: &Config) -> Vec<Cut> {
    let mode = match &meta.mode {
        ModePayload::Classic => ModeChoice::Classic,
        ModePayload::IntMult { base } => ModeChoice::IntMult(*base),
        ModePayload::FloatMult { base } => ModeChoice::FloatMult(*base),
        ModePayload::FloatQuant { q } => ModeChoice::FloatQuant(*q),
        ModePayload::Dict { values } => {
            let order = if values.is_sorted() { dict::Order::Value } else { dict::Order::Count };
            ModeChoice::Dict { most: values.len(), order }
        }
    };
    let Some(split) = ModeLatents::split(latents.to_vec(), mode) else {
        return Vec::new();
    };
    let mut deltas = vec![meta.delta.clone()];
    if config.delta == DeltaSpec::Auto {
        let consecutive = |order| DeltaPayload::Consecutive { order, secondary: false };
        for delta in [DeltaPayload::None, consecutive(1)] {
            if !deltas.contains(&delta) {
                deltas.push(delta);
            }
        }
    }
    segments::find(&split, &deltas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::config::Favor;

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
}
