//! Reading: from the bytes of a page to numbers, a batch at a time.
//!
//! `table` is a chunk's tANS table ready for use, `batch` reads the latents of one batch,
//! `variable` adds the undoing of deltas, `page` joins the variables to numbers.

pub(crate) mod batch;
pub(crate) mod page;
pub(crate) mod spare;
pub(crate) mod table;
pub(crate) mod variable;
