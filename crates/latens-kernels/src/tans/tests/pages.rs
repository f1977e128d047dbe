//! Pages side by side, and those against a page at a time.

use super::*;
use crate::testing::noise;
use crate::twin_test;

/// log, symbols, most bits of an offset, what lower bounds are shifted by, codes, seed.
type Case = (u32, u32, u64, u32, usize, u64);

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut seed = 0;
    for (log, symbols) in
        [(1, 2), (5, 20), (7, 33), (7, 128), (8, 65), (8, 34), (9, 250), (10, 256), (10, 3)]
    {
        for (most, shift) in
            [(0, 0), (7, 0), (31, 0), (32, 0), (63, 0), (20, 56), (63, 50), (0, 56)]
        {
            for n in [256, 255, 254, 249, 1, 4, 18, 0] {
                seed += 1;
                cases.push((log, symbols, most, shift, n, seed));
            }
        }
    }
    cases
}

#[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers are wanted")]
fn table<L: Latent>((log, symbols, most, shift, _, seed): Case) -> Table<L> {
    let mut noise = noise(seed);
    let mut weights = vec![1; symbols as usize];
    for _ in symbols..1 << log {
        let [a, b] = [(); 2].map(|()| noise() as usize % weights.len());
        weights[a.min(b)] += 1;
    }
    let symbol = |(i, weight): (u64, u32)| {
        let widest = if L::WIDTH == 16 { 15 } else { L::WIDTH.into() };
        let offset_bits = (noise() % (most.min(widest) + 1)) as u8;
        Symbol { weight, offset_bits, lower: L::from_low((i * 5) << shift) }
    };
    let symbols: Vec<_> = (0..).zip(weights).map(symbol).collect();
    Table::spread(log, &symbols, Memory::default()).unwrap()
}

#[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers are wanted")]
fn start(case: Case) -> (Vec<u8>, [PagePlace; PAGES]) {
    let (log, _, _, _, _, seed) = case;
    let mut noise = noise(seed ^ 77);
    let bytes = (0..8000).map(|_| noise() as u8).collect();
    let place = |_| PagePlace {
        bit: (noise() % 30_000) as usize,
        states: [(); LANES].map(|()| noise() as u32 % (1 << log)),
    };
    (bytes, std::array::from_fn(place))
}

/// Where codes end, how many bits their offsets take, and latents.
type Found<L> = (Vec<PagePlace>, Vec<u32>, Vec<Vec<L>>);

fn side_by_side<L: Latent>(simd: Simd, case: Case, shift: u64) -> Found<L> {
    let present = Present::new(simd);
    let table = table::<L>(case);
    let pages = PageTable::any(&table).unwrap();
    let (bytes, mut places) = start(case);
    let mut codes = Box::<PageCodes>::default();
    assert!(pages.walk(present, &[&bytes; PAGES], &mut places, case.4, &mut codes));
    let latents = places.iter().enumerate().map(|(page, place)| {
        let mut latents = vec![L::default(); case.4];
        let stream = Stream { bytes: &bytes[place.bit / 8..], bit: place.bit % 8 };
        let shift = L::from_low(shift);
        pages.unpack(present, &codes, page, stream, shift, &mut latents);
        latents
    });
    let latents = latents.collect();
    (places.to_vec(), codes.offset_bits().to_vec(), latents)
}

/// The same by [`walk`] and [`unpack`].
fn one_by_one<L: Latent>(case: Case) -> Found<L> {
    let present = Present::new(Simd::Scalar);
    let table = table::<L>(case);
    let (bytes, mut places) = start(case);
    let n = case.4;
    let mut codes = Codes::default();
    let mut offset_bits = Vec::new();
    let latents = places.iter_mut().map(|place| {
        let mut latents = vec![L::default(); n];
        let (ways, states) = (table.ways(), &mut place.states);
        let stream = Stream { bytes: &bytes[place.bit / 8..], bit: place.bit % 8 };
        place.bit += walk(present, Walk { ways, states, stream, n, codes: &mut codes });
        let stream = Stream { bytes: &bytes[place.bit / 8..], bit: place.bit % 8 };
        let unpacked = Unpack { table: &table, codes: &codes, stream, dst: &mut latents };
        offset_bits.push(u32::try_from(unpack(present, unpacked)).unwrap());
        latents
    });
    let latents = latents.collect();
    (places.to_vec(), offset_bits, latents)
}

twin_test!(pages_of_64_bits, cases(), |simd, case| side_by_side::<u64>(simd, *case, 1 << 63));
twin_test!(pages_of_32_bits, cases(), |simd, case| side_by_side::<u32>(simd, *case, 77));
twin_test!(pages_of_16_bits, cases(), |simd, case| side_by_side::<u16>(simd, *case, 1 << 15));
twin_test!(pages_of_8_bits, cases(), |simd, case| side_by_side::<u8>(simd, *case, 1 << 7));

#[test]
fn pages_side_by_side_are_those_one_by_one() {
    for case in cases() {
        assert_eq!(side_by_side::<u64>(Simd::Scalar, case, 0), one_by_one(case), "{case:?}");
        assert_eq!(side_by_side::<u32>(Simd::Scalar, case, 0), one_by_one(case), "{case:?}");
        assert_eq!(side_by_side::<u8>(Simd::Scalar, case, 0), one_by_one(case), "{case:?}");
    }
}

#[test]
fn too_few_bytes_change_nothing() {
    let case = (7, 33, 7, 0, 256, 1);
    let pages = PageTable::any(&table::<u32>(case)).unwrap();
    let (bytes, before) = start(case);
    let last = before.iter().map(|place| place.bit / 8).max().unwrap();
    for (missing, are_enough) in [(0, true), (1, false)] {
        let mut places = before;
        let mut all = [&bytes[..]; PAGES];
        let longest = before.iter().position(|place| place.bit / 8 == last).unwrap();
        all[longest] = &bytes[..last + pages.codes_window(256) - missing];
        let mut codes = Box::<PageCodes>::default();
        let present = Present::in_use();
        assert_eq!(pages.walk(present, &all, &mut places, 256, &mut codes), are_enough);
        assert_eq!(places == before, !are_enough);
    }
}

#[test]
fn tables_too_large_are_not_taken() {
    assert!(PageTable::any(&table::<u64>((11, 3, 4, 0, 0, 1))).is_none());
    assert!(PageTable::any(&table::<u64>((10, 257, 0, 0, 0, 1))).is_none());
    assert!(PageTable::any(&table::<u64>((0, 1, 4, 0, 0, 1))).is_none());
    let wide = [0, 16].map(|offset_bits| Symbol { weight: 1, offset_bits, lower: 0u16 });
    let wide = Table::spread(1, &wide, Memory::default()).unwrap();
    assert!(PageTable::any(&wide).is_none());
}

/// Width and order, numbers, and which map.
fn finishes() -> Vec<(usize, usize, usize)> {
    let numbers = [0, 1, 7, 8, 16, 33, 63, 64, 249, 256];
    let with = |order| numbers.map(|n| [0, 1, 2, 3].map(|map| (order, n, map)));
    (0..=7).flat_map(with).flatten().collect()
}

fn finished<L: Latent>(simd: Simd, (order, n, map): (usize, usize, usize)) -> (Vec<L>, Vec<L>) {
    let mut noise = noise(9);
    let mut random = |n| (0..n).map(|_| L::from_low(noise())).collect::<Vec<_>>();
    let (mut moments, mut latents, mut dst) = (random(order), random(n), random(n));
    let map = [Map::NONE, Map::Flip(1 << (L::WIDTH - 1)), Map::Flip(0x55), Map::Float][map];
    let finish = Finish { moments: &mut moments, multiples: None, map };
    finish.run_to(Present::new(simd), &mut latents, &mut dst);
    (moments, dst)
}

twin_test!(latents_finished, finishes(), |simd, case| {
    let narrow = (finished::<u8>(simd, *case), finished::<u16>(simd, *case));
    (narrow, finished::<u32>(simd, *case), finished::<u64>(simd, *case))
});
