//! Modes: how a number splits into one or two latents and is joined again.
//!
//! One file a mode, each with `split` (numbers' ordered latents to latents) and `join` (back).
//! Everything works on ordered latents; see [`crate::number`].

pub(crate) mod decimals;
pub(crate) mod detect;
pub(crate) mod detect_floats;
pub(crate) mod dict;
pub(crate) mod float_mult;
pub(crate) mod float_quant;
pub(crate) mod int_mult;
pub(crate) mod trend;
pub(crate) mod variables;
