//! What is inside of a standalone Pco file, as `--json` shows it.

use latens::pco::standalone::Checksum;
use latens::pco::{self, BinInspection, ChunkInspection, DeltaEncoding, LatentInspection, Mode};
use latens::{Latent as _, Limits, Number, with_number_type};
use serde::Serialize;

use crate::io::section::Reader;
use crate::message::Result;

/// A file.
#[derive(Clone, Debug, Serialize)]
pub struct PcoInspection {
    /// `pco`
    pub kind: &'static str,
    /// 0 to 3.
    pub standalone_version: u8,
    /// `0`, `3`, `4.1`, …
    pub format_version: String,
    /// None where there are no chunks and the file names no type; all of them where chunks differ:
    /// `u32, i32`.
    #[serde(rename = "type")]
    pub number_type: Option<String>,
    /// Numbers.
    pub n: u64,
    /// Whether a checksum stands behind the data, and holds.
    pub checksum: bool,
    /// Bytes of the file, up to the end of its checksum.
    pub bytes: u64,
    /// Whether other bytes follow.
    pub trailing: bool,
    /// How many.
    pub trailing_bytes: u64,
    /// In file order.
    pub chunks: Vec<Chunk>,
}

/// A chunk of a [`PcoInspection`].
#[derive(Clone, Debug, Serialize)]
pub struct Chunk {
    /// Numbers.
    pub n: u64,
    /// Their type.
    #[serde(rename = "type")]
    pub number_type: &'static str,
    /// Bytes, its metadata among them.
    pub bytes: u64,
    /// Of its first byte, from the start of the file.
    pub offset: u64,
    /// As the command line spells it.
    pub mode: String,
    /// As the command line spells it.
    pub delta: String,
    /// Bytes that are no codes and offsets: mode, delta, bins, states, padding. With the latents'
    /// `body_bits` they are `bytes`.
    pub meta_bytes: u64,
    /// Those that exist of lookback, primary, secondary.
    pub latents: Vec<Latent>,
}

/// A latent variable of a [`Chunk`].
#[derive(Clone, Debug, Serialize)]
pub struct Latent {
    /// `lookback`, `primary`, `secondary`.
    pub name: String,
    /// `body_bits` for each number of the chunk; bins are metadata.
    pub bits_per_value: f64,
    /// Bits of its codes and offsets.
    pub body_bits: u64,
    /// Slots that the weights sum to.
    pub table_size: u64,
    /// In file order.
    pub bins: Vec<Bin>,
}

/// A bin of a [`Latent`].
#[derive(Clone, Debug, Serialize)]
pub struct Bin {
    /// Its smallest latent.
    pub lower: u64,
    /// What that latent stands for: a number, a difference with its sign, an index, a distance.
    pub reads: String,
    /// Bits that say which latent of the bin.
    pub offset_bits: u32,
    /// Slots of the table.
    pub weight: u64,
    /// Share of the values, as the weight says.
    pub share: f64,
    /// Bits for a value in this bin: code and offset.
    pub cost: f64,
}

/// Look into a file: all of it is decoded, its checksum is checked.
///
/// # Errors
/// What is wrong with it.
pub fn read(reader: Reader) -> Result<PcoInspection> {
    let found = pco::inspect(reader, Limits::default())?;
    Ok(PcoInspection {
        kind: "pco",
        standalone_version: found.standalone_version,
        format_version: found.format_version.to_string(),
        number_type: types(&found),
        n: found.n,
        checksum: found.ending.checksum == Checksum::Verified,
        bytes: found.ending.consumed,
        trailing: found.ending.trailing,
        trailing_bytes: found.ending.trailing_bytes,
        chunks: found.chunks.iter().map(chunk).collect(),
    })
}

/// The type of the numbers; of a file that is no column, each type once, in file order.
fn types(found: &pco::Inspection) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in found.chunks.iter().map(|chunk| chunk.info.number_type.name()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.is_empty() {
        true => found.number_type.map(|ty| ty.name().to_string()),
        false => Some(names.join(", ")),
    }
}

fn chunk(found: &ChunkInspection) -> Chunk {
    let body_bits: u64 = found.latents.iter().map(|latent| latent.body_bits).sum();
    let latent = |latent: &LatentInspection| Latent {
        name: latent.name.to_string(),
        bits_per_value: latent.bits_per_value,
        body_bits: latent.body_bits,
        table_size: 1 << latent.table_log,
        bins: latent
            .bins
            .iter()
            .map(|bin| Bin::new(bin, 1 << latent.table_log, reads(bin.lower, latent, found)))
            .collect(),
    };
    Chunk {
        n: found.info.n as u64,
        number_type: found.info.number_type.name(),
        bytes: found.bytes,
        offset: found.offset,
        mode: found.info.mode.to_string(),
        delta: found.info.delta.to_string(),
        meta_bytes: found.bytes.saturating_sub(body_bits.div_ceil(8)),
        latents: found.latents.iter().map(latent).collect(),
    }
}

/// What a latent stands for: a number of the type, a difference (with its sign), an index, a
/// distance.
fn reads(latent: u64, variable: &LatentInspection, chunk: &ChunkInspection) -> String {
    let delta = match (variable.name, chunk.info.delta) {
        (_, DeltaEncoding::None) | ("lookback", _) => false,
        ("primary", _) => true,
        (_, DeltaEncoding::Consecutive { secondary, .. })
        | (_, DeltaEncoding::Lookback { secondary, .. }) => secondary,
        _ => false,
    };
    let middle = 1u64 << (variable.latent_bits - 1);
    let from_middle = i128::from(latent) - i128::from(middle);
    // The second latents of float-mult are distances too: in units in the last place.
    let distance = variable.name == "secondary" && matches!(chunk.info.mode, Mode::FloatMult(_));
    if let (true, Mode::Trend { base, .. }, "primary") = (delta, chunk.info.mode, variable.name) {
        // By how much the trend moves, as numbers and not as multiples of its base.
        let bits = 64 - variable.latent_bits;
        let moved = latent.wrapping_sub(middle).wrapping_mul(base) << bits;
        return format!("{:+}", moved.cast_signed() >> bits);
    }
    if delta || distance {
        return format!("{from_middle:+}");
    }
    if variable.name != "primary" {
        return latent.to_string();
    }
    let number = |latent: u64| {
        with_number_type!(chunk.info.number_type, T => {
            T::from_latent(<T as Number>::L::truncate(latent)).to_string()
        })
    };
    match chunk.info.mode {
        Mode::Classic => number(latent),
        Mode::IntMult(base) | Mode::Trend { base, .. } => number(latent.wrapping_mul(base)),
        Mode::FloatQuant(q) => number(latent << q),
        Mode::FloatMult(base) if from_middle.unsigned_abs() < 1 << 50 => {
            format!("{}", from_middle as f64 * base)
        }
        _ => latent.to_string(),
    }
}

impl PcoInspection {
    /// Bytes of the numbers in memory.
    pub fn raw_bytes(&self) -> u64 {
        let width = |chunk: &Chunk| {
            latens::NumberType::from_name(chunk.number_type).map_or(0, |ty| ty.bytes() as u64)
        };
        self.chunks.iter().map(|chunk| chunk.n * width(chunk)).sum()
    }
}

impl Chunk {
    /// Bytes of the chunk by what they are for: each latent variable, the metadata, the rest.
    pub fn parts(&self) -> Vec<(String, f64)> {
        let variable = |l: &Latent| (l.name.clone(), l.body_bits as f64 / 8.0);
        let mut parts: Vec<(String, f64)> = self.latents.iter().map(variable).collect();
        parts.push(("metadata".into(), self.meta_bytes as f64));
        parts
    }
}

impl Bin {
    fn new(found: &BinInspection, table_size: u64, reads: String) -> Self {
        let share = f64::from(found.weight) / table_size.max(1) as f64;
        let code = if share > 0.0 { -share.log2() } else { 0.0 };
        // `max`: -0.0 for a bin that is alone.
        let cost = f64::from(found.offset_bits) + code.max(0.0);
        let (lower, offset_bits, weight) =
            (found.lower, found.offset_bits, u64::from(found.weight));
        Bin { lower, reads, offset_bits, weight, share, cost }
    }
}
