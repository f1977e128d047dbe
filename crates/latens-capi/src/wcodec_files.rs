//! The files that a `.wcodec` was made of, written as they were.

use crate::error::{guard, lt_error, lt_status, quiet};
use crate::failure::Failure;
use crate::raw;
use crate::wcodec::lt_wcodec_reader;
use latens::Error;
use std::ffi::{c_char, c_void};
use std::io::{self, Write};

/// A file that a .wcodec was made of. The pointer lives until the .wcodec is closed.
#[repr(C)]
pub struct lt_wcodec_file {
    /// Its name in UTF-8, with a NUL at the end. It is a stranger's: whoever makes a path of it looks for
    /// separators first.
    pub name: *const c_char,
    /// Bytes of the name without that NUL; names may hold others.
    pub name_size: usize,
    /// Bytes of the file.
    pub bytes: u64,
    /// 0.
    pub reserved: [u64; 4],
}

/// Takes `size` bytes at `bytes`, which are there until it returns, and says whether to go on: 0, or anything else to
/// end the call, which fails with LT_STATUS_STOPPED. `data` is the caller's, as it was given beside the function.
///
/// It is called in the order of the bytes, and by the thread that made the call. It must return as a C function does:
/// no exceptions, no longjmp.
pub type lt_sink =
    Option<unsafe extern "C" fn(data: *mut c_void, bytes: *const c_void, size: usize) -> i32>;

/// A function of the caller with its data, to which bytes are written.
struct Taker {
    function: unsafe extern "C" fn(data: *mut c_void, bytes: *const c_void, size: usize) -> i32,
    data: *mut c_void,
    has_ended: bool,
}

impl Write for Taker {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the caller promises that the function may be called with its data during the call; the bytes are
        // there for as long as it takes.
        let said = unsafe { (self.function)(self.data, bytes.as_ptr().cast(), bytes.len()) };
        self.has_ended |= said != 0;
        if self.has_ended { Err(Error::stopped().into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Files that a .wcodec was made of, which are counted from 0; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_file_count(reader: *const lt_wcodec_reader) -> usize {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(0, || unsafe { raw::reference(reader, "reader").map_or(0, |held| held.files.len()) })
}

/// Name and length of file `index`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_file_info(
    reader: *const lt_wcodec_reader,
    index: usize,
    info: *mut lt_wcodec_file,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(info, "info")?;
        let files = &raw::reference(reader, "reader")?.files;
        let none = || Failure::invalid(format!("file {index} of {}", files.len()));
        let (name, bytes) = files.get(index).ok_or_else(none)?;
        let told = lt_wcodec_file {
            name: name.as_ptr().cast(),
            name_size: name.len() - 1,
            bytes: *bytes,
            reserved: [0; 4],
        };
        raw::store(info, told);
        Ok(())
    })
}

/// Hands file `index` to `sink`, byte for byte as it was, some megabytes of it in memory at a time. After an error
/// what was handed over before is what the file begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_write_file(
    reader: *const lt_wcodec_reader,
    index: usize,
    sink: lt_sink,
    sink_data: *mut c_void,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        let held = raw::reference(reader, "reader")?;
        let function = sink.ok_or_else(|| Failure::invalid("sink is NULL"))?;
        let mut out = Taker { function, data: sink_data, has_ended: false };
        let written = held.reader.write_file(index, &mut out);
        Ok(written.map_err(|e| if out.has_ended { Error::stopped() } else { e })?)
    })
}
