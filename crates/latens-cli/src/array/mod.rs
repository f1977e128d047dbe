//! One column of numbers: `.npy`, bare little-endian bytes, standalone Pco.

pub mod npy;
mod npy_literal;
