//! Tables as Pco spreads them: the slots of a table of `T = 2^log` that symbols own, and the ways
//! that lead from them.
//!
//! Slot `p` is the `k`th to be dealt, `k = p · stride⁻¹ mod T`; symbols own ranges of `k`, as long
//! as their weights. A symbol's slots, from the first to the last, are states `weight` to
//! `2 weight − 1`: state `x` has as many bits as shift it up to `T` or more, and what it is then, less
//! `T`, is the base. So a symbol's bases are a progression, and a second one from the first power of
//! two on.
//!
//! Files make these tables large and their numbers few, so that making must be fast: where symbols
//! own many slots they are made a stretch at a time, else each by itself.

use super::slot::{MAX_LOG, Node, Symbol};
use crate::dispatch::Present;
use crate::latent::Latent;

/// Symbols of so many slots on average come a stretch at a time. By measurement, in
/// `optimizations/pco-decoding.md`.
const MANY: usize = 32;
/// Five strides are three tables, and one or three slots more or less: so many slots further, what
/// is dealt has moved by as little as this. Slots are thus one or three lanes, each of which stays
/// with a symbol for a fifth of its weight.
const PACE: usize = 5;
/// The distance between slots dealt one after another: odd, near 3/5 of the table.
pub(super) const fn stride(size: usize) -> usize {
    let s = 3 * size / 5;
    if s.is_multiple_of(2) { s + 1 } else { s }
}

/// What the stride is to be multiplied with to be 1, modulo `size`.
pub(super) const fn inverse_stride(size: usize) -> usize {
    let stride = stride(size);
    let mut inverse = stride;
    let mut bits = 3;
    while bits < MAX_LOG {
        inverse = inverse.wrapping_mul(2usize.wrapping_sub(stride.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse & (size - 1)
}

/// Makes the nodes; the weights are positive and sum to `2^log`, and so many are the heads.
///
/// `None` where a node would lead out of the table, which does not happen.
pub(super) fn make<L: Latent>(
    log: u32,
    symbols: &[Symbol<L>],
    heads: &[u64],
    nodes: &mut Vec<Node>,
) -> Option<()> {
    let size = 1usize << log;
    let weights = symbols.iter().map(|s| s.weight);
    if symbols.len() == 1 || size / symbols.len() < MANY {
        nodes.clear();
        let owners: Vec<_> = heads.iter().copied().zip(weights).collect();
        return Present::in_use().call(
            #[inline(always)]
            || one_by_one(log, owners, nodes),
        );
    }
    // Those of the table before stay: each is written over.
    nodes.resize(size, Node::default());
    let mut end = 0;
    let owner = |(&head, weight): (&u64, u32)| {
        end += weight as usize;
        Owner::new(log, weight, head, end)
    };
    let (five, three) = (PACE * stride(size), 3 * size);
    let up = five > three;
    // What is dealt downwards is dealt upwards, seen from behind.
    let dealt = |slot: usize| {
        let k = (slot * inverse_stride(size)) & (size - 1);
        if up { k } else { size - 1 - k }
    };
    let mut owners: Vec<_> = match up {
        true => heads.iter().zip(weights).map(owner).collect(),
        false => heads.iter().zip(weights).rev().map(owner).collect(),
    };
    match five.abs_diff(three) {
        1 => by_stretches([0].map(dealt), &mut owners, nodes),
        3 => by_stretches([0, 1, 2].map(dealt), &mut owners, nodes),
        _ => None,
    }
}

/// Each slot by itself: `owners` are heads and next states.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "bases are below 2^14")]
fn one_by_one(log: u32, mut owners: Vec<(u64, u32)>, nodes: &mut Vec<Node>) -> Option<()> {
    let size = 1usize << log;
    let dealt = dealt_to(&owners, size);
    let dealt = dealt.get(..size)?;
    let (mut k, mut last) = (0, 1);
    nodes.extend((0..size).map(
        #[inline(always)]
        |_| {
            let owner = &mut owners[usize::from(dealt[k & (dealt.len() - 1)])];
            k += inverse_stride(size);
            let (head, x) = *owner;
            owner.1 = x + 1;
            last = last.max(x);
            // Below 2 · 2^log, which is looked at in the end, so that the next state is in the table.
            let bits = log.wrapping_sub(x.ilog2()) & 31;
            let base = (x << bits).wrapping_sub(1 << log) as u16;
            Node(head | u64::from(bits) | u64::from(base) << 16)
        },
    ));
    (last < 2 << log).then_some(())
}

/// The symbols' indices in the order in which slots are dealt, and a few more.
#[inline(always)]
fn dealt_to(owners: &[(u64, u32)], size: usize) -> Vec<u16> {
    const AT_ONCE: usize = 8;
    let mut dealt = vec![0; size + AT_ONCE];
    let mut at = 0;
    for (symbol, &(_, weight)) in (0u16..).zip(owners) {
        let end = at + weight as usize;
        while at < end {
            // The next symbols write over what is too much.
            let Some(some) = dealt[at..].first_chunk_mut() else { break };
            *some = [symbol; AT_ONCE];
            at += AT_ONCE;
        }
        at = end;
    }
    dealt
}

/// A symbol as far as its slots are made.
struct Owner {
    /// The next one.
    next: Node,
    /// From that to the one behind it.
    step: u64,
    /// Behind its range.
    end: usize,
}

impl Owner {
    fn new(log: u32, weight: u32, head: u64, end: usize) -> Self {
        let bits = log - weight.ilog2();
        let base = (weight << bits) - (1 << log);
        let next = Node(head | u64::from(bits) | u64::from(base) << 16);
        Self { next, step: 1 << (16 + bits), end }
    }

    /// Slots until their bits become fewer.
    fn left(&self, size: usize) -> usize {
        (size - self.next.base() as usize) >> self.next.bits()
    }

    /// Moves past `n` slots, no more than are left; `None` where one leads out of the table.
    fn pass(&mut self, n: usize, size: usize) -> Option<()> {
        self.next.0 += self.step * n as u64;
        // As far as bits lead from the last of them.
        let end = self.next.base() as usize;
        if end == size && self.next.bits() > 0 {
            self.next.0 -= ((size as u64) << 16) + 1;
            self.step >>= 1;
        }
        (end <= size).then_some(())
    }
}

/// A slot's place in the order of dealing, and whose it is.
#[derive(Clone, Copy)]
struct Lane {
    k: usize,
    owner: usize,
}

/// As many slots at a time as all lanes stay with their symbols and these with their bits.
fn by_stretches<const LANES: usize>(
    starts: [usize; LANES],
    owners: &mut [Owner],
    nodes: &mut [Node],
) -> Option<()> {
    let size = nodes.len();
    let mut lanes = starts.map(|k| Lane { k, owner: owners.partition_point(|o| o.end <= k) });
    let mut at = 0;
    while size - at >= LANES {
        let mut rounds = (size - at) / LANES;
        let (mut next, mut step) = ([0; LANES], [0; LANES]);
        for (i, lane) in lanes.iter().enumerate() {
            let owner = &owners[lane.owner];
            // Lanes with the same symbol take its slots by turns.
            let with = |lanes: &[Lane]| lanes.iter().filter(|l| l.owner == lane.owner).count();
            let (before, all) = (with(&lanes[..i]), with(&lanes));
            rounds = rounds.min((owner.end - lane.k).div_ceil(PACE)).min(owner.left(size) / all);
            next[i] = owner.next.0 + owner.step * before as u64;
            step[i] = owner.step * all as u64;
        }
        if rounds == 0 {
            // Bits become fewer within a round.
            rounds = 1;
            for (node, lane) in nodes[at..].iter_mut().zip(&lanes) {
                *node = owners[lane.owner].next;
                owners[lane.owner].pass(1, size)?;
            }
        } else {
            for round in nodes[at..at + LANES * rounds].as_chunks_mut().0 {
                *round = next.map(Node);
                (0..LANES).for_each(|i| next[i] = next[i].wrapping_add(step[i]));
            }
            lanes.iter().try_for_each(|lane| owners[lane.owner].pass(rounds, size))?;
        }
        at += LANES * rounds;
        for lane in &mut lanes {
            lane.k += PACE * rounds;
            if lane.k >= size {
                *lane = Lane { k: lane.k - size, owner: 0 };
            }
            while owners[lane.owner].end <= lane.k {
                lane.owner += 1;
            }
        }
    }
    // One or two slots are left of a table of three lanes.
    for (node, lane) in nodes[at..].iter_mut().zip(&lanes) {
        *node = owners[lane.owner].next;
        owners[lane.owner].pass(1, size)?;
    }
    Some(())
}
