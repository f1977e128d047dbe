//! AVX2 kernels of [`crate::delta`].
//!
//! Eight fields of width b are exactly b bytes, so where each field lies within a group of eight
//! depends on b alone. A group is taken apart like this, with constants from a table by width:
//!
//! 1. load a window of 16 bytes per 128-bit half (or per pair of fields, of 64-bit numbers above 21
//!    bits);
//! 2. shuffle the bytes of each field to its lane;
//! 3. shift each lane right by the field's position within its first byte, and mask;
//! 4. where a field spans one byte more than its lane, bring that byte in from a second shuffle.
//!
//! Then sums within the register in log steps. What is carried from group to group is one vector
//! that holds the last value plus the ramp min_delta · (1, 2, 3, …): the chain from one group to
//! the next is a single addition.

mod group;
mod lanes32;
mod lanes64;
mod places;

pub(crate) use lanes32::decode_block_u32;
pub(crate) use lanes64::decode_block_u64;
