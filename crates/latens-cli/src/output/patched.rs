//! Going back in an output.

use std::io::{self, Seek, SeekFrom, Write};

use super::OutputFile;

/// An output with a position, for formats that go back to fill in what only their end knows.
pub struct Patched<'a> {
    out: &'a mut OutputFile,
    at: u64,
}

impl<'a> Patched<'a> {
    /// At the start of an output that is kept for reading back.
    pub fn new(out: &'a mut OutputFile) -> Self {
        Patched { out, at: 0 }
    }
}

impl Write for Patched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.out.written();
        let n = match end.saturating_sub(self.at) {
            0 => self.out.write(bytes)?,
            room => {
                let n = usize::try_from(room).map_or(bytes.len(), |room| bytes.len().min(room));
                let bytes = bytes.get(..n).unwrap_or_default();
                self.out.patch(self.at, bytes).map_err(|e| io::Error::other(e.to_string()))?;
                n
            }
        };
        self.at += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Patched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(n) => Some(n),
            SeekFrom::Current(n) => self.at.checked_add_signed(n),
            SeekFrom::End(n) => self.out.written().checked_add_signed(n),
        };
        let inside = target.filter(|&at| at <= self.out.written());
        self.at = inside.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
