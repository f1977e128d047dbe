//! WCodec: checkpoints of quantised weights, exact and readable by the slice.

pub mod bitplane;
pub mod context;
mod plane;
pub mod predictor;
pub mod scan;
pub mod tile;
pub mod transform;

pub use plane::{Content, Part, Plane, Role};
