//! One error type for the whole library: what is wrong, where, and of which of four kinds.

use std::borrow::Cow;
use std::fmt;

/// What every fallible function of the library returns.
pub type Result<T> = std::result::Result<T, Error>;

/// The four kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not what the format allows.
    Corrupt,
    /// The bytes end before what they announce.
    Truncated,
    /// The caller asked for something that cannot be: a wrong type, a bad setting, a limit passed;
    /// or for an end.
    InvalidArgument,
    /// The reader or writer underneath failed.
    Io,
}

impl ErrorKind {
    /// One word, as it stands in front of a message.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Corrupt => "corrupt",
            ErrorKind::Truncated => "truncated",
            ErrorKind::InvalidArgument => "invalid argument",
            ErrorKind::Io => "I/O",
        }
    }
}

/// What went wrong, and where.
///
/// Displays as `corrupt: chunk 3: bin weights sum to 15, the table holds 16 (byte 4711)`.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    at: Option<u64>,
    /// Outermost first: `chunk 3`, `page 0`.
    within: Vec<String>,
    what: Cow<'static, str>,
    values: Option<u64>,
    /// How many of these are known to be right.
    right: Option<u64>,
    limit: bool,
    stopped: bool,
    source: Option<std::io::Error>,
}

impl Error {
    fn new(kind: ErrorKind, at: Option<u64>, what: impl Into<Cow<'static, str>>) -> Self {
        let (within, what) = (Vec::new(), what.into());
        let (limit, stopped) = (false, false);
        Error(Box::new(Inner {
            kind,
            at,
            within,
            what,
            values: None,
            right: None,
            limit,
            stopped,
            source: None,
        }))
    }

    /// Bytes that the format does not allow; `at` is the offset of the first byte concerned.
    #[cold]
    pub fn corrupt(at: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Corrupt, Some(at), what)
    }

    /// The input ends at byte `at`, inside of what is named.
    #[cold]
    pub fn truncated(at: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Truncated, Some(at), what)
    }

    /// A request that cannot be met.
    #[cold]
    pub fn invalid(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidArgument, None, what)
    }

    /// A request that passes one of its own [`Limits`](crate::Limits): invalid argument.
    #[cold]
    pub fn limit(what: impl Into<Cow<'static, str>>) -> Self {
        let mut error = Self::invalid(what);
        error.0.limit = true;
        error
    }

    /// What a [`Watch`](crate::Watch) ends a call with that is no longer wanted: invalid argument.
    #[cold]
    pub fn stopped() -> Self {
        let mut error = Self::invalid("stopped, as was asked for");
        error.0.stopped = true;
        error
    }

    /// The same error with a byte offset where it had none.
    #[must_use]
    pub fn at_byte(mut self, at: u64) -> Self {
        self.0.at.get_or_insert(at);
        self
    }

    /// The same error with its byte offset moved by `base`: from within a part to the whole.
    #[must_use]
    pub fn offset_by(mut self, base: u64) -> Self {
        self.0.at = self.0.at.map(|at| at.saturating_add(base));
        self
    }

    /// The same error, if it has a place, at byte `at`: where that is all that is known of it.
    #[must_use]
    pub(crate) fn moved_to(mut self, at: u64) -> Self {
        self.0.at = self.0.at.map(|_| at);
        self
    }

    /// The same error, known to lie inside of `place` (`chunk 3`).
    #[must_use]
    pub fn within(mut self, place: impl Into<String>) -> Self {
        self.0.within.insert(0, place.into());
        self
    }

    /// The same error, known to be one of `place`, another input than the one that is read: its byte goes to the words.
    #[must_use]
    pub(crate) fn of_another(mut self, place: &str) -> Self {
        if let Some(at) = self.0.at.take() {
            self.0.what = format!("{} (byte {at})", self.0.what).into();
        }
        self.after_none().within(place)
    }

    /// The same error, known to come after `count` values that were decoded and handed out.
    #[must_use]
    pub fn after_values(mut self, count: u64) -> Self {
        self.0.values = Some(count);
        self.0.right = None;
        self
    }

    /// The same error, where some of the first `count` values were written and no others, and the first `right` of
    /// them are what they should be; none where `count` is 0.
    #[must_use]
    pub(crate) fn after_some(mut self, right: u64, count: u64) -> Self {
        self.0.values = (count > 0).then_some(count);
        self.0.right = self.0.values.map(|count| right.min(count));
        self
    }

    /// The same error, where nothing of what was decoded has been handed out.
    #[must_use]
    pub(crate) fn after_none(mut self) -> Self {
        self.0.values = None;
        self.0.right = None;
        self
    }

    /// How many values a function that decodes into the caller's buffer had written before it
    /// failed: nothing behind them was touched. They are right unless a checksum is what failed, which
    /// is compared behind what it is of, or the function works on several places at once: it says so, and
    /// [`Error::values_right`] how many are. `None` where nothing was written.
    pub fn values_before(&self) -> Option<u64> {
        self.0.values
    }

    /// Of the [`Error::values_before`], how many, from the first one on, are what they should be. Those behind
    /// them may be anything. Told by functions that work on several places at once: `None` of others, and
    /// where nothing was written.
    pub fn values_right(&self) -> Option<u64> {
        self.0.right
    }

    /// Which of the four kinds.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether a limit was passed that the caller had set: with a higher one the same input may be
    /// fine.
    pub fn is_limit(&self) -> bool {
        self.0.limit
    }

    /// Whether the call was ended by [`Error::stopped`]: nothing is wrong.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped
    }

    /// Offset in bytes from the start of the input, where the error has a place in it.
    pub fn at(&self) -> Option<u64> {
        self.0.at
    }

    /// The sentence without kind, place and offset.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// The named places around the error, outermost first.
    pub fn places(&self) -> &[String] {
        &self.0.within
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.0.kind.name())?;
        for place in &self.0.within {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.0.what)?;
        match self.0.at {
            Some(at) => write!(f, " (byte {at})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        let what = source.to_string();
        let mut error = Self::new(ErrorKind::Io, None, what);
        error.0.source = Some(source);
        error
    }
}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Corrupt => std::io::ErrorKind::InvalidData,
            ErrorKind::Truncated => std::io::ErrorKind::UnexpectedEof,
            ErrorKind::InvalidArgument => std::io::ErrorKind::InvalidInput,
            ErrorKind::Io => {
                error.0.source.as_ref().map_or(std::io::ErrorKind::Other, |e| e.kind())
            }
        };
        std::io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_and_where() {
        let e = Error::corrupt(11, "bad bin").offset_by(100).within("page 0").within("chunk 3");
        assert_eq!(e.to_string(), "corrupt: chunk 3: page 0: bad bin (byte 111)");
        assert_eq!(e.at(), Some(111));
        assert_eq!(e.kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn bytes_of_another_input_are_words() {
        let e = Error::corrupt(7, "bad").within("group 0").after_values(3).of_another("the base b");
        assert_eq!(e.to_string(), "corrupt: the base b: group 0: bad (byte 7)");
        assert_eq!((e.at(), e.values_before()), (None, None));
    }

    #[test]
    fn says_what_came_before() {
        let told = |e: &Error| (e.values_before(), e.values_right());
        let e = Error::invalid("bad");
        assert_eq!(told(&e), (None, None));
        let e = e.after_some(3, 9);
        assert_eq!(told(&e), (Some(9), Some(3)));
        let e = e.after_values(5);
        assert_eq!(told(&e), (Some(5), None));
        let e = e.after_some(0, 0);
        assert_eq!(told(&e), (None, None));
        assert_eq!(told(&e.after_some(1, 2).after_none()), (None, None));
    }
}
