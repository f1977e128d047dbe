//! Real checkpoints: they come back byte for byte, within what files and tensors may take; every tensor's view is
//! reversible, every byte of every file is accounted for.
//!
//! Those of the folder that `LATENS_CHECKPOINTS` names (`.safetensors`, `.gguf` and sharded ones), or else the
//! excerpts of `testdata/real`; run with `--nocapture` it prints how many tensors got which view, and the
//! order-0 entropy of their symbols.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::repository;
use latens::Limits;
use latens::wcodec::checkpoint::{Checkpoint, Segment, scale_block};
use latens::wcodec::view::View;
use latens::wcodec::{Config, Content, Reader, Role, compress_checkpoint};

fn checkpoints(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut inside: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    inside.sort();
    if let Some(index) = inside.iter().find(|p| p.to_string_lossy().ends_with(".index.json")) {
        out.push(index.clone());
        return;
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

/// Bits of all symbols, each at the entropy of their histogram.
fn order0(symbols: &[u8]) -> f64 {
    let mut counts = [0u64; 256];
    for &s in symbols {
        counts[usize::from(s)] += 1;
    }
    let n = symbols.len() as f64;
    counts.iter().filter(|&&c| c > 0).map(|&c| c as f64 * (n / c as f64).log2()).sum()
}

#[derive(Default)]
struct Tally {
    tensors: usize,
    bytes: u64,
    symbols: f64,
    bits: f64,
    scaled: usize,
    blocks: BTreeMap<(u64, u64), usize>,
}

/// The checkpoints of the folder that the environment names, or excerpts.
fn given() -> Vec<PathBuf> {
    let folder = std::env::var_os("LATENS_CHECKPOINTS");
    let folder = folder.map_or_else(|| repository().join("testdata/real"), PathBuf::from);
    let mut paths = Vec::new();
    checkpoints(&folder, &mut paths);
    assert!(!paths.is_empty(), "no checkpoints in {}", folder.display());
    paths
}

/// Bytes of a checkpoint below which the highest level is tried.
const FEW: u64 = 1 << 20;

/// Weights of a tensor from which on its bits are held against its order-0 entropy.
const MANY: u64 = 1 << 20;

#[test]
fn real_checkpoints_come_back() {
    for path in given() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let checkpoint = Checkpoint::open(&path).unwrap();
        let flat: u64 = checkpoint.files.iter().map(|file| file.len).sum();
        // The highest takes any time.
        for level in [1, 8, 12].into_iter().filter(|&level| level < 12 || flat < FEW) {
            let config = Config::default().level(level);
            let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
            let (bytes, most) = (file.len() as u64, flat + flat / 1000 + 4096);
            println!("{name}, level {level}: {flat} to {bytes}");
            assert!(bytes <= most, "{name}, level {level}: {bytes} of {flat}");
            let reader = Reader::open(file, Limits::default()).unwrap();
            reader.compare(&checkpoint).unwrap();
            reader.verify().unwrap();
            for (number, _) in reader.tensors().filter(|(_, tensor)| tensor.copy_of.is_none()) {
                let tensor = reader.inspect(number).unwrap();
                if tensor.weights < MANY {
                    continue;
                }
                let entropy = tensor.order0_entropy;
                let bits = 8.0 * tensor.bytes as f64 / tensor.weights as f64;
                let what = format!("{name}, level {level}, {}", tensor.name);
                assert!(bits <= entropy + 0.01, "{what}: {bits} above {entropy}");
            }
        }
    }
}

/// What excerpts of a real model take, at the default level and at the highest one.
#[test]
fn excerpts_take_no_more_than_they_did() {
    for (name, usual, highest) in [
        ("minilm_int8", 213_000, 212_400),
        ("minilm_int4", 97_100, 96_850),
        ("minilm_gptq", 69_700, 69_700),
    ] {
        let path = repository().join(format!("testdata/real/{name}.safetensors"));
        let checkpoint = Checkpoint::open(&path).unwrap();
        for (level, most) in [(8, usual), (12, highest)] {
            let config = Config::default().level(level);
            let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
            assert!(file.len() <= most, "{name}, level {level}: {}", file.len());
        }
    }
}

#[test]
fn views_of_real_checkpoints_are_reversible() {
    for path in given() {
        let opened = std::time::Instant::now();
        let checkpoint = Checkpoint::open(&path).unwrap();
        let opened = opened.elapsed();
        println!(
            "{}: {:?}, {} tensors, opened in {:.1} ms, {:?}",
            path.file_name().unwrap().to_string_lossy(),
            checkpoint.format,
            checkpoint.tensors.len(),
            opened.as_secs_f64() * 1e3,
            checkpoint.quantization,
        );
        let mut next_tensor = 0;
        for (i, file) in checkpoint.files.iter().enumerate() {
            let mut at = 0;
            for segment in &file.segments {
                at += match *segment {
                    Segment::Bytes { offset, len } => {
                        assert_eq!(offset, at);
                        len
                    }
                    Segment::Zeros { len } => len,
                    Segment::Tensor(t) => {
                        assert_eq!(t, next_tensor);
                        next_tensor += 1;
                        let tensor = &checkpoint.tensors[t];
                        assert_eq!((tensor.file, tensor.offset), (i, at));
                        tensor.len
                    }
                };
            }
            assert_eq!(at, file.len, "{}", file.name);
        }
        assert_eq!(next_tensor, checkpoint.tensors.len());

        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        for (i, t) in checkpoint.tensors.iter().enumerate() {
            let mut bytes = vec![0; usize::try_from(t.len).unwrap()];
            checkpoint.read_tensor(i, 0, &mut bytes).unwrap();
            for view in t.candidates() {
                let layout = view.layout(t.dtype, &t.shape, t.len).unwrap();
                let parts = layout.split(&bytes).unwrap();
                let back = layout.join(parts).unwrap();
                assert!(back == bytes, "{}: {view:?}", t.name);
            }
            let layout = t.layout().unwrap();
            let tally =
                tallies.entry(format!("{} as {}", t.dtype.name(), t.view.name())).or_default();
            tally.tensors += 1;
            tally.bytes += t.len;
            if let Some(scale) = t.siblings.scale {
                tally.scaled += 1;
                let scale = &checkpoint.tensors[scale].shape;
                if let Some(block) = scale_block(layout.rows, layout.cols, scale) {
                    *tally.blocks.entry(block).or_default() += 1;
                }
            }
            let parts = match t.view {
                View::Words { width: w @ 2.., .. } => View::FloatBytes { width: w }
                    .layout(t.dtype, &t.shape, t.len)
                    .unwrap()
                    .split(&bytes),
                _ => layout.split(&bytes),
            };
            for part in parts.unwrap() {
                match part.content {
                    Content::Symbols(plane) => {
                        tally.bits += order0(&plane.data);
                        if matches!(part.role, Role::Weights | Role::Exponent) {
                            tally.symbols += plane.data.len() as f64;
                        }
                    }
                    Content::Words { data, .. } | Content::Raw(data) => {
                        tally.bits += 8.0 * data.len() as f64;
                    }
                }
            }
        }
        for (view, t) in tallies {
            println!(
                "  {:44} {:4} tensors {:11} bytes {:6.3} bits a symbol at order 0, side parts in ({:5.1} % of flat); {} with scales, of {:?}",
                view,
                t.tensors,
                t.bytes,
                t.bits / t.symbols.max(1.0),
                100.0 * t.bits / (8.0 * t.bytes as f64),
                t.scaled,
                t.blocks,
            );
        }
    }
}
