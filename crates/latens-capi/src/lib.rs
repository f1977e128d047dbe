//! The C ABI of latens.
//!
#![doc = include_str!("../README.md")]
//!
//! # For those who change it
//!
//! `include/latens.h` is made from these sources: `LATENS_BLESS=1 cargo test -p latens-capi --test
//! header` writes it, and the test without it fails where it is not current. Functions are in the
//! order of the modules below. All pointers of callers pass through `raw`, all work through
//! `error::guard`.
#![expect(non_camel_case_types, reason = "the names that C sees")]
#![expect(clippy::missing_safety_doc, reason = "one promise for all, at the head of the header")]
#![deny(unsafe_op_in_unsafe_fn)]

use std::ffi::c_char;

pub mod buffer;
pub mod dbp;
pub mod dbp_decode;
pub mod error;
mod failure;
pub mod options;
pub mod pco;
pub mod pco_inspect;
mod raw;
mod source;
mod tensor;
pub mod watch;
pub mod wcodec;
pub mod wcodec_decode;
pub mod wcodec_faults;
pub mod wcodec_files;
pub mod wcodec_salvage;
pub mod wrapped_decoder;
pub mod wrapped_encoder;

/// What C holds may be used by several threads at once, and freed by another.
const _: () = {
    const fn of_any_thread<T: Send + Sync>() {}
    of_any_thread::<pco_inspect::lt_pco_inspection>();
    of_any_thread::<wcodec::lt_wcodec_reader>();
    of_any_thread::<wcodec_faults::lt_wcodec_faults>();
    of_any_thread::<wrapped_decoder::lt_pco_file_decoder>();
    of_any_thread::<wrapped_decoder::lt_pco_chunk_decoder>();
    of_any_thread::<wrapped_encoder::lt_pco_file_encoder>();
    of_any_thread::<wrapped_encoder::lt_pco_chunk_encoder>();
};

/// The version of this interface: 65536 times a number that changes when programs must be built
/// anew, plus one that grows with what is added.
pub const LT_ABI_VERSION: u32 = 0x0000_0006;

/// LT_ABI_VERSION of the library in use. Its upper half must be that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn lt_abi_version() -> u32 {
    LT_ABI_VERSION
}

/// The version of the library, such as "0.1.0". It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn lt_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
