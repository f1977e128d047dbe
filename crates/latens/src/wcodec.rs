//! WCodec: checkpoints of quantised weights, exact and readable by the slice.
//!
//! ```no_run
//! use latens::Limits;
//! use latens::wcodec::{self, Config, Reader, checkpoint::Checkpoint};
//! use std::fs::File;
//!
//! let checkpoint = Checkpoint::open("model.safetensors".as_ref())?;
//! let out = File::create("model.wcodec")?;
//! wcodec::compress_checkpoint_to_file(&checkpoint, None, &Config::default(), out)?;
//!
//! let reader = Reader::open(File::open("model.wcodec")?, Limits::default())?;
//! let number = reader.find("layer.0.weight").expect("a tensor of that name");
//! let some = reader.rows(number, 0..64)?; // decodes the groups that hold these rows
//! reader.verify()?; // everything: checksums, padding, model hash
//! reader.write_file(0, &mut File::create("back.safetensors")?)?; // byte for byte
//! # drop(some);
//! # Ok::<(), latens::Error>(())
//! ```
//!
//! A tensor's bytes go through these steps, and back:
//!
//! | step | module |
//! |---|---|
//! | a checkpoint's files are taken apart; each tensor has a type | [`checkpoint`], [`dtype`] |
//! | a **view** splits a tensor into parts: weights, scales, zero points | [`view`] |
//! | tiles are predicted, sub-blocks transformed, where that pays | [`tile`], [`predictor`], [`transform`] |
//! | each symbol gets a class from what its row, column and block say of it | `class` |
//! | groups of rows are coded: by static tables, or by bitplanes | `encode`, [`bitplane`] |
//! | coefficients are put in an order, bits of planes get a context | [`scan`], [`context`] |
//! | descriptors, tables and index are written | `layout` |
//! | where another device decodes: what it needs to know of a tensor | [`device`] |
//!
//! `specs/wcodec.md` in the repository is the whole of the format.

mod base;
mod base_at;
pub mod bitplane;
pub(crate) mod by_rows;
mod byte_range;
pub mod checkpoint;
pub(crate) mod class;
mod compare;
mod compress;
mod config;
pub mod context;
pub(crate) mod crew;
pub(crate) mod data;
pub(crate) mod decode;
pub mod device;
pub mod dtype;
pub(crate) mod encode;
mod ends;
mod file_writer;
mod hash;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod hostile;
mod inspect;
mod kept;
pub(crate) mod layout;
mod logical;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod made;
mod names;
mod open_index;
mod open_tensor;
#[cfg(test)]
mod opening;
pub(crate) mod order;
mod order0;
mod output;
pub(crate) mod pairs;
mod placed;
mod plane;
pub mod predictor;
mod reader;
mod salvage;
pub mod scan;
mod side_by_side;
mod source_files;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod spec_examples;
mod split_part;
pub(crate) mod stack;
pub(crate) mod threads;
pub mod tile;
pub(crate) mod tiled;
pub mod transform;
mod verify;
pub mod view;
mod woven;
mod write_file;
mod write_tensor;
mod writer;

pub use base::{Access, Base, BaseCheckpoint, BaseTensor};
pub use base_at::{OF_BASE, open_base};
pub use compress::{BaseFile, compress_checkpoint, compress_checkpoint_to_file};
pub use config::{Coder, Config, MAX_LEVEL, Tools};
pub use inspect::{PartInspection, TensorInspection, TensorSummary};
pub use layout::header::BaseQuantisation;
pub use order0::Order0;
pub use plane::{Content, Part, Plane, Role};
pub use reader::{Reader, TensorEntry};
pub use salvage::{Damage, LostEntries, Salvage};
pub use source_files::Blob;
pub use verify::Fault;
pub use writer::Writer;
