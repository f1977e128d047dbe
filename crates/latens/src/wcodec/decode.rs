//! From bytes to tensors.

pub(crate) mod group;
pub(crate) mod part;
pub(crate) mod tables;
