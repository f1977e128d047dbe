//! Reading Parquet's DELTA_BINARY_PACKED.

use crate::buffer::{self, lt_buffer};
use crate::dbp::with_element;
use crate::error::{guard, lt_error, lt_status};
use crate::failure::Failure;
use crate::options::{Decode, decode, known, lt_decode_options};
use crate::raw;
use latens::delta_binary_packed as dbp;
use latens::delta_binary_packed::Options;
use std::ffi::c_void;

/// What a stream says before its first block.
#[repr(C)]
pub struct lt_dbp_header {
    /// Values in the stream. Nothing vouches for it but the blocks.
    pub total_count: u64,
    /// The first value, as written: of numbers of 32 bits its low half counts.
    pub first_value: i64,
    /// Values in a block.
    pub block_size: usize,
    /// Miniblocks in a block.
    pub miniblocks: usize,
    /// Bytes of the header.
    pub size: usize,
    /// 0.
    pub reserved: [u64; 3],
}

fn options(settings: &Decode) -> Options {
    Options { strict: settings.strict, expect_count: settings.expect_count }
}

/// Reads the header at the start of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_read_header(
    stream: *const c_void,
    stream_size: usize,
    header: *mut lt_dbp_header,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(header, "header")?;
        let found = dbp::header(raw::input::<u8>(stream.cast(), stream_size, "stream")?)?;
        let told = lt_dbp_header {
            total_count: found.total_count,
            first_value: found.first_value,
            block_size: found.layout.block_size(),
            miniblocks: found.layout.miniblocks(),
            size: found.size,
            reserved: [0; 3],
        };
        raw::store(header, told);
        Ok(())
    })
}

/// Decodes the stream at the start of `stream` to `values`, which the caller frees. `count` is told how
/// many there are, `consumed` how many bytes they take; both may be NULL, and
/// are 0 after an error. `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_decode(
    stream: *const c_void,
    stream_size: usize,
    r#type: u32,
    options: *const lt_decode_options,
    values: *mut lt_buffer,
    count: *mut usize,
    consumed: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        buffer::clear(values);
        raw::store(count, 0);
        raw::store(consumed, 0);
        raw::required(values, "values")?;
        let settings = decode(options)?;
        let stream = raw::input::<u8>(stream.cast(), stream_size, "stream")?;
        let (held, n, size) = with_element!(known(r#type)?, T => {
            let (limits, options) = (settings.limits, self::options(&settings));
            let (threads, watch) = (settings.threads, &settings.watch);
            let (held, size) = dbp::decode_with::<T>(stream, limits, options, threads, watch)?;
            let n = held.len();
            (lt_buffer::from_vec(held), n, size)
        });
        raw::store(values, held);
        raw::store(count, n);
        raw::store(consumed, size);
        Ok(())
    })
}

/// Decodes the stream at the start of `stream` directly to `values`, which has room for `capacity`
/// values. `*count` is how many there are. Where there is not room for all the call fails with
/// LT_STATUS_BUFFER_TOO_SMALL; lt_dbp_read_header says how many there are. Nothing behind `*count`
/// values is touched; after an error nothing behind its `values_before`. `consumed` and `options` may
/// be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_decode_into(
    stream: *const c_void,
    stream_size: usize,
    r#type: u32,
    options: *const lt_decode_options,
    values: *mut c_void,
    capacity: usize,
    count: *mut usize,
    consumed: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(count, "count")?;
        raw::store(count, 0);
        raw::store(consumed, 0);
        let settings = decode(options)?;
        let done = with_element!(known(r#type)?, T => {
            raw::apart(stream.cast::<u8>(), stream_size, values.cast::<T>(), capacity)?;
            let stream = raw::input::<u8>(stream.cast(), stream_size, "stream")?;
            let out = raw::output::<T>(values.cast(), capacity, "values")?;
            let announced = dbp::header(stream)?.total_count;
            let bytes = announced.saturating_mul(size_of::<T>() as u64);
            settings.limits.check_output(bytes)?;
            if announced > out.len() as u64 {
                return Err(Failure::too_small("the stream", announced, out.len()));
            }
            let (options, threads) = (self::options(&settings), settings.threads);
            dbp::decode_into_with(stream, out, options, threads, &settings.watch)?
        });
        raw::store(count, done.count);
        raw::store(consumed, done.consumed);
        Ok(())
    })
}
