//! One column of numbers: `.npy`, bare little-endian bytes, standalone Pco.

mod by_chunks;
pub mod bytes;
pub mod compress;
pub mod decompress;
pub mod inspect;
pub mod inspect_dbp;
pub mod npy;
mod npy_literal;
pub mod pco;
pub mod source;
pub mod verify;
