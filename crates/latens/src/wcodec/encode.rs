//! From tensors to bytes.

pub(crate) mod bands;
pub(crate) mod bank;
pub(crate) mod batch;
pub(crate) mod candidates;
pub(crate) mod centre;
pub(crate) mod columns;
pub(crate) mod cost;
pub(crate) mod family;
pub(crate) mod fit;
pub(crate) mod levels;
pub(crate) mod linear;
pub(crate) mod matrix;
pub(crate) mod merge;
pub(crate) mod model;
pub(crate) mod part;
pub(crate) mod plan;
pub(crate) mod plane;
pub(crate) mod repeats;
pub(crate) mod sources;
pub(crate) mod streams;
pub(crate) mod symbols;
pub(crate) mod taken;
pub(crate) mod tally;
pub(crate) mod tensor;
pub(crate) mod tiled;
pub(crate) mod words;
