//! Delta encodings: latents as distances to a prediction from earlier latents of the page.
//!
//! One file an encoding, each with `encode` (latents to state and residuals) and a decoder that
//! goes on from batch to batch. Residuals are stored offset by `MID`; everything wraps.

pub(crate) mod consecutive;
pub(crate) mod conv1;
pub(crate) mod conv1_close;
pub(crate) mod conv1_fit;
pub(crate) mod conv1_products;
mod conv1_quantize;
mod conv1_student;
pub(crate) mod lookback;
mod lookback_calm;
mod lookback_costs;
pub(crate) mod lookback_parse;
pub(crate) mod lookback_search;
