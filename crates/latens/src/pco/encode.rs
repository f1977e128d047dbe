//! Writing: from the numbers of a chunk to bytes.
//!
//! `plan` says how a chunk is encoded, `auto` chooses a plan by measured size on a
//! `sample`, `split` applies
//! its mode and delta encoding, `chunk` trains the bins and makes the metadata, `page` writes the
//! latents.

pub(crate) mod auto;
pub(crate) mod body;
pub(crate) mod chunk;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod sample;
pub(crate) mod split;
