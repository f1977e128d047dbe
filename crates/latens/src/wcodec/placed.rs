//! The bytes of a file where it says that they are, though bytes were put in or taken out before them.

use crate::wcodec::checkpoint::ReadAt;
use std::io;

/// A source, as its file describes it.
pub(crate) struct Placed<S> {
    pub(crate) source: S,
    /// Only salvage reads files that do not say where their bytes are.
    pub(crate) moved: Option<Moved>,
}

/// Bytes that are elsewhere than their file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// From which byte on, as the file counts.
    pub(crate) from: u64,
    /// How much further on they are; they are before where the file says if that is negative.
    pub(crate) by: i64,
}

impl<S> Placed<S> {
    /// Bytes that are where the file says.
    pub(crate) fn new(source: S) -> Self {
        Self { source, moved: None }
    }
}

fn end() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

impl<S: ReadAt> ReadAt for Placed<S> {
    fn size(&self) -> io::Result<u64> {
        let size = self.source.size()?;
        let Some(Moved { by, .. }) = self.moved else { return Ok(size) };
        by.checked_neg().and_then(|back| size.checked_add_signed(back)).ok_or_else(end)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let Some(Moved { from, by }) = self.moved else {
            return self.source.read_exact_at(buf, offset);
        };
        let before = usize::try_from(from.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (front, back) = buf.split_at_mut(before.min(buf.len()));
        if !front.is_empty() {
            self.source.read_exact_at(front, offset)?;
        }
        if back.is_empty() {
            return Ok(());
        }
        let at = offset.max(from).checked_add_signed(by).ok_or_else(end)?;
        self.source.read_exact_at(back, at)
    }

    fn held(&self, offset: u64, len: usize) -> Option<&[u8]> {
        match self.moved {
            None => self.source.held(offset, len),
            Some(Moved { from, by }) if offset >= from => {
                self.source.held(offset.checked_add_signed(by)?, len)
            }
            Some(Moved { from, .. }) => {
                let all_before = offset.checked_add(len as u64)? <= from;
                if all_before { self.source.held(offset, len) } else { None }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All stretches of `whole` are read from `file`, but those that hold a byte that is gone.
    fn compare(file: &[u8], whole: &[u8], moved: Moved, gone: std::ops::Range<u64>) {
        let placed = Placed { source: file.to_vec(), moved: Some(moved) };
        assert_eq!(placed.size().ok(), Some(whole.len() as u64));
        for from in 0..whole.len() {
            for to in from..=whole.len() {
                if (from as u64) < gone.end && gone.start < to as u64 {
                    continue;
                }
                let mut read = vec![0; to - from];
                placed.read_exact_at(&mut read, from as u64).unwrap();
                assert_eq!(read, whole[from..to], "{from} to {to}");
                let held = placed.held(from as u64, to - from);
                assert!(held.is_none_or(|held| held == &whole[from..to]), "{from} to {to}");
            }
        }
    }

    #[test]
    fn bytes_are_read_from_where_they_are() {
        let whole: Vec<u8> = (0..40).collect();
        for from in 0..40 {
            let longer = [&whole[..from], &[99, 98], &whole[from..]].concat();
            compare(&longer, &whole, Moved { from: from as u64, by: 2 }, 0..0);
        }
        for from in 3..40 {
            let shorter = [&whole[..from - 3], &whole[from..]].concat();
            let gone = from as u64 - 3..from as u64;
            compare(&shorter, &whole, Moved { from: from as u64, by: -3 }, gone);
        }
        let placed = Placed { source: whole, moved: Some(Moved { from: 0, by: -3 }) };
        assert!(placed.read_exact_at(&mut [0], 2).is_err());
        assert!(placed.read_exact_at(&mut [0, 0], 42).is_err());
    }
}
