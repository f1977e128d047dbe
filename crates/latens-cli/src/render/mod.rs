//! What people see: aligned rows, bars, colours, pages.

pub mod advise;
pub mod archive;
pub mod bar;
pub mod bench;
pub mod checkpoint;
pub mod dbp;
pub mod flat;
pub mod grid;
pub mod html;
pub mod inspect;
pub mod next;
pub mod parquet;
pub mod screen;
pub mod style;
pub mod tensors;
pub mod units;
