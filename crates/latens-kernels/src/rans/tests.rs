#![expect(clippy::cast_possible_truncation, reason = "low bits of random numbers")]

use super::*;
use crate::testing::noise;
use crate::twin_test;

/// What one group is decoded from.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) bits: u32,
    pub(crate) slots: Vec<u32>,
    wide: Vec<Vec<u16>>,
    pub(crate) words: Vec<u8>,
    pub(crate) states: [u32; LANES],
    /// The states behind the last symbol, of what was encoded.
    pub(crate) last: [u32; LANES],
    /// One for all, or one each.
    classes: Vec<u8>,
    /// Where the classes of rows begin, levels of columns, and the map, where classes have these.
    levels: Option<(Vec<u16>, Vec<u8>, Vec<u8>)>,
    pub(crate) count: usize,
    /// What was encoded, where anything was.
    pub(crate) symbols: Option<Vec<u8>>,
}

/// Bytes read, symbols, states.
pub(crate) type Decoded = (Option<usize>, Vec<u8>, [u32; LANES]);

pub(crate) fn with_group(
    case: &Case,
    decode: impl FnOnce(&mut Group<'_>) -> Option<usize>,
) -> Decoded {
    let mut out = vec![0xee; case.count];
    let mut group = case.group(&mut out);
    let read = decode(&mut group);
    let states = group.states;
    (read, out, states)
}

impl Case {
    pub(crate) fn group<'a>(&'a self, out: &'a mut [u8]) -> Group<'a> {
        let (states, spacing) = (self.states, Spacing::NONE);
        Group { words: &self.words, states, classes: self.classes(), out, spacing }
    }

    pub(crate) fn classes(&self) -> Classes<'_> {
        if let Some((starts, cols, map)) = &self.levels {
            return Classes::Levels(Levels::new(map, starts, cols).unwrap());
        }
        match self.classes[..] {
            [one] if self.count != 1 => Classes::One(one),
            _ => Classes::PerSymbol(&self.classes),
        }
    }

    pub(crate) fn decode(&self, simd: Simd) -> Decoded {
        let tables = Tables::new(&self.slots, self.bits).unwrap();
        with_group(self, |group| Kernel::new(simd).decode(tables, [group])[0])
    }

    fn wide_tables(&self) -> WideTables {
        WideTables::new(self.bits, self.wide.iter().map(Vec::as_slice)).unwrap()
    }

    /// As [`Case::decode`] and, of the group and itself, [`Case::decode_two`] with wide tables.
    fn decode_wide(&self, simd: Simd) -> [Decoded; 3] {
        let (tables, kernel) = (self.wide_tables(), Kernel::new(simd));
        let one = with_group(self, |group| kernel.decode_wide(&tables, [group])[0]);
        let [a, b] = with_two(self, self, |two| kernel.decode_wide(&tables, two));
        [one, a, b]
    }

    /// This case so many times together, one of which is shorter, so that the others go on without it.
    fn decode_some<const G: usize>(&self, simd: Simd, shorter: usize) -> [Decoded; G] {
        let tables = Tables::new(&self.slots, self.bits).unwrap();
        let mut out = [const { Vec::new() }; G];
        let counts = std::array::from_fn::<_, G, _>(|i| match i == shorter {
            true => self.count.min(50 * LANES),
            false => self.count,
        });
        out.iter_mut().zip(counts).for_each(|(out, count)| out.resize(count, 0xee));
        let mut groups = out.each_mut().map(|out| {
            let (count, mut group) = (out.len(), self.group(out));
            group.classes = group.classes.first(count);
            group
        });
        let read = Kernel::new(simd).decode(tables, groups.each_mut());
        let states = groups.map(|group| group.states);
        std::array::from_fn(|i| (read[i], std::mem::take(&mut out[i]), states[i]))
    }

    /// This case and another one together, with this one's tables.
    fn decode_two(&self, simd: Simd, other: &Case) -> [Decoded; 2] {
        let tables = Tables::new(&self.slots, self.bits).unwrap();
        with_two(self, other, |two| Kernel::new(simd).decode(tables, two))
    }
}

pub(crate) fn with_two(
    first: &Case,
    second: &Case,
    decode: impl for<'a> FnOnce([&mut Group<'a>; 2]) -> [Option<usize>; 2],
) -> [Decoded; 2] {
    let mut out = [first, second].map(|case| vec![0xee; case.count]);
    let [a, b] = &mut out;
    let (mut a, mut b) = (first.group(a), second.group(b));
    let reads = decode([&mut a, &mut b]);
    let states = [a.states, b.states];
    let [a, b] = out;
    [(reads[0], a, states[0]), (reads[1], b, states[1])]
}

/// Frequencies of `size` symbols that sum to 2^bits, some of them 0.
fn frequencies(bits: u32, size: usize, next: &mut impl FnMut() -> u64) -> Vec<u32> {
    let mut f = vec![0u32; size];
    let mut left = 1u32 << bits;
    while left > 0 {
        let at = (next() % size as u64) as usize;
        let step = 1 + (next() % u64::from(left.div_ceil(2))) as u32;
        f[at] += step;
        left -= step;
    }
    f
}

/// Encodes as the specification says: from the last symbol to the first.
fn encode(
    symbols: &[u8],
    class_of: impl Fn(usize) -> usize,
    tables: &[Vec<u32>],
    bits: u32,
    mut states: [u32; LANES],
) -> (Vec<u8>, [u32; LANES]) {
    let mut words = Vec::new();
    for (i, &symbol) in symbols.iter().enumerate().rev() {
        let table = &tables[class_of(i)];
        let f = table[usize::from(symbol)];
        let c: u32 = table[..usize::from(symbol)].iter().sum();
        let x = &mut states[i % LANES];
        if u64::from(*x) >= u64::from(f) << (32 - bits) {
            words.push((*x & 0xffff) as u16);
            *x >>= 16;
        }
        *x = (*x / f) << bits | (*x % f + c);
    }
    (words.iter().rev().flat_map(|w| w.to_le_bytes()).collect(), states)
}

pub(crate) fn cases() -> Vec<Case> {
    let mut next = noise(5);
    let mut cases = Vec::new();
    for (n, &count) in [0usize, 1, 5, 31, 32, 33, 64, 100, 1000, 4096, 20000].iter().enumerate() {
        for bits in [1, 2, 5, 8, 11, 12] {
            for classes in [1, 3, 1 + (n % 9) * 4] {
                let alphabet = if bits < 8 { 1 + (next() % 16) as usize } else { 256 };
                let tables: Vec<Vec<u32>> =
                    (0..classes).map(|_| frequencies(bits, alphabet, &mut next)).collect();
                cases.push(case(&tables, bits, count, &mut next));
                cases.push(case_of_levels(&tables, bits, count, &mut next));
                // Words and states that nobody wrote; one table alone; streams cut short.
                let mut wild = case(&tables, bits, count, &mut next);
                wild.words = (0..next() % 3000).map(|_| next() as u8).collect();
                wild.states = std::array::from_fn(|_| next() as u32);
                wild.symbols = None;
                cases.push(wild);
                let mut cut = case(&tables, bits, count, &mut next);
                let keep = (next() % (cut.words.len() as u64 + 1)) as usize;
                cut.words.truncate(keep);
                cut.symbols = None;
                cases.push(cut);
            }
        }
    }
    cases
}

/// A case whose classes come of rows and columns.
fn case_of_levels(
    tables: &[Vec<u32>],
    bits: u32,
    count: usize,
    next: &mut impl FnMut() -> u64,
) -> Case {
    let map: Vec<u8> = (0..300).map(|_| (next() % tables.len() as u64) as u8).collect();
    let cols: Vec<u8> = (0..LANES * [1, 2, 12, 40][count % 4]).map(|_| next() as u8 % 64).collect();
    let starts: Vec<u16> = (0..count.div_ceil(LANES)).map(|_| (next() % 237) as u16).collect();
    let levels = Levels::new(&map, &starts, &cols).unwrap();
    let classes = (0..count).map(|i| levels.class(i)).collect();
    let levels = Some((starts, cols, map));
    Case { levels, ..case_with(tables, classes, bits, count, next) }
}

fn case(tables: &[Vec<u32>], bits: u32, count: usize, next: &mut impl FnMut() -> u64) -> Case {
    let classes: Vec<u8> = match tables.len() {
        1 => vec![0],
        many if count != 1 && next().is_multiple_of(4) => vec![(next() % many as u64) as u8],
        many => (0..count).map(|_| (next() % many as u64) as u8).collect(),
    };
    case_with(tables, classes, bits, count, next)
}

fn case_with(
    tables: &[Vec<u32>],
    classes: Vec<u8>,
    bits: u32,
    count: usize,
    next: &mut impl FnMut() -> u64,
) -> Case {
    let class_of = |i: usize| usize::from(if classes.len() == 1 { classes[0] } else { classes[i] });
    let symbols: Vec<u8> = (0..count)
        .map(|i| {
            let mut slot = (next() % (1 << bits)) as u32;
            let table = &tables[class_of(i)];
            let symbol = table.iter().position(|&f| {
                let here = slot < f;
                slot = slot.wrapping_sub(if here { 0 } else { f });
                here
            });
            symbol.unwrap() as u8
        })
        .collect();
    let mut last = [LOWER; LANES];
    if next().is_multiple_of(2) {
        last.iter_mut().for_each(|x| *x = LOWER.max(next() as u32 >> (next() % 16)));
    }
    let (words, states) = encode(&symbols, class_of, tables, bits, last);
    let mut slots = Vec::new();
    let narrow = |f: &u32| u16::try_from(*f).unwrap();
    let wide = tables.iter().map(|table| table.iter().map(narrow).collect()).collect();
    for table in tables {
        for (symbol, &f) in table.iter().enumerate() {
            // Where that is too much for a slot, the tables are for wide kernels alone.
            let f = f.min(MAX_FREQUENCY);
            slots.extend((0..f).map(|nth| entry(symbol as u8, f, nth)));
        }
        slots.resize(slots.len().next_multiple_of(1 << bits), 0);
    }
    let symbols = Some(symbols);
    Case { bits, slots, wide, words, states, last, classes, levels: None, count, symbols }
}

twin_test!(all_kernels_decode_alike, cases(), |simd, case| case.decode(simd));

/// Slots are those of one symbol after the other, whatever was in their memory.
#[test]
fn slots_are_in_order() {
    let tables: [&[u16]; 3] = [&[1, 0, 15, 16, 17, 0, 207], &[256], &[0, 255, 0, 1]];
    let mut wanted = Vec::new();
    for table in tables {
        for (symbol, &f) in (0..).zip(table) {
            wanted.extend((0..f.into()).map(|nth| entry(symbol, f.into(), nth)));
        }
    }
    for stale in [0, 100, 5000] {
        assert_eq!(slots_of(8, tables.into_iter(), vec![!0; stale]), wanted);
    }
}

twin_test!(all_kernels_decode_some_alike, cases(), |simd, case| (
    case.decode_some::<3>(simd, 2),
    case.decode_some::<4>(simd, 0),
    case.decode_some::<5>(simd, 2),
    case.decode_some::<5>(simd, 4),
    case.decode_some::<9>(simd, 8),
));

twin_test!(all_kernels_decode_wide_alike, cases(), |simd, case| case.decode_wide(simd));

/// What is between rows is as it was, and they are what they are without it.
#[test]
fn rows_lie_apart_as_asked_for() {
    let apart = |case: &Case, simd: Simd, gaps: [u8; 4]| {
        let tables = Tables::new(&case.slots, case.bits).unwrap();
        let spacings = gaps.map(Spacing);
        let mut outs = spacings.map(|spacing| vec![0xee; spacing.bytes(case.count)]);
        let mut groups = outs.each_mut().map(|out| case.group(out));
        groups.iter_mut().zip(spacings).for_each(|(group, spacing)| group.spacing = spacing);
        let read = Kernel::new(simd).decode(tables, groups.each_mut());
        let states = groups.map(|group| group.states);
        for ((out, spacing), (read, states)) in
            outs.iter().zip(spacings).zip(read.into_iter().zip(states))
        {
            let rows = out.chunks(spacing.step());
            let symbols: Vec<u8> =
                rows.clone().flat_map(|r| &r[..r.len().min(LANES)]).copied().collect();
            assert_eq!((read, symbols, states), case.decode(simd), "{simd:?} {gaps:?} {case:?}");
            assert!(rows.flat_map(|r| &r[r.len().min(LANES)..]).all(|&byte| byte == 0xee));
        }
    };
    for case in cases() {
        for simd in Simd::available() {
            apart(&case, simd, [2; 4]);
            apart(&case, simd, [0, 255, 1, 1]);
        }
    }
}

#[test]
fn bytes_and_symbols_are_those_of_each_other() {
    for spacing in [0, 1, 2, 31, 32, 33, 255].map(Spacing) {
        for count in 0..300 {
            assert_eq!(spacing.symbols(spacing.bytes(count)), count);
            assert!(count == 0 || spacing.bytes(count) == spacing.place(count - 1) + 1);
        }
    }
}

#[test]
#[should_panic(expected = "an end between rows")]
fn an_end_between_rows_panics() {
    let slots = [entry(3, 2, 0), entry(3, 2, 1)];
    let mut out = [0; 80];
    let (states, classes, spacing) = ([LOWER; LANES], Classes::One(0), Spacing(200));
    let mut group = Group { words: &[], states, classes, out: &mut out, spacing };
    Kernel::new(crate::dispatch::simd()).decode(Tables::new(&slots, 1).unwrap(), [&mut group]);
}

twin_test!(
    all_kernels_decode_two_alike,
    {
        let mut pairs = Vec::new();
        let mut previous: Option<Case> = None;
        for mut case in cases() {
            if case.levels.is_some() {
                continue;
            }
            if let Some(mut other) = previous.take() {
                // Classes that both tables have; the second group's symbols are then made up.
                let (a, b) = (case.slots.len() >> case.bits, other.slots.len() >> other.bits);
                let least = u8::try_from(a.min(b)).unwrap();
                other.classes.iter_mut().chain(&mut case.classes).for_each(|c| *c %= least);
                (case.symbols, other.symbols) = (None, None);
                pairs.push((case, other));
            } else {
                previous = Some(case);
            }
        }
        pairs
    },
    |simd, case| {
        let (a, b) = case;
        (a.decode_two(simd, b), b.decode_two(simd, a))
    }
);

#[test]
fn two_together_give_what_each_gives_alone() {
    for case in cases() {
        for simd in Simd::available() {
            let alone = case.decode(simd);
            assert_eq!(case.decode_two(simd, &case), [alone.clone(), alone]);
        }
    }
}

#[test]
fn what_was_encoded_comes_back() {
    let mut seen = 0;
    for case in cases() {
        let Some(symbols) = &case.symbols else { continue };
        let (read, out, states) = case.decode(Simd::Scalar);
        assert_eq!((read, &out, states), (Some(case.words.len()), symbols, case.last));
        let tables = case.wide_tables();
        let wide =
            with_group(&case, |group| Kernel::new(Simd::Scalar).decode_wide(&tables, [group])[0]);
        assert_eq!(wide, (read, out, states));
        assert!(case.decode_wide(Simd::Scalar).iter().all(|decoded| *decoded == wide));
        seen += case.count;
    }
    assert!(seen > 100_000);
}

#[test]
fn wide_tables_decode_what_was_encoded() {
    let mut next = noise(6);
    for bits in [13, 14] {
        for count in [3, 1000, 5000] {
            let tables: Vec<_> = (0..3).map(|_| frequencies(bits, 256, &mut next)).collect();
            let case = case(&tables, bits, count, &mut next);
            let tables = case.wide_tables();
            for simd in Simd::available() {
                let (read, out, states) =
                    with_group(&case, |group| Kernel::new(simd).decode_wide(&tables, [group])[0]);
                assert_eq!((read, states), (Some(case.words.len()), case.last));
                assert_eq!(Some(out), case.symbols);
            }
        }
    }
}

/// Symbols of which nearly all are the same take next to no words: whole, cut short and with words that nobody wrote
/// they are what symbol by symbol comes of them.
#[test]
fn symbols_that_take_no_words_are_decoded_as_one_by_one() {
    let mut next = noise(23);
    for bits in [1, 8, 11, 12] {
        let one = (1 << bits) - 1;
        let tables = [vec![one, 1], vec![0, 1 << bits], vec![1, one], vec![one + 1]];
        for count in [200, 256, 300, 5000, 40_000] {
            // Mostly the first, now and then any.
            let classes = (0..count).map(|_| (next() % 80).saturating_sub(76) as u8).collect();
            let whole = case_with(&tables, classes, bits, count, &mut next);
            for lacking in [0, 1, 2, 7, 40, usize::MAX] {
                let keep = whole.words.len().saturating_sub(lacking);
                for symbols in [&whole.symbols, &None] {
                    let mut case = Case { symbols: symbols.clone(), ..whole.clone() };
                    case.words.truncate(keep);
                    if case.symbols.is_none() {
                        case.words.iter_mut().for_each(|word| *word = next() as u8);
                    }
                    let wide = case.wide_tables();
                    let by_one = with_group(&case, |group| {
                        scalar::rans::finish_wide(&wide, Cursor::new(group))
                    });
                    for simd in Simd::available() {
                        assert!(case.decode_wide(simd)[0] == by_one, "{bits} {count} {lacking}");
                        if bits < 12 {
                            assert!(case.decode(simd) == by_one, "{bits} {count} {lacking}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn lacking_words_are_told() {
    let mut told = 0;
    for mut case in cases() {
        if case.symbols.is_none() || case.words.is_empty() {
            continue;
        }
        case.words.truncate(case.words.len() - 1);
        for simd in Simd::available() {
            assert_eq!(case.decode(simd).0, None);
            told += 1;
        }
    }
    assert!(told > 100);
}

#[test]
fn tables_that_are_not_whole_are_not_made() {
    assert!(Tables::new(&[], 4).is_none());
    assert!(Tables::new(&[0; 15], 4).is_none());
    assert!(Tables::new(&[0; 16], 4).is_some());
    assert!(Tables::new(&[0; 1], 0).is_none());
    assert!(Tables::new(&[0; 1 << 15], 15).is_none());
    assert!(Tables::new(&[0; 257 * 2], 1).is_none());
    let wide = |bits, table: &[u16]| WideTables::new(bits, [table].into_iter()).is_some();
    assert!(wide(14, &[1 << 14]) && wide(3, &[0, 4, 4]));
    assert!(!wide(15, &[1 << 15]) && !wide(3, &[4, 3]) && !wide(3, &[4, 5]) && !wide(0, &[1]));
    assert!(WideTables::new(3, std::iter::empty()).is_none());
}

#[test]
#[should_panic(expected = "classes without a table")]
fn a_class_without_a_table_panics() {
    let slots = [entry(3, 2, 0), entry(3, 2, 1)];
    let mut out = [0; 40];
    let classes = [vec![0; 39], vec![1]].concat();
    let classes = Classes::PerSymbol(&classes);
    let (states, spacing) = ([LOWER; LANES], Spacing::NONE);
    let mut group = Group { words: &[], states, classes, out: &mut out, spacing };
    Kernel::new(crate::dispatch::simd()).decode(Tables::new(&slots, 1).unwrap(), [&mut group]);
}
