//! WCodec: checkpoints of quantised weights, exact and readable by the slice.

pub(crate) mod layout;
mod plane;

pub use plane::{Content, Part, Plane, Role};
