//! What a lookback and the distance to the latent that it leads to will cost, learnt from those
//! that were chosen so far.

use crate::number::Latent;
use std::hint::select_unpredictable;

/// Latents for which costs stand still.
pub(super) const BLOCK: usize = 64;
/// Costs by length in bits are learnt anew after so many latents.
const EPOCH: u32 = 1 << 10;
/// Lookbacks up to this are counted one by one, others by their length in bits.
const SINGLE: usize = 1 << 15;
/// A lookback that was taken this often may have a bin of its own.
const OFTEN: u32 = 8;
/// Above 16 times the log2 of any count.
const OWN: u32 = 1 << 10;
/// Of lookbacks without a bin of their own.
const NONE: u16 = u16::MAX;

/// A lookback with what it costs, in 1/16 bits as the bins will have it, as one integer of which the
/// least is the best choice: cost, then length of the distance, then lookback.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice(u64);

impl Choice {
    pub(super) const NONE: Self = Self(u64::MAX);
    const COST: u32 = 48;
    const DISTANCE: u32 = 32;

    /// Without a jump: which one it is comes as a surprise.
    #[inline(always)]
    pub(super) fn or(self, other: Self) -> Self {
        Self(select_unpredictable(other.0 < self.0, other.0, self.0))
    }

    /// The length in bits of its distance.
    #[inline(always)]
    fn distance_bits(self) -> usize {
        (self.0 >> Self::DISTANCE) as usize & 0xff
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    pub(super) fn lookback(self) -> u32 {
        self.0 as u32
    }
}

/// What was chosen so far, and what it tells of costs.
pub(super) struct Costs {
    /// By length in bits of the distance.
    distance: [u32; 65],
    /// By leading zeros of the distance: what it adds to a choice.
    distance_cost: [u64; 65],
    /// By leading zeros of the lookback.
    length: [u32; 33],
    length_cost: [u32; 33],
    /// By lookback, as far as counted: how often it was taken, and what it costs by itself, but for the
    /// log2 of the total, from [`OWN`] downwards.
    single: Vec<u32>,
    own: Vec<u16>,
    total: u32,
    /// 16 times the log2 of the total.
    total_log: u32,
}

/// 16 times the bits of an event seen `count` times of `total`.
fn bits16(count: u32, total: u32) -> u32 {
    log16(total).saturating_sub(log16(count))
}

/// About 16 times the log2, by a float's exponent and highest bits.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "of the highest bits alone")]
fn log16(x: u32) -> u32 {
    ((x.max(1) as f32).to_bits() >> 19) - 127 * 16
}

impl Costs {
    pub(super) fn new<L: Latent>(window_log: u32) -> Self {
        let singles = SINGLE.min(1 << window_log) + 1;
        let mut costs = Self {
            distance: [1; 65],
            distance_cost: [0; 65],
            length: [1; 33],
            length_cost: [0; 33],
            single: vec![0; singles],
            own: vec![NONE; singles],
            total: 0,
            total_log: 0,
        };
        costs.set::<L>(|_, bits| 16 * (bits + 2));
        costs
    }

    /// Sets costs by counts and lengths in bits.
    #[inline(always)]
    fn set<L: Latent>(&mut self, cost: impl Fn(u32, u32) -> u32) {
        for (bits, &count) in (0..=L::BITS).zip(&self.distance) {
            let cost = u64::from(cost(count, bits)) << Choice::COST;
            self.distance_cost[(L::BITS - bits) as usize] =
                cost | u64::from(bits) << Choice::DISTANCE;
        }
        for (zeros, (&count, length_cost)) in
            (0..).zip(self.length.iter().zip(&mut self.length_cost))
        {
            *length_cost = cost(count, 32 - zeros);
        }
    }

    /// A lookback without a distance. One seen again and again gets a bin of its own.
    #[inline(always)]
    pub(super) fn lookback(&self, lookback: u32) -> Choice {
        let by_length = self.length_cost[lookback.leading_zeros() as usize];
        let own = self.own.get(lookback as usize).copied().unwrap_or(NONE);
        // No less than 0, as a log2 of a count is no more than that of the total.
        let by_itself = self.total_log.wrapping_sub(OWN).wrapping_add(u32::from(own));
        Choice(u64::from(by_length.min(by_itself)) << Choice::COST | u64::from(lookback))
    }

    /// That lookback with the distance it leads to.
    #[inline(always)]
    pub(super) fn with_distance<L: Latent>(&self, lookback: Choice, distance: L) -> Choice {
        Choice(lookback.0 + self.distance_cost[distance.leading_zeros() as usize])
    }

    /// The lookback of a choice, without its distance.
    #[inline(always)]
    pub(super) fn without_distance<L: Latent>(&self, choice: Choice) -> Choice {
        Choice(choice.0 - self.distance_cost[L::BITS as usize - choice.distance_bits()])
    }

    /// Counts what was chosen in a block. `pairs` are lookbacks, and whether they lead to the very latent. Whether
    /// any did that was not chosen.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
    pub(super) fn learn<L: Latent>(&mut self, chosen: &[Choice], pairs: &[(u32, bool)]) -> bool {
        let (mut periods, mut n) = ([0; BLOCK], 0);
        for (choice, &(pair, is_very)) in chosen.iter().zip(pairs) {
            let bits = choice.distance_bits();
            self.distance[bits] += 1;
            self.length[choice.lookback().leading_zeros() as usize] += 1;
            self.count(choice.lookback());
            periods[n % BLOCK] = pair;
            n += usize::from(is_very & (bits > 0));
        }
        // A period whose latents cost hardly more by themselves would never begin to pay: it counts as if
        // it were chosen.
        self.distance[0] += n as u32;
        for &period in &periods[..n] {
            self.count(period);
        }
        let epoch = self.total / EPOCH;
        self.total += chosen.len() as u32;
        self.total_log = log16(self.total + 1);
        if self.total / EPOCH > epoch {
            let total = self.total;
            self.set::<L>(|count, bits| bits16(count, total) + 16 * bits.saturating_sub(1));
        }
        n > 0
    }

    #[inline(always)]
    fn count(&mut self, lookback: u32) {
        let lookback = lookback as usize;
        if let (Some(single), Some(own)) =
            (self.single.get_mut(lookback), self.own.get_mut(lookback))
        {
            *single += 1;
            #[expect(clippy::cast_possible_truncation, reason = "at most OWN")]
            let log = (OWN - log16(*single)) as u16;
            *own = select_unpredictable(*single > OFTEN, log, NONE);
        }
    }
}
