//! What is inside of a standalone file, and where its bits go.

use crate::error::Result;
use crate::limits::Limits;
use crate::number::{Latent, NumberType};
use crate::pco::decode::page::Spent;
use crate::pco::layout::chunk_meta::{ChunkMeta, Primary};
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::variable::Variable;
use crate::pco::standalone::{ChunkInfo, Decoder, Ending};
use std::io::Read;

/// A standalone file, taken apart.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// 0 to 3.
    pub standalone_version: u8,
    /// Of the wrapped format inside.
    pub format_version: FormatVersion,
    /// Type of the first chunk, or what an empty file announces.
    pub number_type: Option<NumberType>,
    /// Numbers in the file.
    pub n: u64,
    /// Numbers that the header announces.
    pub n_hint: u64,
    /// What stands behind the last chunk.
    pub ending: Ending,
    /// In file order.
    pub chunks: Vec<ChunkInspection>,
}

/// A chunk, taken apart.
#[derive(Clone, Debug)]
pub struct ChunkInspection {
    /// Type, count, mode, delta encoding.
    pub info: ChunkInfo,
    /// Of its type byte, from the start of the file.
    pub offset: u64,
    /// From its type byte to the end of its page.
    pub bytes: u64,
    /// Its latent variables in file order.
    pub latents: Vec<LatentInspection>,
}

/// A latent variable of a chunk.
#[derive(Clone, Debug)]
pub struct LatentInspection {
    /// `lookback`, `primary` or `secondary`.
    pub name: &'static str,
    /// Width of its latents.
    pub latent_bits: u32,
    /// log2 of its tANS table.
    pub table_log: u32,
    /// Bits of its codes and offsets in the page.
    pub body_bits: u64,
    /// Bits of its bins in the metadata.
    pub meta_bits: u64,
    /// Both, for each number of the chunk.
    pub bits_per_value: f64,
    /// In file order.
    pub bins: Vec<BinInspection>,
}

/// A bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinInspection {
    /// Of the table's `2^table_log` slots.
    pub weight: u32,
    /// The smallest latent, a plain integer. Where deltas are taken 2^(latent_bits − 1) stands
    /// for no difference.
    pub lower: u64,
    /// Bits that say which of the latents from `lower` on it is.
    pub offset_bits: u32,
}

/// Decodes a whole file and tells what is in it. Memory does not grow with its numbers.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn inspect<R: Read>(reader: R, limits: &Limits) -> Result<Inspection> {
    let mut decoder = Decoder::new(reader, limits)?;
    let number_type = decoder.number_type()?;
    let mut chunks = Vec::new();
    while let Some(chunk) = decoder.inspect_chunk()? {
        chunks.push(chunk);
    }
    let ending = decoder.finish()?;
    Ok(Inspection {
        standalone_version: decoder.standalone_version(),
        format_version: decoder.format_version(),
        number_type,
        n: chunks.iter().map(|chunk| chunk.info.n as u64).sum(),
        n_hint: decoder.n_hint(),
        ending,
        chunks,
    })
}

/// The variables of a chunk of `n` numbers.
pub(crate) fn latents<L: Latent>(
    meta: &ChunkMeta<L>,
    spent: Spent,
    n: usize,
) -> Vec<LatentInspection> {
    fn latent<L: Latent>(
        name: &'static str,
        variable: &Variable<L>,
        body_bits: u64,
        n: usize,
    ) -> LatentInspection {
        let bin = |bin: &crate::pco::layout::variable::Bin<L>| BinInspection {
            weight: bin.weight,
            lower: bin.lower.to_u64(),
            offset_bits: bin.offset_bits,
        };
        let meta_bits = variable.written_bits() as u64;
        #[expect(clippy::cast_precision_loss, reason = "a report")]
        let bits_per_value = (body_bits + meta_bits) as f64 / n as f64;
        LatentInspection {
            name,
            latent_bits: L::BITS,
            table_log: variable.log,
            body_bits,
            meta_bits,
            bits_per_value,
            bins: variable.bins.iter().map(bin).collect(),
        }
    }
    let mut found = Vec::new();
    found.extend(meta.delta_variable.as_ref().map(|v| latent("lookback", v, spent.delta, n)));
    found.push(match &meta.primary {
        Primary::Latents(variable) => latent("primary", variable, spent.primary, n),
        Primary::Indices(variable) => latent("primary", variable, spent.primary, n),
    });
    found.extend(meta.secondary.as_ref().map(|v| latent("secondary", v, spent.secondary, n)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::{Config, DeltaSpec, ModeSpec, compress};

    #[test]
    fn parts_add_up() {
        let numbers: Vec<u32> = (0..10_000u32).map(|i| i * 700 + i * i % 13).collect();
        let config = Config::default()
            .mode(ModeSpec::IntMult(700))
            .delta(DeltaSpec::Lookback { window_log: Some(6), state_log: 0, secondary: true })
            .chunk_n(6000);
        let file = compress(&numbers, &config).unwrap();
        let found = inspect(&file[..], &Limits::default()).unwrap();
        assert_eq!((found.n, found.chunks.len()), (10_000, 2));
        assert_eq!(found.ending.consumed, file.len() as u64);
        let chunk = &found.chunks[1];
        assert_eq!(chunk.offset, found.chunks[0].offset + found.chunks[0].bytes);
        let names: Vec<_> = chunk.latents.iter().map(|l| l.name).collect();
        assert_eq!(names, ["lookback", "primary", "secondary"]);
        let bits: u64 = chunk.latents.iter().map(|l| l.body_bits + l.meta_bits).sum();
        assert!(bits <= chunk.bytes * 8 && bits + 400 > chunk.bytes * 8);
    }
}
