//! Parquet's DELTA_BINARY_PACKED: integers as bit-packed differences.
//!
//! One *stream* is a header and the blocks that hold its values:
//!
//! ```text
//! header := uleb(block_size) uleb(miniblocks) uleb(total_count) zigzag(first_value)
//! block  := zigzag(min_delta) width[miniblocks] body[needed miniblocks]
//! ```
//!
//! | field | unit | rule |
//! |---|---|---|
//! | `block_size` | values | a positive multiple of 128 |
//! | `miniblocks` | per block | divides `block_size` into multiples of 32 values |
//! | `total_count` | values | counts the first one, and no nulls |
//! | `first_value` | | stands in no block; 0 in a stream of no values |
//! | `min_delta` | | any number, mostly the least difference within the block |
//! | `width` | bits, 1 byte each | one for every miniblock of the block, needed or not |
//! | `body` | `block_size / miniblocks * width / 8` bytes | fields, least significant bit first |
//!
//! A value is the one before it, plus `min_delta`, plus its field, mod 2^32 or 2^64. A stream of
//! no or one value has no block. `specs/delta-binary-packed.md` has the whole story with worked
//! examples, and says what [`Options::strict`] refuses and lenient reading lets pass.
//!
//! ```
//! use latens::delta_binary_packed::{Layout, Options, decode, decode_into, encode};
//!
//! let ids: Vec<i64> = (0..1000).map(|i| 1_700_000_000 + 60 * i + i % 7).collect();
//! let page = encode(&ids, Layout::default_for::<i64>());
//! assert!(page.len() < 500);
//!
//! let mut numbers = vec![0i64; 1000];
//! let decoded = decode_into(&page, &mut numbers, Options::default())?;
//! assert_eq!((decoded.count, decoded.consumed), (1000, page.len()));
//! assert_eq!(numbers, ids);
//!
//! // Where the count is not known and the page may come from a stranger:
//! let limits = latens::Limits::default().max_output(1 << 20);
//! let (numbers, consumed) = decode::<i64>(&page, limits, Options::default())?;
//! assert_eq!((numbers, consumed), (ids, page.len()));
//! # Ok::<(), latens::Error>(())
//! ```
//!
//! [`Decoder`] goes through a stream in steps, [`inspect`] shows its structure, and
//! [`delta_length_byte_array`] and [`delta_byte_array`] are Parquet's two encodings of strings on
//! top of this one.

mod byte_arrays;
mod decode;
mod decoder;
pub mod delta_byte_array;
pub mod delta_length_byte_array;
mod encode;
mod inspect;
mod layout;
mod lengths;
mod options;
mod parallel;

pub use byte_arrays::ByteArrays;
pub use decode::{Decoded, decode, decode_into, decode_into_with, decode_with};
pub use decoder::Decoder;
pub use encode::{encode, encode_into, encode_to, encoded_bound};
pub use inspect::{BlockSummary, Report, inspect};
pub use layout::{Header, Layout, header};
pub use options::Options;
pub use parallel::encode_with;

/// Evaluates an expression with `$T` standing for the one of the four types of this encoding that a
/// [`NumberType`](crate::NumberType) names, or another one where it names none of them.
///
/// ```
/// use latens::NumberType;
/// let width = |ty| latens::with_element_type!(ty, T => size_of::<T>(), other => other.bytes() + 100);
/// assert_eq!((width(NumberType::U32), width(NumberType::F64)), (4, 108));
/// ```
#[macro_export]
macro_rules! with_element_type {
    ($ty:expr, $T:ident => $body:expr, $other:ident => $else:expr) => {
        match $ty {
            $crate::NumberType::I32 => {
                type $T = i32;
                $body
            }
            $crate::NumberType::I64 => {
                type $T = i64;
                $body
            }
            $crate::NumberType::U32 => {
                type $T = u32;
                $body
            }
            $crate::NumberType::U64 => {
                type $T = u64;
                $body
            }
            $other => $else,
        }
    };
}

/// What a stream holds: `i32`, `i64`, `u32` or `u64`; sealed. Parquet's INT32 and INT64 are the
/// signed ones; unsigned integers, dates, times and timestamps are bit casts of these.
pub trait Element: latens_kernels::lane::Integer {}

impl Element for i32 {}
impl Element for i64 {}
impl Element for u32 {}
impl Element for u64 {}
