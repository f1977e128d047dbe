//! Numbers to a `.pco` member, chunk by chunk, several chunks at a time.

use crate::message::Result;
use latens::pco::Config;
use latens::pco::standalone::{ChunkSummary, Encoder, encode_chunk};
use latens::{AnyNumbers, Number, NumberType, with_number_type};
use rayon::prelude::*;
use std::io::{Seek, SeekFrom};
use tempfile::SpooledTempFile;

use super::manifest::Member;

/// How members are made.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) config: Config,
    /// Numbers in a chunk.
    pub(super) chunk_n: usize,
}

/// Members up to this size wait for their turn in memory, larger ones in a temporary file.
const SPOOL: usize = 4 << 20;

/// A finished member, not yet in the archive.
pub(super) struct Part {
    pub(super) member: Member,
    pub(super) content: SpooledTempFile,
    /// Mode and delta of the largest chunk.
    pub(super) coding: Option<(String, String)>,
}

/// A place for a member to grow.
pub(super) fn spool() -> SpooledTempFile {
    SpooledTempFile::new(SPOOL)
}

/// A member from what was written to `content`.
pub(super) fn part(
    file: String,
    mut content: SpooledTempFile,
    coding: Option<(String, String)>,
) -> Result<Part> {
    let bytes = content.seek(SeekFrom::End(0))?;
    content.seek(SeekFrom::Start(0))?;
    Ok(Part { member: Member { file, bytes }, content, coding })
}

/// A `.pco` member being made.
pub(super) struct NumberWriter<T: Number> {
    settings: Settings,
    file: String,
    encoder: Encoder<SpooledTempFile>,
    pending: Vec<T>,
    largest: Option<ChunkSummary>,
}

impl<T: Number> NumberWriter<T> {
    /// `n` numbers are to come, about.
    pub(super) fn new(file: String, n: u64, settings: &Settings) -> Result<Self> {
        let encoder = Encoder::new(spool(), T::TYPE, n, &settings.config)?;
        Ok(NumberWriter {
            settings: settings.clone(),
            file,
            encoder,
            pending: Vec::new(),
            largest: None,
        })
    }

    pub(super) fn push(&mut self, numbers: &[T]) -> Result<()> {
        self.pending.extend_from_slice(numbers);
        let batch = self.settings.chunk_n.saturating_mul(rayon::current_num_threads().max(1));
        if self.pending.len() >= batch {
            let whole = self.pending.len() - self.pending.len() % self.settings.chunk_n;
            self.encode(whole)?;
        }
        Ok(())
    }

    /// Encode the first `n` pending numbers; chunks are cut alike whatever the threads.
    fn encode(&mut self, n: usize) -> Result<()> {
        let rest = self.pending.split_off(n);
        let numbers = std::mem::replace(&mut self.pending, rest);
        let config = &self.settings.config;
        let chunks = numbers
            .par_chunks(self.settings.chunk_n)
            .map(|chunk| encode_chunk(chunk, config))
            .collect::<latens::Result<Vec<_>>>()?;
        for chunk in chunks {
            let summary = self.encoder.write_encoded(chunk)?;
            if self.largest.as_ref().is_none_or(|largest| summary.n > largest.n) {
                self.largest = Some(summary);
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Part> {
        self.encode(self.pending.len())?;
        let coding = self.largest.map(|chunk| (chunk.mode.to_string(), chunk.delta.to_string()));
        part(self.file, self.encoder.finish()?, coding)
    }
}

/// The same for a type known at run time.
pub(super) trait AnyWriter: Send {
    fn push(&mut self, numbers: &AnyNumbers) -> Result<()>;
    fn finish(self: Box<Self>) -> Result<Part>;
}

impl<T: Number> AnyWriter for NumberWriter<T> {
    fn push(&mut self, numbers: &AnyNumbers) -> Result<()> {
        match numbers.as_slice::<T>() {
            Some(numbers) => NumberWriter::push(self, numbers),
            None => Err(latens::Error::invalid("numbers of another type").into()),
        }
    }

    fn finish(self: Box<Self>) -> Result<Part> {
        NumberWriter::finish(*self)
    }
}

/// A writer of numbers of a type known at run time.
pub(super) fn any_writer(
    number_type: NumberType,
    file: String,
    n: u64,
    settings: &Settings,
) -> Result<Box<dyn AnyWriter>> {
    with_number_type!(number_type, T => {
        Ok(Box::new(NumberWriter::<T>::new(file, n, settings)?))
    })
}
