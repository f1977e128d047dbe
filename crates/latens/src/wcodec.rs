//! WCodec: checkpoints of quantised weights, exact and readable by the slice.

pub mod checkpoint;
pub mod dtype;
mod plane;
pub mod view;

pub use plane::{Content, Part, Plane, Role};
