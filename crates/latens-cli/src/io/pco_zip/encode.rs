//! Numbers to a `.pco` member, chunk by chunk, several chunks at a time.

use crate::message::Result;
use crate::parallel;
use latens::pco::standalone::{ChunkSummary, Encoder, encode_chunk};
use latens::pco::{Config, DeltaSpec, ModeSpec};
use latens::{AnyNumbers, Number, NumberType, with_number_type};
use std::io::{Seek, SeekFrom};
use std::iter::Peekable;
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
    /// Lengths of the chunks to come.
    lens: Peekable<Box<dyn Iterator<Item = usize> + Send>>,
    pending: Vec<T>,
    largest: Option<ChunkSummary>,
}

/// Length of chunks where nothing else says it.
const CHUNK: usize = 1 << 16;

impl<T: Number> NumberWriter<T> {
    /// `n` numbers are to come, about.
    pub(super) fn new(file: String, n: u64, settings: &Settings) -> Result<Self> {
        Self::with(file, n, &settings.auto)
    }

    fn with(file: String, n: u64, config: &Config) -> Result<Self> {
        let encoder = Encoder::new(spool(), T::TYPE, n, config)?;
        // A count that no file holds is not worth a plan.
        let n = usize::try_from(n).ok().filter(|&n| n >> 40 == 0).unwrap_or(0);
        let lens: Box<dyn Iterator<Item = usize> + Send> = Box::new(config.chunk_lens(n));
        Ok(NumberWriter {
            config: config.clone(),
            file,
            encoder,
            lens: lens.peekable(),
            pending: Vec::new(),
            largest: None,
        })
    }

    pub(super) fn push(&mut self, numbers: &[T]) -> Result<()> {
        self.pending.extend_from_slice(numbers);
        let batch = rayon::current_num_threads().max(1);
        let len = self.lens.peek().copied().unwrap_or(CHUNK).max(1);
        if self.pending.len() / batch >= len {
            self.encode(false)?;
        }
        Ok(())
    }

    /// Encode what is pending, the end of it only if it is the `last`; chunks are cut alike
    /// whatever the threads.
    fn encode(&mut self, last: bool) -> Result<()> {
        let mut rest = self.pending.as_slice();
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            let len = self.lens.peek().copied().unwrap_or(CHUNK).max(1);
            if rest.len() < len && !last {
                break;
            }
            let (chunk, after) = rest.split_at(len.min(rest.len()));
            chunks.push(chunk);
            rest = after;
            self.lens.next();
        }
        let config = &self.config;
        let encode = |index: usize| Ok(encode_chunk(chunks[index], config)?);
        let encoded = parallel::map(chunks.len(), &encode)?;
        let done = self.pending.len() - rest.len();
        self.pending.drain(..done);
        for chunk in encoded {
            let summary = self.encoder.write_encoded(chunk)?;
            if self.largest.as_ref().is_none_or(|largest| summary.n > largest.n) {
                self.largest = Some(summary);
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Part> {
        self.encode(true)?;
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
