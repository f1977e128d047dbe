//! Which damage case number `i` of a target is.

use crate::ground::Ground;
use crate::random::Random;
use crate::strategy::{Strategy, damage};

/// The cases of a target: first all that [`Strategy::THOROUGH`] knows, of every ground, then as
/// many drawn ones as are wanted.
pub struct Cases {
    grounds: Vec<Ground>,
    /// Number of the first case behind each (ground, strategy).
    ends: Vec<(usize, usize, Strategy)>,
    /// Of a target whose bytes are a recipe nothing is thorough.
    drawn_only: bool,
    seed: u64,
}

/// One case.
pub struct Case<'a> {
    /// The sound file.
    pub ground: &'a Ground,
    /// What was done to it.
    pub strategy: Strategy,
    /// What came of that.
    pub bytes: Vec<u8>,
}

impl Cases {
    /// Of these grounds.
    pub fn new(grounds: Vec<Ground>, drawn_only: bool, seed: u64) -> Self {
        let (mut ends, mut end) = (Vec::new(), 0);
        for (i, ground) in grounds.iter().enumerate() {
            for strategy in Strategy::THOROUGH {
                end += strategy.cases(ground.bytes.len());
                ends.push((end, i, strategy));
            }
        }
        Self { grounds, ends, drawn_only, seed }
    }

    /// The sound files.
    pub fn grounds(&self) -> &[Ground] {
        &self.grounds
    }

    /// How many cases the thorough strategies have.
    pub fn thorough(&self) -> usize {
        if self.drawn_only { 0 } else { self.ends.last().map_or(0, |end| end.0) }
    }

    /// Case `index` of `wanted`. Where fewer are wanted than twice the thorough ones, these are
    /// thinned out evenly to half of them.
    pub fn case(&self, index: usize, wanted: usize) -> Case<'_> {
        let all = self.thorough();
        let kept = all.min(wanted / 2);
        if index < kept {
            let number = (index as u128 * all as u128 / kept as u128) as usize;
            let at = self.ends.partition_point(|end| end.0 <= number);
            let (end, ground, strategy) = self.ends[at];
            let ground = &self.grounds[ground];
            let within = number - (end - strategy.cases(ground.bytes.len()));
            let mut random = Random(self.seed ^ number as u64);
            let bytes = damage(strategy, &ground.bytes, &[], within, &mut random);
            return Case { ground, strategy, bytes };
        }
        let mut random = Random(Random(self.seed).word() ^ index as u64);
        let (ground, other) = (random.pick(&self.grounds), random.pick(&self.grounds));
        let splice = !self.drawn_only && random.below(4) == 0;
        let strategy = if splice { Strategy::Splice } else { Strategy::Havoc };
        let bytes = damage(strategy, &ground.bytes, &other.bytes, 0, &mut random);
        Case { ground, strategy, bytes }
    }
}
