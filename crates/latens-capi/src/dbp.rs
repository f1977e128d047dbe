//! Parquet's DELTA_BINARY_PACKED.

use crate::buffer::{self, lt_buffer};
use crate::error::{guard, lt_error, lt_status};
use crate::failure::Failure;
use crate::options::{Decode, decode, known, lt_decode_options};
use crate::pco::within;
use crate::raw::{self, Checked};
use latens::delta_binary_packed as dbp;
use latens::delta_binary_packed::{Element, Layout, Options};
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

/// Evaluates with `$T` standing for one of the four types that the encoding has.
macro_rules! with_element {
    ($ty:expr, $T:ident => $body:expr) => {
        latens::with_element_type!($ty, $T => $body, other => {
            return Err(Failure::invalid(format!(
                "DELTA_BINARY_PACKED holds i32, i64, u32 or u64, not {other}"
            )));
        })
    };
}

/// The shape of blocks; 0 stands for the usual one.
fn layout<T: Element>(block_size: usize, miniblocks: usize) -> Checked<Layout> {
    let usual = Layout::default_for::<T>();
    let or = |asked: usize, usual: usize| if asked == 0 { usual } else { asked };
    Ok(Layout::new(or(block_size, usual.block_size()), or(miniblocks, usual.miniblocks()))?)
}

fn options(settings: &Decode) -> Options {
    Options { strict: settings.strict, expect_count: settings.expect_count }
}

/// Encodes `n` values of LT_TYPE_I32, I64, U32 or U64 to `stream`, which the caller frees. Blocks have
/// `block_size` values in `miniblocks` miniblocks; 0 and 0 stand for what Parquet writers use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_encode(
    r#type: u32,
    values: *const c_void,
    n: usize,
    block_size: usize,
    miniblocks: usize,
    stream: *mut lt_buffer,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        buffer::clear(stream);
        raw::required(stream, "stream")?;
        let bytes = with_element!(known(r#type)?, T => {
            let layout = layout::<T>(block_size, miniblocks)?;
            dbp::encode(raw::input::<T>(values.cast(), n, "values")?, layout)
        });
        raw::store(stream, lt_buffer::from_vec(bytes));
        Ok(())
    })
}

/// The most bytes that the stream of `n` values takes: `*bound`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_encode_bound(
    r#type: u32,
    n: usize,
    block_size: usize,
    miniblocks: usize,
    bound: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(bound, "bound")?;
        raw::store(bound, 0);
        let most = with_element!(known(r#type)?, T => {
            dbp::encoded_bound::<T>(n as u64, layout::<T>(block_size, miniblocks)?)
        });
        let most = most.and_then(|most| usize::try_from(most).ok());
        raw::store(
            bound,
            most.ok_or_else(|| Failure::invalid(format!("{n} values are too many")))?,
        );
        Ok(())
    })
}

/// Like lt_dbp_encode, into `capacity` bytes at `stream`; `*written` is how many it takes. Where they
/// do not suffice the call fails with LT_STATUS_BUFFER_TOO_SMALL, and what they hold is not said;
/// nothing behind them is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_encode_into(
    r#type: u32,
    values: *const c_void,
    n: usize,
    block_size: usize,
    miniblocks: usize,
    stream: *mut c_void,
    capacity: usize,
    written: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(written, "written")?;
        raw::store(written, 0);
        let count = with_element!(known(r#type)?, T => {
            let layout = layout::<T>(block_size, miniblocks)?;
            raw::apart(values.cast::<T>(), n, stream.cast::<u8>(), capacity)?;
            let values = raw::input::<T>(values.cast(), n, "values")?;
            let room = raw::output::<u8>(stream.cast(), capacity, "stream")?;
            within(room, |out| dbp::encode_to(values, layout, out, &latens::Watch::NONE).map(|_| ()))?
        });
        raw::store(written, count);
        Ok(())
    })
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
            let (held, size) = dbp::decode_with::<T>(stream, limits, options, &settings.watch)?;
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
            dbp::decode_into_with(stream, out, self::options(&settings), &settings.watch)?
        });
        raw::store(count, done.count);
        raw::store(consumed, done.consumed);
        Ok(())
    })
}
