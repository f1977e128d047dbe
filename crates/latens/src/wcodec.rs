//! WCodec: checkpoints of quantised weights, exact and readable by the slice.

pub(crate) mod class;
pub(crate) mod encode;
pub(crate) mod layout;
mod plane;
pub(crate) mod threads;

pub use plane::{Content, Part, Plane, Role};
