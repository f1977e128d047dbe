//! The structures of the format as they lie in the file, one file each, read and written there.
//!
//! ```text
//! file         header | groups, descriptor (of each stored entry) | bank | index | footer
//! index        HEAD, BASE, BANK, ENTRY…, FILE…
//! descriptor   view | part…
//! part         shape | codec | groups
//! ```

pub(crate) mod fields;
pub(crate) mod golomb;
pub(crate) mod short_stream;
pub(crate) mod table;
