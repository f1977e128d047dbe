//! WCodec: checkpoints of quantised weights, exact and readable by the slice.

mod base;
pub mod bitplane;
pub mod checkpoint;
pub(crate) mod class;
mod compress;
mod config;
pub mod context;
pub(crate) mod decode;
pub mod dtype;
pub(crate) mod encode;
mod hash;
pub(crate) mod layout;
mod open_tensor;
mod plane;
pub mod predictor;
mod reader;
pub mod scan;
pub(crate) mod threads;
pub mod tile;
pub(crate) mod tiled;
pub mod transform;
pub mod view;
mod writer;

pub use base::{Base, BaseCheckpoint};
pub use compress::{BaseFile, compress_checkpoint, compress_checkpoint_to_file};
pub use config::{Coder, Config, MAX_LEVEL, Tools};
pub use layout::header::BaseQuantisation;
pub use plane::{Content, Part, Plane, Role};
pub use reader::{Reader, TensorEntry};
