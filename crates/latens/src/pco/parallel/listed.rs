//! Files with a table of chunks, which the checksum trailer is: every chunk can be decoded by itself.

use crate::bits::checksum::Crc32c;
use crate::bits::reader::BitReader;
use crate::limits::Limits;
use crate::number::{Latent, NumberType};
use crate::pco::decode::workshop::Workshop;
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::preamble::Preamble;
use crate::pco::layout::trailer::{ChunkEntry, Trailer};
use crate::pco::parallel::kept::{self, Keeping, Kept};
use crate::pco::standalone::{Engine, Slice};
use crate::threads::{Jobs, side_by_side};
use crate::watch::Watch;
use std::ops::Range;

/// Where the chunks of a file are.
pub(super) struct Table {
    preamble: Preamble,
    version: FormatVersion,
    chunks: Vec<(Range<usize>, ChunkEntry)>,
    /// Numbers in all of them.
    pub(super) n: usize,
    /// Bytes before the first.
    pub(super) start: usize,
}

impl Table {
    /// `None` where the file has no sound table of two chunks or more.
    pub(super) fn of(file: &[u8]) -> Option<Self> {
        let trailer = Trailer::read_end(file, 0).ok()??;
        let mut r = BitReader::new(file, 0);
        let preamble = Preamble::read(&mut r).ok()?;
        let version = FormatVersion::read(&mut r).ok()?;
        let start = r.bit() / 8;
        let mut crc = Crc32c::new();
        crc.update(file.get(..start)?);
        let terminator = file.len().checked_sub(trailer.len() + 1)?;
        if trailer.chunks.len() < 2
            || trailer.header_crc != crc.value()
            || file.get(terminator) != Some(&0)
        {
            return None;
        }
        let offset = |entry: &ChunkEntry| usize::try_from(entry.offset).ok();
        let mut chunks = Vec::with_capacity(trailer.chunks.len());
        let mut from = start;
        let mut n = 0usize;
        for (i, &entry) in trailer.chunks.iter().enumerate() {
            let to = trailer.chunks.get(i + 1).map_or(Some(terminator), offset)?;
            if offset(&entry) != Some(from) || to <= from || to > terminator {
                return None;
            }
            n = n.checked_add(usize::try_from(entry.n).ok()?)?;
            chunks.push((from..to, entry));
            from = to;
        }
        Some(Self { preamble, version, chunks, n, start })
    }
}

/// A chunk of known place.
struct Job<'a> {
    /// Its own, and what is behind it, which batches can look ahead to.
    bytes: &'a [u8],
    /// Of its own bytes.
    len: usize,
    entry: &'a ChunkEntry,
    /// Numbers before it.
    start: usize,
}

/// Decodes into `dst`, which has room for the numbers of the table and no more; `None` where
/// anything is wrong, and what it held is in `kept`.
#[expect(clippy::too_many_arguments, reason = "what a call says")]
pub(super) fn decode<L: Latent>(
    file: &[u8],
    ty: NumberType,
    table: &Table,
    dst: &mut [L],
    limits: Limits,
    threads: usize,
    watch: &Watch,
    kept: Option<&Kept<L>>,
) -> Option<()> {
    let (mut start, mut rest) = (0, dst);
    let mut jobs = Vec::with_capacity(table.chunks.len());
    for (range, entry) in &table.chunks {
        let (dst, behind) = rest.split_at_mut_checked(usize::try_from(entry.n).ok()?)?;
        let job = Job { bytes: file.get(range.start..)?, len: range.len(), entry, start };
        start += dst.len();
        jobs.push((job, dst));
        rest = behind;
    }
    let threads = threads.min(jobs.len());
    let jobs = Jobs::new(jobs);
    let workshop = Workshop::default();
    let work = || {
        while let Some((index, (job, dst))) = jobs.next() {
            let mut keeping = kept.map(|kept| kept.chunk(index, job.start, dst.len()));
            let sound = chunk(&job, ty, dst, table, limits, &workshop, keeping.as_mut());
            if let Some(keeping) = keeping {
                keeping.end(sound);
            }
            if !sound || watch.done(dst.len() as u64).is_err() {
                jobs.end();
                return false;
            }
        }
        true
    };
    side_by_side(threads, work).into_iter().all(|sound| sound).then_some(())
}

/// Decodes a chunk of known place; whether it is in all points as the table says.
fn chunk<L: Latent>(
    job: &Job<'_>,
    ty: NumberType,
    dst: &mut [L],
    table: &Table,
    limits: Limits,
    workshop: &Workshop,
    keeping: Option<&mut Keeping<'_, L>>,
) -> bool {
    let Job { bytes, len, entry, .. } = *job;
    let (preamble, version) = (table.preamble, table.version);
    let source = Slice::starting_at(bytes, entry.offset);
    let decoder = Engine::at_chunk(source, preamble, version, limits);
    let mut decoder = decoder.working_in(workshop);
    // Whatever the chunk's own count is, it must be closed when `dst` is full.
    kept::decode(&mut decoder, ty, dst, keeping)
        && decoder.seen() == [*entry]
        && decoder.position() == entry.offset + len as u64
}
