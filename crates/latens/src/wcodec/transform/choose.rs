//! Which transform a sub-block gets: the one whose numbers cost least.

use super::{Block, Transform};

/// The transform whose coefficients cost least, and what they cost by `cost`; `bias` is what a
/// transform must save, in the same units.
pub fn choose(block: &Block, bias: u64) -> (Transform, u64) {
    let mut best = (Transform::None, cost(block));
    for transform in [Transform::Dct, Transform::Adst] {
        let mut coefficients = *block;
        transform.forward(&mut coefficients);
        let here = cost(&coefficients).saturating_add(bias);
        if here < best.1 {
            best = (transform, here);
        }
    }
    best
}

/// An estimate of what numbers cost, in 1/16 bits: two bits for each doubling of a magnitude.
fn cost(block: &Block) -> u64 {
    let one = |&x: &i16| {
        let m = u64::from(x.unsigned_abs()) + 1;
        let log = m.ilog2();
        // log2 in sixteenths, by a straight line between powers of two.
        let sixteenths = 16 * u64::from(log) + ((m << 4 >> log) - 16);
        16 + 2 * sixteenths
    };
    block.iter().map(one).sum()
}
