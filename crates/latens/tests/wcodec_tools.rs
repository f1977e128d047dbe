//! Every tool forced: whatever it does to sizes, the bytes come back; and rows come without the
//! rest.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod wcodec_common;

use latens::wcodec::predictor::Predictor;
use latens::wcodec::tile::TileSize;
use latens::wcodec::transform::Transform;
use latens::wcodec::view::{Values, View};
use latens::wcodec::{
    BaseCheckpoint, BaseFile, Coder, Config, Reader, Role, Tools, compress_checkpoint,
};
use latens::{Error, Limits};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wcodec_common::planes::planes;
use wcodec_common::{Random, back, open, safetensors, samples};

/// Codes a file against a base, and gives it back; a reader of it.
fn round_trip(source: &[u8], base: &[u8], tools: &Tools, group: usize) -> Reader<Vec<u8>> {
    let config = Config::default().tools(Some(tools.clone())).group_symbols(group);
    let held = BaseCheckpoint::new(open(base.to_vec())).unwrap();
    let against = Some(BaseFile { base: &held, name: "base" });
    let file = compress_checkpoint(&open(source.to_vec()), against, &config, Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    let reader = reader.with_base(Box::new(held)).unwrap();
    let mut back = Vec::new();
    reader.write_file(0, &mut back).unwrap();
    assert!(back == source, "{tools:?}, groups of {group}");
    reader
}

#[test]
fn every_predictor_transform_coder_and_tile_size() {
    let tiles = [(1, 1), (16, 16), (8, 32), (32, 8), (5, 7), (64, 9), (4096, 4096)];
    let sources = [(37, 53), (8, 8), (64, 40), (1, 100), (70, 1)]
        .map(|(rows, cols)| [3, 4].map(|seed| planes(rows, cols, seed)));
    let mut predictors: Vec<Vec<Predictor>> = Predictor::ALL.iter().map(|p| vec![*p]).collect();
    predictors.push(Predictor::OF_TILES.to_vec());
    let transforms = [
        vec![],
        vec![Transform::Dct],
        vec![Transform::Adst],
        vec![Transform::Dct, Transform::Adst],
        Transform::ALL.to_vec(),
    ];
    // With contexts and without, in one group and in several: some combination of each tool with all others.
    let mut random = Random(19);
    for [source, base] in &sources {
        for (rows, cols) in tiles {
            for predictors in &predictors {
                for transforms in &transforms {
                    for coder in [Coder::Direct, Coder::Bitplane] {
                        let tools = Tools {
                            tile: TileSize::new(rows, cols).unwrap(),
                            predictors: predictors.clone(),
                            transforms: transforms.clone(),
                            coder,
                            contexts: random.next() & 1 == 0,
                        };
                        let group = if random.next() & 1 == 0 { 512 } else { 0 };
                        round_trip(source, base, &tools, group);
                    }
                }
            }
        }
    }
}

/// What is forced is what the file says, REFERENCE against a base among it; planes of five and six bits, too.
#[test]
fn what_is_forced_is_used() {
    // Enough rows, and tiles large enough, for blocks of 8 × 8.
    let of_blocks = samples::all(8).into_iter().filter(|s| ["q5_0", "q6_k"].contains(&s.name));
    let of_blocks = of_blocks.map(|s| [s.files[0].1.clone(), s.files[0].1.clone()]);
    let pairs: Vec<_> = of_blocks.chain([[3, 4].map(|seed| planes(37, 53, seed))]).collect();
    assert_eq!(pairs.len(), 3);
    for [source, base] in pairs {
        for (tile, predictor) in [(16, 16), (9, 11)]
            .into_iter()
            .flat_map(|tile| Predictor::ALL.map(|predictor| (tile, predictor)))
        {
            for transforms in [
                vec![],
                vec![Transform::Dct],
                vec![Transform::Dct, Transform::Adst],
                vec![Transform::None, Transform::Adst],
            ] {
                for coder in [Coder::Direct, Coder::Bitplane] {
                    let tools = Tools {
                        tile: TileSize::new(tile.0, tile.1).unwrap(),
                        predictors: vec![predictor],
                        transforms: transforms.clone(),
                        coder,
                        contexts: true,
                    };
                    uses(&source, &base, &tools);
                }
            }
        }
    }
}

/// All parts of weights are coded by these tools, and come back.
fn uses(source: &[u8], base: &[u8], tools: &Tools) {
    let reader = round_trip(source, base, tools, 0);
    reader.verify().unwrap();
    let codec = if tools.coder == Coder::Direct { "direct" } else { "bitplane" };
    let mut found = 0;
    // Words are Pco's: scales and indices.
    let are_symbols = |name: &str| !name.ends_with(".scales") && !name.ends_with(".g_idx");
    let tensors = reader.tensors().filter(|(_, entry)| entry.dtype != "F32");
    for (number, entry) in tensors.filter(|(_, entry)| are_symbols(&entry.name)) {
        let bits = [("g.qweight", 2), ("three.qweight", 3)];
        if let Some((_, bits)) = bits.iter().find(|(name, _)| entry.name == *name) {
            let view = reader.layout(number).unwrap().view;
            assert!(matches!(view, View::Packed(packing) if packing.bits == *bits), "{view:?}");
        }
        for part in reader.inspect(number).unwrap().parts {
            if part.role != Role::Weights {
                continue;
            }
            found += 1;
            let predictors: Vec<Predictor> = part.predictors.iter().map(|(p, _)| *p).collect();
            assert!(predictors == tools.predictors && part.codec == codec, "{part:?} {tools:?}");
            let transforms: Vec<Transform> = part.transforms.iter().map(|(t, _)| *t).collect();
            let wanted = |t: &Transform| tools.transforms.contains(t);
            assert_eq!(transforms.is_empty(), tools.transforms.is_empty(), "{part:?} {tools:?}");
            assert!(transforms.iter().all(wanted), "{part:?} {tools:?}");
        }
    }
    assert!(found > 0);
}

/// INT8 whose columns follow from six others that are hidden.
fn of_hidden_columns(rows: usize, cols: usize) -> Vec<u8> {
    let mut seed = 5u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i32::try_from(seed >> 59).unwrap() - 16
    };
    let mix: Vec<[i32; 6]> = (0..cols).map(|_| std::array::from_fn(|_| next())).collect();
    let mut data = Vec::new();
    for _ in 0..rows {
        let hidden: [i32; 6] = std::array::from_fn(|_| next());
        for weights in &mix {
            let sum: i32 = weights.iter().zip(hidden).map(|(w, h)| w * h).sum();
            data.push((sum / 16 + next() / 2).clamp(-128, 127).to_le_bytes()[0]);
        }
    }
    data
}

/// More of them than a sample shows, and not many rows for each.
#[test]
fn the_highest_level_predicts_columns_of_few_rows() {
    let data = of_hidden_columns(2400, 200);
    let source = safetensors(&[("embedding.weight", "I8", &[2400, 200], data)]);
    let size = |level: u32| {
        let config = Config::default().level(level);
        let file = compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
        assert!(back(&file).unwrap() == source);
        file.len()
    };
    let (usual, highest) = (size(11), size(12));
    println!("{highest} bytes of {usual}");
    assert!(highest * 100 < usual * 90, "{highest} of {usual}");
}

/// Columns that follow from others, a little each, are found at the highest level alone, and rows can
/// still be had one by one.
#[test]
fn the_highest_level_predicts_columns_from_columns() {
    let cols = 40;
    let data = of_hidden_columns(6000, cols);
    let source = safetensors(&[("embedding.weight", "I8", &[6000, 40], data.clone())]);
    let compressed = |level: u32| {
        let config = Config::default().level(level).group_symbols(1 << 14);
        compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap()
    };
    let (usual, highest) = (compressed(8), compressed(12));
    assert!(highest.len() * 100 < usual.len() * 90, "{} {}", highest.len(), usual.len());
    assert!(back(&highest).unwrap() == source);
    let reader = Reader::open(highest, Limits::default()).unwrap();
    for (first, last) in [(0, 1), (17, 18), (1000, 1700), (5999, 6000)] {
        let rows = reader.rows(0, first..last).unwrap();
        let place = |row: u64| usize::try_from(row).unwrap() * cols;
        let want = data[place(first)..place(last)].iter().map(|b| b.cast_signed()).collect();
        assert_eq!(rows, Values::Signed(want));
    }
    let used = reader.inspect(0).unwrap();
    assert_eq!(used.parts[0].predictors[0].0, Predictor::Linear);
}

/// Groups that take next to nothing stand for no more than readers believe of so few bytes.
#[test]
fn tensors_of_one_value_come_back() {
    let of_zeros = |shape: &[u64]| {
        let n = usize::try_from(shape.iter().product::<u64>()).unwrap();
        safetensors(&[("w.weight", "I8", shape, vec![0; n])])
    };
    // The last has rows that stand for more than the states of a group may.
    for shape in [[700, 400], [3, 90_000], [1, 300_000], [200_000, 1], [2, (1 << 23) + 7]] {
        let source = of_zeros(&shape);
        for coder in [Coder::Direct, Coder::Bitplane] {
            for transforms in [vec![], vec![Transform::Dct]] {
                for group in [0, 1 << 24] {
                    let tools = Tools { coder, transforms: transforms.clone(), ..Tools::default() };
                    round_trip(&source, &source, &tools, group);
                }
            }
        }
    }
    let source = of_zeros(&[3000, 3000]);
    for level in [0, 8] {
        let config = Config::default().level(level).group_symbols(1 << 24);
        let file = compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
        assert!(back(&file).unwrap() == source, "level {level}");
    }
}

#[test]
fn rows_and_slices_are_those_of_the_whole() {
    let source = planes(200, 64, 9);
    let by_columns = Tools { predictors: vec![Predictor::Column], ..Tools::default() };
    let by_planes = Tools { coder: Coder::Bitplane, ..Tools::default() };
    let all = [None, Some(by_columns), Some(by_planes)];
    for (tools, threads) in all.into_iter().flat_map(|tools| [1, 3].map(|n| (tools.clone(), n))) {
        let config = Config::default().tools(tools).group_symbols(1 << 10);
        let file = compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap().threads(threads);
        for name in ["plain", "smooth", "n.weight_packed"] {
            let number = reader.find(name).unwrap();
            let bytes = |values: Values| match values {
                Values::Signed(v) => v.into_iter().map(i8::cast_unsigned).collect(),
                Values::Unsigned(v) | Values::Words(v) => v,
            };
            let layout = reader.layout(number).unwrap();
            let whole = bytes(reader.rows(number, 0..layout.rows).unwrap());
            let cols = usize::try_from(layout.cols).unwrap();
            assert_eq!(whole.len(), 200 * cols);
            if name == "plain" {
                assert_eq!(whole, reader.tensor(number).unwrap());
            }
            // Also of two to six groups, from within one on.
            let within = [9..40, 8..72, 1..65, 24..88, 5..90, 100..170, 130..200];
            let aligned = [0..1, 15..17, 0..200, 64..128, 199..200, 7..7];
            for rows in aligned.into_iter().chain(within) {
                let part = bytes(reader.rows(number, rows.clone()).unwrap());
                let (a, b) = (rows.start as usize * cols, rows.end as usize * cols);
                assert_eq!(part, whole[a..b], "{name} {rows:?}");
                let slice = bytes(reader.slice(number, rows.clone(), 3..11).unwrap());
                let want: Vec<u8> =
                    whole[a..b].chunks(cols).flat_map(|r| r[3..11].to_vec()).collect();
                assert_eq!(slice, want);
            }
            assert!(reader.rows(number, 3..201).is_err());
            assert!(reader.slice(number, 0..1, 0..layout.cols + 1).is_err());
        }
    }
}

#[test]
fn a_base_makes_a_relative_small_and_is_asked_for_by_hash() {
    let base = planes(128, 256, 1);
    let mut fine = base.clone();
    let start = fine.len() - 10_000;
    for i in (start..fine.len()).step_by(50) {
        fine[i] ^= 1;
    }
    let config = Config::default();
    let alone = compress_checkpoint(&open(fine.clone()), None, &config, Vec::new()).unwrap();
    let held = BaseCheckpoint::new(open(base.clone())).unwrap();
    let against = Some(BaseFile { base: &held, name: "base.safetensors" });
    let file = compress_checkpoint(&open(fine.clone()), against, &config, Vec::new()).unwrap();
    assert!(file.len() * 3 < alone.len(), "{} against {}", file.len(), alone.len());

    let reader = Reader::open(file.clone(), Limits::default()).unwrap();
    let error = reader.verify().unwrap_err().to_string();
    assert!(error.contains("base.safetensors"), "{error}");
    let reader = reader.with_base(Box::new(held)).unwrap();
    reader.verify().unwrap();
    let mut out = Vec::new();
    reader.write_file(0, &mut out).unwrap();
    assert!(out == fine);

    let other = BaseCheckpoint::new(open(fine)).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    assert!(reader.with_base(Box::new(other)).is_err());

    // A .wcodec file is a base as well.
    let stored = compress_checkpoint(&open(base), None, &config, Vec::new()).unwrap();
    let stored = Reader::open(stored, Limits::default()).unwrap();
    assert_eq!(latens::wcodec::Base::model_hash(&stored), stored.model_hash());
}

/// With forced tools and against a base, too.
#[test]
fn files_do_not_depend_on_threads() {
    let (source, base) = (planes(200, 64, 9), planes(200, 64, 10));
    let held = BaseCheckpoint::new(open(base)).unwrap();
    let against = Some(BaseFile { base: &held, name: "base" });
    let of_tiles = Tools { predictors: Predictor::OF_TILES.to_vec(), ..Tools::default() };
    let blocks = Tools { transforms: Transform::ALL.to_vec(), ..Tools::default() };
    let planes = Tools { coder: Coder::Bitplane, ..Tools::default() };
    for tools in [None, Some(of_tiles), Some(blocks), Some(planes)] {
        for against in [None, against] {
            let file = |threads: usize| {
                let config = Config::default().tools(tools.clone()).threads(threads);
                let config = config.group_symbols(1 << 10);
                let checkpoint = open(source.clone());
                compress_checkpoint(&checkpoint, against, &config, Vec::new()).unwrap()
            };
            let one = file(1);
            for threads in [2, 3, 7] {
                assert!(file(threads) == one, "{tools:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn a_watch_ends_the_highest_levels() {
    let checkpoint = open(planes(512, 64, 5));
    for threads in [1, 2] {
        let asked = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&asked);
        let watch = latens::Watch::new(move |_| match own.fetch_add(1, Ordering::Relaxed) {
            0..=2 => Ok(()),
            _ => Err(Error::invalid("enough")),
        });
        let config = Config::default().level(12).threads(threads).watch(watch);
        let error = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap_err();
        assert!(error.to_string().contains("enough"), "{error}");
        assert!(asked.load(Ordering::Relaxed) < 20);
        let config = config.watch(latens::Watch::NONE);
        assert!(compress_checkpoint(&checkpoint, None, &config, Vec::new()).is_ok());
    }
}
