//! stub
use crate::delta::Bodies;
pub(crate) unsafe fn decode_block_u32(b: Bodies<'_>, m: u32, l: u32, o: &mut [u32]) -> u32 {
    crate::scalar::delta::decode_block(b, m, l, o)
}
pub(crate) unsafe fn decode_block_u64(b: Bodies<'_>, m: u64, l: u64, o: &mut [u64]) -> u64 {
    crate::scalar::delta::decode_block(b, m, l, o)
}
