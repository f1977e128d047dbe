//! What the comparison programs share.

pub mod corpus;
pub mod reference;
pub mod timing;
