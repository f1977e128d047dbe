//! A bar over the tensors of an open `.wcodec`, with the name of the one at hand.

use latens::wcodec::Reader;
use latens::wcodec::checkpoint::ReadAt;

use crate::progress::Progress;

/// A reader whose calls move a bar, which goes when this is dropped.
pub struct Watched<S: ReadAt> {
    /// The same file.
    pub reader: Reader<S>,
    progress: Progress,
}

impl<S: ReadAt> Watched<S> {
    /// A bar as long as the tensors are.
    pub fn tensors(what: &str, reader: &Reader<S>, quiet: bool) -> Self {
        let total = reader.tensors().fold(0u64, |sum, (_, t)| sum.saturating_add(t.length as u64));
        Self::over(total, what, reader, quiet)
    }

    /// A bar as long as the files are.
    pub fn files(what: &str, reader: &Reader<S>, quiet: bool) -> Self {
        let total = reader.files().fold(0u64, |sum, (_, length)| sum.saturating_add(length));
        Self::over(total, what, reader, quiet)
    }

    fn over(total: u64, what: &str, reader: &Reader<S>, quiet: bool) -> Self {
        let progress = Progress::new(what, Some(total), quiet);
        Self { reader: reader.watched(&progress.watch()), progress }
    }
}

impl<S: ReadAt> Drop for Watched<S> {
    fn drop(&mut self) {
        self.progress.finish();
    }
}
