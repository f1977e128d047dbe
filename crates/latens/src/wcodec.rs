//! WCodec: checkpoints of quantised weights, exact and readable by the slice.

pub mod checkpoint;
pub(crate) mod class;
mod compress;
mod config;
pub(crate) mod decode;
pub mod dtype;
pub(crate) mod encode;
mod hash;
pub(crate) mod layout;
mod open_tensor;
mod plane;
mod reader;
pub(crate) mod threads;
pub mod view;
mod writer;

pub use compress::{compress_checkpoint, compress_checkpoint_to_file};
pub use config::{Config, MAX_LEVEL};
pub use layout::header::BaseQuantisation;
pub use plane::{Content, Part, Plane, Role};
pub use reader::{Base, Reader, TensorEntry};
