//! How fast a GPU decodes: a synthetic checkpoint of the shapes of an 8-billion-weight model, from
//! compressed bytes on the device, and from the page cache to tensors.
//!
//! ```console
//! benches/gpu/run            # everything, and what else is to be run on a new device
//! cargo run --release -p latens-cuda --example gpu_measure -- [--bits 8] [--layers 32] [--dir DIR]
//! ```
//! Weights are normal, with the scales and the differences between columns that the linear layers of
//! MiniLM and Whisper tiny have in their INT8 and INT4 files; real ones have longer tails (kurtosis 3.4
//! and 5.1 where these have 3), and come out a little smaller. Writes CSV: a head, and a line.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a program to measure with"
)]

use latens::wcodec::checkpoint::{Checkpoint, Quantization, ReadAt};
use latens::wcodec::{Config, Reader, compress_checkpoint_to_file};
use latens::{Error, Limits};
use latens_cuda::{Gpu, GpuReader};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

/// Bytes that repeat, at a different place in each tensor.
const PERIOD: usize = (64 << 20) + 4093 * 64;

/// Rows and columns of the matrices of a layer.
const LAYER: [(u64, u64); 7] = [
    (4096, 4096),
    (1024, 4096),
    (1024, 4096),
    (4096, 4096),
    (14336, 4096),
    (14336, 4096),
    (4096, 14336),
];

/// A safetensors file that is made where it is read.
struct Synthetic {
    header: Vec<u8>,
    period: Vec<u8>,
    data: u64,
}

impl ReadAt for Synthetic {
    fn size(&self) -> io::Result<u64> {
        Ok(self.header.len() as u64 + self.data)
    }

    fn read_exact_at(&self, mut buf: &mut [u8], offset: u64) -> io::Result<()> {
        let header = self.header.len() as u64;
        let mut at = offset;
        if at < header {
            let from = &self.header[at as usize..];
            let n = from.len().min(buf.len());
            buf[..n].copy_from_slice(&from[..n]);
            (buf, at) = (&mut buf[n..], header);
        }
        let mut place = ((at - header) % PERIOD as u64) as usize;
        while !buf.is_empty() {
            let n = buf.len().min(PERIOD - place);
            buf[..n].copy_from_slice(&self.period[place..place + n]);
            buf = &mut buf[n..];
            place = 0;
        }
        Ok(())
    }
}

struct Random(u64);

impl Random {
    fn normal(&mut self) -> f64 {
        let mut sum = -6.0;
        for _ in 0..12 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            sum += (self.0 >> 40) as f64 / f64::from(1u32 << 24);
        }
        sum
    }
}

/// Weights row after row of 4096 columns; two a byte where they have four bits.
fn period(bits: u64) -> Vec<u8> {
    let mut random = Random(1);
    let most = if bits == 8 { 127.0 } else { 7.0 };
    // Of those files: the largest weight of a row (a block of 128) in deviations, and the deviation of
    // the logarithms of columns' deviations.
    let (largest, columns) = if bits == 8 { (3.8, 0.16) } else { (2.8, 0.13) };
    let deviation = |z: f64| (z * columns).exp() * most / largest;
    let columns: Vec<f64> = (0..4096).map(|_| deviation(random.normal())).collect();
    let mut weight =
        |i: usize| (random.normal() * columns[i % 4096]).round().clamp(-most, most) as i8;
    if bits == 8 {
        return (0..PERIOD).map(|i| weight(i).cast_unsigned()).collect();
    }
    let nibble = |w: i8| (w + 8).cast_unsigned();
    (0..PERIOD).map(|i| nibble(weight(2 * i)) | nibble(weight(2 * i + 1)) << 4).collect()
}

fn synthetic(bits: u64, layers: u64) -> Synthetic {
    let (mut entries, mut at) = (Vec::new(), 0);
    let mut tensor = |name: String, dtype: &str, shape: [u64; 2], bytes: u64| {
        let end = at + bytes;
        let [rows, cols] = shape;
        entries.push(format!(
            "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":[{rows},{cols}],\"data_offsets\":[{at},{end}]}}"
        ));
        at = end;
    };
    let mut matrix = |name: String, rows: u64, cols: u64| {
        if bits == 8 {
            tensor(format!("{name}.weight"), "I8", [rows, cols], rows * cols);
            tensor(format!("{name}.weight_scale"), "F32", [rows, 1], 4 * rows);
        } else {
            tensor(format!("{name}.weight_packed"), "I32", [rows, cols / 8], rows * cols / 2);
            tensor(format!("{name}.weight_scale"), "BF16", [rows, cols / 128], rows * cols / 64);
        }
    };
    matrix("embed".to_owned(), 128_256, 4096);
    for layer in 0..layers {
        for (i, (rows, cols)) in LAYER.into_iter().enumerate() {
            matrix(format!("layers.{layer}.{i}"), rows, cols);
        }
    }
    matrix("head".to_owned(), 128_256, 4096);
    let mut header = format!("{{{}}}", entries.join(","));
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    let length = (header.len() as u64).to_le_bytes();
    let header = [&length[..], header.as_bytes()].concat();
    Synthetic { header, period: period(bits), data: at }
}

fn option(name: &str, default: u64) -> u64 {
    let mut args = std::env::args().skip_while(|a| a != name);
    args.nth(1).and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (bits, layers) = (option("--bits", 8), option("--layers", 32));
    let folder = std::env::args().skip_while(|a| a != "--dir").nth(1);
    let folder = folder.map_or_else(std::env::temp_dir, PathBuf::from);
    let path = folder.join(format!("latens-gpu-{bits}-{layers}.wcodec"));
    let gpu = Gpu::open(0)?;
    if !path.exists() {
        let none = |_: &str| Err(Error::invalid("no shards"));
        let source = Box::new(synthetic(bits, layers));
        let name = "model.safetensors".to_owned();
        let checkpoint = Checkpoint::read(name, source, Quantization::default(), &none)?;
        let started = Instant::now();
        let unfinished = path.with_extension("unfinished");
        compress_checkpoint_to_file(
            &checkpoint,
            None,
            &Config::default(),
            File::create(&unfinished)?,
        )?;
        std::fs::rename(&unfinished, &path)?;
        eprintln!("compressed in {:.0} s: {}", started.elapsed().as_secs_f64(), path.display());
    }
    let stored = std::fs::metadata(&path)?.len();
    // Into the page cache.
    io::copy(&mut File::open(&path)?, &mut io::sink())?;
    let open = || -> Result<_, Box<dyn std::error::Error>> {
        let reader = Reader::open(File::open(&path)?, Limits::default())?;
        Ok(GpuReader::new(gpu.clone(), reader).batch_bytes(1 << 30))
    };
    let (mut best_kernels, mut best_whole, mut bytes) = (f64::MAX, f64::MAX, 0u64);
    for round in 0..5 {
        let reader = open()?;
        let started = Instant::now();
        let tensors = reader.all()?;
        let whole = started.elapsed().as_secs_f64();
        bytes = tensors.iter().map(|t| t.len() as u64).sum();
        best_whole = best_whole.min(whole);
        best_kernels = best_kernels.min(reader.kernel_seconds());
        if round == 0 {
            // A sample of what came out against the CPU.
            for tensor in tensors.iter().step_by(17) {
                let want = reader.reader().tensor(tensor.number)?;
                assert!(tensor.to_host()? == want, "tensor {} differs", tensor.number);
            }
        }
    }
    let bandwidth = gpu.copy_bandwidth(1 << 30)?;
    let weights = bytes as f64 * if bits == 8 { 1.0 } else { 2.0 };
    println!("device,bits,bytes,stored,kernel_s,kernel_gb_s,weights_per_s,end_to_end_s,copy_gb_s");
    println!(
        "{},{bits},{bytes},{stored},{best_kernels:.4},{:.1},{:.3e},{best_whole:.3},{:.0}",
        gpu.name()?,
        bytes as f64 / best_kernels / 1e9,
        weights / best_kernels,
        bandwidth / 1e9,
    );
    Ok(())
}
