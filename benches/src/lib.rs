//! What the comparison programs share.

pub mod cores;
pub mod corpus;
pub mod noise;
pub mod pco_conv1;
pub mod pco_pages;
pub mod pco_threads;
pub mod peers;
pub mod reference;
pub mod timing;

/// What went wrong, in words.
pub type Failure = Box<dyn std::error::Error>;
