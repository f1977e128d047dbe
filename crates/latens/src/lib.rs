//! Lossless compression for numbers.
#![forbid(unsafe_code)]

pub mod error;
pub mod limits;
pub mod number;

pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use number::{Latent, Number, NumberKind, NumberType, f16};
