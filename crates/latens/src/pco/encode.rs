//! Writing: from the numbers of a chunk to bytes.
//!
//! `plan` says how a chunk is encoded. `auto` chooses a plan by its size on a `sample`: it weighs
//! each `candidate`, by `rough` sizes first, and has the best ones `refine`d. `split` applies mode
//! and delta encoding, `chunk` trains the bins and makes the metadata, `page` codes the latents,
//! `body` holds their bits.

pub(crate) mod auto;
pub(crate) mod body;
pub(crate) mod candidate;
pub(crate) mod chunk;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod refine;
pub(crate) mod rough;
pub(crate) mod sample;
pub(crate) mod split;
