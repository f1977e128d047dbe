//! Into which form latents are made: how wide lower bounds and offsets are.

/// How latents are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of lower bounds alone, low halves of which say all.
    Bounds,
    /// Less the least bound they fit lanes of 32 bits, and so do offsets, to 31 bits.
    Short,
    /// The same of lanes of 16 bits and offsets to 15: bounds are words, one behind the other.
    Words,
    /// Low halves of bounds say all.
    Near,
    Far,
}
