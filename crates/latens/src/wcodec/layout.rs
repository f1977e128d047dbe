//! The structures of the format as they lie in the file, one file each, read and written there.
//!
//! ```text
//! file         header | groups, descriptor (of each stored entry) | bank | index | footer
//! index        HEAD, BASE, BANK, ENTRY…, FILE…
//! descriptor   view | part…
//! part         shape | codec | groups
//! ```

pub(crate) mod class_rule;
pub(crate) mod descriptor;
pub(crate) mod ending;
pub(crate) mod entry;
pub(crate) mod fields;
pub(crate) mod file;
pub(crate) mod golomb;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod parity;
pub(crate) mod part;
pub(crate) mod prediction;
pub(crate) mod records;
pub(crate) mod short_stream;
pub(crate) mod source;
pub(crate) mod sums;
pub(crate) mod symbols;
pub(crate) mod table;
pub(crate) mod xor;
