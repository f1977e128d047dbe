//! What a decoder may allocate and emit.

use crate::error::{Error, Result};

/// Bounds that a decoder keeps, whatever its input says. They are checked before allocating.
///
/// The default bounds nothing but what the input has not earned: decoders always grow their
/// buffers with the bytes actually read. Set both where input comes from strangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of numbers that may be decoded.
    pub max_output: u64,
    /// Most bytes that tables, dictionaries and windows of one chunk may take.
    pub max_alloc: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_output: u64::MAX, max_alloc: u64::MAX }
    }
}

impl Limits {
    /// No more than `bytes` of numbers.
    #[must_use]
    pub fn max_output(mut self, bytes: u64) -> Self {
        self.max_output = bytes;
        self
    }

    /// No more than `bytes` of tables and windows for one chunk.
    #[must_use]
    pub fn max_alloc(mut self, bytes: u64) -> Self {
        self.max_alloc = bytes;
        self
    }

    /// Whether `bytes` of output in all are within [`Limits::max_output`].
    ///
    /// # Errors
    /// Invalid argument, naming the limit, when they are not.
    pub fn check_output(&self, bytes: u64) -> Result<()> {
        if bytes > self.max_output {
            return Err(Error::limit(format!(
                "the output of {bytes} bytes or more passes the limit max_output = {}; \
                 raise it if you trust this input",
                self.max_output
            )));
        }
        Ok(())
    }

    /// Whether an allocation of `bytes` for `what` is within [`Limits::max_alloc`].
    ///
    /// # Errors
    /// Invalid argument, naming the limit, when it is not.
    pub fn check_alloc(&self, bytes: u64, what: &str) -> Result<()> {
        if bytes > self.max_alloc {
            return Err(Error::limit(format!(
                "{what} takes {bytes} bytes, over the limit max_alloc = {}; \
                 raise it if you trust this input",
                self.max_alloc
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn passing_one_is_told_apart() {
        let limits = Limits::default().max_output(10).max_alloc(20);
        assert!(limits.check_output(10).is_ok() && limits.check_alloc(20, "a table").is_ok());
        for error in [
            limits.check_output(11).unwrap_err().at_byte(3).within("chunk 0"),
            limits.check_alloc(21, "a table").unwrap_err(),
        ] {
            assert!(error.is_limit() && error.kind() == ErrorKind::InvalidArgument, "{error}");
        }
        assert!(!Error::invalid("max_output = 3").is_limit());
    }
}
