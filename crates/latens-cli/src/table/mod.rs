//! Tables: what they are, where they come from, where they go.

pub mod compare;
pub mod model;
pub mod piece;
pub mod source;
