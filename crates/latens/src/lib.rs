//! Lossless compression for numbers.
#![forbid(unsafe_code)]

pub mod error;
pub mod limits;

pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
