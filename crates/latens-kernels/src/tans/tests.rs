//! All kernels against their scalar twins, and those against bits read one by one.

use super::*;
use crate::dispatch::Simd;

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 31).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 8
}

/// A slot with what it emits, its symbol being its own.
#[derive(Clone, Copy)]
struct Own<L> {
    base: u16,
    bits: u8,
    offset_bits: u8,
    lower: L,
}

fn table<L: Latent>(slots: &[Own<L>]) -> Option<Table<L>> {
    let symbol =
        |&Own { offset_bits, lower, .. }: &Own<L>| Symbol { weight: 1, offset_bits, lower };
    let slot = |(symbol, &Own { base, bits, .. }): (usize, &Own<L>)| Slot {
        symbol: u16::try_from(symbol).unwrap(),
        base,
        bits,
    };
    let symbols: Vec<_> = slots.iter().map(symbol).collect();
    Table::new(&symbols, slots.iter().enumerate().map(slot))
}

/// The slots of a closed table with entries of every kind.
#[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers are wanted")]
fn slots(log: u32, max_offset: u32, seed: u64) -> Vec<Own<u64>> {
    let size = 1u64 << log;
    let slot = |i: u64| {
        let bits = (mix(i ^ seed) % u64::from(log + 1)) as u8;
        let base = (mix(i + 7 * seed) % (size - (1 << bits) + 1)) as u16;
        // All widths alike, or hardly any but short ones.
        let most = if seed.is_multiple_of(3) { max_offset.min(14) } else { max_offset };
        let offset_bits = (mix(i ^ seed << 9) % u64::from(most + 1)) as u8;
        // Lower bounds far from each other, or near.
        let lower = if seed.is_multiple_of(2) { mix(i) << 17 } else { (1 << 63) - mix(i) % 100 };
        Own { base, bits, offset_bits, lower }
    };
    let mut slots: Vec<_> = (0..size).map(slot).collect();
    // Extremes at a place that is often visited.
    let lower = if seed.is_multiple_of(2) { u64::MAX } else { 1 << 63 };
    slots[0] = Own { base: 0, bits: log as u8, offset_bits: max_offset as u8, lower };
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
    for log in [0, 1, 4, 9, 14] {
        for max_offset in [0, 1, 13, 14, 15, 28, 29, 57, 58, 64] {
            for n in [0, 1, 3, 4, 5, 7, 255, 256] {
                cases.push((log, max_offset, n, u64::from(log * 77 + max_offset) + n as u64));
            }
        }
    }
    cases
}

/// Each case with six seeds.
fn seeded() -> impl Iterator<Item = Case> {
    let seeds = |(log, most, n, seed): Case| (0..6).map(move |i| (log, most, n, seed + i));
    cases().into_iter().flat_map(seeds)
}

fn narrow<L: Latent>(slots: &[Own<u64>]) -> Table<L> {
    let own = |&Own { base, bits, offset_bits, lower }: &Own<u64>| Own {
        base,
        bits,
        offset_bits,
        lower: L::default().plus_low(lower),
    };
    table(&slots.iter().map(own).collect::<Vec<_>>()).unwrap()
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
        let of = Walk { table, states: &mut states, stream, n, codes: &mut codes };
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
        let of = Walk { table: &table, states: &mut states, stream, n, codes: &mut codes };
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

#[test]
fn open_tables_are_refused() {
    let own = |base, bits| Own { base, bits, offset_bits: 0, lower: 0u8 };
    assert!(table(&[own(0, 1), own(1, 0)]).is_some());
    assert!(table(&[own(0, 1), own(1, 1)]).is_none());
    assert!(table(&[own(0, 1), own(2, 0)]).is_none());
    assert!(table(&[own(0, 15)]).is_none());
    assert!(table(&[own(0, 64)]).is_none());
    let too_wide = Own { base: 0, bits: 0, offset_bits: 65, lower: 0u8 };
    assert!(table(&[too_wide]).is_none());
    assert!(table::<u8>(&[]).is_none());
    let symbol = |weight| Symbol { weight, offset_bits: 0, lower: 0u8 };
    let slot = |symbol| Slot { symbol, base: 0, bits: 0 };
    let of = |symbols: &[_], slots: &[_]| Table::new(symbols, slots.iter().copied().map(slot));
    assert!(of(&[symbol(1), symbol(1)], &[0, 1]).is_some());
    assert!(of(&[symbol(1), symbol(1)], &[0, 2]).is_none());
    assert!(of(&[symbol(1), symbol(0)], &[0, 1]).is_none());
    assert!(of(&[symbol(u32::MAX), symbol(3)], &[0, 1]).is_none());
    assert!(of(&[symbol(0)], &[]).is_none());
}

#[test]
#[should_panic(expected = "other codes")]
fn codes_of_a_larger_table_are_refused() {
    let (large, small) = (narrow::<u64>(&slots(4, 0, 2)), narrow::<u64>(&slots(1, 0, 2)));
    let bytes = bytes(3);
    let stream = Stream { bytes: &bytes, bit: 0 };
    let (mut states, mut codes) = ([15; 4], Codes::default());
    let present = Present::new(Simd::Scalar);
    walk(present, Walk { table: &large, states: &mut states, stream, n: 4, codes: &mut codes });
    unpack(present, Unpack { table: &small, codes: &codes, stream, dst: &mut [0; 4] });
}

#[test]
#[should_panic(expected = "too few bytes")]
fn short_streams_are_refused() {
    let table = narrow::<u64>(&slots(9, 20, 1));
    let bytes = vec![0; table.codes_window(256) - 1];
    let (mut states, mut codes) = ([0; 4], Codes::default());
    let stream = Stream { bytes: &bytes, bit: 0 };
    let of = Walk { table: &table, states: &mut states, stream, n: 256, codes: &mut codes };
    walk(Present::new(Simd::Scalar), of);
}
