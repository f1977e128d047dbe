//! Batches of two variables in a row against as many batches one by one.

#![expect(clippy::cast_possible_truncation, reason = "small numbers, and low bits of random ones")]

use super::*;

/// Batches that there is room for.
const MOST: usize = 5;

/// What is left behind: floats, states, sums, what the next multiples' offsets take, and what has been done.
type Left = (Vec<u64>, [[u32; LANES]; 2], Vec<u64>, usize, PairsDone);

const MID: u64 = 1 << 63;

/// Where a row begins.
struct Begin<'a> {
    tables: [&'a Table<u64>; 2],
    bytes: &'a [u8],
    end: usize,
    moments: usize,
}

/// What stays the same in a row, and goes on in it.
struct Now {
    codes: [Codes; 2],
    states: [[u32; LANES]; 2],
    bit: usize,
    moments: Vec<u64>,
    room: [u64; BATCH],
    dst: Vec<u64>,
}

impl Begin<'_> {
    fn now(&self, batches: usize) -> Now {
        let mut states = [[0; LANES], [0, 1, 0, 1]];
        let mut codes = [Codes::default(), Codes::default()];
        let stream = Stream { bytes: self.bytes, bit: 5 };
        let ways = self.tables[0].ways();
        let next = Walk { ways, states: &mut states[0], stream, n: BATCH, codes: &mut codes[0] };
        let bit = 5 + walk(Present::new(Simd::Scalar), next);
        // The sums' own latents, and small differences.
        let moment = |i: usize| if i == 0 { MID + 77 } else { 3 };
        let moments = (0..self.moments).map(moment).collect();
        Now { codes, states, bit, moments, room: [0; BATCH], dst: vec![0; batches * BATCH] }
    }

    fn row(&self, simd: Simd, room: usize, fetches: bool) -> Option<Left> {
        let present = Present::new(simd);
        let mut now = self.now(room);
        let [first, second] = &mut now.codes;
        let [first_states, second_states] = &mut now.states;
        let pairs = Pairs {
            whole: Side { table: self.tables[0], states: first_states, codes: first },
            room: &mut now.room,
            moments: &mut now.moments,
            base: 0.01f64.to_bits(),
            distances: Side { table: self.tables[1], states: second_states, codes: second },
            bytes: self.bytes,
            bit: now.bit,
            end: self.end,
            dst: &mut now.dst,
            fetches,
        };
        let done = pairs.run(present)?;
        now.dst[done.batches * BATCH..].fill(0);
        Some((now.dst, now.states, now.moments, now.codes[0].offset_bits(present), done))
    }

    fn one_by_one(&self, simd: Simd, room: usize, batches: usize) -> Left {
        let present = Present::new(simd);
        let Now { mut codes, mut states, mut bit, mut moments, room: mut whole, mut dst } =
            self.now(room);
        let stream = |bit: usize| Stream { bytes: &self.bytes[bit / 8..], bit: bit % 8 };
        let mut of_distances = 0;
        for dst in dst.chunks_mut(BATCH).take(batches) {
            let [first, second] = &mut codes;
            let [first_states, second_states] = &mut states;
            let begin = bit + first.offset_bits(present);
            let next = Walk {
                ways: self.tables[1].ways(),
                states: second_states,
                stream: stream(begin),
                n: BATCH,
                codes: second,
            };
            let now = Unpack {
                table: self.tables[0],
                codes: first,
                stream: stream(bit),
                dst: &mut whole,
            };
            let finish = Finish { moments: &mut moments, multiples: None, map: Map::NONE };
            bit = begin + walk_and_unpack(present, next, now, finish);
            assert!(whole.iter().all(|x| x.wrapping_sub(MID - (1 << 52)) < 1 << 53));
            let multiples = Some(Multiples { whole: &whole, base: 0.01f64.to_bits() });
            let behind = bit + second.offset_bits(present);
            let next = Walk {
                ways: self.tables[0].ways(),
                states: first_states,
                stream: stream(behind),
                n: BATCH,
                codes: first,
            };
            let now = Unpack { table: self.tables[1], codes: second, stream: stream(bit), dst };
            let finish = Finish { moments: &mut [], multiples, map: Map::Float };
            of_distances += behind - begin;
            bit = behind + walk_and_unpack(present, next, now, finish);
        }
        (
            dst,
            states,
            moments,
            codes[0].offset_bits(present),
            PairsDone { batches, bit, of_distances },
        )
    }
}

/// Symbols of a few weights, around `middle`.
fn table(log: u32, most: u8, middle: u64, step: u64, seed: u64) -> Table<u64> {
    let size = 1u32 << log;
    let count = size.min(8 + seed as u32 % 2);
    let symbol = |i: u32| Symbol {
        weight: if i == 0 { size - count + 1 } else { 1 },
        offset_bits: (mix(u64::from(i) + seed) % (u64::from(most) + 1)) as u8,
        lower: middle.wrapping_add(u64::from(i).wrapping_sub(4).wrapping_mul(step)),
    };
    let symbols: Vec<_> = (0..count).map(symbol).collect();
    Table::spread(log, &symbols, Memory::default()).unwrap()
}

fn bits(seed: u64) -> Vec<u8> {
    (0..2 * (MOST as u64 + 2)).flat_map(|i| super::bytes(seed * 5 + 2 + i)).collect()
}

#[test]
fn pairs_are_batches_one_by_one() {
    let mut rows = 0;
    for (log, most, second_log, second_most) in [
        (1, 0, 1, 0),
        (8, 20, 7, 0),
        (8, 31, 3, 9),
        (10, 33, 8, 40),
        (12, 40, 12, 31),
        (6, 3, 8, 63),
    ] {
        for (seed, moments) in (0..12).flat_map(|seed| [(seed, 0), (seed, 1), (seed, 2)]) {
            let middle = if moments == 0 { MID } else { 0 };
            let step = if seed % 3 == 0 { 1 << 33 } else { 5 };
            let most = if moments == 2 { most.min(29) } else { most };
            let first = table(log, most, middle, step, seed);
            let second_step = [1, 2, 1 << 40][seed as usize / 3 % 3];
            let second = table(second_log, second_most, MID, second_step, seed + 9);
            let bytes = bits(seed);
            for (len, end, room) in [
                (bytes.len(), usize::MAX, MOST),
                (bytes.len(), usize::MAX, 1),
                (bytes.len(), 8 * 3000, MOST),
                (bytes.len(), 8 * 300, 2),
                (7000, usize::MAX, MOST),
            ] {
                let bytes = &bytes[..len];
                let begin = Begin { tables: [&first, &second], bytes, end, moments };
                for simd in Simd::available() {
                    let Some(row) = begin.row(simd, room, seed % 2 == 0) else { continue };
                    let batches = row.4.batches;
                    rows += batches;
                    assert!(batches <= room && row.4.bit <= end.saturating_add(4096));
                    // Sums of sums of large steps are not small for long.
                    if len > 7000 && end == usize::MAX && (moments < 2 || step == 5) {
                        assert_eq!(
                            batches, room,
                            "{log} {most} {second_most} {seed} {moments} {simd:?}"
                        );
                    }
                    for simd in [simd, Simd::Scalar] {
                        let one_by_one = begin.one_by_one(simd, room, batches);
                        assert_eq!(
                            row, one_by_one,
                            "{log} {most} {second_most} {seed} {moments} {simd:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(rows > 0 || !Multiples::<u64>::are_fast(Present::in_use()));
}

/// Both variables of 32 bits of a row, as they are.
#[test]
fn both_are_batches_one_by_one() {
    for (log, most, second_log, second_most, seed, moments) in (0..12u64).flat_map(|seed| {
        [(1, 0, 1, 0), (8, 20, 7, 9), (10, 31, 3, 31), (12, 9, 8, 0)]
            .map(|(log, most, other, second)| (log, most, other, second, seed, seed as usize % 3))
    }) {
        let narrow = |log, most, seed| {
            let size = 1u32 << log;
            let symbol = |i: u32| Symbol {
                weight: if i == 0 { size - 1 } else { 1 },
                offset_bits: if i == 0 { most } else { most / 2 },
                lower: (mix(u64::from(i) + seed) >> 20) as u32,
            };
            Table::spread(log, &[symbol(0), symbol(1)], Memory::default()).unwrap()
        };
        let (first, second): (Table<u32>, Table<u32>) =
            (narrow(log, most, seed), narrow(second_log, second_most, seed + 5));
        let bytes = bits(seed);
        for (len, end) in [(bytes.len(), usize::MAX), (bytes.len(), 8 * 3000), (6000, usize::MAX)] {
            let bytes = &bytes[..len];
            for simd in Simd::available() {
                let present = Present::new(simd);
                let mut codes = [Codes::default(), Codes::default()];
                let mut states = [[0; LANES], [1, 0, 1, 0]];
                let stream = Stream { bytes, bit: 1 };
                let (ways, n) = (first.ways(), BATCH);
                let next = Walk { ways, states: &mut states[0], stream, n, codes: &mut codes[0] };
                let begin = 1 + walk(present, next);
                let (mut bit, mut other_states, mut other_codes) = (begin, states, codes.clone());
                let mut sums: Vec<u32> = (0..moments as u32).map(|i| 7 + i).collect();
                let mut other_sums = sums.clone();
                let mut dst = [vec![0u32; MOST * BATCH], vec![0u32; MOST * BATCH]];
                let mut ends = [0; MOST];
                let [one, other] = &mut codes;
                let [one_states, second_states] = &mut states;
                let [one_dst, second_dst] = &mut dst;
                let both = Both {
                    first: Side { table: &first, states: one_states, codes: one },
                    moments: &mut sums,
                    second: Side { table: &second, states: second_states, codes: other },
                    bytes,
                    bit: begin,
                    end,
                    dst: (one_dst, second_dst),
                    ends: &mut ends,
                };
                let Some(done) = both.run(present) else { continue };
                assert!(end < usize::MAX || len == 6000 || done.batches == MOST);
                let [one, other] = &mut other_codes;
                for (i, &end) in ends[..done.batches].iter().enumerate() {
                    let stream = |bit: usize| Stream { bytes: &bytes[bit / 8..], bit: bit % 8 };
                    let mut latents = [[0; BATCH]; 2];
                    let [first_latents, second_latents] = &mut latents;
                    let scalar = Present::new(Simd::Scalar);
                    bit += unpack(
                        scalar,
                        Unpack {
                            table: &first,
                            codes: one,
                            stream: stream(bit),
                            dst: first_latents,
                        },
                    );
                    crate::sums::undo(scalar, &mut other_sums, first_latents);
                    let next = Walk {
                        ways: second.ways(),
                        states: &mut other_states[1],
                        stream: stream(bit),
                        n,
                        codes: other,
                    };
                    bit += walk(scalar, next);
                    bit += unpack(
                        scalar,
                        Unpack {
                            table: &second,
                            codes: other,
                            stream: stream(bit),
                            dst: second_latents,
                        },
                    );
                    assert_eq!(bit, end);
                    let next = Walk {
                        ways: first.ways(),
                        states: &mut other_states[0],
                        stream: stream(bit),
                        n,
                        codes: one,
                    };
                    bit += walk(scalar, next);
                    let at = i * BATCH..(i + 1) * BATCH;
                    assert_eq!(&dst[0][at.clone()], first_latents, "{log} {most} {seed} {i}");
                    assert_eq!(&dst[1][at], second_latents, "{log} {second_most} {seed} {i}");
                }
                assert_eq!((bit, states, sums), (done.bit, other_states, other_sums));
            }
        }
    }
}
