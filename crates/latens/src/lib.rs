//! Lossless compression for numbers.
#![forbid(unsafe_code)]

mod ans;
mod bits;
pub mod delta_binary_packed;
pub mod error;
pub mod limits;
pub mod number;
pub mod pco;

pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use number::{AnyNumbers, Latent, Number, NumberKind, NumberType, f16};
