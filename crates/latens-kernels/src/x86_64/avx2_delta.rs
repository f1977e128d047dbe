//! AVX2 kernels of [`crate::delta`].
//!
//! Eight fields of width b are exactly b bytes, so where each field lies within a group of eight
//! depends on b alone. A group is taken apart like this, with constants from a table by width:
//!
//! 1. load a window of 16 bytes per 128-bit half, for the two or four fields that go there (one for both
//!    halves up to 16 bits in lanes of 32; two pairs of windows for 64-bit numbers above 32 bits);
//! 2. shuffle the bytes of each field to its lane;
//! 3. shift each lane right by the field's position within its first byte, and mask;
//! 4. where a field spans one byte more than its lane, bring that byte in from a second shuffle.
//!
//! Then sums within the register in log steps; 64-bit numbers of up to 8 bits become bytes, which are added
//! up eight at a time. What is carried from group to group is the last value, with the ramp min_delta · (1,
//! 2, 3, …) where sums do not have it: the chain from one group to the next is an addition or two.

mod group;
mod lanes32;
mod lanes64;
mod places;

pub(crate) use lanes32::decode_block_u32;
pub(crate) use lanes64::decode_block_u64;
