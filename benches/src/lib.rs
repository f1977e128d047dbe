//! What the comparison programs share.

pub mod corpus;
