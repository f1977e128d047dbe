//! Every view on random and on extreme bytes, whole and by bands of units, and against a second
//! reading of each packing, bit by bit.

#![allow(clippy::cast_possible_truncation, reason = "a test")]

use super::super::dtype::Dtype;
use super::super::plane::{Content, Role};
use super::*;
use crate::wcodec::made::noise;

fn every_view() -> Vec<View> {
    let mut views = vec![View::Raw];
    let signs = [Sign::Signed, Sign::Unsigned, Sign::Offset];
    views.extend(signs.map(View::Bytes));
    for bits in 1..=8 {
        for word in [1, 2, 4, 8] {
            for order in [BitOrder::LowFirst, BitOrder::HighFirst, BitOrder::Awq] {
                for axis in [Axis::Columns, Axis::Rows] {
                    // The sign changes what symbols mean, not where they are.
                    for sign in signs.into_iter().take(if word == 4 { 3 } else { 1 }) {
                        for cols in [0, 32, 96] {
                            let packing = Packing { bits, word, order, axis, sign, cols };
                            views.extend(packing.is_valid().then_some(View::Packed(packing)));
                        }
                    }
                }
            }
        }
    }
    for width in [1, 2, 4, 8] {
        use WordOrder::{Float, SignMagnitude, Signed, Unsigned};
        for order in [Unsigned, Float, Signed, SignMagnitude] {
            views.push(View::Words { width, order });
        }
        views.push(View::FloatBytes { width });
    }
    views.extend(BlockKind::ALL.map(View::Blocks));
    views
}

/// Splits, checks every part against its description, joins; then the same for each unit alone.
fn round_trip(layout: &Layout, bytes: &[u8]) {
    let parts = layout.split(bytes).unwrap();
    let described = layout.parts();
    assert_eq!(parts.len(), described.len());
    for (part, described) in parts.iter().zip(&described) {
        assert_eq!(part.role, described.role, "{layout:?}");
        let rows = usize::try_from(layout.rows).unwrap();
        match (&part.content, described.form) {
            (Content::Symbols(p), Form::Symbols { bits, cols }) => {
                assert_eq!((p.rows, p.cols as u64, p.bits), (rows, cols, bits), "{layout:?}");
                assert_eq!(p.data.len(), p.rows * p.cols, "{layout:?}");
                assert!(bits == 8 || p.data.iter().all(|s| s >> bits == 0), "{layout:?}");
            }
            (Content::Words { width, float, data }, Form::Words { width: w, float: f, a_row }) => {
                assert_eq!((*width, *float), (w, f));
                assert_eq!(data.len() as u64, layout.rows * a_row * u64::from(w), "{layout:?}");
            }
            (Content::Raw(data), Form::Raw { a_row }) => {
                assert_eq!(data.len() as u64, layout.rows * a_row, "{layout:?}");
            }
            other => panic!("{layout:?}: {other:?}"),
        }
    }
    assert_eq!(layout.join(parts.clone()).unwrap(), bytes, "{layout:?}");
    layout.logical(parts.clone()).unwrap();

    let unit = usize::try_from(layout.unit_bytes).unwrap();
    let mut whole = Vec::new();
    for bytes in bytes.chunks(unit.max(1)) {
        let parts = layout.split(bytes).unwrap();
        assert_eq!(layout.join(parts.clone()).unwrap(), bytes, "{layout:?}, one unit");
        whole.push(parts);
    }
    for (i, part) in parts.iter().enumerate() {
        let glued: Vec<u8> =
            whole.iter().flat_map(|u| super::parts::data(&u[i]).to_vec()).collect();
        assert_eq!(super::parts::data(part), glued, "{layout:?}: parts are not linear in rows");
    }
    if unit > 1 {
        assert!(layout.split(&bytes[1..]).is_none(), "{layout:?}: a piece of a unit");
    }
}

#[test]
fn every_view_gives_back_the_bytes() {
    let shapes: [&[u64]; 12] = [
        &[],
        &[1],
        &[7],
        &[96],
        &[3, 32],
        &[5, 7],
        &[64, 1],
        &[6, 3, 3, 3],
        &[2, 3, 96],
        &[2, 256],
        &[3, 2, 512],
        &[15, 40],
    ];
    let mut fitted = std::collections::BTreeMap::<String, usize>::new();
    for view in every_view() {
        for &dtype in Dtype::ALL {
            for shape in shapes {
                let Some(len) = super::super::dtype::elements(shape).and_then(|n| dtype.bytes(n))
                else {
                    continue;
                };
                let Some(layout) = view.layout(dtype, shape, len) else { continue };
                *fitted.entry(view.name()).or_default() += 1;
                let n = usize::try_from(len).unwrap();
                for bytes in [noise(n, len + 1), vec![0; n], vec![0xff; n]] {
                    round_trip(&layout, &bytes);
                }
                assert!(view.layout(dtype, shape, len + 1).is_none() || view == View::Raw);
            }
        }
        if view.is_valid() {
            assert!(fitted.contains_key(&view.name()), "{view:?} fits nothing");
        }
    }
}

#[test]
fn empty_tensors_and_unknown_types() {
    for view in every_view() {
        let layout = view.layout(Dtype::F32, &[3, 0], 0);
        assert_eq!(layout.is_some(), view.is_valid());
        let Some(layout) = layout else { continue };
        let parts = layout.split(&[]).unwrap();
        assert!(layout.join(parts).unwrap().is_empty());
    }
    let layout = View::Raw.layout(Dtype::Unknown, &[u64::MAX, 9], 77).unwrap();
    round_trip(&layout, &noise(77, 3));
    assert!(View::Bytes(Sign::Signed).layout(Dtype::Unknown, &[77], 77).is_none());
}

/// As a damaged index may have it: bytes, and a shape that has none.
#[test]
fn shapes_without_elements_have_no_bytes() {
    for view in every_view().into_iter().filter(|view| *view != View::Raw) {
        for &dtype in Dtype::ALL {
            for shape in [&[5, 0][..], &[0], &[0, 32]] {
                assert_eq!(
                    view.layout(dtype, shape, 34 * 210),
                    None,
                    "{view:?} {dtype:?} {shape:?}"
                );
            }
        }
    }
}

#[test]
fn foreign_parts_are_refused() {
    let layout = |view: View, dtype| view.layout(dtype, &[2, 256], 512).unwrap();
    let bytes = layout(View::Bytes(Sign::Signed), Dtype::U8);
    let nibbles =
        layout(View::Packed(Packing::nibbles(BitOrder::LowFirst, Sign::Signed)), Dtype::U8);
    let data = noise(512, 9);
    assert!(nibbles.join(bytes.split(&data).unwrap()).is_err());
    assert!(bytes.join(nibbles.split(&data).unwrap()).is_err());
    assert!(bytes.join(Vec::new()).is_err());
    let mut parts = nibbles.split(&data).unwrap();
    parts[0].role = Role::Scale;
    assert!(nibbles.join(parts).is_err());
    let mut parts = nibbles.split(&data).unwrap();
    if let Content::Symbols(plane) = &mut parts[0].content {
        plane.data.pop();
    }
    assert!(nibbles.join(parts).is_err());

    let kind = BlockKind::Q4_K;
    let layout = View::Blocks(kind).layout(Dtype::Q4_K, &[2, 256], 288).unwrap();
    let mut parts = layout.split(&noise(288, 4)).unwrap();
    if let Content::Words { data, .. } = &mut parts[0].content {
        data.truncate(2);
    }
    assert!(layout.join(parts).is_err(), "parts with different rows");

    let rows = Packing::words(BitOrder::LowFirst, Axis::Rows, Sign::Unsigned);
    let layout = View::Packed(rows).layout(Dtype::I32, &[2, 3], 24).unwrap();
    assert_eq!((layout.rows, layout.cols, layout.unit_rows, layout.unit_bytes), (16, 3, 8, 12));
    let mut parts = layout.split(&noise(24, 5)).unwrap();
    if let Content::Symbols(plane) = &mut parts[0].content {
        plane.rows = 5;
        plane.data.truncate(15);
    }
    assert!(layout.join(parts.clone()).is_err(), "rows that are not whole units");
    assert!(matches!(layout.logical(parts), Ok(Values::Unsigned(v)) if v.len() == 15));
}

/// The symbols of a packed tensor, one at a time from the words.
fn packed_reference(p: Packing, bytes: &[u8], rows: usize, cols: usize) -> Vec<u8> {
    let (bits, word) = (usize::from(p.bits), usize::from(p.word));
    // Words that hold whole symbols together, and those.
    let together = (1..).find(|words| (8 * word * words).is_multiple_of(bits)).unwrap();
    let each = 8 * word * together / bits;
    let mut out = Vec::new();
    for r in 0..rows {
        for c in 0..cols {
            let (first, apart, k) = match p.axis {
                Axis::Columns => ((r * cols + c) / each * together, 1, (r * cols + c) % each),
                Axis::Rows => (r / each * together * cols + c, cols, r % each),
            };
            let position = match p.order {
                BitOrder::LowFirst => k,
                BitOrder::HighFirst => each - 1 - k,
                BitOrder::Awq => [0, 2, 4, 6, 1, 3, 5, 7].iter().position(|&o| o == k).unwrap(),
            };
            let bit = |b: usize| {
                let (at, within) = (b / (8 * word), b % (8 * word));
                bytes[(first + at * apart) * word + within / 8] >> (within % 8) & 1
            };
            out.push((0..bits).map(|b| bit(bits * position + b) << b).sum());
        }
    }
    out
}

#[test]
fn packed_symbols_are_where_the_format_says() {
    for view in every_view() {
        let View::Packed(packing) = view else { continue };
        let (dtype, shape) =
            if packing.word == 1 { (Dtype::U8, [30, 480]) } else { (Dtype::I32, [30, 120]) };
        let Some(layout) = view.layout(dtype, &shape, 30 * 480) else {
            let is_whole = u64::from(packing.cols).is_multiple_of(packing.each());
            assert!(!view.is_valid() || !is_whole, "{packing:?}");
            continue;
        };
        let (rows, cols) = (layout.rows as usize, layout.cols as usize);
        let bytes = noise(30 * 480, 17);
        let parts = layout.split(&bytes).unwrap();
        let want = packed_reference(packing, &bytes, rows, cols);
        assert_eq!(super::parts::data(&parts[0]), want, "{packing:?}");
    }
}

#[test]
fn values() {
    let all = |sign, bits| Meaning { bits, sign }.values((0..16).collect());
    assert_eq!(all(Sign::Unsigned, 4), Values::Unsigned((0..16).collect()));
    assert_eq!(all(Sign::Offset, 4), Values::Signed((-8..8).collect()));
    assert_eq!(all(Sign::Signed, 4), Values::Signed((0..8).chain(-8..0).collect()));
    let bytes = Meaning { bits: 8, sign: Sign::Signed }.values(vec![0, 127, 128, 255]);
    assert_eq!(bytes, Values::Signed(vec![0, 127, -128, -1]));
}

/// Weights of one block by the formulas of GGUF's documentation, as unsigned symbols.
fn block_reference(kind: BlockKind, b: &[u8]) -> Vec<u8> {
    let nibble = |bytes: &[u8], i: usize| (bytes[i % 16] >> (4 * (i / 16))) & 15;
    let fifth = |bytes: &[u8], i: usize| ((bytes[i / 8] >> (i % 8)) & 1) << 4;
    match kind {
        BlockKind::Q4_0 | BlockKind::IQ4_NL => (0..32).map(|i| nibble(&b[2..], i)).collect(),
        BlockKind::Q4_1 => (0..32).map(|i| nibble(&b[4..], i)).collect(),
        BlockKind::MXFP4 => (0..32).map(|i| nibble(&b[1..], i)).collect(),
        BlockKind::Q5_0 => (0..32).map(|i| nibble(&b[6..], i) | fifth(&b[2..], i)).collect(),
        BlockKind::Q5_1 => (0..32).map(|i| nibble(&b[8..], i) | fifth(&b[4..], i)).collect(),
        BlockKind::Q8_0 => b[2..].to_vec(),
        BlockKind::Q4_K => (0..256).map(|i| k_nibble(&b[16..], i)).collect(),
        BlockKind::Q5_K => (0..256)
            .map(|i| k_nibble(&b[48..], i) | ((b[16 + i % 32] >> (i / 32)) & 1) << 4)
            .collect(),
        BlockKind::Q6_K => (0..256)
            .map(|i| {
                let (half, i) = (i / 128, i % 128);
                let low = b[64 * half + i % 64] >> (4 * (i / 64)) & 15;
                low | (b[128 + 32 * half + i % 32] >> (2 * (i / 32)) & 3) << 4
            })
            .collect(),
    }
}

fn k_nibble(nibbles: &[u8], i: usize) -> u8 {
    (nibbles[i / 64 * 32 + i % 32] >> (4 * (i / 32 % 2))) & 15
}

#[test]
fn blocks_hold_what_the_documentation_says() {
    for kind in BlockKind::ALL {
        let (elements, size) = kind.dtype().block().unwrap();
        let bytes = noise(3 * size as usize, 23);
        let layout = View::Blocks(kind).layout(kind.dtype(), &[3, elements], 3 * size).unwrap();
        let parts = layout.split(&bytes).unwrap();
        let want: Vec<u8> =
            bytes.chunks(size as usize).flat_map(|b| block_reference(kind, b)).collect();
        let weights = parts.iter().find(|p| p.role == Role::Weights).unwrap();
        assert_eq!(super::parts::data(weights), want, "{kind:?}");
        let scale = parts.iter().find(|p| p.role == Role::Scale).unwrap();
        let scales = super::parts::data(scale);
        match kind {
            BlockKind::Q4_0 | BlockKind::Q5_0 | BlockKind::Q8_0 => {
                assert_eq!(&scales[2..4], &bytes[size as usize..][..2], "{kind:?}");
            }
            BlockKind::Q6_K => assert_eq!(&scales[16..32], &bytes[210 + 192..][..16]),
            BlockKind::Q4_K => assert_eq!(scales[0], bytes[4] & 63),
            _ => {}
        }
    }
}

#[test]
fn bytes_that_are_no_numbers_of_eight_bits_have_the_name_of_their_type() {
    let bytes = View::Bytes(Sign::Unsigned);
    let all = ["U8", "BOOL", "F6_E2M3", ""].map(|dtype| bytes.packing(dtype));
    assert_eq!(all, ["uint8", "bool", "f6_e2m3", "uint8"]);
}
