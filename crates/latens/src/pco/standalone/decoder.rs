//! Reading a standalone file as a stream.

use super::engine::Engine;
use super::info::{ChunkInfo, Ending};
use super::source::Source;
use crate::error::Result;
use crate::limits::Limits;
use crate::number::{AnyNumbers, Number, NumberType};
use crate::pco::inspect::chunk::ChunkInspection;
use crate::pco::layout::header::FormatVersion;
use std::io::Read;

/// Decodes a standalone file from any reader, batch by batch.
///
/// Memory: the tables and windows of one chunk and a buffer of 64 KiB, whatever the file's size.
/// The reader need not be buffered. After an error the decoder must not be used further; numbers
/// given out before it are sound as far as the format can tell.
///
/// ```
/// # fn main() -> latens::Result<()> {
/// use latens::{Limits, pco};
/// let file = pco::compress(&[1i32, 2, 3], &pco::Config::default())?;
/// let mut decoder = pco::standalone::Decoder::new(&file[..], Limits::default())?;
/// assert_eq!(decoder.number_type()?, Some(latens::NumberType::I32));
/// let mut numbers = [0i32; 10];
/// assert_eq!(decoder.read(&mut numbers)?, 3);
/// assert_eq!(decoder.finish()?.checksum, pco::standalone::Checksum::Verified);
/// # Ok(()) }
/// ```
pub struct Decoder<R>(Engine<Source<R>>);

impl<R: Read> Decoder<R> {
    /// Reads the file's header.
    ///
    /// # Errors
    /// When the header is not that of a Pco file, or the reader fails.
    pub fn new(reader: R, limits: Limits) -> Result<Self> {
        Engine::new(Source::new(reader), limits).map(Self)
    }

    /// Leaves checksums aside: faster, and [`Decoder::finish`] only looks whether a trailer is there,
    /// and has the chunks where they are.
    #[must_use]
    pub fn without_checks(self) -> Self {
        Self(self.0.without_checks())
    }

    /// 0 to 3.
    pub fn standalone_version(&self) -> u8 {
        self.0.standalone_version()
    }

    /// The version of the wrapped format inside.
    pub fn format_version(&self) -> FormatVersion {
        self.0.format_version()
    }

    /// How many numbers the header announces. A hint: it may be wrong, never allocate by it.
    pub fn n_hint(&self) -> u64 {
        self.0.n_hint()
    }

    /// Bytes taken from the reader and understood so far.
    pub fn position(&self) -> u64 {
        self.0.position()
    }

    /// The type of the numbers that come next; `None` at the end of the file.
    ///
    /// Of an empty file that announces a type for all its chunks, that type.
    ///
    /// # Errors
    /// When the next chunk's head or metadata is not sound.
    pub fn number_type(&mut self) -> Result<Option<NumberType>> {
        self.0.number_type()
    }

    /// The chunk of the numbers that come next, `None` at the end of the file.
    ///
    /// # Errors
    /// When its head or metadata is not sound.
    pub fn chunk(&mut self) -> Result<Option<&ChunkInfo>> {
        self.0.chunk()
    }

    /// Decodes the numbers of the current chunk, drops them, and tells where its bits went.
    pub(crate) fn inspect_chunk(&mut self) -> Result<Option<ChunkInspection>> {
        self.0.inspect_chunk()
    }

    /// Decodes numbers into `dst` and says how many; fewer than `dst` holds only at the end of
    /// the file or before a chunk of another type, 0 at the end of the file.
    ///
    /// # Errors
    /// Invalid argument when the numbers are not of type `T` or a limit is passed, else what is
    /// wrong with the file and where. Of `dst` then only the first
    /// [`Error::values_before`](crate::Error::values_before) numbers have changed, and they are
    /// sound.
    pub fn read<T: Number>(&mut self, dst: &mut [T]) -> Result<usize> {
        self.0.read(dst)
    }

    /// Like [`Decoder::read`] for a type known only at run time: at most `most` numbers, `None`
    /// at the end of the file.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn read_any(&mut self, most: usize) -> Result<Option<AnyNumbers>> {
        self.0.read_any(most)
    }

    /// Reads what stands behind the last chunk, to the end of the input, and verifies the checksum
    /// trailer. Numbers not read yet are decoded and dropped.
    ///
    /// # Errors
    /// When a chunk or the trailer is not sound; a failed checksum names its chunk. A trailer at the
    /// end of the input that is not that of the chunks is not sound either: a chunk whose type byte
    /// became 0 ends the file early, and nothing else tells. Other bytes behind the end are no error
    /// here, whether or not a trailer stands before them: see [`Ending::trailing`].
    pub fn finish(&mut self) -> Result<Ending> {
        self.0.finish()
    }
}
