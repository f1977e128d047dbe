//! Sound files to damage, made here by our own encoders. The same in every run.

pub mod arrays;
pub mod checkpoints;
pub mod delta;
pub mod pco;

/// A sound file.
#[derive(Clone, Debug)]
pub struct Ground {
    /// What it is.
    pub name: String,
    /// What a decoder is told beside the bytes: a type, a mode of reading.
    pub selector: u8,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Ground {
    /// One with this name.
    pub fn new(name: impl Into<String>, selector: u8, bytes: Vec<u8>) -> Self {
        Ground { name: name.into(), selector, bytes }
    }
}
