//! Where the stored bytes of groups are, for errors.

use crate::error::{Error, ErrorKind};

/// Where groups are in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Places<'a> {
    /// Where each begins.
    File(&'a [u64]),
    /// All in the record of the index that begins there.
    Inline(u64),
}

impl Places<'_> {
    /// An error whose place counts from the start of a group's stored bytes, or that knows of none: what
    /// asks for the impossible is the file then, not the caller.
    pub(crate) fn locate(&self, group: usize, error: Error) -> Error {
        let is_of_file = error.kind() == ErrorKind::InvalidArgument && !error.is_limit();
        let error = if is_of_file { Error::corrupt(0, error.what().to_owned()) } else { error };
        let error = match self {
            Self::File(places) => error.offset_by(places.get(group).copied().unwrap_or(0)),
            Self::Inline(at) => error.moved_to(*at),
        };
        error.within(format!("group {group}"))
    }
}
