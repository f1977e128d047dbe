//! Which transform a sub-block gets: the one whose numbers cost least.

use super::{Block, Transform};

/// The one of `among` whose coefficients cost least, the first where several do; NONE where there are none.
pub fn choose(block: &Block, among: &[Transform]) -> Transform {
    let cost = |transform: &Transform| {
        let mut coefficients = *block;
        transform.forward(&mut coefficients);
        cost(&coefficients)
    };
    match among {
        [one] => *one,
        _ => among.iter().copied().min_by_key(cost).unwrap_or_default(),
    }
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
