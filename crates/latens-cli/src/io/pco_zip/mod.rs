//! `.pco.zip`: a table, or one n-dimensional array, as a plain ZIP archive.
//!
//! All members are stored, none is compressed a second time; dates are 1980-01-01, so that the same
//! table gives the same bytes.
//!
//! | member | what |
//! |---|---|
//! | `NAME.pco` | numbers of a column, or codes of a dictionary, nulls left out |
//! | `NAME.high.pco`, `NAME.low.pco` | the two 64-bit words of wider numbers |
//! | `NAME.zst` | text or binary: values (distinct ones where there are codes), joined |
//! | `NAME.lengths.pco` | their lengths, where they differ |
//! | `NAME.valid.pco` | run lengths of rows, in turn valid and null, the first valid |
//! | `schema.json` | [`manifest::Manifest`]: order, types, names, rows, nulls, sizes |
//!
//! The archive's comment, its last 29 bytes, is the CRC-32 of all bytes before it ([`seal`]):
//! single flipped bits anywhere are found, structures of the ZIP itself included.

mod bytes;
mod column;
mod decode;
mod encode;
mod inspect;
mod manifest;
mod names;
mod read;
mod seal;
mod validity;
mod write;

pub use column::size;
pub use inspect::{ColumnInspection, Inspection, inspect};
pub use read::PcoZipTable;
pub use write::write;
