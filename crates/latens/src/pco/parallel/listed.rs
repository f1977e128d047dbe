//! Files with a table of chunks, which the checksum trailer is: every chunk can be decoded by itself.

use crate::limits::Limits;
use crate::number::{Latent, NumberType};
use crate::pco::decode::workshop::Workshop;
use crate::pco::parallel::kept::{self, Kept};
use crate::pco::standalone::ChunkTable;
use crate::threads::{Jobs, side_by_side};
use crate::watch::Watch;

/// Decodes into `dst`, which has room for the numbers of the table and no more; `None` where
/// anything is wrong, and what it held is in `kept`.
#[expect(clippy::too_many_arguments, reason = "what a call says")]
pub(super) fn decode<L: Latent>(
    file: &[u8],
    ty: NumberType,
    table: &ChunkTable,
    dst: &mut [L],
    limits: Limits,
    threads: usize,
    watch: &Watch,
    kept: Option<&Kept<L>>,
) -> Option<()> {
    let (mut start, mut rest) = (0, dst);
    let mut jobs = Vec::with_capacity(table.len());
    for index in 0..table.len() {
        let (dst, behind) = rest.split_at_mut_checked(table.numbers(index))?;
        // Its own bytes, and what is behind it, which batches can look ahead to.
        let bytes = file.get(usize::try_from(table.place(index).start).ok()?..)?;
        jobs.push((bytes, start, dst));
        start += table.numbers(index);
        rest = behind;
    }
    let threads = threads.min(jobs.len());
    let jobs = Jobs::new(jobs);
    let workshop = Workshop::default();
    let work = || {
        while let Some((index, (bytes, start, dst))) = jobs.next() {
            let mut keeping = kept.map(|kept| kept.chunk(index, start, dst.len()));
            let mut decoder = table.engine(index, bytes, limits).working_in(&workshop);
            // Whatever the chunk's own count is, it must be closed when `dst` is full.
            let sound = kept::decode(&mut decoder, ty, dst, keeping.as_mut())
                && table.is_read(index, &decoder);
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
