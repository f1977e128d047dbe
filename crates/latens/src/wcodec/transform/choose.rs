//! Which transform a sub-block gets: the one whose numbers cost least.

use super::{Block, Transform};

/// The one of `among` whose coefficients cost least, the first where several do; NONE where there are none.
#[inline(always)]
pub fn choose(block: &Block, among: &[Transform]) -> Transform {
    if let [one] = among {
        return *one;
    }
    let mut best = (Transform::None, u64::MAX);
    for &transform in among {
        let mut coefficients = *block;
        transform.forward(&mut coefficients);
        let here = cost(&coefficients);
        if here < best.1 {
            best = (transform, here);
        }
    }
    best.0
}

/// An estimate of what numbers cost, in 1/16 bits: two bits for each doubling of a magnitude.
#[inline(always)]
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
