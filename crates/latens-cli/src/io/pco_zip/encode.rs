//! Numbers to a `.pco` member, chunk by chunk, several chunks at a time.

use crate::message::Result;
use latens::pco::{Config, DeltaSpec, ModeSpec};
use latens::pco::standalone::{ChunkSummary, Encoder, encode_chunk};
use latens::{AnyNumbers, Number, NumberType, with_number_type};
use rayon::prelude::*;
use std::io::{Seek, SeekFrom};
use tempfile::SpooledTempFile;

use super::manifest::Member;

/// How members are made.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// For columns of numbers that the mode and delta asked for suit.
    asked: Config,
    /// For everything else: mode and delta found.
    auto: Config,
}

impl Settings {
    pub(super) fn new(config: &Config) -> Self {
        let auto = config.clone().mode(ModeSpec::Auto).delta(DeltaSpec::Auto);
        Settings { asked: config.clone(), auto }
    }
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
    config: Config,
    file: String,
    encoder: Encoder<SpooledTempFile>,
    pending: Vec<T>,
    largest: Option<ChunkSummary>,
}

impl<T: Number> NumberWriter<T> {
    /// `n` numbers are to come, about.
    pub(super) fn new(file: String, n: u64, settings: &Settings) -> Result<Self> {
        Self::with(file, n, &settings.auto)
    }

    fn with(file: String, n: u64, config: &Config) -> Result<Self> {
        let encoder = Encoder::new(spool(), T::TYPE, n, config)?;
        Ok(NumberWriter {
            config: config.clone(),
            file,
            encoder,
            pending: Vec::new(),
            largest: None,
        })
    }

    pub(super) fn push(&mut self, numbers: &[T]) -> Result<()> {
        self.pending.extend_from_slice(numbers);
        let chunk_n = self.config.chunk_len().max(1);
        let batch = chunk_n.saturating_mul(rayon::current_num_threads().max(1));
        if self.pending.len() >= batch {
            let whole = self.pending.len() - self.pending.len() % chunk_n;
            self.encode(whole)?;
        }
        Ok(())
    }

    /// Encode the first `n` pending numbers; chunks are cut alike whatever the threads.
    fn encode(&mut self, n: usize) -> Result<()> {
        let rest = self.pending.split_off(n);
        let numbers = std::mem::replace(&mut self.pending, rest);
        let config = &self.config;
        let chunks = numbers
            .par_chunks(config.chunk_len().max(1))
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

/// A writer of numbers of a type known at run time, for a column's own values.
pub(super) fn any_writer(
    number_type: NumberType,
    file: String,
    n: u64,
    settings: &Settings,
) -> Result<Box<dyn AnyWriter>> {
    let suits = settings.asked.validate(number_type).is_ok();
    let config = if suits { &settings.asked } else { &settings.auto };
    with_number_type!(number_type, T => {
        Ok(Box::new(NumberWriter::<T>::with(file, n, config)?))
    })
}
