//! Numbers to a `.pco` member, chunk by chunk, several chunks at a time.

use crate::message::Result;
use crate::parallel;
use latens::pco::standalone::{ChunkSummary, EncodedChunk, Encoder, encode_chunk};
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
    chunks: Chunks,
    pending: Vec<T>,
}

/// Length of chunks where nothing else says it.
const CHUNK: usize = 1 << 16;

impl<T: Number> NumberWriter<T> {
    /// `n` numbers are to come, about.
    pub(super) fn new(file: String, n: u64, settings: &Settings) -> Result<Self> {
        Self::with(file, n, &settings.auto)
    }

    fn with(file: String, n: u64, config: &Config) -> Result<Self> {
        Ok(NumberWriter { chunks: Chunks::new(file, T::TYPE, n, config)?, pending: Vec::new() })
    }

    pub(super) fn push(&mut self, numbers: &[T]) -> Result<()> {
        self.pending.extend_from_slice(numbers);
        let batch = rayon::current_num_threads().max(1);
        if self.pending.len() / batch >= self.chunks.next_len() {
            self.encode(false)?;
        }
        Ok(())
    }

    /// Encode what is pending, the end of it only if it is the `last`.
    fn encode(&mut self, last: bool) -> Result<()> {
        let ends = self.chunks.cut(self.pending.len(), last);
        let (pending, config) = (&self.pending, &self.chunks.config);
        let encode = |index: usize| {
            let start = index.checked_sub(1).map_or(0, |before| ends[before]);
            Ok(encode_chunk(&pending[start..ends[index]], config)?)
        };
        self.chunks.write(parallel::map(ends.len(), &encode)?)?;
        self.pending.drain(..ends.last().copied().unwrap_or(0));
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Part> {
        self.encode(true)?;
        self.chunks.finish()
    }
}

/// What of a member does not depend on the type of its numbers.
struct Chunks {
    config: Config,
    file: String,
    encoder: Encoder<SpooledTempFile>,
    /// Lengths of the chunks to come.
    lens: Peekable<Box<dyn Iterator<Item = usize> + Send>>,
    largest: Option<ChunkSummary>,
}

impl Chunks {
    fn new(file: String, ty: NumberType, n: u64, config: &Config) -> Result<Self> {
        let encoder = Encoder::new(spool(), ty, n, config)?;
        // A count that no file holds is not worth a plan.
        let n = usize::try_from(n).ok().filter(|&n| n >> 40 == 0).unwrap_or(0);
        let lens: Box<dyn Iterator<Item = usize> + Send> = Box::new(config.chunk_lens(n));
        Ok(Chunks { config: config.clone(), file, encoder, lens: lens.peekable(), largest: None })
    }

    /// Length of the next chunk.
    fn next_len(&mut self) -> usize {
        self.lens.peek().copied().unwrap_or(CHUNK).max(1)
    }

    /// Where the chunks end that `n` numbers fill, the `last` ones filling any; they are cut alike
    /// whatever the threads.
    fn cut(&mut self, n: usize, last: bool) -> Vec<usize> {
        let (mut at, mut ends) = (0, Vec::new());
        while at < n {
            let len = self.next_len();
            if n - at < len && !last {
                break;
            }
            at += len.min(n - at);
            ends.push(at);
            self.lens.next();
        }
        ends
    }

    fn write(&mut self, encoded: Vec<EncodedChunk>) -> Result<()> {
        for chunk in encoded {
            let summary = self.encoder.write_encoded(chunk)?;
            if self.largest.as_ref().is_none_or(|largest| summary.n > largest.n) {
                self.largest = Some(summary);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Part> {
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
