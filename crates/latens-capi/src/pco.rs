//! Standalone Pco files in memory.

use crate::buffer::{self, lt_buffer};
use crate::error::{guard, lt_error, lt_status};
use crate::failure::Failure;
use crate::options::{
    Encode, decode, encode, known, lt_decode_options, lt_pco_options, number_of, wanted,
};
use crate::raw::{self, Checked};
use latens::pco;
use std::ffi::c_void;
use std::io::{self, Write};

/// Compresses `n` numbers of a type (lt_type), which `numbers` points to, to a standalone file in
/// `file`, which the caller frees. `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_compress(
    r#type: u32,
    numbers: *const c_void,
    n: usize,
    options: *const lt_pco_options,
    file: *mut lt_buffer,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        buffer::clear(file);
        raw::required(file, "file")?;
        let settings = encode(options)?;
        let numbers = raw::numbers(known(r#type)?, numbers, n, "numbers")?;
        let Encode { config, threads, watch } = &settings;
        let bytes = pco::compress_any_with(numbers, config, *threads, watch)?;
        raw::store(file, lt_buffer::from_vec(bytes));
        Ok(())
    })
}

/// The most bytes that lt_pco_compress makes of `n` numbers of a type: `*bound`. With mode and delta
/// left to the encoder these are the numbers' own, 40 for each chunk and 64. Where one is forced the
/// bound follows from the format alone, and is several times the size of the numbers; what comes out
/// is, as a rule, smaller than they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_compress_bound(
    r#type: u32,
    n: usize,
    options: *const lt_pco_options,
    bound: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(bound, "bound")?;
        raw::store(bound, 0);
        let config = encode(options)?.config;
        let ty = known(r#type)?;
        config.validate(ty)?;
        let most = pco::compress_bound(n as u64, ty, &config);
        let most = most.and_then(|most| usize::try_from(most).ok());
        raw::store(
            bound,
            most.ok_or_else(|| Failure::invalid(format!("{n} numbers are too many")))?,
        );
        Ok(())
    })
}

/// Memory of the caller as a writer, which knows whether it was too short.
struct Room<'a> {
    bytes: &'a mut [u8],
    at: usize,
    short: bool,
}

impl Write for Room<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(room) = self.bytes.get_mut(self.at..self.at.saturating_add(bytes.len())) else {
            self.short = true;
            return Err(io::ErrorKind::WriteZero.into());
        };
        room.copy_from_slice(bytes);
        self.at += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What `write` writes to memory of the caller; how many bytes.
pub(crate) fn within(
    room: &mut [u8],
    write: impl FnOnce(&mut dyn Write) -> latens::Result<()>,
) -> Checked<usize> {
    let mut room = Room { bytes: room, at: 0, short: false };
    match write(&mut room) {
        Ok(()) => Ok(room.at),
        Err(_) if room.short => {
            let what = format!(
                "buffer too small: the {} bytes that there is room for are not enough",
                room.bytes.len()
            );
            Err(Failure::new(lt_status::BufferTooSmall, what))
        }
        Err(error) => Err(error.into()),
    }
}

/// Like lt_pco_compress, into `capacity` bytes at `file`; `*written` is how many it takes. Where they
/// do not suffice the call fails with LT_STATUS_BUFFER_TOO_SMALL, and what they hold is not said;
/// nothing behind them is touched. lt_pco_compress_bound says what always suffices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_compress_into(
    r#type: u32,
    numbers: *const c_void,
    n: usize,
    options: *const lt_pco_options,
    file: *mut c_void,
    capacity: usize,
    written: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(written, "written")?;
        raw::store(written, 0);
        let Encode { config, threads, watch } = encode(options)?;
        let ty = known(r#type)?;
        let size = raw::size_of_numbers(ty, n);
        raw::apart(numbers.cast::<u8>(), size, file.cast::<u8>(), capacity)?;
        let numbers = raw::numbers(ty, numbers, n, "numbers")?;
        let room = raw::output::<u8>(file.cast(), capacity, "file")?;
        let count =
            within(room, |out| pco::compress_any_to(numbers, &config, out, threads, &watch))?;
        raw::store(written, count);
        Ok(())
    })
}

/// What the head of a standalone file says: the type of its numbers (LT_TYPE_ANY for an empty file
/// that says none), and how many there are, a hint that nothing vouches for. Either may be NULL; both
/// are 0 after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_peek(
    file: *const c_void,
    file_size: usize,
    r#type: *mut u32,
    n_hint: *mut u64,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(r#type, number_of(None));
        raw::store(n_hint, 0);
        let file = raw::input::<u8>(file.cast(), file_size, "file")?;
        let head = pco::peek(file)?;
        raw::store(r#type, number_of(head.number_type));
        raw::store(n_hint, head.n_hint);
        Ok(())
    })
}

/// Decompresses a standalone file to numbers of a type, LT_TYPE_ANY for that of the file, in
/// `numbers`, which the caller frees. `found` is told the type, `count` how many; both may be NULL,
/// and are 0 after an error. `options` may be NULL. A checksum trailer is verified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_decompress(
    file: *const c_void,
    file_size: usize,
    r#type: u32,
    options: *const lt_decode_options,
    numbers: *mut lt_buffer,
    found: *mut u32,
    count: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        buffer::clear(numbers);
        raw::store(found, number_of(None));
        raw::store(count, 0);
        raw::required(numbers, "numbers")?;
        let settings = decode(options)?;
        let file = raw::input::<u8>(file.cast(), file_size, "file")?;
        let ty = match wanted(r#type)? {
            Some(ty) => Some(ty),
            None => pco::peek(file)?.number_type,
        };
        let Some(ty) = ty else {
            // Nothing but an empty file says no type.
            pco::decompress_any(file, settings.limits)?;
            return Ok(());
        };
        let (limits, threads) = (settings.limits, settings.threads);
        let held = pco::decompress_any_with(file, Some(ty), limits, threads, &settings.watch)?;
        raw::store(count, held.len());
        raw::store(numbers, lt_buffer::from_numbers(held));
        raw::store(found, number_of(Some(ty)));
        Ok(())
    })
}

/// Decompresses a standalone file to the caller's memory, which has room for `capacity` numbers of a
/// type and is written to directly. `*count` is how many were written, `*finished` whether these were
/// all: less room than numbers is no error. Nothing behind `*count` numbers is touched; after an error
/// nothing behind its `values_before`. `options` and `finished` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_decompress_into(
    file: *const c_void,
    file_size: usize,
    r#type: u32,
    options: *const lt_decode_options,
    numbers: *mut c_void,
    capacity: usize,
    count: *mut usize,
    finished: *mut bool,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(count, "count")?;
        raw::store(count, 0);
        raw::store(finished, false);
        let settings = decode(options)?;
        let ty = known(r#type)?;
        let size = raw::size_of_numbers(ty, capacity);
        raw::apart(file.cast::<u8>(), file_size, numbers.cast::<u8>(), size)?;
        let file = raw::input::<u8>(file.cast(), file_size, "file")?;
        let out = raw::numbers_mut(ty, numbers, capacity, "numbers")?;
        let (limits, threads) = (settings.limits, settings.threads);
        let done = pco::decompress_any_into_with(file, out, limits, threads, &settings.watch)?;
        raw::store(count, done.count);
        raw::store(finished, done.finished);
        Ok(())
    })
}
