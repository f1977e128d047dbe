//! Where `.wcodec` files are read from: a path, or the caller's memory.

use crate::failure::Failure;
use crate::raw::{self, Checked};
use latens::wcodec::checkpoint::{ReadAt, open_file};
use std::ffi::{CStr, c_char, c_void};
use std::fs::File;
use std::io;
use std::path::Path;

/// Where the bytes of a file come from.
pub(crate) enum Source {
    /// A file on disk.
    File(File),
    /// Memory of the caller, which outlives the reader: the caller promises that.
    Memory(&'static [u8]),
}

impl Source {
    /// The file at `path`.
    ///
    /// # Safety
    /// As [`path`].
    pub(crate) unsafe fn at(path: *const c_char) -> Checked<Self> {
        // SAFETY: promised.
        let path = unsafe { self::path(path, "path")? };
        let path = path.ok_or_else(|| Failure::invalid("path is NULL"))?;
        let opened = open_file(path).map_err(|e| e.within(path.display().to_string()));
        Ok(Self::File(opened?))
    }

    /// The file that lies in memory.
    ///
    /// # Safety
    /// As [`raw::input`], until it is closed.
    pub(crate) unsafe fn held(file: *const c_void, size: usize) -> Checked<Self> {
        // SAFETY: promised.
        Ok(Self::Memory(unsafe { raw::input::<u8>(file.cast(), size, "file")? }))
    }
}

impl ReadAt for Source {
    fn size(&self) -> io::Result<u64> {
        match self {
            Source::File(file) => file.size(),
            Source::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Source::File(file) => file.read_exact_at(buf, offset),
            Source::Memory(bytes) => {
                let from = usize::try_from(offset).ok();
                let held = from.and_then(|from| bytes.get(from..from.checked_add(buf.len())?));
                buf.copy_from_slice(held.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// The file of that name: on Unix any bytes, elsewhere UTF-8.
///
/// # Safety
/// As [`raw::text`].
pub(crate) unsafe fn path<'a>(path: *const c_char, name: &str) -> Checked<Option<&'a Path>> {
    if path.is_null() {
        return Ok(None);
    }
    #[cfg(unix)]
    {
        let _ = name;
        // SAFETY: not NULL; the rest is promised.
        let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
        Ok(Some(Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))))
    }
    #[cfg(not(unix))]
    {
        // SAFETY: promised.
        Ok(unsafe { raw::text(path, name)? }.map(Path::new))
    }
}
