use super::band::low;
use super::linear::{MAX_REACH, Weights};
use super::*;
use crate::wcodec::tile::TileSize;

pub(crate) fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

fn byte(x: u64) -> u8 {
    x.to_le_bytes()[7]
}

/// The prediction by the words of the specification, one symbol at a time.
fn predicted(band: &Band<'_>, predictor: Predictor, symbols: &[u8], at: (usize, usize)) -> i32 {
    let (r, c) = at;
    let (row, col) = (r - r % band.tile.rows(), c - c % band.tile.cols());
    let value = |symbol: u8| {
        let size = 1i32 << band.bits;
        let d = (i32::from(symbol) - i32::from(band.centre)).rem_euclid(size);
        if d >= size / 2 { d - size } else { d }
    };
    let get = |r: usize, c: usize| value(symbols[r * band.cols + c]);
    let left = (col > 0).then(|| get(r, col.wrapping_sub(1)));
    let top = (row > 0).then(|| get(row.wrapping_sub(1), c));
    match predictor {
        Predictor::None => 0,
        Predictor::Left => left.unwrap_or(0),
        Predictor::Top => top.unwrap_or(0),
        Predictor::Avg => (left.or(top).unwrap_or(0) + top.or(left).unwrap_or(0)).div_euclid(2),
        Predictor::Planar => match (left, top) {
            (Some(l), Some(t)) => {
                let half = 1 << (band.bits - 1);
                (l + t - get(row - 1, col - 1)).clamp(-half, half - 1)
            }
            _ => left.or(top).unwrap_or(0),
        },
        Predictor::Dc => {
            let mut all = Vec::new();
            if col > 0 {
                let last = (row + band.tile.rows()).min(band.rows);
                all.extend((row..last).map(|r| get(r, col - 1)));
            }
            if row > 0 {
                let last = (col + band.tile.cols()).min(band.cols);
                all.extend((col..last).map(|c| get(row - 1, c)));
            }
            let mean = all.iter().map(|&v| f64::from(v)).sum::<f64>() / all.len().max(1) as f64;
            #[expect(clippy::cast_possible_truncation, reason = "a mean of values")]
            let rounded = (mean + 0.5).floor() as i32;
            rounded
        }
        Predictor::Column => value(band.means[c]),
        Predictor::Reference => value(band.reference[r * band.cols + c]),
        Predictor::Linear => {
            let linear = band.linear.unwrap();
            let taps = |c: usize| c.min(linear.reach());
            let first: usize = (0..c).map(taps).sum();
            let weights = &linear.bytes()[first..first + taps(c)];
            let of =
                |(j, &w): (usize, &u8)| (i32::from(w) - 128) * (get(r, j) - value(band.means[j]));
            let sum: i32 = weights.iter().enumerate().map(of).sum();
            let half = 1 << (band.bits - 1);
            (value(band.means[c]) + (sum + 64).div_euclid(128)).clamp(-half, half - 1)
        }
    }
}

#[test]
fn every_predictor_on_every_tile_edge_and_width() {
    let mut next = noise(3);
    for (tile_rows, tile_cols) in
        [(1, 1), (16, 16), (8, 32), (32, 8), (5, 3), (1, 64), (64, 1), (4096, 4096)]
    {
        let tile = TileSize::new(tile_rows, tile_cols).unwrap();
        for (rows, cols) in [(1, 1), (16, 16), (33, 37), (1, 100), (100, 1), (64, 70), (0, 3)] {
            for bits in 1..=8 {
                let mask = 0xff >> (8 - bits);
                let mut other = noise(u64::from(bits) + 100);
                let mut plane = |extremes: bool| -> Vec<u8> {
                    let half = 1 << (bits - 1);
                    let mut pick = || match (extremes, other() % 2) {
                        (true, 0) => half,
                        (true, _) => half - 1,
                        (false, _) => byte(other()) & mask,
                    };
                    (0..rows * cols).map(|_| pick()).collect()
                };
                for extremes in [false, true] {
                    let (symbols, reference) = (plane(extremes), plane(false));
                    let means: Vec<u8> = (0..cols).map(|_| byte(next()) & mask).collect();
                    for centre in [0, 1 << (bits - 1), mask] {
                        let mixed: Vec<Predictor> = (0..tile.count(rows, cols))
                            .map(|_| Predictor::OF_TILES[(next() % 8) as usize])
                            .collect();
                        let mut lists: Vec<Vec<Predictor>> =
                            Predictor::OF_TILES.iter().map(|&p| vec![p]).collect();
                        lists.push(mixed);
                        let most = MAX_REACH.min(cols - 1);
                        let reach = [most.min(1), most.min(7), most][(next() % 3) as usize];
                        let weights: Vec<u8> = (0..Weights::count(reach, cols).unwrap_or(0))
                            .map(|_| if extremes { 0 } else { byte(next()) / 8 + 112 })
                            .collect();
                        let linear = Weights::new(reach, cols, &weights);
                        if linear.is_some() {
                            lists.push(vec![Predictor::Linear]);
                        }
                        for predictors in lists {
                            let band = Band {
                                rows,
                                cols,
                                bits,
                                centre,
                                tile,
                                predictors: &predictors,
                                means: &means,
                                reference: &reference,
                                linear: linear.as_ref(),
                            };
                            if predictors.len() != 1 && predictors.len() != tile.count(rows, cols) {
                                continue;
                            }
                            check_band(&band, &symbols);
                        }
                    }
                }
            }
        }
    }
}

fn check_band(band: &Band<'_>, symbols: &[u8]) {
    let mut small = vec![0; symbols.len()];
    let mut whole = vec![0; symbols.len()];
    band.residual_symbols(symbols, &mut small).unwrap();
    band.residuals(symbols, &mut whole).unwrap();
    let mask = 0xff >> (8 - band.bits);
    assert!(small.iter().zip(&whole).all(|(&s, &w)| s == low(w) & mask));
    // One symbol at a time, as far as that is quick.
    let (_, across) = band.tile.grid(band.rows, band.cols);
    for (i, &w) in whole.iter().enumerate().step_by(1 + symbols.len() / 400) {
        let (r, c) = (i / band.cols, i % band.cols);
        let index = r / band.tile.rows() * across + c / band.tile.cols();
        let predictor = *band.predictors.get(index).unwrap_or(&band.predictors[0]);
        let predictor = if band.predictors.len() == 1 { band.predictors[0] } else { predictor };
        let expected = predicted(band, predictor, symbols, (r, c));
        assert_eq!(i32::from(w), i32::from(band.value(symbols[i])) - expected, "{band:?} {r} {c}");
    }
    let mut back = vec![0xaa; symbols.len()];
    band.restore_whole(&whole, &mut back).unwrap();
    assert!(back == symbols, "{band:?}");
    band.restore(&mut small).unwrap();
    assert!(small == symbols, "{band:?}");
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let good = Band {
        rows: 4,
        cols: 4,
        bits: 8,
        centre: 0,
        tile: TileSize::new(2, 2).unwrap(),
        predictors: &[Predictor::Column],
        means: &[1, 2, 3, 4],
        reference: &[],
        linear: None,
    };
    let mut data = [0; 16];
    good.restore(&mut data).unwrap();
    assert_eq!(data[..4], [1, 2, 3, 4]);
    for bad in [
        Band { rows: 5, ..good },
        Band { rows: usize::MAX, cols: 2, ..good },
        Band { means: &[1, 2, 3], ..good },
        Band { predictors: &[Predictor::Reference], ..good },
        Band { predictors: &[Predictor::None; 3], ..good },
        Band { predictors: &[], ..good },
        Band { predictors: &[Predictor::Linear], ..good },
        Band { bits: 0, ..good },
        Band { bits: 9, ..good },
        Band { bits: 4, centre: 16, ..good },
    ] {
        assert!(bad.restore(&mut data).is_err(), "{bad:?}");
    }
}

#[test]
fn the_cheapest_predictor_is_chosen() {
    // Left half: rows of one value each. Right half: noise.
    let mut next = noise(9);
    let (rows, cols) = (64, 64);
    let rows_of: Vec<u8> = (0..rows).map(|_| byte(next())).collect();
    let symbols: Vec<u8> = (0..rows * cols)
        .map(|i| if i % cols < 32 { rows_of[i / cols] } else { byte(next()) & 3 })
        .collect();
    let band = Band {
        rows,
        cols,
        bits: 8,
        centre: 0,
        tile: TileSize::SQUARE,
        predictors: &[Predictor::None],
        means: &[],
        reference: &[],
        linear: None,
    };
    let among = [Predictor::None, Predictor::Left, Predictor::Top];
    let chosen = choose(&band, &among, &magnitude_costs(8), &symbols).unwrap();
    for y in 0..4 {
        assert_eq!(chosen[4 * y + 1], Predictor::Left);
    }
    let costs = magnitude_costs(8);
    let cost = |predictors: &[Predictor]| -> u32 {
        let mut residuals = vec![0; symbols.len()];
        Band { predictors, ..band }.residual_symbols(&symbols, &mut residuals).unwrap();
        residuals.iter().map(|&r| costs[usize::from(r)]).sum()
    };
    for one in among {
        assert!(cost(&chosen) < cost(&[one]), "{one:?}");
    }
}
