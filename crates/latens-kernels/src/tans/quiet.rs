//! Tables of which nearly all slots have one symbol: masks, flags, what hardly ever changes.
//!
//! Such a symbol's codes take no bits, but for one in some hundred, so that a lane's way is known many steps ahead. Without
//! offsets the codes are all that there is: latents come straight from them, mostly several of a kind at once.

use super::slot::{Lowers, Node, Symbol};
use super::stream::{BATCH, LANES, Stream};
use super::table::Table;
use super::{Done, Finish, Row, Unpack, Walk, unpack, walk};
use crate::dispatch::Present;
use crate::latent::Latent;
use std::sync::OnceLock;

/// Steps of each lane that are taken at once.
const STEPS: usize = 8;
/// One slot in so many may have another symbol. Of twice as many the steps at once are not worth a branch that is hard to
/// foretell.
const SHARE: usize = 256;
/// From where so many steps take bits, or have another symbol: no slot has this bit.
const LOUD: u16 = 1 << 15;
/// Most sums of differences of differences.
const MOST_SUMS: usize = 8;

/// The symbol that nearly all slots have.
#[derive(Clone, Debug)]
pub(crate) struct Quiet<L> {
    latent: L,
    /// Upper half of its nodes.
    payload: u64,
    /// By slot, where so many steps without bits lead; made once there is much to decode, as it takes longer than a table.
    jumps: OnceLock<Vec<u16>>,
}

impl<L: Latent> Quiet<L> {
    /// `heads` are the symbols', as nodes have them, of so many slots.
    pub(super) fn of(symbols: &[Symbol<L>], heads: &[u64], slots: usize) -> Option<Self> {
        let (heaviest, head) = symbols.iter().zip(heads).max_by_key(|(s, _)| s.weight)?;
        let others = slots - heaviest.weight as usize;
        if others == 0 || others * SHARE > slots || symbols.iter().any(|s| s.offset_bits > 0) {
            return None;
        }
        Some(Self { latent: heaviest.lower, payload: head >> 32, jumps: OnceLock::new() })
    }

    /// The jumps, if they are there or so many numbers are worth making them.
    fn jumps(&self, nodes: &[Node], numbers: usize) -> Option<&[u16]> {
        if self.jumps.get().is_none() && numbers < nodes.len() {
            return None;
        }
        let jump = |from: u16| {
            (0..STEPS).try_fold(from, |slot, _| {
                let node = nodes[usize::from(slot)];
                let is_quiet = node.bits() == 0 && u64::from(node.payload()) == self.payload;
                #[expect(clippy::cast_possible_truncation, reason = "a slot")]
                is_quiet.then_some(node.base() as u16)
            })
        };
        #[expect(clippy::cast_possible_truncation, reason = "2^14 slots at most")]
        let all = || (0..nodes.len() as u16).map(|slot| jump(slot).unwrap_or(LOUD)).collect();
        Some(self.jumps.get_or_init(all))
    }
}

impl<L: Latent> Table<L> {
    /// Whether a row takes hardly any bits, with any set.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.quiet.is_some()
    }
}

/// What a batch changes.
#[derive(Clone, Copy)]
struct State<L> {
    slots: [u32; LANES],
    moments: [L; MOST_SUMS],
    bit: usize,
}

impl<L: Latent> Row<'_, L> {
    /// [`Row::run`] of a table that has such a symbol. It looks at no more bytes than codes may have.
    pub(super) fn quiet(self, present: Present, quiet: &Quiet<L>) -> Option<Done> {
        let Self { table, states, codes: [even, odd], bytes, bit, end, dst, finish, .. } = self;
        let Finish { moments, map, .. } = finish;
        let ways = table.ways();
        let window = ways.codes_window(BATCH).max(table.offsets_window(BATCH));
        let has_bytes = |bit: usize| bytes.len().saturating_sub(bit / 8) >= window;
        let stream = |bit: usize| Stream { bytes: &bytes[bit / 8..], bit: bit % 8 };
        if !has_bytes(bit) || bit > end || moments.len() > MOST_SUMS {
            return None;
        }
        let jumps = quiet.jumps(&table.nodes, dst.len())?;
        let mut now = State { slots: *states, moments: [L::default(); MOST_SUMS], bit };
        now.moments[..moments.len()].copy_from_slice(moments);
        let (mut before, mut batches) = (now, 0);
        for dst in dst.as_chunks_mut::<BATCH>().0 {
            let mut next = now;
            if batches == 0 {
                unpack(present, Unpack { table, codes: even, stream: stream(bit), dst });
            } else {
                present.call(
                    #[inline(always)]
                    || latents(table, (quiet.latent, jumps), bytes, &mut next, dst),
                )?;
            }
            if next.bit > end || !has_bytes(next.bit) {
                break;
            }
            let moments = &mut next.moments[..moments.len()];
            Finish { moments, multiples: None, map }.run(present, dst);
            (before, now, batches) = (now, next, batches + 1);
        }
        // Of the next batch; where its codes may go on behind the end, those of the one before.
        loop {
            if batches == 0 {
                return None;
            }
            let codes = if batches % 2 == 0 { &mut *even } else { &mut *odd };
            let State { mut slots, bit, .. } = now;
            let bits = walk(
                present,
                Walk { ways, states: &mut slots, stream: stream(bit), n: BATCH, codes },
            );
            if bit + bits <= end {
                *states = slots;
                moments.copy_from_slice(&now.moments[..moments.len()]);
                return Some(Done { batches, bit: bit + bits });
            }
            (now, batches) = (before, batches - 1);
        }
    }
}

/// A batch's latents from where it stands on, if there are bytes enough.
#[inline(always)]
fn latents<L: Latent>(
    table: &Table<L>,
    (latent, jumps): (L, &[u16]),
    bytes: &[u8],
    state: &mut State<L>,
    dst: &mut [L; BATCH],
) -> Option<()> {
    let Lowers::Near(least) = table.lowers else { return None };
    let nodes = &*table.nodes;
    let [mut a, mut b, mut c, mut d] = state.slots;
    let (mut bit, mut done) = (state.bit, 0);
    while done < BATCH {
        let next = [jumps[a as usize], jumps[b as usize], jumps[c as usize], jumps[d as usize]];
        if (next[0] | next[1] | next[2] | next[3]) < LOUD {
            [a, b, c, d] = [next[0].into(), next[1].into(), next[2].into(), next[3].into()];
            for x in &mut dst[done..done + LANES * STEPS] {
                *x = latent;
            }
            done += LANES * STEPS;
            continue;
        }
        for _ in 0..STEPS {
            // Four codes have at most 56 bits.
            let word = u64::from_le_bytes(*bytes.get(bit / 8..)?.first_chunk()?) >> (bit % 8);
            let mut taken = 0;
            macro_rules! step {
                ($slot:ident) => {
                    let node = nodes[$slot as usize];
                    dst[done] = least.plus_low(node.payload().into());
                    #[expect(clippy::cast_possible_truncation, reason = "14 bits at most")]
                    let code = (word >> taken & ((1 << node.bits()) - 1)) as u32;
                    $slot = node.base() + code;
                    taken += node.bits();
                    done += 1;
                };
            }
            step!(a);
            step!(b);
            step!(c);
            step!(d);
            bit += taken as usize;
        }
    }
    (state.slots, state.bit) = ([a, b, c, d], bit);
    Some(())
}
