//! Batches in a row against as many batches one by one.

use super::*;

/// Batches that there is room for.
const MOST: usize = 5;

/// What is left behind: latents, states, sums, the next codes' widths, and what has been done.
type Left<L> = (Vec<L>, [u32; LANES], Vec<L>, usize, Done);

/// Where a row begins.
struct Begin<'a, L> {
    table: &'a Table<L>,
    /// Of which the row has so many.
    bytes: &'a [u8],
    len: usize,
    end: usize,
    moments: usize,
    map: Map,
}

impl<L: Latent> Begin<'_, L> {
    fn codes(&self) -> ([Codes; 2], [u32; LANES], usize) {
        let mut states = [0; LANES];
        let mut codes = [Codes::default(), Codes::default()];
        let stream = Stream { bytes: self.bytes, bit: 3 };
        let ways = self.table.ways();
        let next = Walk { ways, states: &mut states, stream, n: BATCH, codes: &mut codes[0] };
        let bits = walk(Present::new(Simd::Scalar), next);
        (codes, states, 3 + bits)
    }

    fn moments(&self) -> Vec<L> {
        (0..self.moments as u64).map(|i| L::from_low(mix(i) << 5)).collect()
    }

    fn row(&self, simd: Simd, room: usize, fetches: bool) -> Option<Left<L>> {
        let present = Present::new(simd);
        let (mut codes, mut states, bit) = self.codes();
        let (mut moments, mut dst) = (self.moments(), vec![L::default(); room * BATCH]);
        let [first, second] = &mut codes;
        let finish = Finish { moments: &mut moments, multiples: None, map: self.map };
        let Self { table, end, .. } = *self;
        let bytes = &self.bytes[..self.len];
        let (codes_of, dst_of) = ([first, second], &mut dst[..]);
        let row = Row {
            table,
            states: &mut states,
            codes: codes_of,
            bytes,
            bit,
            end,
            dst: dst_of,
            finish,
            fetches,
        };
        let done = row.run(present)?;
        let bits = codes[done.batches % 2].offset_bits(present);
        Some((dst, states, moments, bits, done))
    }

    fn one_by_one(&self, simd: Simd, room: usize, batches: usize) -> Left<L> {
        let present = Present::new(simd);
        let (mut codes, mut states, mut bit) = self.codes();
        let (mut moments, mut dst) = (self.moments(), vec![L::default(); room * BATCH]);
        let [mut codes, mut next_codes] = codes.each_mut();
        let stream = |bit: usize| Stream { bytes: &self.bytes[bit / 8..], bit: bit % 8 };
        let ways = self.table.ways();
        for dst in dst.chunks_mut(BATCH).take(batches) {
            let behind = bit + codes.offset_bits(present);
            assert!(behind <= self.end);
            let now = Unpack { table: self.table, codes, stream: stream(bit), dst };
            let next = Walk {
                ways,
                states: &mut states,
                stream: stream(behind),
                n: BATCH,
                codes: next_codes,
            };
            let finish = Finish { moments: &mut moments, multiples: None, map: self.map };
            bit = behind + walk_and_unpack(present, next, now, finish);
            std::mem::swap(&mut codes, &mut next_codes);
        }
        (dst, states, moments, codes.offset_bits(present), Done { batches, bit })
    }
}

fn check<L: Latent + std::fmt::Debug + PartialEq>(table: &Table<L>, seed: u64) {
    let all: Vec<u8> = (0..(MOST as u64 + 2) * 2).flat_map(|i| bytes(seed * 5 + 2 + i)).collect();
    for (moments, map) in [
        (0, Map::NONE),
        (0, Map::Float),
        (1, Map::Flip(1 << (L::WIDTH - 1))),
        (2, Map::Float),
        (2, Map::NONE),
    ] {
        for (len, end, room) in [
            (all.len(), usize::MAX, MOST),
            (all.len(), usize::MAX, 1),
            (all.len(), 8 * 1500, MOST),
            (2200, usize::MAX, MOST),
            (1000, usize::MAX, 2),
        ] {
            let begin = Begin { table, bytes: &all, len, end, moments, map };
            for simd in Simd::available() {
                let Some(row) = begin.row(simd, room, seed.is_multiple_of(2)) else { continue };
                let batches = row.4.batches;
                assert!(batches >= 1 && batches <= room);
                if len == all.len() && end == usize::MAX {
                    assert_eq!(batches, room);
                }
                assert_eq!(
                    row,
                    begin.one_by_one(simd, room, batches),
                    "{simd:?} {moments} {map:?}"
                );
                assert_eq!(row, begin.one_by_one(Simd::Scalar, room, batches), "{simd:?} scalar");
            }
        }
    }
}

#[test]
fn rows_are_batches_one_by_one() {
    for log in [1, 6, 9, 14] {
        for most in [0, 1, 14, 31, 32, 57, 63] {
            for seed in 0..8 {
                let slots = slots(log, most, seed);
                check(&Table::<u64>::of_slots(&slots).unwrap(), seed);
                check(&narrow::<u32>(&slots), seed);
                check(&narrow::<u16>(&slots), seed);
                check(&narrow::<u8>(&slots), seed);
            }
        }
    }
}

/// Codes of another table, or fewer of them, are found out before anything is read by them.
#[test]
#[should_panic(expected = "as many latents as codes")]
fn a_row_begins_with_a_whole_batch() {
    let table = Table::<u64>::of_slots(&slots(6, 20, 2)).unwrap();
    let (mut first, mut second) = (Codes::default(), Codes::default());
    let bytes = vec![0; 4 * WINDOW];
    let finish = Finish { moments: &mut [], multiples: None, map: Map::NONE };
    let row = Row {
        table: &table,
        states: &mut [0; LANES],
        codes: [&mut first, &mut second],
        bytes: &bytes,
        bit: 0,
        end: usize::MAX,
        dst: &mut [0; BATCH],
        finish,
        fetches: false,
    };
    if row.run(Present::in_use()).is_none() {
        panic!("as many latents as codes, where rows are slow");
    }
}

/// Tables of which nearly all slots have one symbol, and no symbol has offsets.
#[test]
fn quiet_rows_are_batches_one_by_one() {
    fn checked<L: Latent + std::fmt::Debug + PartialEq>(log: u32, others: u64, seed: u64) {
        let weight = |i| if i == 1 { (1 << log) - u32::try_from(others).unwrap() } else { 1 };
        let lower = |i: u64| L::from_low(i.wrapping_sub(1).wrapping_mul(1 + seed % 3));
        let symbol = |i| Symbol { weight: weight(i), offset_bits: 0, lower: lower(i) };
        let symbols: Vec<_> = (0..=others).map(symbol).collect();
        let table = Table::spread(log, &symbols, Memory::default()).unwrap();
        assert!(table.is_quiet());
        check(&table, seed);
    }
    for (log, others) in [(8, 1), (10, 2), (10, 4), (12, 1), (14, 30)] {
        for seed in 0..10 {
            checked::<u8>(log, others, seed);
            checked::<u16>(log, others, seed);
            checked::<u32>(log, others, seed);
            checked::<u64>(log, others, seed);
        }
    }
}
