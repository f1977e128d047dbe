//! Whether a file reads back as the checkpoint that it was made from.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::{Checkpoint, ReadAt};
use crate::wcodec::reader::Reader;
use std::io::{self, Write};

/// Bytes that are compared at a time.
const PIECE: usize = 1 << 20;

/// Compares what is written to it with a file of the checkpoint.
struct Against<'a> {
    checkpoint: &'a Checkpoint,
    file: usize,
    at: u64,
    same: bool,
}

impl Write for Against<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let now = &bytes[..bytes.len().min(PIECE)];
        let mut there = vec![0; now.len()];
        self.checkpoint.read_at(self.file, self.at, &mut there)?;
        self.same &= there == now;
        self.at += now.len() as u64;
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: ReadAt> Reader<S> {
    /// Reads everything back and compares it with the files of `checkpoint`, byte by byte.
    ///
    /// # Errors
    /// Those of [`Reader::write_file`] and [`Checkpoint::read_at`]; invalid argument, naming the
    /// file, where bytes differ or one is longer, or where there are more or fewer files.
    pub fn compare(&self, checkpoint: &Checkpoint) -> Result<()> {
        let (held, files) = (self.files().count(), checkpoint.files.len());
        if held != files {
            return Err(Error::invalid(format!("{held} files are held, and {files} were read")));
        }
        for (number, file) in checkpoint.files.iter().enumerate() {
            let mut against = Against { checkpoint, file: number, at: 0, same: true };
            self.write_file(number, &mut against)?;
            if !against.same || against.at != file.len {
                let what = "what was written does not read back as what was read: a bug of \
                            latens, or a fault of the disk or memory";
                return Err(Error::invalid(what).within(format!("file {}", file.name)));
            }
        }
        Ok(())
    }
}
