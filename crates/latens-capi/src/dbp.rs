//! Writing Parquet's DELTA_BINARY_PACKED.

use crate::buffer::{self, lt_buffer};
use crate::error::{guard, lt_error, lt_status};
use crate::failure::Failure;
use crate::options::{known, threads};
use crate::pco::within;
use crate::raw::{self, Checked};
use crate::watch::{lt_watch, watch};
use latens::Watch;
use latens::delta_binary_packed as dbp;
use latens::delta_binary_packed::{Element, Layout};
use std::ffi::c_void;

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
pub(crate) use with_element;

/// The shape of blocks; 0 stands for the usual one.
fn layout<T: Element>(block_size: usize, miniblocks: usize) -> Checked<Layout> {
    let usual = Layout::default_for::<T>();
    let or = |asked: usize, usual: usize| if asked == 0 { usual } else { asked };
    Ok(Layout::new(or(block_size, usual.block_size()), or(miniblocks, usual.miniblocks()))?)
}

/// Settings of an encoder of DELTA_BINARY_PACKED. NULL in place of one stands for the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lt_dbp_options {
    /// Bytes of this structure, as lt_dbp_options_init sets it.
    pub size: usize,
    /// Values in a block; 0, which stands for what Parquet writers use.
    pub block_size: usize,
    /// Miniblocks in a block; 0, likewise.
    pub miniblocks: usize,
    /// Told of what is done, and asked whether to go on; NULL.
    pub watch: lt_watch,
    /// What it is called with; NULL.
    pub watch_data: *mut c_void,
    /// Threads at work; 0 for as many as there are cores; 1. The bytes do not depend on it.
    pub threads: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers and pointers, beginning with a size.
unsafe impl raw::Options for lt_dbp_options {}

impl lt_dbp_options {
    fn new(size: usize) -> Self {
        let (watch, watch_data) = (None, std::ptr::null_mut());
        let (block_size, miniblocks) = (0, 0);
        Self { size, block_size, miniblocks, watch, watch_data, threads: 1, reserved: 0 }
    }

    /// The caller's.
    ///
    /// # Safety
    /// As [`raw::options`].
    unsafe fn read(options: *const Self) -> Checked<Self> {
        // SAFETY: promised.
        unsafe { raw::options(options, Self::new(size_of::<Self>()), "dbp_options") }
    }

    fn watched(&self) -> Watch {
        watch(self.watch, self.watch_data)
    }
}

/// Fills `options`, which has `size` (sizeof *options) bytes, with the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_options_init(options: *mut lt_dbp_options, size: usize) {
    // SAFETY: the caller promises `size` bytes.
    unsafe { raw::init(options, size, lt_dbp_options::new(size)) };
}

/// Settings as lt_dbp_encode takes them.
fn unwatched(block_size: usize, miniblocks: usize) -> lt_dbp_options {
    let size = size_of::<lt_dbp_options>();
    lt_dbp_options { block_size, miniblocks, ..lt_dbp_options::new(size) }
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
    let options = unwatched(block_size, miniblocks);
    // SAFETY: the caller promises what `raw` asks for; the options are as large as they say.
    unsafe { lt_dbp_encode_with(r#type, values, n, &raw const options, stream, error) }
}

/// lt_dbp_encode with `options`, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_encode_with(
    r#type: u32,
    values: *const c_void,
    n: usize,
    options: *const lt_dbp_options,
    stream: *mut lt_buffer,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        buffer::clear(stream);
        raw::required(stream, "stream")?;
        let settings = lt_dbp_options::read(options)?;
        let bytes = with_element!(known(r#type)?, T => {
            let layout = layout::<T>(settings.block_size, settings.miniblocks)?;
            let values = raw::input::<T>(values.cast(), n, "values")?;
            dbp::encode_with(values, layout, threads(settings.threads), &settings.watched())?
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
    let options = unwatched(block_size, miniblocks);
    let options = &raw const options;
    // SAFETY: the caller promises what `raw` asks for; the options are as large as they say.
    unsafe { lt_dbp_encode_into_with(r#type, values, n, options, stream, capacity, written, error) }
}

/// lt_dbp_encode_into with `options`, which may be NULL; it works on one thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_dbp_encode_into_with(
    r#type: u32,
    values: *const c_void,
    n: usize,
    options: *const lt_dbp_options,
    stream: *mut c_void,
    capacity: usize,
    written: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(written, "written")?;
        raw::store(written, 0);
        let settings = lt_dbp_options::read(options)?;
        let count = with_element!(known(r#type)?, T => {
            let layout = layout::<T>(settings.block_size, settings.miniblocks)?;
            raw::apart(values.cast::<T>(), n, stream.cast::<u8>(), capacity)?;
            let values = raw::input::<T>(values.cast(), n, "values")?;
            let room = raw::output::<u8>(stream.cast(), capacity, "stream")?;
            let watch = settings.watched();
            within(room, |out| dbp::encode_to(values, layout, out, &watch).map(|_| ()))?
        });
        raw::store(written, count);
        Ok(())
    })
}
