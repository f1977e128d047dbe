//! CSV files as tables: a header line, commas, quotes where needed; an empty field is a null.
//!
//! Types are found, not stated ([`infer`]): `i64` where all fields of a column are integers that
//! fit, `f64` where all are numbers that an `f64` keeps, and text otherwise. So that nothing of a value is lost, a column stays text where a field has a
//! leading zero (`007`), a plus sign, spaces, or more digits than its `f64` prints to. Values come
//! back, their spelling (`1.50`, `1e3`) does not. In a file of one column an empty line is a null too.

mod fields;
mod infer;
mod lines;
mod read;
mod text;
mod write;

pub use read::CsvTable;
pub use write::{check, write};
