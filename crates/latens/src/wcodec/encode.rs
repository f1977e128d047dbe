//! From tensors to bytes.

pub(crate) mod bank;
pub(crate) mod cost;
pub(crate) mod fit;
pub(crate) mod levels;
pub(crate) mod linear;
pub(crate) mod merge;
pub(crate) mod part;
pub(crate) mod plan;
pub(crate) mod symbols;
pub(crate) mod tensor;
pub(crate) mod tiled;
pub(crate) mod words;
