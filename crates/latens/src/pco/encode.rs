//! Writing: from the numbers of a chunk to bytes.
//!
//! `plan` says how a chunk is encoded, and the caller and `auto` `choose` it. `auto` goes by sizes
//! on a `sample`: it weighs each `candidate` by its `estimates`, by `rough` sizes first, and has the best ones
//! `refine`d, as far as the values that come again (`distinct`, `recurrence`, `few`) make that worth it; `whole`
//! weighs all of a chunk. `split` applies mode and delta encoding, `states` makes states of what lookbacks
//! do not reach, `chunk` trains the bins and makes the
//! metadata, `page` codes the latents, `body` holds their bits. Where size is favoured, `exact`
//! measures the best candidates on the whole chunk, and `cut` makes several chunks of one where its
//! numbers change, at places that `segments` finds.

pub(crate) mod auto;
pub(crate) mod body;
pub(crate) mod candidate;
pub(crate) mod choose;
pub(crate) mod chunk;
pub(crate) mod cut;
pub(crate) mod distinct;
pub(crate) mod estimates;
pub(crate) mod exact;
pub(crate) mod few;
pub(crate) mod page;
pub(crate) mod period;
pub(crate) mod plan;
pub(crate) mod recurrence;
pub(crate) mod refine;
pub(crate) mod rough;
pub(crate) mod sample;
pub(crate) mod segments;
pub(crate) mod split;
pub(crate) mod states;
pub(crate) mod whole;
