//! Large tensors are never much above their order-0 entropy, however many of their symbols are rare.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::view::Values;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use wcodec_common::{Random, gguf, open, safetensors};

/// Bits a weight above order 0 that are allowed, side information and all.
const MOST: f64 = 0.01;
const ROWS: usize = 1024;
const COLS: usize = 1024;

/// Weights of one distribution, wherever they are: with `tails`, far ones are more common than in a normal one.
fn weights(count: usize, width: f64, tails: bool) -> Vec<u8> {
    let mut random = Random(width as u64 + 17);
    let mut one = || {
        let spread = match tails {
            // About that of the t-distribution with five degrees of freedom.
            true => (0..5).map(|_| random.normal(1.0).powi(2)).sum::<f64>() / 5.0,
            false => 1.0,
        };
        let weight = random.normal(width) / spread.max(1e-3).sqrt();
        (weight.round().clamp(-128.0, 127.0) as i8).cast_unsigned()
    };
    (0..count).map(|_| one()).collect()
}

#[test]
fn weights_of_one_distribution_are_near_order_0() {
    for (width, tails, escapes) in [
        (7.0, true, true),
        (10.0, true, true),
        (25.0, false, true),
        (2.0, false, false),
        (90.0, false, false),
    ] {
        let weights = weights(ROWS * COLS, width, tails);
        let shape = [ROWS as u64, COLS as u64];
        let source = safetensors(&[("w", "I8", &shape, weights.clone())]);
        let compress = |threads| {
            let config = Config::default().threads(threads);
            compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap()
        };
        let file = compress(1);
        assert!(compress(3) == file);
        let reader = Reader::open(file, Limits::default()).unwrap();
        reader.verify().unwrap();
        let found = reader.inspect(0).unwrap();
        let above = found.bits_per_weight() - found.order0_entropy;
        println!("{width}, {tails}: {above:.4} bits above order 0, {}", found.parts[0].escapes);
        assert!(above <= MOST, "{width}, {tails}: {above}");
        assert_eq!(found.parts[0].escapes, escapes, "{width}, {tails}");
        // Rows whose group is not decoded to its end, and from the middle of it on.
        for rows in [0..1, 100..101, 250..400, 1000..1024] {
            let there = &weights[rows.start * COLS..rows.end * COLS];
            let Values::Signed(found) = reader.rows(0, rows.start as u64..rows.end as u64).unwrap()
            else {
                unreachable!("INT8")
            };
            assert!(found.into_iter().map(i8::cast_unsigned).eq(there.iter().copied()), "{width}");
        }
    }
}

/// Groups of large tensors are small, and all the more of them must not take too much.
#[test]
fn large_tensors_are_near_order_0() {
    for width in [1.0, 3.0, 6.0] {
        let shape = [16 * ROWS as u64, COLS as u64];
        let weights = weights(16 * ROWS * COLS, width, false);
        let source = safetensors(&[("w", "I8", &shape, weights)]);
        let config = Config::default();
        let file = compress_checkpoint(&open(source), None, &config, Vec::new()).unwrap();
        let found = Reader::open(file, Limits::default()).unwrap().inspect(0).unwrap();
        let above = found.bits_per_weight() - found.order0_entropy;
        println!("{width}: {above:.4} bits above order 0");
        assert!(above <= MOST, "{width}: {above}");
    }
}

/// One row in so many is wide where the others are narrow: by a sample of rows that has one phase alone, each table would be
/// for other symbols than it gets.
#[test]
fn rows_in_turn_are_near_order_0() {
    let mut random = Random(43);
    for (period, level) in [(2, 8), (2, 0), (8, 8), (64, 8)] {
        let mut weights = |width: f64, half: f64| -> Vec<f64> {
            let places = (0..ROWS * COLS).map(|i| (i / COLS, i % COLS));
            let one = |(row, col): (usize, usize)| {
                let wide = row.is_multiple_of(period) == (col > COLS / 2);
                let width = if wide { width * 6.5 } else { width / 6.5 };
                random.normal(width).round().clamp(-half, half - 1.0)
            };
            places.map(one).collect()
        };
        let int8 = weights(12.0, 128.0).into_iter().map(|w| (w as i8).cast_unsigned()).collect();
        let int4 = weights(1.2, 8.0);
        let int4 =
            int4.as_chunks::<2>().0.iter().map(|[a, b]| (a + 8.0) as u8 | ((b + 8.0) as u8) << 4);
        let (rows, cols) = (ROWS as u64, COLS as u64);
        for tensors in [
            vec![("w", "I8", vec![rows, cols], int8)],
            vec![
                ("l.weight_packed", "I32", vec![rows, cols / 8], int4.collect()),
                ("l.weight_scale", "F16", vec![rows, 2], vec![0x3c; 4 * ROWS]),
            ],
        ] {
            let tensors: Vec<_> = tensors
                .iter()
                .map(|(n, t, shape, bytes)| (*n, *t, &shape[..], bytes.clone()))
                .collect();
            let source = safetensors(&tensors);
            let config = Config::default().level(level);
            let file =
                compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
            assert!(file.len() <= source.len() + source.len() / 1000 + 4096, "{period}, {level}");
            let found = Reader::open(file, Limits::default()).unwrap().inspect(0).unwrap();
            let above = found.bits_per_weight() - found.order0_entropy;
            println!(
                "one in {period}, level {level}, {}: {above:.4} bits above order 0",
                tensors[0].1
            );
            assert!(above <= MOST, "{period}, {level}, {}: {above}", tensors[0].1);
        }
    }
}

/// Weights of 5 and of 6 bits, of which every one occurs and most of them rarely.
#[test]
fn symbols_of_few_bits_have_escapes() {
    let mut random = Random(41);
    let mut symbols = |bits: u32| -> Vec<u8> {
        let half = f64::from(1u32 << (bits - 1));
        let one = |_| (half + random.normal(half / 9.0).clamp(-half, half - 1.0)).floor() as u8;
        let mut symbols: Vec<u8> = (0..ROWS * COLS).map(one).collect();
        // In an order that no row or column has a part in.
        (0..12usize << bits)
            .for_each(|i| symbols[i * 7919 % (ROWS * COLS)] = (i >> 2) as u8 % (1 << bits));
        symbols
    };
    // Q5_0: a scale, the highest bits, the lower ones of the first and the second half.
    let (of_5, of_6) = (symbols(5), symbols(6));
    let q5_0 = of_5.as_chunks::<32>().0.iter().flat_map(|x| {
        let high = (0..32).fold(0u32, |high, i| high | u32::from(x[i] >> 4) << i);
        let low = (0..16).map(|i| x[i] & 15 | x[i + 16] << 4);
        [0, 0x3c].into_iter().chain(high.to_le_bytes()).chain(low).collect::<Vec<_>>()
    });
    // Q6_K: lower bits, the two highest, scales, one scale for these; symbols wherever they fall.
    let q6_k = of_6.as_chunks::<256>().0.iter().flat_map(|x| {
        let low = (0..128).map(|i| {
            let (half, l) = (i / 64, i % 64);
            x[128 * half + l] & 15 | x[128 * half + 64 + l] << 4
        });
        let high = (0..64).map(|i| {
            let (half, l) = (i / 32, i % 32);
            (0..4).fold(0, |all, j| all | x[128 * half + 32 * j + l] >> 4 << (2 * j))
        });
        let scales = [7u8; 16].into_iter().chain([0, 0x3c]);
        low.chain(high).chain(scales).collect::<Vec<_>>()
    });
    for (kind, blocks) in [(6, q5_0.collect::<Vec<u8>>()), (14, q6_k.collect())] {
        let source = gguf(&[("w", kind, [COLS as u64, ROWS as u64], blocks)]);
        let file = compress_checkpoint(&open(source.clone()), None, &Config::default(), Vec::new());
        let reader = Reader::open(file.unwrap(), Limits::default()).unwrap();
        reader.verify().unwrap();
        let mut back = Vec::new();
        reader.write_file(0, &mut back).unwrap();
        assert!(back == source, "type {kind}");
        let found = reader.inspect(0).unwrap();
        assert!(found.parts.iter().any(|part| part.escapes), "type {kind}");
    }
}

/// Few common symbols and rare ones of all kinds, in matrices of any shape: in pairs; and where words of several weights come
/// again and again, which by a sample, or as far as counts tell, take less than they do.
#[test]
fn rare_symbols_beside_few_others_are_near_order_0() {
    let mut random = Random(59);
    let near = |what: &str, tensors: &[(&str, &str, &[u64], Vec<u8>)], levels: &[u32]| {
        let source = safetensors(tensors);
        for &level in levels {
            let config = Config::default().level(level);
            let file = compress_checkpoint(&open(source.clone()), None, &config, Vec::new());
            let found = Reader::open(file.unwrap(), Limits::default()).unwrap().inspect(0).unwrap();
            let above = found.bits_per_weight() - found.order0_entropy;
            println!("{what}, level {level}: {above:.4} bits above order 0");
            assert!(above <= MOST, "{what}, level {level}: {above}");
        }
    };
    for (rows, cols, width) in [(10_008, 104, 0.3), (10_008, 104, 0.5), (4096, 256, 0.5)] {
        let mut nibble = || {
            if random.below(20_000) == 0 {
                return random.below(16) as u8;
            }
            let far = -((1 + random.below(1 << 20)) as f64 / f64::from(1 << 20)).ln() * width;
            let far = if random.below(2) == 0 { far } else { -far };
            (far.round().clamp(-8.0, 7.0) + 8.0) as u8
        };
        let packed = (0..rows * cols / 2).map(|_| nibble() | nibble() << 4).collect();
        let (shape, of_scales) = ([rows as u64, cols as u64 / 8], [rows as u64, 1]);
        let tensors = [
            ("l.weight_packed", "I32", &shape[..], packed),
            ("l.weight_scale", "F16", &of_scales, [0, 0x3c].repeat(rows)),
        ];
        near(&format!("INT4 {rows} by {cols}, {width}"), &tensors, &[1, 4, 8, 9]);
    }
    // Of two values, or of one.
    for (rows, cols, value, rare) in
        [(1, 1_000_000, 40, 10_000), (7, 150_000, 100, 10_000), (1000, 1000, 0, 333)]
    {
        let mut random = Random(61);
        let mut weight = || match random.below(rare) {
            0 => random.below(256) as u8,
            _ => (random.below(2) * value) as u8,
        };
        let weights = (0..rows * cols).map(|_| weight()).collect();
        let tensors = [("w", "I8", &[rows as u64, cols as u64][..], weights)];
        near(&format!("0 and {value}, {rows} by {cols}"), &tensors, &[1, 4, 8, 9]);
    }
}
