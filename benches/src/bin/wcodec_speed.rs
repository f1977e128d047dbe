//! Whole tensors encoded, decoded, decoded on two threads and by the slice, beside zstd -3 on the
//! same bytes in the same run: `wcodec_speed [FILE…] [--rounds 7]`.
//!
//! ```sh
//! cargo run --profile compare -p latens-benches --bin wcodec_speed -- model.safetensors
//! ```
//! Made-up tensors of 4096 × 4096 come first: INT8 with rows and columns of different sizes; INT8 by rows, gaussian
//! weights rounded to absmax / 127 of their row; INT4 in groups of 128, and the same with columns of different sizes, as
//! those of real layers are. Then files as long as checkpoints are: layers of a made-up model, of INT8 by rows and of INT4. `encode_mbs` is `compress_checkpoint` to a buffer
//! that is used again, as fresh memory for the output would be a sixth of encoding INT8. `decode_mbs` is `Reader::tensor_into`
//! from memory to a buffer that is used again, as zstd has one too; `each_mbs` is `Reader::for_each`, by which Python
//! and PyTorch load all tensors, with buffers given back; `file_mbs` is `Reader::write_file`, as `latens decompress`
//! calls it. One thread and processor time, by turns, medians of `--rounds` (7) that had [a whole core](latens_benches::cores). Two
//! threads are measured by the clock, over one thread, least times of rounds that had two cores: `two_threads` gives
//! back whole files, `each_two_threads` is `Reader::for_each`; `two_threads_rounds` are those of both. MB are 10^6
//! bytes of the tensors.

#![allow(clippy::expect_used, clippy::cast_possible_truncation, reason = "a comparison")]

use clap::Parser;
use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::{Config, Reader, compress_checkpoint};
use latens::{Error, Limits};
use latens_benches::Failure;
use latens_benches::cores::two_threads;
use latens_benches::timing::medians;
use std::cell::RefCell;
use std::hint::black_box;
use std::path::PathBuf;

const SIDE: usize = 4096;
const ROWS: u64 = 64;
/// How much further on they are read again: in the middle of INT8's groups of 16 rows.
const ACROSS: u64 = 8;

/// Makes a file.
type Make = fn() -> Vec<u8>;

/// Whole tensors encoded, decoded, decoded on two threads and by the slice, beside zstd -3
#[derive(Parser)]
struct Args {
    /// Checkpoints, after the made-up ones
    files: Vec<PathBuf>,
    #[arg(long, default_value_t = 7)]
    rounds: usize,
}

fn main() -> Result<(), Failure> {
    let Args { files, rounds } = Args::parse();
    println!(
        "file,bytes,wcodec,zstd_3,encode_mbs,decode_mbs,zstd_mbs,ratio,two_threads,slice_percent,each_mbs,file_mbs,each_two_threads,two_threads_rounds,slice_across_percent"
    );
    let made: [(&str, Make); 6] = [
        ("INT8 4096²", int8),
        ("INT8 by rows 4096²", || safetensors(&int8_by_rows("w", SIDE, &mut Gaussian::new(3)))),
        ("INT4 g128 4096²", int4),
        ("INT4 g128 by columns 4096²", int4_by_columns),
        ("5 layers of INT8 by rows", || layers(5, int8_by_rows)),
        ("10 layers of INT4 g128", || layers(10, int4_by_groups)),
    ];
    for (name, make) in made {
        let source = Box::new(make());
        let none = |_: &str| Err(Error::invalid("no shards"));
        let name_of = "made-up.safetensors".to_owned();
        let checkpoint = Checkpoint::read(name_of, source, Quantization::default(), &none)?;
        measure(name, &checkpoint, rounds)?;
    }
    for path in &files {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        measure(&name, &Checkpoint::open(path)?, rounds)?;
    }
    Ok(())
}

fn measure(name: &str, checkpoint: &Checkpoint, rounds: usize) -> Result<(), Failure> {
    let config = Config::default().threads(1);
    let mut out = Vec::new();
    let mut encode = || {
        let mut again = std::mem::take(&mut out);
        again.clear();
        out = compress_checkpoint(checkpoint, None, &config, again).expect("to memory");
    };
    let encode = medians(rounds.min(3), &mut [&mut encode])[0];
    let size = out.len();
    let reader = Reader::open(out.clone(), Limits::default())?.threads(1);
    let both = Reader::open(out, Limits::default())?.threads(2);
    // Tensors that are coded, one after the other.
    let tensors: Vec<(usize, usize)> =
        reader.tensors().filter(|(_, t)| t.copy_of.is_none()).map(|(i, t)| (i, t.length)).collect();
    let bytes: usize = tensors.iter().map(|t| t.1).sum();
    let mut plain = vec![0u8; bytes];
    let all = |reader: &Reader<Vec<u8>>, plain: &mut [u8]| {
        let mut at = 0;
        for &(number, length) in &tensors {
            reader.tensor_into(number, &mut plain[at..][..length]).expect("sound");
            at += length;
        }
    };
    all(&reader, &mut plain);
    let zstd = zstd::bulk::compress(&plain, 3).expect("zstd");
    let mut peer = zstd::bulk::Decompressor::new().expect("zstd");
    let mut buffer = vec![0u8; bytes];
    let restored = RefCell::new(Vec::new());
    let restore = |reader: &Reader<Vec<u8>>| {
        let mut restored = restored.borrow_mut();
        restored.clear();
        for file in 0..reader.files().count() {
            reader.write_file(file, &mut *restored).expect("sound");
        }
    };
    let numbers: Vec<usize> = tensors.iter().map(|t| t.0).collect();
    let each = |reader: &Reader<Vec<u8>>| {
        reader.for_each(&numbers, |_, bytes| Ok(Some(black_box(bytes)))).expect("sound");
    };
    let seconds = medians(
        rounds,
        &mut [
            &mut || {
                peer.decompress_to_buffer(&zstd, &mut buffer[..]).expect("zstd");
                black_box(&buffer);
            },
            &mut || {
                all(&reader, &mut plain);
                black_box(&plain);
            },
            &mut || each(&reader),
            &mut || restore(&reader),
        ],
    );
    let of = |threads| if threads == 1 { &reader } else { &both };
    let two = two_threads(rounds, |threads| {
        restore(of(threads));
        Ok(())
    })?;
    let each_two = two_threads(rounds, |threads| {
        each(of(threads));
        Ok(())
    })?;
    // Rows from the middle of the largest tensor that has them.
    let largest = tensors.iter().max_by_key(|t| t.1).copied().unwrap_or((0, 0));
    let rows = reader.layout(largest.0).map_or(0, |l| l.rows);
    let mut one = vec![0u8; largest.1];
    // Where groups may begin, and where none does.
    let (mut slice, mut across) = (String::new(), String::new());
    if rows > ROWS + ACROSS {
        let first = rows / 2 - ROWS / 2;
        let some = |first: u64| {
            black_box(reader.rows(largest.0, first..first + ROWS).expect("sound"));
        };
        let seconds = medians(
            rounds.max(21),
            &mut [
                &mut || reader.tensor_into(largest.0, &mut one).expect("sound"),
                &mut || some(first),
                &mut || some(first + ACROSS),
            ],
        );
        slice = format!("{:.2}", 100.0 * seconds[1] / seconds[0]);
        across = format!("{:.2}", 100.0 * seconds[2] / seconds[0]);
    }
    let speed = |s: f64| bytes as f64 / s / 1e6;
    println!(
        "{name},{bytes},{size},{},{:.0},{:.0},{:.0},{:.2},{:.2},{slice},{:.0},{:.0},{:.2},{} of {},{across}",
        zstd.len(),
        speed(encode),
        speed(seconds[1]),
        speed(seconds[0]),
        seconds[0] / seconds[1],
        two.clock,
        speed(seconds[2]),
        speed(seconds[3]),
        each_two.clock,
        two.counted + each_two.counted,
        two.tried + each_two.tried,
    );
    Ok(())
}

/// Numbers of about a normal distribution of deviation 1.
fn normal(state: &mut u64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..3 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for shift in [16, 32, 48] {
            sum += (*state >> shift & 0xffff) as f64 / 65536.0 - 0.5;
        }
    }
    sum * (12.0f64 / 9.0).sqrt()
}

/// Numbers of a normal distribution of deviation 1.
struct Gaussian {
    state: u64,
    spare: Option<f64>,
}

impl Gaussian {
    fn new(state: u64) -> Self {
        Self { state, spare: None }
    }

    /// Above 0, up to 1.
    fn uniform(&mut self) -> f64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Two at a time, by Box and Muller.
    fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }
}

/// Name, type, shape and bytes of a tensor.
type Tensor = (String, &'static str, [usize; 2], Vec<u8>);

/// A file of tensors.
fn safetensors(tensors: &[Tensor]) -> Vec<u8> {
    let (mut header, mut at) = (Vec::new(), 0);
    for (name, dtype, [rows, cols], bytes) in tensors {
        let end = at + bytes.len();
        header.push(format!(
            "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":[{rows},{cols}],\"data_offsets\":[{at},{end}]}}"
        ));
        at = end;
    }
    let header = format!("{{{}}}", header.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    tensors.iter().for_each(|t| file.extend_from_slice(&t.3));
    file
}

fn int8() -> Vec<u8> {
    let mut state = 1;
    let cols: Vec<f64> = (0..SIDE).map(|_| (normal(&mut state) * 0.2).exp()).collect();
    let mut data = Vec::with_capacity(SIDE * SIDE);
    for _ in 0..SIDE {
        let row = 30.0 * (normal(&mut state) * 0.15).exp();
        data.extend(
            cols.iter()
                .map(|c| (normal(&mut state) * row * c).round().clamp(-127.0, 127.0) as i8 as u8),
        );
    }
    safetensors(&[("w.weight".to_owned(), "I8", [SIDE, SIDE], data)])
}

/// So many rows of gaussian weights of mean deviation 0.02, each rounded to a 127th of its largest.
fn int8_by_rows(name: &str, rows: usize, random: &mut Gaussian) -> Vec<Tensor> {
    let (mut data, mut scales) = (Vec::with_capacity(rows * SIDE), Vec::new());
    for _ in 0..rows {
        let weights: Vec<f64> = (0..SIDE).map(|_| 0.02 * random.next()).collect();
        let scale = weights.iter().fold(0f64, |m, w| m.max(w.abs())) / 127.0;
        data.extend(weights.iter().map(|w| (w / scale).round() as i8 as u8));
        scales.extend_from_slice(&(scale as f32).to_le_bytes());
    }
    vec![
        (format!("{name}.weight"), "I8", [rows, SIDE], data),
        (format!("{name}.weight_scale"), "F32", [rows, 1], scales),
    ]
}

fn int4() -> Vec<u8> {
    let mut state = 2;
    safetensors(&in_groups("w", SIDE, || normal(&mut state)))
}

/// Columns whose sizes differ as those of [`int8`] do.
fn int4_by_columns() -> Vec<u8> {
    let mut state = 7;
    let cols: Vec<f64> = (0..SIDE).map(|_| (normal(&mut state) * 0.2).exp()).collect();
    let mut sizes = cols.iter().cycle();
    safetensors(&in_groups("w", SIDE, || normal(&mut state) * sizes.next().unwrap_or(&1.0)))
}

fn int4_by_groups(name: &str, rows: usize, random: &mut Gaussian) -> Vec<Tensor> {
    in_groups(name, rows, || random.next())
}

/// So many rows of weights, groups of 128 of which are rounded to a seventh of their largest.
fn in_groups(name: &str, rows: usize, mut weight: impl FnMut() -> f64) -> Vec<Tensor> {
    let (mut data, mut scales) = (Vec::with_capacity(rows * SIDE / 2), Vec::new());
    for _ in 0..rows * SIDE / 128 {
        let weights: Vec<f64> = (0..128).map(|_| weight()).collect();
        let scale = weights.iter().fold(0f64, |m, w| m.max(w.abs())) / 7.0;
        let nibble = |w: f64| ((w / scale).round() as i8 + 8) as u8;
        data.extend(weights.as_chunks::<2>().0.iter().map(|[a, b]| nibble(*a) | nibble(*b) << 4));
        // BF16, cut.
        let bits = (scale as f32 * 0.02).to_bits();
        scales.extend_from_slice(&bits.to_le_bytes()[2..]);
    }
    vec![
        (format!("{name}.weight_packed"), "I32", [rows, SIDE / 8], data),
        (format!("{name}.weight_scale"), "BF16", [rows, SIDE / 128], scales),
    ]
}

/// The attention of so many layers, with a quarter as many heads of keys and values as of queries.
fn layers(count: usize, make: fn(&str, usize, &mut Gaussian) -> Vec<Tensor>) -> Vec<u8> {
    let (mut random, mut tensors) = (Gaussian::new(4), Vec::new());
    for layer in 0..count {
        for (of, rows) in [("q", SIDE), ("k", SIDE / 4), ("v", SIDE / 4), ("o", SIDE)] {
            let name = format!("model.layers.{layer}.self_attn.{of}_proj");
            tensors.extend(make(&name, rows, &mut random));
        }
    }
    safetensors(&tensors)
}
