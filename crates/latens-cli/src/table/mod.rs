//! Tables: what they are, where they come from, where they go.
//!
//! A [`source::Table`] is read column by column in pieces, whatever its format; each output format
//! pulls what it needs from it. [`jobs`] joins the two for the verbs.

pub mod advise;
pub mod array;
pub mod compare;
pub mod dbp;
pub mod dbp_write;
pub mod jobs;
pub mod model;
pub mod narrow;
pub mod npy;
pub mod open;
pub mod peers;
pub mod piece;
pub mod reading;
pub mod source;

pub use jobs::{compress, decompress, default_output, verify};
