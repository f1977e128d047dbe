//! The kernels as C++ against the decoder in Rust: every tool forced in turn, every view, slices, and
//! real checkpoints where `LATENS_CHECKPOINTS` names a folder of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod twin_common;
#[path = "../../latens/tests/wcodec_common/mod.rs"]
mod wcodec_common;

use latens::Limits;
use latens::wcodec::checkpoint::Checkpoint;
use latens::wcodec::predictor::Predictor;
use latens::wcodec::tile::TileSize;
use latens::wcodec::transform::Transform;
use latens::wcodec::view::Values;
use latens::wcodec::{
    BaseCheckpoint, BaseFile, Coder, Config, Content, Part, Reader, Tools, compress_checkpoint,
};
use latens_cuda::{Batch, Output};
use std::path::{Path, PathBuf};
use twin_common::{Count, Twin, build};
use wcodec_common::{Random, open, safetensors, samples};

/// Rows that differ, columns that differ, of eight and four bits; large enough to be apart from the
/// index, and of odd shapes.
fn planes(rows: u64, cols: u64, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let n = rows * cols;
    let plain = (0..n).map(|i| random.int8(3.0 + (i % cols) as f64 / 3.0)).collect();
    let smooth = (0..n)
        .map(|i| ((i / cols * 3 + i % cols * 2) & 0xff) as u8 ^ (random.next() & 1) as u8)
        .collect();
    let extreme = (0..n).map(|_| if random.next() & 1 == 0 { 0x80 } else { 0x7f }).collect();
    let words = cols.div_ceil(8);
    let nibbles =
        (0..rows * words * 4).map(|_| (random.int8(1.5) & 15) | (random.int8(2.5) << 4)).collect();
    safetensors(&[
        ("plain", "I8", &[rows, cols], plain),
        ("smooth", "U8", &[rows, cols], smooth),
        ("extreme", "I8", &[rows, cols], extreme),
        ("n.weight_packed", "I32", &[rows, words], nibbles),
    ])
}

fn twin() -> Option<Twin> {
    // Tests run side by side: each has a program of its own.
    let name = format!("twin-{}", std::thread::current().name().unwrap_or("test"));
    Some(Twin::start(&build(&name, &["-O2"])?))
}

#[test]
fn every_tool() {
    let Some(mut twin) = twin() else { return };
    let mut predictors: Vec<Vec<Predictor>> = Predictor::ALL.iter().map(|p| vec![*p]).collect();
    predictors.push(Predictor::OF_TILES.to_vec());
    let transforms = [
        vec![],
        vec![Transform::Dct],
        vec![Transform::Adst],
        vec![Transform::Dct, Transform::Adst],
    ];
    let tiles = [(16, 16), (8, 32), (5, 7), (1, 1), (64, 9), (4096, 4096)];
    let mut count = Count::default();
    let mut turn = 0;
    for (rows, cols) in [(83, 53), (64, 64), (301, 8)] {
        let source = planes(rows, cols, 3);
        for predictors in &predictors {
            for transforms in &transforms {
                for coder in [Coder::Direct, Coder::Bitplane] {
                    for contexts in [false, true] {
                        let (tile_rows, tile_cols) = tiles[turn % tiles.len()];
                        turn += 1;
                        let tools = Tools {
                            tile: TileSize::new(tile_rows, tile_cols).unwrap(),
                            predictors: predictors.clone(),
                            transforms: transforms.clone(),
                            coder,
                            contexts,
                        };
                        let name = format!("{rows} × {cols}, {tools:?}");
                        let config = Config::default().tools(Some(tools)).group_symbols(1500);
                        let file =
                            compress_checkpoint(&open(source.clone()), None, &config, Vec::new());
                        let reader = Reader::open(file.unwrap(), Limits::default()).unwrap();
                        twin.agrees(&name, &reader, &mut count);
                    }
                }
            }
        }
    }
    println!("{count:?}");
    assert!(count.groups > 2000 && count.errors == 0, "{count:?}");
}

#[test]
fn every_view() {
    let Some(mut twin) = twin() else { return };
    let mut count = Count::default();
    for (scale, group) in [(40, 1000), (64, 0)] {
        for level in [3, 8, 12] {
            for mut sample in samples::all(scale) {
                sample.config = sample.config.group_symbols(group).level(level);
                let reader = Reader::open(sample.compress(), Limits::default()).unwrap();
                let name = format!("{} at level {level}", sample.name);
                twin.agrees(&name, &reader, &mut count);
            }
        }
    }
    println!("{count:?}");
    assert!(count.groups > 300 && count.errors == 0, "{count:?}");
}

fn data(part: Part) -> Vec<u8> {
    match part.content {
        Content::Symbols(plane) => plane.data,
        Content::Words { data, .. } | Content::Raw(data) => data,
    }
}

/// All blocks of GGUF and all orders of packings, from parts made up here.
#[test]
fn every_join() {
    use latens::wcodec::dtype::Dtype;
    use latens::wcodec::view::{Axis, BitOrder, BlockKind, Packing, Sign, View, WordOrder};
    let Some(mut twin) = twin() else { return };
    let mut random = Random(5);
    let mut views: Vec<(View, Dtype, Vec<u64>, usize)> = Vec::new();
    for kind in BlockKind::ALL {
        let (weights, bytes) = kind.dtype().block().unwrap();
        views.push((View::Blocks(kind), kind.dtype(), vec![7, 3 * weights], (21 * bytes) as usize));
    }
    for bits in [2, 3, 4, 5, 6, 8] {
        for word in [1, 2, 4, 8] {
            for order in [BitOrder::LowFirst, BitOrder::HighFirst, BitOrder::Awq] {
                for axis in [Axis::Columns, Axis::Rows] {
                    let view = View::Packed(Packing {
                        bits,
                        word,
                        order,
                        axis,
                        sign: Sign::Offset,
                        cols: 0,
                    });
                    if view.is_valid() {
                        let shape = vec![15, 45 * u64::from(word)];
                        views.push((view, Dtype::U8, shape, 15 * 45 * usize::from(word)));
                    }
                }
            }
        }
    }
    for width in [2u8, 4, 8] {
        let dtype = [Dtype::F16, Dtype::F32, Dtype::F64][width.ilog2() as usize - 1];
        views.push((View::FloatBytes { width }, dtype, vec![5, 11], 55 * usize::from(width)));
    }
    for order in [WordOrder::Unsigned, WordOrder::Signed, WordOrder::SignMagnitude] {
        views.push((View::Words { width: 1, order }, Dtype::U8, vec![9, 9], 81));
    }
    let source = open(safetensors(&[]));
    let file = compress_checkpoint(&source, None, &Config::default(), Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    for (view, dtype, shape, len) in views {
        let bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
        let layout = view.layout(dtype, &shape, len as u64);
        let layout = layout.unwrap_or_else(|| panic!("{view:?} does not fit {shape:?}"));
        let parts = layout.split(&bytes).unwrap();
        let mut batch = Batch::default();
        batch.add_parts(0, &layout, parts.into_iter().map(data).collect()).unwrap();
        let ran = twin.run(&reader, &batch).unwrap();
        assert!(ran.outputs == bytes, "{view:?}");
    }
}

#[test]
fn slices() {
    let Some(mut twin) = twin() else { return };
    let mut compared = 0;
    for sample in samples::all(40) {
        let mut sample = sample;
        sample.config = sample.config.group_symbols(700);
        let reader = Reader::open(sample.compress(), Limits::default()).unwrap();
        let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
        for number in numbers {
            let rows = reader.layout(number).unwrap().rows;
            for range in [0..rows, rows / 3..rows / 2, rows / 2..rows, rows..rows] {
                let (Ok(want), Ok(plan)) =
                    (reader.rows(number, range.clone()), reader.plan_rows(number, range.clone()))
                else {
                    panic!("{}: rows {range:?} of {number}", sample.name);
                };
                let want = match want {
                    Values::Signed(values) => values.into_iter().map(i8::cast_unsigned).collect(),
                    Values::Unsigned(values) | Values::Words(values) => values,
                };
                let mut batch = Batch::default();
                batch.add(number, plan, Output::Values).unwrap();
                let ran = twin.run(&reader, &batch).unwrap();
                assert!(ran.status.iter().all(|s| *s == 0));
                let got = &ran.outputs[batch.tensors[0].out.clone()];
                assert!(got == want, "{}: rows {range:?} of {number}", sample.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// REFERENCE, and classes from a base.
#[test]
fn a_base() {
    let Some(mut twin) = twin() else { return };
    let base = planes(180, 140, 1);
    let mut newer = base.clone();
    let mut random = Random(8);
    for byte in newer.iter_mut().rev().take(60_000) {
        if random.below(4) == 0 {
            *byte = byte.wrapping_add(random.int8(1.0));
        }
    }
    let mut count = Count::default();
    let every = Tools { predictors: Predictor::OF_TILES.to_vec(), ..Tools::default() };
    let one = Tools { predictors: vec![Predictor::Reference], ..Tools::default() };
    let planes = Tools { coder: Coder::Bitplane, ..one.clone() };
    for tools in [None, Some(every), Some(one), Some(planes)] {
        let config = Config::default().tools(tools.clone()).group_symbols(4000);
        let held = BaseCheckpoint::new(open(base.clone())).unwrap();
        let against = Some(BaseFile { base: &held, name: "base.safetensors" });
        let file = compress_checkpoint(&open(newer.clone()), against, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        let reader = reader.with_base(Box::new(held)).unwrap();
        twin.agrees(&format!("{tools:?}"), &reader, &mut count);
    }
    assert!(count.groups > 50 && count.errors == 0, "{count:?}");
}

fn checkpoints(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut inside: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    inside.sort();
    if let Some(index) = inside.iter().find(|p| p.to_string_lossy().ends_with(".index.json")) {
        return out.push(index.clone());
    }
    for path in inside {
        let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden {
            checkpoints(&path, out);
        } else if path.extension().is_some_and(|e| e == "safetensors" || e == "gguf") {
            out.push(path);
        }
    }
}

#[test]
fn real_checkpoints() {
    let Some(folder) = std::env::var_os("LATENS_CHECKPOINTS") else {
        return twin_common::skipped::skipped("real checkpoints: LATENS_CHECKPOINTS is not set");
    };
    let Some(mut twin) = twin() else { return };
    let mut paths = Vec::new();
    checkpoints(Path::new(&folder), &mut paths);
    assert!(!paths.is_empty(), "no checkpoints in {}", folder.display());
    for path in paths {
        let checkpoint = Checkpoint::open(&path).unwrap();
        let file = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut count = Count::default();
        twin.agrees(&name, &reader, &mut count);
        println!("{name}: {count:?}");
        assert!(count.errors == 0 && count.groups > 0, "{name}: {count:?}");
    }
}
