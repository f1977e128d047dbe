//! Writing the parts of a wrapped file.

use super::widths::{Widths, of_width, with_width};
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::number::{AnySlice, Number};
use crate::pco::config::Config;
use crate::pco::encode::chunk::Chunk;
use crate::pco::encode::split;
use crate::pco::layout::header::FormatVersion;
use crate::pco::{DeltaEncoding, Mode};
use crate::watch::Watch;
use std::io::Write;
use std::marker::PhantomData;

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
        let any = self.any_chunk_encoder(numbers.into(), page_lens)?;
        Ok(ChunkEncoder { any, numbers: PhantomData })
    }

    /// [`FileEncoder::chunk_encoder`] for numbers of a type known only at run time.
    ///
    /// # Errors
    /// Those of [`FileEncoder::chunk_encoder`].
    pub fn any_chunk_encoder(
        &self,
        numbers: AnySlice<'_>,
        page_lens: &[usize],
    ) -> Result<AnyChunkEncoder> {
        if page_lens.contains(&0) {
            return Err(Error::invalid("a page without numbers"));
        }
        let ty = numbers.number_type();
        let chunk = of_width!(ty, L => {
            Chunk::new(split::ordered_any::<L>(numbers), ty, page_lens, &self.config)?
        });
        self.config.watch.done(numbers.len() as u64)?;
        Ok(AnyChunkEncoder { chunk })
    }
}

/// A chunk with everything chosen, ready to be written in parts.
#[derive(Clone, Debug)]
pub struct ChunkEncoder<T: Number> {
    any: AnyChunkEncoder,
    numbers: PhantomData<T>,
}

impl<T: Number> ChunkEncoder<T> {
    /// How numbers split into latents.
    pub fn mode(&self) -> Mode {
        self.any.mode()
    }

    /// How latents are predicted.
    pub fn delta_encoding(&self) -> DeltaEncoding {
        self.any.delta_encoding()
    }

    /// Pages of the chunk.
    pub fn pages(&self) -> usize {
        self.any.pages()
    }

    /// Writes the chunk metadata; returns its bytes.
    ///
    /// # Errors
    /// I/O.
    pub fn write_meta<W: Write>(&self, writer: W) -> Result<usize> {
        self.any.write_meta(writer)
    }

    /// Writes a page; returns its bytes, which the container must remember or find again.
    ///
    /// # Errors
    /// Invalid argument when there is no such page; I/O.
    pub fn write_page<W: Write>(&self, index: usize, writer: W) -> Result<usize> {
        self.any.write_page(index, writer)
    }
}

/// A [`ChunkEncoder`] of numbers of a type known only at run time: [`FileEncoder::any_chunk_encoder`] makes
/// it. See [`AnyChunkDecoder`](super::AnyChunkDecoder) for an example.
#[derive(Clone, Debug)]
pub struct AnyChunkEncoder {
    chunk: Widths<Chunk<u8>, Chunk<u16>, Chunk<u32>, Chunk<u64>>,
}

impl AnyChunkEncoder {
    /// How numbers split into latents.
    pub fn mode(&self) -> Mode {
        with_width!(&self.chunk, chunk => Mode::of(&chunk.meta.mode))
    }

    /// How latents are predicted.
    pub fn delta_encoding(&self) -> DeltaEncoding {
        with_width!(&self.chunk, chunk => DeltaEncoding::of(&chunk.meta.delta))
    }

    /// Pages of the chunk.
    pub fn pages(&self) -> usize {
        with_width!(&self.chunk, chunk => chunk.pages())
    }

    /// [`ChunkEncoder::write_meta`].
    ///
    /// # Errors
    /// I/O.
    pub fn write_meta<W: Write>(&self, writer: W) -> Result<usize> {
        write(writer, self.meta())
    }

    /// [`ChunkEncoder::write_page`].
    ///
    /// # Errors
    /// Invalid argument when there is no such page; I/O.
    pub fn write_page<W: Write>(&self, index: usize, writer: W) -> Result<usize> {
        write(writer, self.page(index)?)
    }

    fn meta(&self) -> Vec<u8> {
        let mut bits = BitWriter::default();
        with_width!(&self.chunk, chunk => chunk.write_meta(&mut bits));
        bits.finish()
    }

    fn page(&self, index: usize) -> Result<Vec<u8>> {
        if index >= self.pages() {
            return Err(Error::invalid(format!("page {index} of {}", self.pages())));
        }
        let mut bits = BitWriter::default();
        with_width!(&self.chunk, chunk => chunk.write_page(index, &mut bits));
        Ok(bits.finish())
    }
}

fn write<W: Write>(mut writer: W, bytes: Vec<u8>) -> Result<usize> {
    writer.write_all(&bytes)?;
    Ok(bytes.len())
}
