//! What a decoder may allocate and emit.

use crate::error::{Error, Result};

/// Bounds that a decoder keeps, whatever its input says. They are checked before allocating.
///
/// The default bounds nothing but what the input has not earned: decoders always grow their
/// buffers with the bytes actually read. Set the first two where input comes from strangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most bytes of numbers that may be decoded. Of a `.wcodec`: by one call, what is asked for, rows, a slice, bytes of
    /// a tensor or all of it, also where the caller's memory is written to; all of a tensor where rows cannot be decoded
    /// by themselves; of files that are written all of each, and each tensor of one that is verified. Nothing that the
    /// index says.
    pub max_output: u64,
    /// Most bytes that tables, dictionaries and windows of one chunk may take. Of a `.wcodec`: the index, the tables, a
    /// descriptor, each for itself; and, where they have more than `max_output`, each tensor that explains another one,
    /// such as scales, and groups of few bytes that are decoded for a row among them.
    pub max_alloc: u64,
    /// Most slots that the tables of a Pco file may have in all beyond eight for each number of
    /// their chunk: work that is no part of the output. 2^22 by default, some tens of
    /// milliseconds, which no file of the encoders known comes near.
    pub max_spare_slots: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_output: u64::MAX, max_alloc: u64::MAX, max_spare_slots: 1 << 22 }
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

    /// No more than so many slots of tables that numbers do not earn.
    #[must_use]
    pub fn max_spare_slots(mut self, slots: u64) -> Self {
        self.max_spare_slots = slots;
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

    /// Whether `bytes` of `what`, which is decoded for other numbers, are within either limit.
    ///
    /// # Errors
    /// Those of [`Limits::check_alloc`].
    pub(crate) fn check_aside(&self, bytes: u64, what: &str) -> Result<()> {
        self.check_output(bytes).or_else(|_| self.check_alloc(bytes, what))
    }

    /// Whether so many slots that no numbers earned are within [`Limits::max_spare_slots`].
    ///
    /// # Errors
    /// Invalid argument, naming the limit, when they are not.
    pub(crate) fn check_spare_slots(&self, slots: u64) -> Result<()> {
        if slots > self.max_spare_slots {
            return Err(Error::limit(format!(
                "the tables of these chunks have {slots} slots more than their few numbers earn, \
                 over the limit max_spare_slots = {}; no encoder known writes such a file: raise \
                 the limit if you trust this one",
                self.max_spare_slots
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
