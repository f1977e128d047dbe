//! Tables: what they are, where they come from, where they go.
//!
//! A [`source::Table`] is read column by column in pieces, whatever its format; each output format
//! pulls what it needs from it. [`compress`], [`decompress`] and [`verify`] join the two for the
//! verbs.

pub mod advise;
pub mod array;
pub mod compare;
pub mod compress;
pub mod dbp;
mod dbp_width;
pub mod dbp_write;
pub mod decompress;
pub mod flat;
pub mod model;
pub mod npy;
pub mod one;
pub mod open;
pub mod order;
pub mod own_type;
pub mod pco;
pub mod pco_write;
pub mod peers;
pub mod piece;
pub mod reading;
pub mod sample;
pub mod source;
pub mod verify;
