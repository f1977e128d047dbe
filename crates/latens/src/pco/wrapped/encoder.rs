//! Writing the parts of a wrapped file.

use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::number::Number;
use crate::pco::config::Config;
use crate::pco::encode::chunk::Chunk;
use crate::pco::encode::split;
use crate::pco::layout::header::FormatVersion;
use crate::pco::{DeltaEncoding, Mode};
use crate::watch::Watch;
use std::io::Write;

/// Writes the header of a wrapped file and makes its chunks.
#[derive(Clone, Debug, Default)]
pub struct FileEncoder {
    config: Config,
}

impl FileEncoder {
    /// All chunks share a configuration.
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    /// The same, which asks `watch` between the steps of a chunk's plan, and tells it of the chunk's
    /// numbers behind them.
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        Self { config: Config { watch: watch.clone(), ..self.config.clone() } }
    }

    /// Writes the wrapped header; returns its bytes.
    ///
    /// # Errors
    /// I/O.
    pub fn write_header<W: Write>(&self, mut writer: W) -> Result<usize> {
        let bytes = FormatVersion::written_bytes();
        writer.write_all(&bytes)?;
        Ok(bytes.len())
    }

    /// Plans a chunk of `numbers`, cut into pages of the given lengths, none of them 0, which
    /// sum to the count of numbers.
    ///
    /// # Errors
    /// Invalid argument when the lengths or the configuration do not fit; that of the watch.
    pub fn chunk_encoder<T: Number>(
        &self,
        numbers: &[T],
        page_lens: &[usize],
    ) -> Result<ChunkEncoder<T>> {
        if page_lens.contains(&0) {
            return Err(Error::invalid("a page without numbers"));
        }
        let latents = split::ordered(numbers);
        let chunk = Chunk::new(latents, T::TYPE, page_lens, &self.config)?;
        self.config.watch.done(numbers.len() as u64)?;
        Ok(ChunkEncoder { chunk })
    }
}

/// A chunk with everything chosen, ready to be written in parts.
#[derive(Clone, Debug)]
pub struct ChunkEncoder<T: Number> {
    chunk: Chunk<T::L>,
}

impl<T: Number> ChunkEncoder<T> {
    /// How numbers split into latents.
    pub fn mode(&self) -> Mode {
        Mode::of(&self.chunk.meta.mode)
    }

    /// How latents are predicted.
    pub fn delta_encoding(&self) -> DeltaEncoding {
        DeltaEncoding::of(&self.chunk.meta.delta)
    }

    /// Pages of the chunk.
    pub fn pages(&self) -> usize {
        self.chunk.pages()
    }

    /// Writes the chunk metadata; returns its bytes.
    ///
    /// # Errors
    /// I/O.
    pub fn write_meta<W: Write>(&self, writer: W) -> Result<usize> {
        write(writer, |w| self.chunk.write_meta(w))
    }

    /// Writes a page; returns its bytes, which the container must remember or find again.
    ///
    /// # Errors
    /// Invalid argument when there is no such page; I/O.
    pub fn write_page<W: Write>(&self, index: usize, writer: W) -> Result<usize> {
        if index >= self.pages() {
            return Err(Error::invalid(format!("page {index} of {}", self.pages())));
        }
        write(writer, |w| self.chunk.write_page(index, w))
    }
}

fn write<W: Write>(mut writer: W, part: impl Fn(&mut BitWriter)) -> Result<usize> {
    let mut bits = BitWriter::default();
    part(&mut bits);
    let bytes = bits.finish();
    writer.write_all(&bytes)?;
    Ok(bytes.len())
}
