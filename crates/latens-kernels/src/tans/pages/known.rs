//! Which symbols a table has: nodes say what these are like.

use super::MOST_SYMBOLS;
use crate::tans::slot::Node;

/// Numbers for symbols, by what nodes say of them.
pub(super) struct Known {
    /// By hash: a node's part and its number, or none.
    places: Vec<Option<(u64, u8)>>,
    pub(super) count: usize,
}

impl Known {
    pub(super) fn new() -> Self {
        Self { places: vec![None; 4 * MOST_SYMBOLS], count: 0 }
    }

    /// None where there are too many.
    pub(super) fn number(&mut self, node: Node) -> Option<u8> {
        let key = u64::from(node.payload()) << 8 | u64::from(node.offset_bits());
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        loop {
            match self.places[at] {
                Some((known, number)) if known == key => return Some(number),
                Some(_) => at = (at + 1) % self.places.len(),
                None => {
                    let number = u8::try_from(self.count).ok()?;
                    self.places[at] = Some((key, number));
                    self.count += 1;
                    return Some(number);
                }
            }
        }
    }
}
