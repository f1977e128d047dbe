//! A file that several threads read at once, by position: no shared offset, no memory map.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

/// Bytes of a Pco file, wherever they come from: one type, so that the decoder is compiled once.
pub type Reader = Box<dyn Read + Send>;

/// Page headers of Parquet are shorter, unless long statistics are in them.
const HEADER_BYTES: usize = 512;

/// An open file of known length, or bytes that stand for one; clones are cheap.
#[derive(Clone, Debug)]
pub struct SharedFile {
    bytes: Place,
    len: u64,
}

#[derive(Clone, Debug)]
enum Place {
    File(Arc<File>),
    Memory(Bytes),
}

impl SharedFile {
    /// Take over an open file.
    ///
    /// # Errors
    /// When its length cannot be found out.
    pub fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(SharedFile { bytes: Place::File(Arc::new(file)), len })
    }

    /// A file that is in memory.
    pub fn in_memory(bytes: Bytes) -> Self {
        let len = bytes.len() as u64;
        SharedFile { bytes: Place::Memory(bytes), len }
    }

    /// Bytes in the file when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// A reader of `len` bytes from `start`, cut at the end of the file.
    pub fn section(&self, start: u64, len: u64) -> Section {
        let start = start.min(self.len);
        let end = start.saturating_add(len).min(self.len);
        Section { file: self.clone(), start, at: start, end }
    }

    /// The same, buffered. A table has a reader open for each of its columns: short ones get short
    /// buffers.
    pub fn buffered(&self, start: u64, len: u64) -> BufReader<Section> {
        let most = usize::try_from(len).unwrap_or(usize::MAX);
        BufReader::with_capacity(most.min(1 << 16), self.section(start, len))
    }
}

/// A part of a file, as a reader with a position of its own.
#[derive(Clone, Debug)]
pub struct Section {
    file: SharedFile,
    start: u64,
    at: u64,
    end: u64,
}

impl Read for Section {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let want = buf.len().min(left);
        let Some(buf) = buf.get_mut(..want) else { return Ok(0) };
        let n = loop {
            match self.file.bytes.read_at(buf, self.at) {
                // A signal came in between; callers need not know of that.
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Section {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(n) => self.start.checked_add(n),
            SeekFrom::Current(n) => self.at.checked_add_signed(n),
            SeekFrom::End(n) => self.end.checked_add_signed(n),
        };
        // Past the end is as good as the end: nothing can be read from there.
        let target = target.filter(|&at| at >= self.start).map(|at| at.min(self.end));
        self.at = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at - self.start)
    }
}

impl Place {
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Place::File(file) => read_at(file, buf, at),
            Place::Memory(bytes) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                bytes.get(start..).unwrap_or_default().read(buf)
            }
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, at)
}

#[cfg(windows)]
fn read_at(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, at)
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<Section>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        // One for each page header; what follows a header is read by `get_bytes`.
        Ok(BufReader::with_capacity(HEADER_BYTES, self.section(start, self.len)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let short = || ParquetError::EOF(format!("{length} bytes were announced at byte {start}"));
        // Checked against the file before anything is allocated.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(short());
        }
        if let (Place::Memory(bytes), Ok(start)) = (&self.bytes, usize::try_from(start)) {
            return Ok(bytes.slice(start..start + length));
        }
        let mut bytes = vec![0; length];
        let read = self.section(start, length as u64).read_exact(&mut bytes);
        read.map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => short(),
            _ => e.into(),
        })?;
        Ok(bytes.into())
    }
}
