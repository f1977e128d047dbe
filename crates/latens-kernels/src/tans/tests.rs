//! All kernels against their scalar twins, and those against bits read one by one.

use super::slot::Node;
use super::table::Emitted;
use super::*;
use crate::dispatch::Simd;

mod pages;
mod pairs;
mod row;

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 31).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 8
}

impl<L: Latent> Table<L> {
    /// A table of any slots that is closed in itself, each a symbol of its own.
    fn of_slots(slots: &[Slot<L>]) -> Option<Self> {
        let symbol = |s: &Slot<L>| Symbol { weight: 1, offset_bits: s.offset_bits, lower: s.lower };
        let symbols: Vec<_> = slots.iter().map(symbol).collect();
        let Emitted { heads, lowers, max_offset_bits, offsets, .. } = Emitted::of(&symbols)?;
        let node =
            |(s, head): (&Slot<L>, u64)| Node(head | u64::from(s.bits) | u64::from(s.base) << 16);
        let nodes: Vec<_> = slots.iter().zip(heads).map(node).collect();
        assert!(is_closed(&nodes));
        let single = match slots {
            [s] => Some((s.lower, s.offset_bits)),
            _ => None,
        };
        let max_bits = slots.iter().map(|s| s.bits).max()?;
        let quiet = None;
        Some(Self { nodes, lowers, single, max_bits, max_offset_bits, offsets, quiet })
    }
}

fn is_closed(nodes: &[Node]) -> bool {
    let end = |node: &Node| (node.base() as usize & 0xffff) + (1 << node.bits());
    nodes.iter().all(|node| node.bits() <= MAX_LOG && end(node) <= nodes.len())
}

/// The slots of a closed table with entries of every kind.
#[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers are wanted")]
fn slots(log: u32, max_offset: u32, seed: u64) -> Vec<Slot<u64>> {
    let size = 1u64 << log;
    let slot = |i: u64| {
        let bits = (mix(i ^ seed) % u64::from(log + 1)) as u8;
        let base = (mix(i + 7 * seed) % (size - (1 << bits) + 1)) as u16;
        // All widths alike, or hardly any but short ones.
        let most = if seed.is_multiple_of(3) { max_offset.min(14) } else { max_offset };
        let offset_bits = (mix(i ^ seed << 9) % u64::from(most + 1)) as u8;
        // Lower bounds far from each other, or near: as values are, and as differences.
        let lower = match seed % 4 {
            1 => (1 << 63) - mix(i) % 100,
            3 => (mix(i) % 100).wrapping_sub(50),
            _ => mix(i) << 17,
        };
        Slot { base, bits, offset_bits, lower }
    };
    let mut slots: Vec<_> = (0..size).map(slot).collect();
    // Extremes at a place that is often visited.
    let lower = match seed % 4 {
        1 => 1 << 63,
        _ => u64::MAX,
    };
    slots[0] = Slot { base: 0, bits: log as u8, offset_bits: max_offset as u8, lower };
    slots
}

#[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers are wanted")]
fn bytes(seed: u64) -> Vec<u8> {
    match seed % 5 {
        0 => vec![0xff; WINDOW],
        1 => vec![0; WINDOW],
        _ => (0..WINDOW as u64).map(|i| mix(i + seed * 31) as u8).collect(),
    }
}

/// log, most offset bits, latents, seed.
type Case = (u32, u32, usize, u64);

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for log in [0, 1, 4, 6, 9, 14] {
        for max_offset in [0, 1, 13, 14, 15, 28, 29, 31, 32, 57, 58, 64] {
            for n in [0, 1, 3, 4, 5, 7, 255, 256] {
                cases.push((log, max_offset, n, u64::from(log * 77 + max_offset) + n as u64));
            }
        }
    }
    cases
}

/// Each case with many seeds.
fn seeded() -> impl Iterator<Item = Case> {
    let seeds = |(log, most, n, seed): Case| {
        (0..if n == BATCH { 30 } else { 6 }).map(move |i| (log, most, n, seed + i))
    };
    cases().into_iter().flat_map(seeds)
}

fn narrow<L: Latent>(slots: &[Slot<u64>]) -> Table<L> {
    let own = |&Slot { base, bits, offset_bits, lower }: &Slot<u64>| Slot {
        base,
        bits,
        offset_bits,
        lower: L::default().plus_low(lower),
    };
    Table::of_slots(&slots.iter().map(own).collect::<Vec<_>>()).unwrap()
}

/// Two batches, and the bits that each step says it takes.
fn read<L: Latent>(
    simd: Simd,
    table: &Table<L>,
    case: Case,
) -> (Vec<Vec<L>>, [u32; 4], Vec<usize>) {
    let (log, _, n, seed) = case;
    let present = Present::new(simd);
    let mut states = [0, 0, 0, (1u32 << log) - 1];
    let mut codes = Codes::default();
    let mut counts = Vec::new();
    let mut out = vec![vec![L::default(); n]; 2];
    for (i, dst) in (0..).zip(&mut out) {
        let bytes = bytes(seed + i);
        let bit = (seed % 8) as usize;
        // No byte more than must be there.
        let stream = Stream { bytes: &bytes[..table.codes_window(n)], bit };
        let of = Walk { ways: table.ways(), states: &mut states, stream, n, codes: &mut codes };
        counts.push(walk(present, of));
        let stream = Stream { bytes: &bytes[..table.offsets_window(n)], bit: 7 - bit };
        counts.push(unpack(present, Unpack { table, codes: &codes, stream, dst }));
        assert_eq!(counts.last(), Some(&codes.offset_bits(present)));
    }
    (out, states, counts)
}

crate::twin_test!(batches_agree, seeded(), |simd, case| {
    let slots = slots(case.0, case.1, case.3);
    let small =
        (read::<u8>(simd, &narrow(&slots), *case), read::<u16>(simd, &narrow(&slots), *case));
    (small, read::<u32>(simd, &narrow(&slots), *case), read::<u64>(simd, &narrow(&slots), *case))
});

/// Batches in a row over two tables by turns, each unpacked while the next one is walked.
fn read_in_turns<L: Latent>(
    simd: Simd,
    tables: [&Table<L>; 2],
    n: usize,
    seed: u64,
) -> Vec<Vec<L>> {
    let present = Present::new(simd);
    let mut states = [[0; LANES]; 2];
    let mut codes = [Codes::default(), Codes::default()];
    // Every count of sums with every map.
    let map = [Map::NONE, Map::Flip(1 << (L::WIDTH - 1)), Map::Float][(seed / 5 % 3) as usize];
    let mut moments = [1, 1 << 40, seed, u64::MAX].map(L::from_low);
    let moments = &mut moments[..(seed % 5) as usize];
    // Products, where they can be: whole numbers of up to 52 bits and a sign.
    let multiples = L::WIDTH == 64 && map == Map::Float && seed.is_multiple_of(2);
    let whole = std::array::from_fn(|i| {
        let magnitude = mix(i as u64 ^ seed) >> (4 + i % 50);
        L::from_low(1 << 63 ^ if i % 3 == 0 { !magnitude } else { magnitude })
    });
    let base = L::from_low([0.1f64, -1e-10, 3.0, 1e300][(seed / 2 % 4) as usize].to_bits());
    let bit = (seed % 8) as usize;
    let first = bytes(seed);
    let stream = Stream { bytes: &first, bit };
    let [even, odd] = &mut codes;
    walk(present, Walk { ways: tables[0].ways(), states: &mut states[0], stream, n, codes: even });
    let (mut now, mut next) = (even, odd);
    let turn = |i: u64| {
        let (this, other) = if i.is_multiple_of(2) { (0, 1) } else { (1, 0) };
        let (offsets, behind) = (bytes(seed + i), bytes(seed + i + 3));
        let mut dst = vec![L::default(); n];
        let window = tables[this].offsets_window(n);
        let stream = Stream { bytes: &offsets[WINDOW - window..], bit: 7 - bit };
        let unpack = Unpack { table: tables[this], codes: now, stream, dst: &mut dst };
        // No byte more than must be there.
        let stream = Stream { bytes: &behind[..tables[other].codes_window(n)], bit };
        let states = &mut states[other];
        let walk = Walk { ways: tables[other].ways(), states, stream, n, codes: next };
        let multiples = multiples.then_some(Multiples { whole: &whole, base });
        let finish = Finish { moments: &mut *moments, multiples, map };
        let bits = walk_and_unpack(present, walk, unpack, finish);
        let offset_bits: u32 = next.nodes[..n].iter().map(|node| node.offset_bits()).sum();
        assert_eq!(next.offset_bits(present), offset_bits as usize);
        std::mem::swap(&mut now, &mut next);
        dst.push(L::from_low(bits as u64));
        dst
    };
    let mut all: Vec<_> = (0..5).map(turn).collect();
    all.push(moments.to_vec());
    all.push(states.as_flattened().iter().map(|&s| L::from_low(s.into())).collect());
    all
}

crate::twin_test!(walks_with_unpacking_agree, seeded(), |simd, case| {
    let &(log, most, n, seed) = case;
    let (a, b) = (slots(log, most, seed), slots(9 - log / 2, most / 2, seed + 3));
    let small = (
        read_in_turns::<u8>(simd, [&narrow(&a), &narrow(&b)], n, seed),
        read_in_turns::<u16>(simd, [&narrow(&a), &narrow(&b)], n, seed),
    );
    let large = (
        read_in_turns::<u32>(simd, [&narrow(&a), &narrow(&b)], n, seed),
        read_in_turns::<u64>(simd, [&narrow(&a), &narrow(&b)], n, seed),
    );
    (small, large)
});

#[test]
fn latents_are_finished_by_definition() {
    let map = |map, x: u32| {
        let mut latents = [x];
        Finish { moments: &mut [], multiples: None, map }
            .run(Present::new(Simd::Scalar), &mut latents);
        latents[0]
    };
    assert_eq!((map(Map::NONE, 7), map(Map::Flip(1 << 31), 7)), (7, 7 | 1 << 31));
    for x in [0.0f32, -0.0, 1.5, -1.5, f32::INFINITY, f32::NEG_INFINITY] {
        let bits = x.to_bits();
        let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
        assert_eq!(map(Map::Float, ordered), bits);
    }
    // One float below three times 0.1, and minus zero.
    for (whole, distance, x) in [(3, u64::MAX, 0.3f64), (-1i64, 0, -0.0)] {
        let whole = [whole.cast_unsigned() ^ 1 << 63; BATCH];
        let multiples = Some(Multiples { whole: &whole, base: 0.1f64.to_bits() });
        let mut latents = [distance ^ 1 << 63; BATCH];
        let finish = Finish { moments: &mut [], multiples, map: Map::Float };
        finish.run(Present::new(Simd::Scalar), &mut latents);
        assert_eq!(latents, [x.to_bits(); BATCH]);
    }
}

crate::twin_test!(single_slots_agree, cases(), |simd, case| {
    let &(_, width, n, seed) = case;
    let width = u8::try_from(width).unwrap();
    let bytes = bytes(seed);
    let stream = Stream { bytes: &bytes, bit: (seed % 8) as usize };
    let mut wide = vec![0u64; n];
    unpack_single(Present::new(simd), mix(seed), width, stream, &mut wide);
    let mut small = vec![0u8; n];
    unpack_single(Present::new(simd), 77, width, stream, &mut small);
    assert!(
        wide.iter()
            .zip(&small)
            .all(|(x, y)| x.wrapping_sub(mix(seed)).to_le_bytes()[0] == y.wrapping_sub(77))
    );
    wide
});

#[test]
fn a_batch_bit_by_bit() {
    for case in cases() {
        let (log, max_offset, n, seed) = case;
        let slots = slots(log, max_offset, seed);
        let table = narrow::<u64>(&slots);
        let bytes = [bytes(seed), bytes(seed + 7)].concat();
        let present = Present::new(Simd::Scalar);
        let mut states = [0; LANES];
        let mut codes = Codes::default();
        let stream = Stream { bytes: &bytes, bit: 3 };
        let of = Walk { ways: table.ways(), states: &mut states, stream, n, codes: &mut codes };
        let at = 3 + walk(present, of);
        let mut found = vec![0u64; n];
        let stream = Stream { bytes: &bytes[at / 8..], bit: at % 8 };
        let of = Unpack { table: &table, codes: &codes, stream, dst: &mut found };
        let end = at + unpack(present, of);
        let mut bit = 3;
        let mut take = |count: u8| {
            let value = (0..u64::from(count)).map(|i| {
                let at = bit + usize::try_from(i).unwrap();
                u64::from(bytes[at / 8] >> (at % 8) & 1) << i
            });
            let value = value.fold(0, |a, b| a | b);
            bit += usize::from(count);
            value
        };
        let mut expected_states = [0u32; LANES];
        let mut visited = Vec::new();
        for t in 0..n {
            let slot = &slots[expected_states[t % LANES] as usize];
            visited.push(slot);
            expected_states[t % LANES] =
                u32::from(slot.base) + u32::try_from(take(slot.bits)).unwrap();
        }
        let expected: Vec<u64> =
            visited.iter().map(|s| s.lower.wrapping_add(take(s.offset_bits))).collect();
        assert_eq!((found, states, end), (expected, expected_states, bit), "{case:?}");
    }
}

/// As `specs/pco.md` says it.
fn spread_slowly(log: u32, symbols: &[Symbol<u64>]) -> Vec<Slot<u64>> {
    let size = 1usize << log;
    let stride = (3 * size / 5) | 1;
    let mut owners = vec![0; size];
    let mut at = 0;
    for (i, symbol) in symbols.iter().enumerate() {
        for _ in 0..symbol.weight {
            owners[at] = i;
            at = (at + stride) % size;
        }
    }
    let mut states: Vec<_> = symbols.iter().map(|s| s.weight).collect();
    let slot = |i: usize| {
        let (x, Symbol { offset_bits, lower, .. }) = (states[i], symbols[i]);
        states[i] += 1;
        let bits = (0..=log).find(|bits| x << bits >> log > 0).unwrap();
        let base = u16::try_from((x << bits) - (1 << log)).unwrap();
        Slot { base, bits: u8::try_from(bits).unwrap(), offset_bits, lower }
    };
    owners.into_iter().map(slot).collect()
}

#[test]
fn a_spread_slot_by_slot() {
    let mut memory = Memory::default();
    let mut check = |log: u32, weights: &[u32]| {
        let symbol = |(i, &weight): (u64, &u32)| {
            // Lower bounds near each other, and far.
            let lower = if log.is_multiple_of(2) { i } else { mix(i) << 9 };
            Symbol { weight, offset_bits: (i % 65) as u8, lower }
        };
        let symbols: Vec<_> = (0..).zip(weights).map(symbol).collect();
        let table = Table::spread(log, &symbols, std::mem::take(&mut memory));
        let mut table = table.unwrap_or_else(|| panic!("2^{log}: {weights:?}"));
        assert!(is_closed(&table.nodes), "2^{log}: {weights:?}");
        let expected = spread_slowly(log, &symbols);
        assert!(table.slots().eq(expected.iter().copied()), "2^{log}: {weights:?}");
        assert_eq!(table.max_bits, expected.iter().map(|s| s.bits).max().unwrap());
        memory = table.take_memory();
    };
    for log in 0..=MAX_LOG {
        let size = 1u32 << log;
        check(log, &[size]);
        check(log, &vec![1; size as usize]);
        for first in [1, 2, 3, 4, 5, 7, 31, size / 5, size / 3, size / 2, size / 3 * 2] {
            let rest = size.saturating_sub(first);
            if first > 0 && rest > 0 {
                check(log, &[first, rest]);
                check(log, &[rest, first]);
            }
            if first > 0 && rest > first {
                check(log, &[first, rest - first, first]);
            }
        }
        for seed in 0..40 {
            // Few symbols and many, of like weights and unlike ones.
            let random = |i: u64, below: u64| u32::try_from(mix(i + 9000 * seed) % below).unwrap();
            let most = [4, 30, 300, 5000][usize::try_from(seed % 4).unwrap()];
            let n = 1 + mix(seed) % most;
            let cut = |i| {
                let x = random(i, size.into());
                if seed % 3 == 0 { x % (1 + x % 97) } else { x }
            };
            let mut cuts: Vec<_> = (1..n).map(cut).chain([0, size]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let weights: Vec<_> = cuts.windows(2).map(|w| w[1] - w[0]).collect();
            check(log, &weights);
        }
    }
}

#[test]
fn symbols_that_make_no_table_are_refused() {
    let of = |log: u32, weights: &[u32], offset_bits| {
        let symbol = |&weight: &u32| Symbol { weight, offset_bits, lower: 0u8 };
        let symbols: Vec<_> = weights.iter().map(symbol).collect();
        Table::spread(log, &symbols, Memory::default()).is_some()
    };
    assert!(of(0, &[1], 64) && of(2, &[1, 3], 0) && of(3, &[8], 0));
    assert!(!of(2, &[1, 3], 65));
    assert!(!of(2, &[1, 2], 0) && !of(2, &[3, 2], 0) && !of(2, &[4, 0], 0));
    assert!(!of(14, &[u32::MAX, 1 + (1 << 14)], 0) && !of(15, &[1 << 15], 0) && !of(99, &[1], 0));
    assert!(!of(0, &[], 0));
}

#[test]
#[should_panic(expected = "other codes")]
fn codes_of_a_larger_table_are_refused() {
    let (large, small) = (narrow::<u64>(&slots(4, 0, 2)), narrow::<u64>(&slots(1, 0, 2)));
    let bytes = bytes(3);
    let stream = Stream { bytes: &bytes, bit: 0 };
    let (mut states, mut codes) = ([15; 4], Codes::default());
    let present = Present::new(Simd::Scalar);
    walk(
        present,
        Walk { ways: large.ways(), states: &mut states, stream, n: 4, codes: &mut codes },
    );
    unpack(present, Unpack { table: &small, codes: &codes, stream, dst: &mut [0; 4] });
}

#[test]
#[should_panic(expected = "too few bytes")]
fn short_streams_are_refused() {
    let table = narrow::<u64>(&slots(9, 20, 1));
    let bytes = vec![0; table.codes_window(256) - 1];
    let (mut states, mut codes) = ([0; 4], Codes::default());
    let stream = Stream { bytes: &bytes, bit: 0 };
    let of = Walk { ways: table.ways(), states: &mut states, stream, n: 256, codes: &mut codes };
    walk(Present::new(Simd::Scalar), of);
}
