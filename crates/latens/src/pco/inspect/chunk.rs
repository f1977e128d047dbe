//! What is inside of a chunk, and where its bits go.

use crate::number::Latent;
use crate::pco::decode::page::Spent;
use crate::pco::layout::chunk_meta::{ChunkMeta, Primary};
use crate::pco::layout::variable::Variable;
use crate::pco::standalone::info::ChunkInfo;

/// A chunk, taken apart.
#[derive(Clone, Debug)]
#[non_exhaustive]
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
#[non_exhaustive]
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
    /// [`LatentInspection::body_bits`] for each number of the chunk.
    pub bits_per_value: f64,
    /// In file order.
    pub bins: Vec<BinInspection>,
}

/// A bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BinInspection {
    /// Of the table's `2^table_log` slots.
    pub weight: u32,
    /// The smallest latent, a plain integer. Where deltas are taken 2^(latent_bits − 1) stands
    /// for no difference.
    pub lower: u64,
    /// Bits that say which of the latents from `lower` on it is.
    pub offset_bits: u32,
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
        let bits_per_value = body_bits as f64 / n as f64;
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
