//! What compressing a checkpoint holds in memory: no more for a larger tensor.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod common;
mod wcodec_common;

use common::counting::{Counting, peak_of_process};
use latens::Limits;
use latens::wcodec::checkpoint::{Checkpoint, ReadAt, Tensors};
use latens::wcodec::dtype::Dtype;
use latens::wcodec::{BaseCheckpoint, BaseFile, Config, Reader, Writer, compress_checkpoint};
use std::io;
use std::sync::{Arc, Mutex};
use wcodec_common::{gguf, open_as, safetensors_header};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that may be held whatever is compressed, and for each thread beyond the first.
const MOST: usize = 16 << 20;
const A_THREAD: usize = 8 << 20;
/// Of these a row and a group take some: levels, lengths, checksums.
const A_MEGABYTE: usize = 4 << 10;

/// What a tensor may look like.
const LAYOUTS: [&str; 11] = [
    "int8",
    "int4",
    "int4 of noise",
    "uint8 of noise",
    "bf16",
    "f16",
    "f32",
    "f32 of noise",
    "i16",
    "q4_k",
    "q8_0",
];

/// Name, type, shape and bytes of a tensor, and what these repeat.
type Tensor<'t> = (&'t str, &'t str, [usize; 2], usize, Vec<u8>);

/// A file of a header and tensors, each of which repeats a few bytes: nothing of it is in memory.
struct Made {
    /// Where each run begins, and what it repeats.
    runs: Vec<(usize, Vec<u8>)>,
    len: usize,
}

impl ReadAt for Made {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let (mut at, mut rest) = (offset as usize, buf);
        while !rest.is_empty() {
            let run = self.runs.iter().rposition(|(start, _)| *start <= at).unwrap();
            let (start, tile) = &self.runs[run];
            let end = self.runs.get(run + 1).map_or(self.len, |next| next.0);
            let from = (at - start) % tile.len();
            let now = rest.len().min(tile.len() - from).min(end - at);
            let (here, behind) = rest.split_at_mut(now);
            here.copy_from_slice(&tile[from..from + now]);
            (at, rest) = (at + now, behind);
        }
        Ok(())
    }
}

impl Made {
    fn new(head: Vec<u8>, tensors: Vec<(usize, Vec<u8>)>) -> Self {
        let mut made = Self { len: head.len(), runs: vec![(0, head)] };
        for (len, tile) in tensors {
            made.runs.push((made.len, tile));
            made.len += len;
        }
        made
    }

    /// A safetensors file.
    fn safetensors(tensors: Vec<Tensor<'_>>) -> Checkpoint {
        let shapes = tensors.iter().map(|t| t.2.map(|n| n as u64)).collect::<Vec<_>>();
        let told = tensors.iter().zip(&shapes);
        let told = told.map(|((name, dtype, _, len, _), shape)| (*name, *dtype, &shape[..], *len));
        let header = safetensors_header(told);
        let bodies = tensors.into_iter().map(|(.., len, tile)| (len, tile));
        open_as("m.safetensors", Self::new(header, bodies.collect()))
    }

    /// A GGUF file of one tensor.
    fn gguf(kind: u32, [rows, cols]: [usize; 2], len: usize, tile: Vec<u8>) -> Checkpoint {
        let header = gguf(&[("w", kind, [cols as u64, rows as u64], Vec::new())]);
        open_as("m.gguf", Self::new(header, vec![(len, tile)]))
    }
}

fn noise(i: usize) -> usize {
    let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mix(mix(i as u64 + 1)) >> 20) as usize
}

/// A number around zero, by far not as often large as small.
fn bell(i: usize) -> isize {
    (0..4).map(|k| (noise(i) >> (8 * k) & 63).cast_signed() - 32).sum()
}

fn tile(n: usize, of: impl Fn(usize) -> u8) -> Vec<u8> {
    (0..n).map(of).collect()
}

/// Megabytes of a layout, as a checkpoint of its own.
fn checkpoint(layout: &str, megabytes: usize) -> Checkpoint {
    let (len, n) = (megabytes << 20, 999_936);
    let small = |i: usize| bell(i).to_le_bytes()[0];
    let nibble = |i: usize| (bell(i) / 16 + 8).clamp(0, 15).to_le_bytes()[0];
    let nibbles = |i: usize| nibble(2 * i) | nibble(2 * i + 1) << 4;
    // The upper halves of floats.
    let float = |i: usize| match i % 2 {
        0 => noise(i).to_le_bytes()[0],
        _ => 0x3c ^ (bell(i) / 24).to_le_bytes()[0],
    };
    let scales = |rows: usize, cols: usize| {
        ("a.weight_scale", "BF16", [rows, cols], 2 * rows * cols, tile(n, float))
    };
    let safetensors = Made::safetensors;
    let plain = |dtype, width: usize, tile| {
        safetensors(vec![("a", dtype, [len / 4096 / width, 4096], len, tile)])
    };
    let rows = len / 4096;
    match layout {
        "int8" => safetensors(vec![
            ("a.weight", "I8", [rows, 4096], len, tile(n, small)),
            scales(rows, 1),
        ]),
        "int4" => safetensors(vec![
            ("a.weight_packed", "I32", [rows, 1024], len, tile(n, nibbles)),
            scales(rows, 64),
        ]),
        "int4 of noise" => safetensors(vec![
            ("a.weight_packed", "I32", [rows, 1024], len, tile(n, |i| noise(i).to_le_bytes()[0])),
            scales(rows, 64),
        ]),
        "uint8 of noise" => plain("U8", 1, tile(n, |i| noise(i).to_le_bytes()[0])),
        "bf16" => plain("BF16", 2, tile(n, float)),
        "f16" => plain("F16", 2, tile(n, float)),
        "f32" => plain("F32", 4, tile(n, |i| if i % 4 < 2 { small(i) } else { float(i) })),
        "f32 of noise" => plain("F32", 4, tile(n, |i| noise(i).to_le_bytes()[0])),
        "i16" => plain("I16", 2, tile(n, |i| if i % 2 == 0 { small(i) } else { 0 })),
        "q4_k" => {
            let rows = len / 144 * 256 / 4096;
            let tile = tile(144 * 6944, |i| match i % 144 {
                0..4 => float(i),
                4..16 => small(i),
                _ => nibbles(i),
            });
            Made::gguf(12, [rows, 4096], rows * 16 * 144, tile)
        }
        _ => {
            let rows = len / 34 * 32 / 4096;
            let tile = tile(34 * 29000, |i| if i % 34 < 2 { float(i) } else { small(i) });
            Made::gguf(8, [rows, 4096], rows * 128 * 34, tile)
        }
    }
}

/// Peaks are those of the process: one test after the other.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn memory_does_not_grow_with_a_tensor() {
    let _alone = ALONE.lock();
    for layout in LAYOUTS {
        for (megabytes, threads) in [(10, 3), (40, 3), (40, 1)] {
            let checkpoint = checkpoint(layout, megabytes);
            let config = Config::default().threads(threads);
            let compress = || compress_checkpoint(&checkpoint, None, &config, io::sink());
            let (written, peak) = peak_of_process(compress);
            written.unwrap();
            let most = MOST + (threads - 1) * A_THREAD + megabytes * A_MEGABYTE;
            assert!(peak <= most, "{layout}, {megabytes} MiB: {peak} bytes, {most} are allowed");
        }
    }
}

/// Levels 9 and 10 look at more of a tensor, and hold no more of it.
#[test]
fn memory_does_not_grow_with_the_level() {
    let _alone = ALONE.lock();
    for (layout, level) in [("int8", 9), ("int4", 10), ("q4_k", 9)] {
        let (megabytes, threads) = (24, 2);
        let checkpoint = checkpoint(layout, megabytes);
        let config = Config::default().level(level).threads(threads);
        let compress = || compress_checkpoint(&checkpoint, None, &config, io::sink());
        let (written, peak) = peak_of_process(compress);
        written.unwrap();
        let most = MOST + (threads - 1) * A_THREAD + megabytes * A_MEGABYTE;
        assert!(peak <= most, "{layout}, level {level}: {peak} bytes, {most} are allowed");
    }
}

/// Nor does what a sound file is read with, whatever explains its weights.
#[test]
fn memory_of_reading_does_not_grow_with_a_tensor() {
    let _alone = ALONE.lock();
    const MEGABYTES: usize = 40;
    for layout in LAYOUTS {
        let checkpoint = checkpoint(layout, MEGABYTES);
        let config = Config::default().level(1).threads(2);
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        for threads in [1, 3] {
            let reader = Reader::open(file.as_slice().to_vec(), Limits::default()).unwrap();
            let reader = reader.threads(threads);
            let (verified, to_verify) = peak_of_process(|| reader.verify());
            let (written, to_write) = peak_of_process(|| reader.write_file(0, &mut io::sink()));
            verified.and(written).unwrap();
            let most = MOST + (threads - 1) * A_THREAD + MEGABYTES * OF_SOURCES;
            let peaks = to_verify.max(to_write);
            assert!(peaks <= most, "{layout}, {threads}: {peaks} bytes, {most} are allowed");
            // Some rows, a tensor to where there is room for it, and one after the other: no more than one of them.
            let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
            let mut largest = 0;
            for &number in &numbers {
                let rows = reader.layout(number).unwrap().rows.min(64);
                let (read, of_rows) = peak_of_process(|| reader.rows(number, 0..rows).map(|_| ()));
                let mut room = vec![0; reader.byte_length(number).unwrap()];
                let (into, of_tensor) = peak_of_process(|| reader.tensor_into(number, &mut room));
                read.and(into).unwrap();
                assert!(of_rows.max(of_tensor) <= most, "{layout}: {of_rows}, {of_tensor} bytes");
                largest = largest.max(room.len());
            }
            let each = |_, _: Vec<u8>| Ok(None);
            let (read, of_each) = peak_of_process(|| reader.for_each(&numbers, each));
            read.unwrap();
            assert!(of_each <= most + largest, "{layout}, {threads}: {of_each} bytes of each");
        }
    }
}

/// A checkpoint of one file in which some bits of the tensors are others.
struct Near(Checkpoint);

impl ReadAt for Near {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.files[0].len)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(0, offset, buf).map_err(io::Error::other)?;
        let head = self.0.tensors.iter().map(|t| t.offset).min().unwrap_or(0);
        let others = (offset..).zip(buf).filter(|(at, _)| *at >= head && at % 97 == 0);
        others.for_each(|(_, byte)| *byte ^= 1);
        Ok(())
    }
}

/// Nor against a base, of which as little is held, to compress and to read.
#[test]
fn memory_does_not_grow_with_a_tensor_of_a_base() {
    let _alone = ALONE.lock();
    const MEGABYTES: usize = 40;
    for layout in ["int8", "int4", "bf16", "f32", "q4_k", "q8_0"] {
        let (base, to_open) =
            peak_of_process(|| BaseCheckpoint::new(checkpoint(layout, MEGABYTES)).unwrap());
        let base = Arc::new(base);
        let plain = checkpoint(layout, MEGABYTES);
        let near = open_as(&plain.files[0].name.clone(), Near(plain));
        for threads in [1, 3] {
            let config = Config::default().threads(threads);
            let against = Some(BaseFile { base: &*base, name: "base" });
            let compress = || compress_checkpoint(&near, against, &config, io::sink());
            let (written, to_compress) = peak_of_process(compress);
            written.unwrap();
            let most = MOST + (threads - 1) * A_THREAD + MEGABYTES * OF_SOURCES;
            let file = compress_checkpoint(&near, against, &config, Vec::new()).unwrap();
            assert!(file.len() < MEGABYTES << 18, "{layout}: {} bytes", file.len());
            let reader = Reader::open(file, Limits::default()).unwrap().threads(threads);
            let reader = reader.with_base(Box::new(Arc::clone(&base))).unwrap();
            let (verified, to_verify) = peak_of_process(|| reader.verify());
            let (written, to_write) = peak_of_process(|| reader.write_file(0, &mut io::sink()));
            let rows = |(number, _)| reader.rows(number, 3..60.min(reader.layout(number)?.rows));
            let (read, of_rows) = peak_of_process(|| reader.tensors().map(rows).all(|r| r.is_ok()));
            verified.and(written).unwrap();
            assert!(read);
            let peaks = [to_open, to_compress, to_verify, to_write, of_rows];
            assert!(peaks.iter().all(|&peak| peak <= most), "{layout}, {threads}: {peaks:?}");
            reader.compare(&near).unwrap();
        }
    }
}

/// Of each megabyte that is read, what explains the rest, held for the whole tensor: scales and minima, those of Q4_K most.
const OF_SOURCES: usize = 256 << 10;

/// Bytes that each of several threads may hold of small tensors and their parts.
const OF_SMALL: usize = 32 << 20;

/// As many tensors of a megabyte, two weights a byte or one.
fn small_tensors(count: usize) -> Checkpoint {
    let names: Vec<String> = (0..count).map(|i| format!("{i}.weight_packed")).collect();
    let byte = |i: usize| bell(i).to_le_bytes()[0];
    let tensor = |(i, name): (usize, _)| match i % 2 {
        0 => (name, "I32", [512, 512], 1 << 20, tile(99_999 + i, byte)),
        _ => (name, "I8", [512, 2048], 1 << 20, tile(99_999 + i, byte)),
    };
    let tensors = names.iter().map(String::as_str).enumerate().map(tensor).collect();
    Made::safetensors(tensors)
}

#[test]
fn memory_does_not_grow_with_the_number_of_tensors() {
    let _alone = ALONE.lock();
    let mut written = Vec::new();
    for (count, threads) in [(24, 1), (24, 3), (120, 3), (120, 1)] {
        let checkpoint = small_tensors(count);
        let config = Config::default().threads(threads);
        let compress = || compress_checkpoint(&checkpoint, None, &config, Vec::new());
        let (file, peak) = peak_of_process(compress);
        let most = MOST + if threads > 1 { threads * OF_SMALL } else { 0 };
        let file = file.unwrap();
        let peak = peak.saturating_sub(2 * file.len());
        assert!(peak <= most, "{count} tensors, {threads}: {peak} bytes, {most} are allowed");
        written.push(file);
    }
    assert!(written[0] == written[1] && written[2] == written[3]);
}

/// Layers that are written as they come are held one at a time.
#[test]
fn memory_does_not_grow_with_the_number_of_layers() {
    let _alone = ALONE.lock();
    let write = |layers: usize| {
        let mut writer = Writer::new(io::sink(), "m.safetensors", &Config::default()).unwrap();
        for layer in 0..layers {
            let bytes = (0..1 << 20).map(|i| bell(i + 99_999 * layer) as u8).collect::<Vec<_>>();
            let mut tensors = Tensors::new();
            tensors.add(format!("{layer}.weight"), Dtype::I8, &[512, 2048], bytes).unwrap();
            writer.write(tensors).unwrap();
        }
        writer.finish().unwrap();
    };
    // What a process keeps for later calls is there from here on, whichever test comes first.
    write(48);
    let [few, many] = [8, 48].map(|layers| peak_of_process(|| write(layers)).1);
    // Names, hashes, the index and tables take some.
    assert!(many <= few + (1 << 20), "{many} bytes, of few layers {few}");
}

/// What is read by stretches is what is there: by any number of threads, from a file or memory, and
/// back again.
#[test]
fn stretches_give_the_same_file() {
    let _alone = ALONE.lock();
    let higher = ["int8", "int4", "q4_k"].map(|layout| (layout, 9));
    for (layout, level) in LAYOUTS.map(|layout| (layout, 8)).into_iter().chain(higher) {
        let compress = |checkpoint: &Checkpoint, threads| {
            let config = Config::default().level(level).threads(threads);
            compress_checkpoint(checkpoint, None, &config, Vec::new()).unwrap()
        };
        let made = checkpoint(layout, 9);
        let file = compress(&made, 1);
        assert!(file == compress(&made, 3), "{layout}");
        let mut bytes = vec![0; made.files[0].len as usize];
        made.read_at(0, 0, &mut bytes).unwrap();
        let held = open_as(&made.files[0].name, bytes);
        assert!(file == compress(&held, 2), "{layout}");
        let reader = Reader::open(file, Limits::default()).unwrap().threads(2);
        reader.verify().unwrap();
        reader.compare(&made).unwrap();
    }
}
