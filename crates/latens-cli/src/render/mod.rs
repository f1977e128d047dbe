//! What people see: aligned rows, bars, colours, pages.

pub mod archive;
pub mod bar;
pub mod grid;
pub mod html;
pub mod inspect;
pub mod screen;
pub mod style;
pub mod units;
