//! What the comparison programs share.

pub mod corpus;
pub mod noise;
pub mod pco_more;
pub mod pco_pages;
pub mod peers;
pub mod reference;
pub mod timing;
