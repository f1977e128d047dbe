//! Reading: from the bytes of a page to numbers, a batch at a time.
//!
//! `table` is a tANS table ready for use, `chunk` has those of all variables, `batch` reads the
//! latents of one batch, `variable` adds the undoing of deltas, `page` goes through a page and
//! `join`s the variables to numbers in its `room`, `workshop` is what the tables of all chunks share. `side_by_side` goes
//! through many pages at once.

pub(crate) mod batch;
pub(crate) mod chunk;
mod join;
pub(crate) mod page;
mod room;
pub(crate) mod side_by_side;
pub(crate) mod table;
pub(crate) mod variable;
pub(crate) mod workshop;
