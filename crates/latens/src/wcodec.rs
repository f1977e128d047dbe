//! WCodec: checkpoints of quantised weights, exact and readable by the slice.

mod plane;

pub use plane::{Content, Part, Plane, Role};
