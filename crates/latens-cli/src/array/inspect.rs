//! What is inside of a standalone Pco file, as `--json` shows it.

use serde::Serialize;

use crate::message::Result;

/// A file.
#[derive(Clone, Debug, Serialize)]
pub struct PcoInspection {
    /// `pco`
    pub kind: &'static str,
    /// 0 to 3.
    pub standalone_version: u32,
    /// `0`, `3`, `4.1`, …
    pub format_version: String,
    /// None where there are no chunks and the file names no type.
    #[serde(rename = "type")]
    pub number_type: Option<String>,
    /// Numbers.
    pub n: u64,
    /// Whether a checksum stands behind the data, and holds.
    pub checksum: bool,
    /// Bytes of the file, up to the end of its checksum.
    pub bytes: u64,
    /// In file order.
    pub chunks: Vec<Chunk>,
}

/// A chunk of a [`PcoInspection`].
#[derive(Clone, Debug, Serialize)]
pub struct Chunk {
    /// Numbers.
    pub n: u64,
    /// Bytes, its metadata among them.
    pub bytes: u64,
    /// As the command line spells it.
    pub mode: String,
    /// As the command line spells it.
    pub delta: String,
    /// Bytes of its metadata: mode, delta, bins.
    pub meta_bytes: u64,
    /// Those that exist of delta, primary, secondary.
    pub latents: Vec<Latent>,
}

/// A latent variable of a [`Chunk`].
#[derive(Clone, Debug, Serialize)]
pub struct Latent {
    /// `delta`, `primary`, `secondary`.
    pub name: String,
    /// What its tANS codes and offsets cost, over all numbers of the chunk.
    pub bits_per_value: f64,
    /// Slots that the weights sum to.
    pub table_size: u64,
    /// In file order.
    pub bins: Vec<Bin>,
}

/// A bin of a [`Latent`].
#[derive(Clone, Debug, Serialize)]
pub struct Bin {
    /// Its smallest latent, as a number of the type where that can be said.
    pub lower: String,
    /// Bits that say which latent of the bin.
    pub offset_bits: u32,
    /// Slots of the table.
    pub weight: u64,
    /// Share of the values, as the weight says.
    pub share: f64,
    /// Bits for a value in this bin: code and offset.
    pub cost: f64,
}

/// Look into a file.
///
/// # Errors
/// What is wrong with it.
pub fn read(_reader: impl std::io::Read) -> Result<PcoInspection> {
    Err(crate::message::Failure::new("inspect is not there yet"))
}

impl PcoInspection {
    /// Width of the numbers in bytes; 0 without a type.
    pub fn width(&self) -> u64 {
        let ty = self.number_type.as_deref().and_then(latens::NumberType::from_name);
        ty.map_or(0, |ty| ty.bytes() as u64)
    }
}

impl Chunk {
    /// Bytes of the chunk by what they are for: each latent variable, the metadata, the rest.
    pub fn parts(&self) -> Vec<(String, f64)> {
        let variable = |l: &Latent| (l.name.clone(), l.bits_per_value * self.n as f64 / 8.0);
        let mut parts: Vec<(String, f64)> = self.latents.iter().map(variable).collect();
        parts.push(("metadata".into(), self.meta_bytes as f64));
        parts
    }
}

impl Bin {
    /// A bin of `weight` slots of `table_size`.
    pub fn new(lower: String, offset_bits: u32, weight: u64, table_size: u64) -> Self {
        let share = weight as f64 / table_size.max(1) as f64;
        let code = if share > 0.0 { -share.log2() } else { 0.0 };
        // -0.0 for a bin that is alone.
        let cost = f64::from(offset_bits) + code.max(0.0);
        Bin { lower, offset_bits, weight, share, cost }
    }
}
