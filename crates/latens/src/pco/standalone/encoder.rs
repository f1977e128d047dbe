//! Writing a standalone file.

use crate::bits::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::number::{AnySlice, Latent, Number, NumberType, with_slice};
use crate::pco::bound;
use crate::pco::config::Config;
use crate::pco::encode::{cut, split};
use crate::pco::layout::MAX_CHUNK_N;
use crate::pco::layout::chunk_head::TERMINATOR;
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::preamble::Preamble;
use crate::pco::layout::trailer::{ChunkEntry, Trailer};
use crate::pco::{DeltaEncoding, Mode};
use std::io::Write;
use std::ops::Range;

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChunkSummary {
    /// Numbers in the chunk.
    pub n: usize,
    /// Bytes in the file, from its type byte to the end of its page.
    pub bytes: u64,
    /// How numbers split into latents.
    pub mode: Mode,
    /// How latents are predicted.
    pub delta: DeltaEncoding,
}

/// A chunk ready to be written, by [`Encoder::write_encoded`]. Where size is favoured at a high level
/// it may be several chunks in the file.
#[derive(Clone, Debug)]
pub struct EncodedChunk {
    number_type: NumberType,
    summary: ChunkSummary,
    parts: Vec<Part>,
}

/// A chunk as it will be in the file.
#[derive(Clone, Debug)]
struct Part {
    n: usize,
    bytes: Vec<u8>,
    numbers_crc: u32,
}

impl EncodedChunk {
    /// What became of the chunk: of several, the sums, and mode and delta encoding of the longest.
    pub fn summary(&self) -> &ChunkSummary {
        &self.summary
    }

    /// Bytes in the file, entries of the trailer included.
    fn bytes(&self) -> u64 {
        self.summary.bytes + self.parts.len() as u64 * bound::ENTRY
    }
}

/// Encodes 1 to 2^24 numbers as one chunk, or, with [`Favor::Size`](crate::pco::Favor::Size) from
/// level 10 on, as several where that is smaller. Pure, so that threads can share the work.
///
/// # Errors
/// Invalid argument when the count or the configuration does not fit.
pub fn encode_chunk<T: Number>(numbers: &[T], config: &Config) -> Result<EncodedChunk> {
    encode_any_chunk(numbers.into(), config)
}

/// [`encode_chunk`] for numbers of any type.
pub(crate) fn encode_any_chunk(numbers: AnySlice<'_>, config: &Config) -> Result<EncodedChunk> {
    if numbers.is_empty() || numbers.len() > MAX_CHUNK_N {
        let n = numbers.len();
        return Err(Error::invalid(format!(
            "a chunk of {n} numbers; 1 to {MAX_CHUNK_N} are possible"
        )));
    }
    let ty = numbers.number_type();
    let mut encoded = encode_latents(numbers, Some(config))?;
    // Estimates may be wrong, the promise of `compress_bound` may not.
    if config.is_auto() && encoded.bytes() > bound::plain_chunk(numbers.len() as u64, ty) {
        encoded = encode_latents(numbers, None)?;
    }
    if config.checksum {
        let mut from = 0;
        for part in &mut encoded.parts {
            let mut crc = Crc32c::new();
            with_slice!(numbers, v => crc.update_numbers(&v[from..from + part.n]));
            part.numbers_crc = crc.value();
            from += part.n;
        }
    }
    Ok(encoded)
}

/// The widths are told apart here: the encoder is compiled four times. Without a configuration the
/// chunk is plain.
fn encode_latents(numbers: AnySlice<'_>, config: Option<&Config>) -> Result<EncodedChunk> {
    fn typed<L: Latent>(numbers: AnySlice<'_>, config: Option<&Config>) -> Result<EncodedChunk> {
        let (n, ty) = (numbers.len(), numbers.number_type());
        let latents_of = |range: Range<usize>| split::ordered_any::<L>(numbers.range(range));
        let pieces: Vec<cut::Piece<L>> = match config {
            Some(config) => cut::encode(&latents_of, n, ty, config)?,
            None => vec![cut::Piece::plain(latents_of(0..n), ty)],
        };
        let Some(longest) = pieces.iter().max_by_key(|piece| piece.n) else {
            return Err(Error::invalid("a chunk of no numbers"));
        };
        let summary = ChunkSummary {
            n,
            bytes: pieces.iter().map(|piece| piece.bytes.len() as u64).sum(),
            mode: Mode::of(&longest.meta.mode),
            delta: DeltaEncoding::of(&longest.meta.delta),
        };
        let to_part =
            |piece: cut::Piece<L>| Part { n: piece.n, bytes: piece.bytes, numbers_crc: 0 };
        let parts = pieces.into_iter().map(to_part).collect();
        Ok(EncodedChunk { number_type: ty, summary, parts })
    }
    match numbers.number_type().bits() {
        8 => typed::<u8>(numbers, config),
        16 => typed::<u16>(numbers, config),
        32 => typed::<u32>(numbers, config),
        _ => typed::<u64>(numbers, config),
    }
}

/// Writes a standalone file of one number type, chunk by chunk.
///
/// ```
/// # fn main() -> latens::Result<()> {
/// use latens::{NumberType, pco};
/// let config = pco::Config::default();
/// let mut encoder = pco::standalone::Encoder::new(Vec::new(), NumberType::F32, 3, &config)?;
/// encoder.write_chunk(&[1.0f32, 2.0, 3.0])?;
/// let file = encoder.finish()?;
/// assert_eq!(pco::decompress::<f32>(&file)?, [1.0, 2.0, 3.0]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Encoder<W> {
    writer: W,
    number_type: NumberType,
    config: Config,
    position: u64,
    trailer: Trailer,
}

impl Encoder<Vec<u8>> {
    /// Encodes the last chunk of a file in memory, and writes the end: as it is the last one, there is no
    /// room made for more.
    pub(crate) fn finish_with(mut self, numbers: AnySlice<'_>) -> Result<Vec<u8>> {
        let chunk = encode_any_chunk(numbers, &self.config)?;
        #[expect(clippy::cast_possible_truncation, reason = "of what is in memory")]
        let bytes = chunk.bytes() as usize;
        self.writer.reserve_exact(bytes + self.trailer.bytes().len() + 1);
        self.write_encoded(chunk)?;
        self.finish()
    }
}

impl<W: Write> Encoder<W> {
    /// Writes the header. `n_hint` is the count of numbers to come, 0 where it is not known.
    ///
    /// # Errors
    /// Invalid argument when the configuration does not fit the type; I/O.
    pub fn new(
        mut writer: W,
        number_type: NumberType,
        n_hint: u64,
        config: &Config,
    ) -> Result<Self> {
        config.validate(number_type)?;
        let mut header = Preamble::bytes(Some(number_type), n_hint);
        header.extend(FormatVersion::written_bytes());
        writer.write_all(&header)?;
        let mut crc = Crc32c::new();
        crc.update(&header);
        Ok(Self {
            writer,
            number_type,
            config: config.clone(),
            position: header.len() as u64,
            trailer: Trailer { header_crc: crc.value(), chunks: Vec::new() },
        })
    }

    /// Encodes and writes a chunk of 1 to 2^24 numbers.
    ///
    /// # Errors
    /// As [`encode_chunk`] and [`Encoder::write_encoded`].
    pub fn write_chunk<T: Number>(&mut self, numbers: &[T]) -> Result<ChunkSummary> {
        let chunk = encode_chunk(numbers, &self.config)?;
        self.write_encoded(chunk)
    }

    /// Writes a chunk that [`encode_chunk`] has made.
    ///
    /// # Errors
    /// Invalid argument when the chunk is of another type; I/O.
    pub fn write_encoded(&mut self, chunk: EncodedChunk) -> Result<ChunkSummary> {
        if chunk.number_type != self.number_type {
            return Err(Error::invalid(format!(
                "a chunk of {} for a file of {}",
                chunk.number_type, self.number_type
            )));
        }
        for part in chunk.parts {
            self.writer.write_all(&part.bytes)?;
            if self.config.checksum {
                let mut crc = Crc32c::new();
                crc.update(&part.bytes);
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "2^24 numbers of 8 bytes at most"
                )]
                self.trailer.chunks.push(ChunkEntry {
                    offset: self.position,
                    bytes: part.bytes.len() as u32,
                    n: part.n as u32,
                    stored_crc: crc.value(),
                    numbers_crc: part.numbers_crc,
                });
            }
            self.position += part.bytes.len() as u64;
        }
        Ok(chunk.summary)
    }

    /// Writes the end of the file, flushes, and returns the writer.
    ///
    /// # Errors
    /// I/O.
    pub fn finish(mut self) -> Result<W> {
        self.writer.write_all(&[TERMINATOR])?;
        if self.config.checksum {
            self.writer.write_all(&self.trailer.bytes())?;
        }
        self.writer.flush()?;
        Ok(self.writer)
    }
}
