use super::*;
use crate::error::ErrorKind;
use crate::wcodec::predictor::tests::noise;
use crate::wcodec::tile::TileSize;
use crate::wcodec::transform::{self, Transform};

#[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers")]
fn bell(next: &mut impl FnMut() -> u64, scale: i16) -> i16 {
    let sum: u64 = (0..8).map(|_| next() >> 56).sum();
    ((sum as i32 - 1020) * i32::from(scale) / 209) as i16
}

/// Rows, columns, kinds, order, values.
type Case = (usize, usize, Vec<u8>, Order, Vec<i16>);

/// Bands of many shapes, with and without transforms.
fn cases() -> Vec<Case> {
    let mut next = noise(31);
    let mut cases = Vec::new();
    for (rows, cols) in [(0, 0), (0, 5), (1, 1), (1, 70), (70, 1), (16, 16), (41, 37)] {
        let len = rows * cols;
        for scale in [0, 1, 3, 40, 2000] {
            let data: Vec<i16> = (0..len).map(|_| bell(&mut next, scale)).collect();
            let classes: Vec<u8> = (0..5).cycle().take(len).collect();
            cases.push((rows, cols, vec![3], Order::Raster, data.clone()));
            cases.push((rows, cols, classes.clone(), Order::Raster, data.clone()));
            for (tile_rows, tile_cols) in [(16, 16), (8, 32), (11, 5), (20, 9)] {
                let size = TileSize::new(tile_rows, tile_cols).unwrap();
                let count = transform::sub_block_count(size, rows, cols);
                let codes: Vec<Transform> =
                    (0..count).map(|_| Transform::ALL[(next() >> 40) as usize % 3]).collect();
                let (order, kinds) = order_of(&codes, size, (rows, cols), &[1]).unwrap();
                if let Order::Listed(list) = &order {
                    let mut sorted = list.clone();
                    sorted.sort_unstable();
                    assert!(sorted.iter().enumerate().all(|(i, &p)| i == p as usize));
                }
                cases.push((rows, cols, kinds, order, data.clone()));
            }
        }
        cases.push((rows, cols, vec![0], Order::Raster, vec![i16::MIN; len]));
        cases.push((rows, cols, vec![0], Order::Raster, vec![i16::MAX; len]));
    }
    cases
}

#[test]
fn values_come_back_from_all_planes_and_nearly_from_some() {
    for (rows, cols, kinds, order, data) in cases() {
        let kinds = if data.is_empty() { vec![0] } else { kinds };
        let values = Values { rows, cols, kinds: &kinds, order: &order };
        let bytes = encode(&values, &data).unwrap();
        let mut out = vec![77; data.len()];
        assert_eq!(decode(&values, &bytes, usize::MAX, &mut out).unwrap(), 0);
        assert!(out == data, "{rows} {cols}");
        let ends = plane_ends(&bytes).unwrap();
        assert_eq!(ends.last(), Some(&bytes.len()));
        for (planes, &end) in ends.iter().enumerate() {
            let missing = decode(&values, &bytes[..end], planes, &mut out).unwrap();
            assert_eq!(missing, ends.len() - 1 - planes);
            for (&found, &x) in out.iter().zip(&data) {
                let (found, x) = (i64::from(found), i64::from(x));
                let near = 1i64 << missing;
                assert!((found - x).abs() < near.max(1), "{found} {x} {missing}");
                assert!(found == 0 || found.signum() == x.signum());
            }
        }
    }
}

#[test]
fn streams_cut_short_are_told() {
    for (rows, cols, kinds, order, data) in cases() {
        let values = Values { rows, cols, kinds: &kinds, order: &order };
        if data.len() < 2 {
            continue;
        }
        let bytes = encode(&values, &data).unwrap();
        let mut out = vec![0; data.len()];
        for cut in (0..bytes.len()).step_by(1 + bytes.len() / 40) {
            let error = decode(&values, &bytes[..cut], usize::MAX, &mut out).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated);
        }
        let longer = [&bytes[..], &[0]].concat();
        let error = decode(&values, &longer, usize::MAX, &mut out).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn damaged_streams_give_errors_or_values() {
    let mut next = noise(32);
    let (mut told, mut total) = (0, 0);
    for (rows, cols, kinds, order, data) in cases() {
        let values = Values { rows, cols, kinds: &kinds, order: &order };
        if data.len() < 2 {
            continue;
        }
        let bytes = encode(&values, &data).unwrap();
        let mut out = vec![0; data.len()];
        for _ in 0..30 {
            let mut bad = bytes.clone();
            let at = (next() >> 8) as usize % bad.len();
            bad[at] ^= 1 << (next() >> 61);
            total += 1;
            told += usize::from(decode(&values, &bad, usize::MAX, &mut out).is_err());
        }
        let wild: Vec<u8> = (0..200).map(|_| next().to_le_bytes()[6]).collect();
        let _ = decode(&values, &wild, usize::MAX, &mut out);
        let mut claims = vec![16];
        claims.extend([0xff; 64]);
        assert!(decode(&values, &claims, usize::MAX, &mut out).is_err());
        assert_eq!(
            decode(&values, &[17; 100], usize::MAX, &mut out).unwrap_err().kind(),
            ErrorKind::Corrupt
        );
    }
    assert!(told * 2 > total, "{told} of {total}");
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let good = Values { rows: 2, cols: 3, kinds: &[0], order: &Order::Raster };
    let data = [0; 6];
    assert_eq!(encode(&good, &data).unwrap(), [0]);
    let listed = Order::Listed(vec![0, 1, 2, 3, 4, 6]);
    for bad in [
        Values { rows: 3, ..good },
        Values { rows: usize::MAX, ..good },
        Values { kinds: &[0, 1], ..good },
        Values { kinds: &[], ..good },
        Values { order: &listed, ..good },
    ] {
        assert!(encode(&bad, &data).is_err());
        assert!(decode(&bad, &[0], 9, &mut [0; 6]).is_err());
    }
    // Long sides of nothing take neither memory nor time.
    for (rows, cols) in [(0, usize::MAX), (usize::MAX, 0)] {
        let nothing = Values { rows, cols, ..good };
        assert_eq!(encode(&nothing, &[]).unwrap(), [0]);
        assert_eq!(decode(&nothing, &[0], 9, &mut []).unwrap(), 0);
    }
    let codes = [Transform::Dct; 2];
    assert!(order_of(&codes, TileSize::SQUARE, (8, 8), &[0]).is_err());
    assert!(order_of(&codes[..1], TileSize::SQUARE, (8, 8), &[0; 3]).is_err());
    assert!(order_of(&[], TileSize::SQUARE, (usize::MAX, 2), &[0]).is_err());
}

#[test]
fn bells_cost_about_their_entropy() {
    let mut next = noise(33);
    let (rows, cols) = (128, 512);
    let data: Vec<i16> = (0..rows * cols).map(|_| bell(&mut next, 34)).collect();
    let mut counts = std::collections::BTreeMap::new();
    data.iter().for_each(|x| *counts.entry(x).or_insert(0u32) += 1);
    let n = f64::from(u32::try_from(data.len()).unwrap());
    let bits: f64 = counts.values().map(|&c| -f64::from(c) * (f64::from(c) / n).log2()).sum();
    let values = Values { rows, cols, kinds: &[0], order: &Order::Raster };
    let bytes = encode(&values, &data).unwrap();
    let ratio = 8.0 * f64::from(u32::try_from(bytes.len()).unwrap()) / bits;
    assert!((0.99..1.01).contains(&ratio), "{ratio}");
}

#[test]
fn the_example_of_the_specification() {
    let spec = include_str!("../../../../../specs/wcodec-tiles.md");
    let line = spec.lines().skip_while(|l| !l.starts_with("**Example.**")).nth(1).unwrap();
    let hex = line.trim_matches(['`', '.']).split(' ');
    let bytes: Vec<u8> = hex.map(|b| u8::from_str_radix(b, 16).unwrap()).collect();
    let values = Values { rows: 2, cols: 3, kinds: &[0], order: &Order::Raster };
    assert_eq!(encode(&values, &[0, -3, 1, 0, 2, 0]).unwrap(), bytes);
    let mut out = [9; 6];
    assert_eq!(decode(&values, &bytes, usize::MAX, &mut out).unwrap(), 0);
    assert_eq!(out, [0, -3, 1, 0, 2, 0]);
    assert_eq!(decode(&values, &bytes, 1, &mut out).unwrap(), 1);
    assert_eq!(out, [0, -3, 0, 0, 3, 0]);
}
