//! Asymmetric numeral systems: the entropy layer, which knows symbols and no format.

pub(crate) mod compact;
pub(crate) mod frequencies;
pub(crate) mod rans;
pub(crate) mod tans;
