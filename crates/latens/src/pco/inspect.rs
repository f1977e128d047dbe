//! What is inside of a standalone file, and where its bits go.

pub(crate) mod chunk;

use crate::error::Result;
use crate::limits::Limits;
use crate::number::NumberType;
use crate::pco::layout::header::FormatVersion;
use crate::pco::standalone::{Decoder, Ending};
use crate::watch::Watch;
use std::io::Read;

pub use chunk::{BinInspection, ChunkInspection, LatentInspection};

/// A standalone file, taken apart.
#[derive(Clone, Debug)]
#[non_exhaustive]
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

/// Decodes a whole file and tells what is in it. Memory does not grow with its numbers.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn inspect<R: Read>(reader: R, limits: Limits) -> Result<Inspection> {
    inspect_with(reader, limits, &Watch::NONE)
}

/// Like [`inspect`]; tells `watch` after each chunk how many numbers it has.
///
/// # Errors
/// Those of [`inspect`] and of `watch`.
pub fn inspect_with<R: Read>(mut reader: R, limits: Limits, watch: &Watch) -> Result<Inspection> {
    inspect_any(&mut reader, limits, watch)
}

/// Whatever the reader: compiled here, once.
fn inspect_any(reader: &mut dyn Read, limits: Limits, watch: &Watch) -> Result<Inspection> {
    let mut decoder = Decoder::new(reader, limits)?;
    let number_type = decoder.number_type()?;
    let mut chunks = Vec::new();
    while let Some(chunk) = decoder.inspect_chunk()? {
        watch.done(chunk.info.n as u64)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::{Config, DeltaSpec, ModeSpec, compress};
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_watch_can_end_it() {
        let file = compress(&[7u32; 3000], &Config::default().chunk_n(1000)).unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&told);
        let watch = Watch::new(move |step| {
            own.lock().unwrap().push(step.done);
            if own.lock().unwrap().len() < 2 { Ok(()) } else { Err(crate::Error::invalid("no")) }
        });
        let error = inspect_with(&file[..], Limits::default(), &watch).unwrap_err();
        assert!(error.to_string().ends_with("no") && told.lock().unwrap().len() == 2);
        assert_eq!(told.lock().unwrap()[0], 1000);
    }

    #[test]
    fn parts_add_up() {
        let numbers: Vec<u32> = (0..10_000u32).map(|i| i * 700 + i * i % 13).collect();
        let config = Config::default()
            .mode(ModeSpec::IntMult(700))
            .delta(DeltaSpec::Lookback { window_log: Some(6), state_log: 0, secondary: true })
            .chunk_n(6000);
        let file = compress(&numbers, &config).unwrap();
        let found = inspect(&file[..], Limits::default()).unwrap();
        assert_eq!((found.n, found.chunks.len()), (10_000, 2));
        assert_eq!(found.ending.consumed, file.len() as u64);
        let chunk = &found.chunks[1];
        assert_eq!(chunk.offset, found.chunks[0].offset + found.chunks[0].bytes);
        let names: Vec<_> = chunk.latents.iter().map(|l| l.name).collect();
        assert_eq!(names, ["lookback", "primary", "secondary"]);
        for latent in &chunk.latents {
            assert_eq!(
                (latent.bits_per_value * chunk.info.n as f64).round(),
                latent.body_bits as f64
            );
        }
        let bits: u64 = chunk.latents.iter().map(|l| l.body_bits + l.meta_bits).sum();
        assert!(bits <= chunk.bytes * 8 && bits + 400 > chunk.bytes * 8);
    }
}
