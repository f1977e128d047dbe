//! What can go wrong beside what the library knows.

use std::fmt;

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the device or of the library.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no driver, no device, or none that can be used; the sentence says which. Decode with
    /// [`latens::wcodec::Reader`] instead.
    GpuUnavailable(String),
    /// The driver refused something: out of memory, a lost device.
    Device(String),
    /// Damaged data, a wrong request, I/O.
    Data(latens::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::GpuUnavailable(what) => write!(f, "no GPU: {what}"),
            Error::Device(what) => write!(f, "GPU: {what}"),
            Error::Data(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Data(error) => Some(error),
            _ => None,
        }
    }
}

impl From<latens::Error> for Error {
    fn from(error: latens::Error) -> Self {
        Error::Data(error)
    }
}
