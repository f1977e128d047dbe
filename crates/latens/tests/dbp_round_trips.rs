//! What is written is read again: all widths, block shapes, counts around every boundary,
//! wrap-around, on every instruction set, in pieces and as a whole; and the model agrees.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod dbp_common;

use dbp_common::{model_decode, noise};
use latens::Limits;
use latens::delta_binary_packed::{
    Decoder, Element, Layout, Options, decode, decode_into, encode, encode_into, inspect,
};
use latens_kernels::dispatch::Simd;
use proptest::prelude::*;

const SHAPES: [(usize, usize); 7] =
    [(128, 1), (128, 4), (256, 4), (256, 8), (1024, 1), (2048, 8), (20096, 4)];

fn check<T: Element>(values: &[T], layout: Layout) -> Vec<u8> {
    let page = encode(values, layout);
    let mut noisy = vec![0xa5; 3];
    encode_into(values, layout, &mut noisy);
    assert_eq!(noisy[3..], page);
    // Twice: with nothing behind the stream, and with something.
    for extra in [0, 70] {
        let mut page = page.clone();
        let size = page.len();
        page.resize(size + extra, 0xff);
        for simd in Simd::available() {
            let mut out = vec![T::default(); values.len() + 3];
            let decoder = Decoder::<T>::new(&page, Options::STRICT).unwrap();
            let mut decoder = decoder.with_simd(simd);
            assert_eq!(decoder.read(&mut out).unwrap(), values.len());
            assert!(out[..values.len()] == *values, "{layout:?} {} {}", values.len(), simd.name());
            assert_eq!((decoder.consumed(), decoder.remaining()), (size, 0));
        }
        let mut out = vec![T::default(); values.len()];
        let done = decode_into(&page, &mut out, Options::STRICT).unwrap();
        assert_eq!((done.count, done.consumed), (values.len(), size));
        assert!(out == values);
    }
    page
}

#[test]
fn widths_by_shapes_by_counts() {
    let mut next = noise(1);
    for (size, miniblocks) in SHAPES {
        let layout = Layout::new(size, miniblocks).unwrap();
        let step = size / miniblocks;
        let mut counts = vec![0, 1, 2, 3, 9];
        for edge in [8, 31, 32, 33, step, size, size + step, 2 * size] {
            counts.extend([edge - 1, edge, edge + 1, edge + 2]);
        }
        for width in 0..=64u32 {
            for &count in &counts {
                // Large shapes get the whole cross of counts for some widths only.
                if size > 2048 && count > step + 2 && width % 13 != 7 {
                    continue;
                }
                let mut value = next();
                let values: Vec<u64> = (0..count)
                    .map(|i| {
                        let step = if width == 0 { 3 } else { next() >> (64 - width) };
                        value = value.wrapping_add(step).wrapping_sub(u64::from(i % 50 == 1) << 20);
                        value
                    })
                    .collect();
                let signed: Vec<i64> = values.iter().map(|v| v.cast_signed()).collect();
                let narrow: Vec<u32> = values.iter().map(|&v| v as u32).collect();
                let narrow_signed: Vec<i32> = narrow.iter().map(|v| v.cast_signed()).collect();
                let page = check(&values, layout);
                assert_eq!(check(&signed, layout), page);
                let page32 = check(&narrow, layout);
                assert_eq!(check(&narrow_signed, layout), page32);
                if count <= 300 {
                    assert_eq!(model_decode(&page, 64, 1 << 20).unwrap(), (values, page.len()));
                }
            }
        }
    }
}

#[test]
fn arithmetic_wraps_around() {
    let extremes64 = [i64::MIN, i64::MAX, 0, -1, 1, i64::MIN + 1, i64::MAX - 1];
    let extremes32 = [i32::MIN, i32::MAX, 0, -1, 1, i32::MIN + 1, i32::MAX - 1];
    for stride in 1..7 {
        let v64: Vec<i64> = (0..700).map(|i| extremes64[i * stride % 7]).collect();
        let v32: Vec<i32> = (0..700).map(|i| extremes32[i * i * stride % 7]).collect();
        for (size, miniblocks) in SHAPES {
            let layout = Layout::new(size, miniblocks).unwrap();
            check(&v64, layout);
            check(&v32, layout);
        }
    }
}

/// Reads and skips in pieces of any size, on all instruction sets, against the whole.
fn in_pieces<T: Element>(values: &[T], layout: Layout, pieces: &[(bool, usize)]) {
    let page = encode(values, layout);
    for simd in Simd::available() {
        let decoder = Decoder::<T>::new(&page, Options::default()).unwrap();
        let mut decoder = decoder.with_simd(simd);
        let mut at = 0;
        for &(skip, count) in pieces.iter().cycle().take(10_000) {
            let expected = count.min(values.len() - at);
            if skip {
                assert_eq!(decoder.skip(count as u64).unwrap(), expected as u64);
            } else {
                let mut out = vec![T::default(); count];
                assert_eq!(decoder.read(&mut out).unwrap(), expected);
                assert!(out[..expected] == values[at..at + expected], "{} {at}", simd.name());
            }
            at += expected;
            assert_eq!(decoder.remaining(), (values.len() - at) as u64);
            if at == values.len() {
                break;
            }
        }
        decoder.skip(u64::MAX).unwrap();
        assert_eq!(decoder.consumed(), page.len());
    }
}

#[test]
fn pieces_of_every_size() {
    let mut next = noise(3);
    let values: Vec<i64> = (0..3000).map(|_| (next() >> (next() % 60)).cast_signed()).collect();
    let narrow: Vec<u32> = values.iter().map(|&v| v as u32).collect();
    for (size, miniblocks) in SHAPES {
        let layout = Layout::new(size, miniblocks).unwrap();
        for piece in (1..70).chain([127, 128, 129, 255, 257, 1000, 2999, 3000, 4000]) {
            in_pieces(&values, layout, &[(false, piece)]);
            in_pieces(&narrow, layout, &[(false, piece), (true, 2 * piece)]);
        }
    }
}

#[test]
fn the_report_names_all_blocks() {
    let values: Vec<i64> = (0..1000).map(|i| i * i).collect();
    let page = encode(&values, Layout::default_for::<i64>());
    let report = inspect(&page).unwrap();
    assert_eq!((report.blocks.len(), report.widths.len(), report.consumed), (4, 16, page.len()));
    assert_eq!(report.blocks[1].min_delta, 513);
    assert_eq!(report.block_widths(3).len(), 4);
    assert_eq!(report.block_widths(4), [0u8; 0]);
}

fn shapes() -> impl Strategy<Value = Layout> {
    prop_oneof![
        proptest::sample::select(&SHAPES[..]).prop_map(|(b, m)| Layout::new(b, m).unwrap()),
        (1usize..40, 0u32..3).prop_map(|(n, p)| Layout::new(128 * n, 1 << p).unwrap()),
    ]
}

/// Numbers of which some are near to each other and some are not.
fn numbers() -> impl Strategy<Value = Vec<i64>> {
    proptest::collection::vec((any::<i64>(), 0u32..64, any::<bool>()), 0..1200).prop_map(|parts| {
        let mut last = 0i64;
        parts
            .into_iter()
            .map(|(x, shift, far)| {
                last = if far { x >> shift } else { last.wrapping_add((x >> shift) % 1000) };
                last
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_round_trip(values in numbers(), layout in shapes()) {
        let page = check(&values, layout);
        let narrow: Vec<i32> = values.iter().map(|&v| v as i32).collect();
        check(&narrow, layout);
        let (model, consumed) = model_decode(&page, 64, u64::MAX).unwrap();
        prop_assert_eq!(consumed, page.len());
        prop_assert!(model.iter().zip(&values).all(|(m, v)| *m == v.cast_unsigned()));
        let all = decode::<i64>(&page, Limits::default(), Options::STRICT).unwrap();
        prop_assert_eq!(all, (values, page.len()));
    }

    #[test]
    fn any_pieces_agree(
        values in numbers(),
        layout in shapes(),
        pieces in proptest::collection::vec((any::<bool>(), 1usize..300), 1..20),
    ) {
        in_pieces(&values, layout, &pieces);
    }

    #[test]
    fn any_bytes_do_as_the_model_does(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut page = vec![0x80, 0x01, 4];
        page.extend(bytes);
        let ours = decode::<i64>(&page, Limits::default().max_output(1 << 20), Options::default());
        let model = model_decode(&page, 64, 1 << 17);
        match (ours, model) {
            (Ok((ours, consumed)), Some((model, model_consumed))) => {
                prop_assert_eq!(consumed, model_consumed);
                prop_assert!(model.iter().zip(&ours).all(|(m, v)| *m == v.cast_unsigned()));
            }
            (ours, model) => prop_assert_eq!(ours.is_ok(), model.is_some()),
        }
    }
}
