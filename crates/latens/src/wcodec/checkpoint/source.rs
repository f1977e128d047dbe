//! Bytes that are read by position.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::error::{Error, Result};

/// A source of bytes that threads can read from at any place.
pub trait ReadAt: Send + Sync {
    /// Its bytes.
    ///
    /// # Errors
    /// Those of the source.
    fn size(&self) -> io::Result<u64>;

    /// Fills `buf` with the bytes from `offset` on.
    ///
    /// # Errors
    /// Those of the source; unexpected end where it has not so many bytes.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;

    /// The `len` bytes from `offset` on where the source has them in memory: they need no copy then.
    fn held(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let _ = (offset, len);
        None
    }

    /// When the source was last written to, where it can tell. What is read more than once must not change meanwhile.
    fn written(&self) -> Option<SystemTime> {
        None
    }
}

impl ReadAt for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn written(&self) -> Option<SystemTime> {
        self.metadata().and_then(|about| about.modified()).ok()
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buf, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(self, buf, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    buf = &mut buf[n..];
                    offset += u64::try_from(n).map_err(io::Error::other)?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    #[cfg(not(any(unix, windows)))]
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _held = ONE_AT_A_TIME.lock();
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buf)
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> io::Result<u64> {
        self.as_slice().size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_exact_at(buf, offset)
    }

    fn held(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.as_slice().held(offset, len)
    }
}

/// The file at `path`, to be read by position. What is no regular file is refused before it is opened: opening a pipe
/// would wait for whoever writes into it.
///
/// # Errors
/// I/O, also where it is a folder; invalid argument where it is no regular file otherwise.
pub fn open_file(path: &Path) -> Result<File> {
    match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a folder, not a file").into())
        }
        Ok(there) if !there.is_file() => {
            Err(Error::invalid("this is no regular file: a checkpoint is read by position"))
        }
        _ => Ok(File::open(path)?),
    }
}

/// Bytes in memory, whoever has them.
pub(super) struct Held<B>(pub(super) B);

impl<B: AsRef<[u8]> + Send + Sync> ReadAt for Held<B> {
    fn size(&self) -> io::Result<u64> {
        self.0.as_ref().size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.as_ref().read_exact_at(buf, offset)
    }

    fn held(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.0.as_ref().held(offset, len)
    }
}

impl ReadAt for [u8] {
    fn size(&self) -> io::Result<u64> {
        u64::try_from(self.len()).map_err(io::Error::other)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = self.held(offset, buf.len());
        buf.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn held(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(offset).ok()?;
        self.get(from..from.checked_add(len)?)
    }
}

/// All bytes of a source, which must not have more than `most`.
pub(super) fn read_all(source: &dyn ReadAt, most: u64) -> Result<Vec<u8>> {
    let len = source.size()?;
    if len > most {
        return Err(Error::invalid(format!(
            "{len} bytes are more than the {most} that such a file may have"
        )));
    }
    read(source, 0, len)
}

/// `len` bytes from `offset` on, which the caller knows to be there.
pub(super) fn read(source: &dyn ReadAt, offset: u64, len: u64) -> Result<Vec<u8>> {
    let len =
        usize::try_from(len).map_err(|_| Error::invalid("the file is too large for memory"))?;
    let mut bytes = vec![0; len];
    source.read_exact_at(&mut bytes, offset).map_err(|e| Error::from(e).at_byte(offset))?;
    Ok(bytes)
}
