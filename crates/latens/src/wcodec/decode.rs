//! From bytes to tensors.

pub(crate) mod group;
pub(crate) mod part;
mod piece;
pub(crate) mod pieces;
pub(crate) mod places;
pub(crate) mod pool;
pub(crate) mod tables;
pub(crate) mod telling;
mod words;
