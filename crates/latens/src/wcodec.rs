//! WCodec: checkpoints of quantised weights, exact and readable by the slice.

pub mod checkpoint;
pub(crate) mod class;
pub mod dtype;
pub(crate) mod encode;
pub(crate) mod layout;
mod plane;
pub(crate) mod threads;
pub mod view;

pub use plane::{Content, Part, Plane, Role};
