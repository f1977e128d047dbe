//! What is encoded, and how far it has come.

use crate::rans::classes::Classes;
use crate::rans::state::LANES;

/// An encoding on its way.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) symbols: &'a [u8],
    pub(crate) classes: Classes<'a>,
    pub(crate) states: [u32; LANES],
    pub(crate) buffer: &'a mut [u8],
    /// Where the words written begin.
    pub(crate) at: usize,
    /// Symbols still to be encoded, the first ones.
    pub(crate) left: usize,
}
