//! Lossless compression for numbers.
#![forbid(unsafe_code)]

mod bits;
pub mod delta_binary_packed;
pub mod error;
pub mod limits;
pub mod number;

pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use number::{Latent, Number, NumberKind, NumberType, f16};
