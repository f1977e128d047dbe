//! Decoding of 32-lane rANS by the kernels on every instruction set present, beside zstd -3 on
//! the same bytes.
//!
//! ```sh
//! cargo run --profile compare -p latens-benches --bin wcodec_kernels
//! ```
//! One group, two and four at a time; one thread, processor time, contenders by turns, medians over
//! the rounds (`--rounds`, 15), GB of decoded bytes (10^9) a second and the ratio to zstd. Inputs: INT8 symbols of
//! a gaussian per row (one table, and one of eight tables for each row), INT4 nibbles two to a
//! byte. Before that the speeds of predictors, transforms and the bitplane coder.

#![allow(clippy::expect_used, clippy::cast_possible_truncation, reason = "a comparison")]

use std::hint::black_box;

use clap::Parser;
use latens::wcodec::bitplane::{self, Order, Values, order_of};
use latens::wcodec::predictor::{Band, Predictor};
use latens::wcodec::tile::TileSize;
use latens::wcodec::transform::{self, Transform, sub_block_count};
use latens_benches::timing::medians;
use latens_kernels::dispatch::Simd;
use latens_kernels::rans::{Classes, Group, Kernel, LANES, LOWER, Spacing, Tables, entry};

/// Symbols of a group: what the format takes by default.
const GROUP: usize = 1 << 16;
const BITS: u32 = 12;
/// Rows of weights that share a class.
const ROW: usize = 4096;

/// 32-lane rANS decoded on every instruction set present, beside zstd -3 on the same bytes
#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 15)]
    rounds: usize,
}

fn main() {
    let Args { rounds } = Args::parse();
    tools();
    println!("data,contender,gb_per_s,ratio_to_zstd,encoded_bytes");
    for groups in [4, 64] {
        let count = groups * GROUP;
        let mut normal = gaussian(1);
        let int8: Vec<u8> = (0..count).map(|_| (normal() * 34.0).round() as i8 as u8).collect();
        run(&format!("INT8 {groups} groups"), rounds, &int8, |_| 0);
        let scales = [12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 36.0, 40.0];
        let rows: Vec<u8> =
            (0..count).map(|i| (normal() * scales[class(i)]).round() as i8 as u8).collect();
        run(&format!("INT8 by row {groups} groups"), rounds, &rows, class);
        let mut nibble = || ((normal() * 2.6).round().clamp(-8.0, 7.0) as i8 as u8) & 15;
        let int4: Vec<u8> = (0..count).map(|_| nibble() | nibble() << 4).collect();
        run(&format!("INT4 packed {groups} groups"), rounds, &int4, |_| 0);
    }
}

/// The tools of specs/wcodec-tiles.md on one group of 64 × 1024 gaussian INT8 values.
fn tools() {
    let (rows, cols) = (64, 1024);
    let mut normal = gaussian(7);
    let symbols: Vec<u8> =
        (0..rows * cols).map(|_| (normal() * 34.0).round() as i8 as u8).collect();
    println!("tool,direction,mb_per_s,bits_per_value");
    let time = |name: &str, direction: &str, bits: f64, run: &mut dyn FnMut()| {
        let seconds = medians(15, &mut [run])[0];
        println!("{name},{direction},{:.0},{bits:.3}", symbols.len() as f64 / seconds / 1e6);
    };
    let tile = TileSize::SQUARE;
    for predictor in Predictor::OF_TILES {
        let band = Band {
            rows,
            cols,
            bits: 8,
            centre: 0,
            tile,
            predictors: &[predictor],
            means: &symbols[..cols],
            reference: &symbols,
            linear: None,
        };
        let mut data = vec![0; symbols.len()];
        time(predictor.name(), "predict", 8.0, &mut || {
            band.residual_symbols(&symbols, &mut data).expect("lengths");
        });
        let residuals = data.clone();
        time(predictor.name(), "restore", 8.0, &mut || {
            data.copy_from_slice(&residuals);
            band.restore(&mut data).expect("lengths");
        });
        assert!(data == symbols);
    }
    let values: Vec<i16> = symbols.iter().map(|&x| i16::from(x.cast_signed())).collect();
    let mut data = values.clone();
    for code in Transform::ALL {
        let codes = vec![code; sub_block_count(tile, rows, cols)];
        time(code.name(), "transform", 8.0, &mut || {
            data.copy_from_slice(&values);
            transform::forward(&codes, tile, cols, &mut data).expect("lengths");
        });
        let coefficients = data.clone();
        time(code.name(), "inverse", 8.0, &mut || {
            data.copy_from_slice(&coefficients);
            transform::inverse(&codes, tile, cols, &mut data).expect("lengths");
        });
        let plain = code == Transform::None;
        let listed = order_of(&codes, tile, (rows, cols), &[0]).expect("lengths");
        let (order, kinds) = if plain { (Order::Raster, vec![0]) } else { listed };
        let band = Values { rows, cols, kinds: &kinds, order: &order };
        let mut bytes = Vec::new();
        let name = format!("bitplanes {}", code.name());
        time(&name, "encode", 8.0, &mut || {
            bytes = bitplane::encode(&band, &coefficients).expect("lengths");
        });
        let bits = 8.0 * bytes.len() as f64 / values.len() as f64;
        time(&name, "decode", bits, &mut || {
            bitplane::decode(&band, &bytes, usize::MAX, &mut data).expect("sound");
        });
        assert!(data == coefficients);
    }
}

/// Which of eight classes the row of symbol `i` has.
fn class(i: usize) -> usize {
    i / ROW * 5 % 8
}

/// Gaussian numbers of variance 1.
fn gaussian(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    let mut uniform = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) >> 11) as f64 / (1u64 << 53) as f64
    };
    move || (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}

struct Encoded {
    words: Vec<u8>,
    states: [u32; LANES],
}

#[derive(Clone, Copy)]
struct Input<'a> {
    groups: &'a [Encoded],
    classes: Option<&'a [u8]>,
}

impl<'a> Input<'a> {
    fn group<'b>(self, k: usize, out: &'b mut [u8]) -> Group<'b>
    where
        'a: 'b,
    {
        let of_group = |classes: &'a [u8]| Classes::PerSymbol(&classes[k * GROUP..][..GROUP]);
        let classes = self.classes.map_or(Classes::One(0), of_group);
        let (words, states) = (&self.groups[k].words[..], self.groups[k].states);
        Group { words, states, classes, out, spacing: Spacing::NONE }
    }
}

fn run(data: &str, rounds: usize, bytes: &[u8], class: impl Fn(usize) -> usize) {
    let one = (0..bytes.len()).all(|i| class(i) == 0);
    let classes: Vec<u8> = (0..bytes.len()).map(|i| class(i) as u8).collect();
    let kinds = 1 + usize::from(classes.iter().copied().max().unwrap_or(0));
    let tables: Vec<Vec<u32>> = (0..kinds)
        .map(|k| frequencies((0..bytes.len()).filter(|&i| class(i) == k).map(|i| bytes[i])))
        .collect();
    let mut slots = Vec::new();
    for f in &tables {
        for (symbol, &f) in f.iter().enumerate() {
            slots.extend((0..f).map(|nth| entry(symbol as u8, f, nth)));
        }
    }
    let slots = Tables::new(&slots, BITS).expect("whole tables");
    let groups: Vec<Encoded> = bytes
        .chunks(GROUP)
        .zip(classes.chunks(GROUP))
        .map(|(symbols, classes)| encode(symbols, classes, &tables))
        .collect();
    let size: usize = groups.iter().map(|g| g.words.len() + 4 * LANES).sum();
    let zstd = zstd::bulk::compress(bytes, 3).expect("zstd");
    let zstd_size = zstd.len();
    let n = bytes.len();
    // So long that clocks do not matter.
    let times = (1usize << 22).div_ceil(n);
    let input = Input { groups: &groups, classes: if one { None } else { Some(&classes) } };
    let mut names = vec!["zstd -3".to_owned()];
    let mut peer = zstd::bulk::Decompressor::new().expect("zstd");
    let mut out = vec![0u8; n];
    let mut runs: Vec<Box<dyn FnMut() + '_>> = vec![Box::new(move || {
        for _ in 0..times {
            peer.decompress_to_buffer(&zstd, &mut out[..]).expect("zstd");
            black_box(&out);
        }
    })];
    for simd in Simd::available() {
        let kernel = Kernel::new(simd);
        names.push(simd.name().to_owned());
        let mut out = vec![0u8; n];
        runs.push(Box::new(move || {
            for _ in 0..times {
                for (k, out) in out.chunks_mut(GROUP).enumerate() {
                    let read = kernel.decode(slots, [&mut input.group(k, out)]);
                    assert!(read[0].is_some(), "words");
                }
                black_box(&out);
            }
        }));
        names.push(format!("{} two", simd.name()));
        let mut out = vec![0u8; n];
        runs.push(Box::new(move || {
            for _ in 0..times {
                for (k, two) in out.chunks_mut(2 * GROUP).enumerate() {
                    let (a, b) = two.split_at_mut(GROUP);
                    let (mut a, mut b) = (input.group(2 * k, a), input.group(2 * k + 1, b));
                    let read = kernel.decode(slots, [&mut a, &mut b]);
                    assert!(read.iter().all(Option::is_some), "words");
                }
                black_box(&out);
            }
        }));
        names.push(format!("{} four", simd.name()));
        let mut out = vec![0u8; n];
        runs.push(Box::new(move || {
            for _ in 0..times {
                for (k, four) in out.chunks_mut(4 * GROUP).enumerate() {
                    let mut groups = four.chunks_mut(GROUP).zip(4 * k..);
                    let mut next = || groups.next().map(|(out, k)| input.group(k, out));
                    let (Some(mut a), Some(mut b), Some(mut c), Some(mut d)) =
                        (next(), next(), next(), next())
                    else {
                        continue;
                    };
                    let read = kernel.decode(slots, [&mut a, &mut b, &mut c, &mut d]);
                    assert!(read.iter().all(Option::is_some), "words");
                }
                black_box(&out);
            }
        }));
    }
    let mut contenders: Vec<&mut dyn FnMut()> = Vec::new();
    for run in &mut runs {
        contenders.push(&mut **run);
    }
    let seconds = medians(rounds, &mut contenders);
    let speed = |s: f64| (n * times) as f64 / s / 1e9;
    for (name, &s) in names.iter().zip(&seconds) {
        let bytes = if name.starts_with("zstd") { zstd_size } else { size };
        println!("{data},{name},{:.3},{:.2},{bytes}", speed(s), seconds[0] / s);
    }
}

/// Frequencies that sum to 2^[`BITS`], none of a symbol that occurs being 0.
fn frequencies(symbols: impl Iterator<Item = u8>) -> Vec<u32> {
    let mut counts = [0u64; 256];
    symbols.for_each(|s| counts[usize::from(s)] += 1);
    let total: u64 = counts.iter().sum::<u64>().max(1);
    let size = 1u64 << BITS;
    let share = |&c: &u64| if c == 0 { 0 } else { (c * size / total).max(1) as u32 };
    let mut f: Vec<u32> = counts.iter().map(share).collect();
    let sum: u32 = f.iter().sum();
    let most = (0..256).max_by_key(|&s| f[s]).unwrap_or(0);
    f[most] = f[most] + (1 << BITS) - sum;
    f
}

fn encode(symbols: &[u8], classes: &[u8], tables: &[Vec<u32>]) -> Encoded {
    let sums: Vec<Vec<u32>> = tables
        .iter()
        .map(|f| f.iter().scan(0, |c, f| Some(std::mem::replace(c, *c + f))).collect())
        .collect();
    let mut states = [LOWER; LANES];
    let mut words = Vec::new();
    for (i, (&symbol, &class)) in symbols.iter().zip(classes).enumerate().rev() {
        let (symbol, class) = (usize::from(symbol), usize::from(class));
        let (f, c) = (tables[class][symbol], sums[class][symbol]);
        let x = &mut states[i % LANES];
        if u64::from(*x) >= u64::from(f) << (32 - BITS) {
            words.push(*x as u16);
            *x >>= 16;
        }
        *x = (*x / f) << BITS | (*x % f + c);
    }
    Encoded { words: words.iter().rev().flat_map(|w| w.to_le_bytes()).collect(), states }
}
