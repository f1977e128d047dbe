//! Numbers without order, for tests.

/// Of neighbouring numbers such that have nothing in common.
pub(crate) fn mix(x: u64) -> u64 {
    let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mix(mix(mix(x + 1)))
}
