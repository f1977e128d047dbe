//! One folder a file format; none of them is parsed by hand where a crate does it.

pub mod csv;
pub mod guard;
pub mod parquet;
pub mod pco_zip;
pub mod section;
