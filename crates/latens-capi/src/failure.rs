//! Why a call fails.

use latens::{Error, ErrorKind};
use std::any::Any;

/// What became of a call. Others may be added.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lt_status {
    /// All went well.
    Ok = 0,
    /// The bytes are not what the format allows.
    Corrupt = 1,
    /// The bytes end before what they announce.
    Truncated = 2,
    /// The caller asked for something that cannot be: a NULL pointer, a wrong type, a bad setting.
    InvalidArgument = 3,
    /// A file could not be read or written.
    Io = 4,
    /// A limit was passed that the caller had set. With a higher one the input may be fine.
    Limit = 5,
    /// The output does not fit into the memory that was given for it.
    BufferTooSmall = 6,
    /// A bug of latens: please report it. The call had no effect that can be relied on; handles it
    /// was given may only be closed.
    Internal = 7,
    /// The caller's lt_watch ended the call.
    Stopped = 8,
}

/// Why a call fails.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: lt_status,
    pub(crate) offset: Option<u64>,
    pub(crate) values_before: Option<u64>,
    pub(crate) values_right: Option<u64>,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(status: lt_status, message: impl Into<String>) -> Self {
        let (offset, values_before, values_right) = (None, None, None);
        Self { status, offset, values_before, values_right, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::from(Error::invalid(message.into()))
    }

    /// `needed` bytes or numbers, where there is room for `room`.
    pub(crate) fn too_small(what: &str, needed: u64, room: usize) -> Self {
        let message = format!("buffer too small: {what} takes {needed}, there is room for {room}");
        Self::new(lt_status::BufferTooSmall, message)
    }

    pub(crate) fn of_panic(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = format!("internal: a bug of latens: {}", text.unwrap_or("no message"));
        // Its destructor is not ours, and might panic again.
        std::mem::forget(payload);
        Self::new(lt_status::Internal, message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::Corrupt => lt_status::Corrupt,
            ErrorKind::Truncated => lt_status::Truncated,
            ErrorKind::InvalidArgument if error.is_limit() => lt_status::Limit,
            ErrorKind::InvalidArgument if error.is_stopped() => lt_status::Stopped,
            ErrorKind::Io => lt_status::Io,
            _ => lt_status::InvalidArgument,
        };
        let (offset, values_before) = (error.at(), error.values_before());
        let values_right = error.values_right();
        Self { status, offset, values_before, values_right, message: error.to_string() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::from(Error::from(error))
    }
}
