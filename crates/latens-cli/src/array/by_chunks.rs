//! A Pco file that can be read at any place: its chunks on all threads, by its checksum trailer.

use latens::pco::standalone::ChunkTable;
use latens::{AnyNumbers, Limits, NumberType};
use std::fs::File;
use std::io::Read;

use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::Result;
use crate::parallel;

/// Bytes of a chunk, coded or not, at most: files with larger ones are streamed, on one thread.
const MOST: u64 = 8 << 20;

/// Bytes behind a chunk that are read as well: its last batches are decoded faster with them.
const BEHIND: u64 = 1 << 10;

/// A file and where its chunks are.
pub struct ByChunks {
    file: SharedFile,
    table: ChunkTable,
    ty: NumberType,
}

impl ByChunks {
    /// `None` where it is better streamed, or has to be: one thread or chunk, no sound table, large chunks.
    pub fn of(file: SharedFile, ty: NumberType) -> Option<Self> {
        if rayon::current_num_threads() == 1 {
            return None;
        }
        let table = ChunkTable::read(&mut file.section(0, u64::MAX)).ok()??;
        let fits = |index| {
            let place = table.place(index);
            let numbers = table.numbers(index) as u64 * ty.bytes() as u64;
            numbers.max(place.end - place.start) <= MOST
        };
        let fits = table.len() > 1 && (0..table.len()).all(fits);
        fits.then_some(Self { file, table, ty })
    }

    /// That of an input, where it is a file.
    pub fn of_input(input: &Input, ty: NumberType) -> Option<Self> {
        match input {
            Input::File(path) if std::fs::metadata(path).is_ok_and(|there| there.is_file()) => {
                Self::of(SharedFile::new(File::open(path).ok()?).ok()?, ty)
            }
            _ => None,
        }
    }

    /// Numbers of each chunk.
    pub fn lens(&self) -> impl Iterator<Item = usize> {
        (0..self.table.len()).map(|index| self.table.numbers(index))
    }

    /// Hands to `take` what `work` makes of the numbers of each chunk, in order. Whether all
    /// chunks were what the table says; nothing is taken from the first one on that is not, and a decoder tells why.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn each<R: Send>(
        &self,
        work: &(dyn Fn(AnyNumbers) -> R + Sync),
        take: &mut dyn FnMut(R) -> Result<()>,
    ) -> Result<bool> {
        let mut indices = 0..self.table.len();
        let mut is_all = true;
        let next = &mut || Ok(indices.next());
        parallel::in_order(next, &|index| self.decode(index).map(work), &mut |result| {
            match result {
                Some(result) => take(result)?,
                None => is_all = false,
            }
            Ok(is_all)
        })?;
        Ok(is_all)
    }

    fn decode(&self, index: usize) -> Option<AnyNumbers> {
        let place = self.table.place(index);
        let mut bytes = Vec::new();
        let behind = place.end - place.start + BEHIND;
        self.file.section(place.start, behind).read_to_end(&mut bytes).ok()?;
        self.table.decode_any(index, &bytes, self.ty, Limits::default()).ok()
    }
}
