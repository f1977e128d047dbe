//! A checkpoint for each feature of the format.

use super::{Random, gguf, safetensors};
use latens::wcodec::checkpoint::{Checkpoint, Quantization, ReadAt};
use latens::wcodec::predictor::Predictor;
use latens::wcodec::tile::TileSize;
use latens::wcodec::transform::Transform;
use latens::wcodec::{Coder, Config, Tools, compress_checkpoint};
use latens::{Error, Result};

/// A checkpoint of one or several files, the first of which is opened.
pub struct Sample {
    pub name: &'static str,
    pub files: Vec<(&'static str, Vec<u8>)>,
    pub config: Config,
    /// What lies beside the files.
    pub beside: Quantization,
}

impl Sample {
    pub fn checkpoint(&self) -> Checkpoint {
        let shard = |name: &str| -> Result<Box<dyn ReadAt>> {
            let file = self.files.iter().find(|(n, _)| *n == name);
            Ok(Box::new(file.ok_or_else(|| Error::invalid("no such shard"))?.1.clone()))
        };
        let (name, bytes) = self.files[0].clone();
        Checkpoint::read(name.to_owned(), Box::new(bytes), self.beside.clone(), &shard).unwrap()
    }

    pub fn compress(&self) -> Vec<u8> {
        compress_checkpoint(&self.checkpoint(), None, &self.config, Vec::new()).unwrap()
    }
}

fn int8(random: &mut Random, rows: u64, cols: u64) -> Vec<u8> {
    let widths = (0..rows).map(|r| [4.0, 11.0, 30.0][r as usize % 3]);
    widths.flat_map(|w| (0..cols).map(|_| random.int8(w)).collect::<Vec<_>>()).collect()
}

/// Two offset nibbles a byte, of a width that changes every 16 bytes.
fn int4(random: &mut Random, bytes: u64) -> Vec<u8> {
    let mut nibble = |width: f64| (random.normal(width).round().clamp(-8.0, 7.0) + 8.0) as u8;
    (0..bytes)
        .map(|i| {
            let width = [1.0, 2.0, 3.5][(i / 16) as usize % 3];
            nibble(width) | nibble(width) << 4
        })
        .collect()
}

fn bf16(random: &mut Random, n: u64, width: f64) -> Vec<u8> {
    let word = |_| ((random.normal(width) as f32).to_bits() >> 16) as u16;
    (0..n).map(word).flat_map(u16::to_le_bytes).collect()
}

fn f16(random: &mut Random, n: u64) -> Vec<u8> {
    let word = |_| latens::f16::from_f64(random.normal(0.1).abs() + 0.01).to_bits();
    (0..n).map(word).flat_map(u16::to_le_bytes).collect()
}

fn noise(random: &mut Random, n: u64) -> Vec<u8> {
    (0..n).map(|_| random.next() as u8).collect()
}

type Tensor<'a> = (&'a str, &'a str, &'a [u64], Vec<u8>);

fn one(name: &'static str, tensors: &[Tensor<'_>]) -> Sample {
    of_files(name, vec![("model.safetensors", safetensors(tensors))])
}

fn of_files(name: &'static str, files: Vec<(&'static str, Vec<u8>)>) -> Sample {
    Sample { name, files, config: Config::default(), beside: Quantization::default() }
}

/// Compressed-tensors INT4: groups of 16 columns.
fn packed(random: &mut Random, rows: u64, cols: u64) -> [Tensor<'static>; 2] {
    let shape = |cols: u64| -> &'static [u64] { Vec::leak(vec![rows, cols]) };
    [
        ("p.weight_packed", "I32", shape(cols / 8), int4(random, rows * cols / 2)),
        ("p.weight_scale", "BF16", shape(cols / 16), bf16(random, rows * cols / 16, 0.1)),
    ]
}

fn tools(predictors: &[Predictor], transforms: &[Transform], coder: Coder) -> Config {
    Config::default().group_symbols(512).tools(Some(Tools {
        tile: TileSize::SQUARE,
        predictors: predictors.to_vec(),
        transforms: transforms.to_vec(),
        coder,
        contexts: true,
    }))
}

/// One checkpoint a feature, `scale` times as many rows.
pub fn all(scale: u64) -> Vec<Sample> {
    let mut rng = Random(11);
    let r = &mut rng;
    let rows = 8 * scale;
    let mut all = Vec::new();
    let plain = |r: &mut Random| -> Vec<Tensor<'static>> {
        let shape = |cols: u64| -> &'static [u64] { Vec::leak(vec![rows, cols]) };
        vec![
            ("a.weight", "I8", shape(32), int8(r, rows, 32)),
            ("a.weight_scale", "F32", shape(1), noise(r, 4 * rows)),
        ]
    };
    all.push(one("int8", &plain(r)));
    let unsigned = int8(r, rows, 24).into_iter().map(|b| b ^ 0x80).collect();
    all.push(one("uint8", &[("u.weight", "U8", &[rows, 24], unsigned)]));
    all.push(one("int4", &packed(r, rows, 64)));
    let indices = |order: &dyn Fn(u32) -> u32| -> Vec<u8> {
        (0..64).map(order).flat_map(u32::to_le_bytes).collect()
    };
    for (name, mix) in [("gptq", 1), ("gptq-act-order", 7)] {
        all.push(one(
            name,
            &[
                ("l.qweight", "I32", &[8, rows], int4(r, 32 * rows)),
                ("l.qzeros", "I32", &[4, rows / 8], int4(r, 2 * rows)),
                ("l.scales", "F16", &[4, rows], f16(r, 4 * rows)),
                ("l.g_idx", "I32", &[64], indices(&|i| i * mix % 64 / 16)),
            ],
        ));
    }
    all.push(one(
        "awq",
        &[
            ("l.qweight", "I32", &[64, rows / 8], int4(r, 32 * rows)),
            ("l.qzeros", "I32", &[4, rows / 8], int4(r, 2 * rows)),
            ("l.scales", "F16", &[4, rows], f16(r, 4 * rows)),
        ],
    ));
    // A block's half-precision scale and min among its bytes are noise here.
    for (name, tensor, kind, block, weights) in [
        ("q4_0", "blk.0.a", 2, 18, 32),
        ("q5_0", "blk.0.a", 6, 22, 32),
        ("q8_0", "blk.0.a", 8, 34, 32),
        ("q4_k", "blk.0.a", 12, 144, 256),
        ("q5_k", "blk.0.a", 13, 176, 256),
        ("q6_k", "blk.0.a", 14, 210, 256),
    ] {
        let rows = if block > 100 { scale } else { rows };
        let bytes = int4(r, block * rows);
        let file = gguf(&[
            (tensor, kind, [weights, rows], bytes),
            ("norm", 0, [rows, 1], noise(r, 4 * rows)),
        ]);
        all.push(of_files(name, vec![("model.gguf", file)]));
    }
    all.push(one(
        "floats",
        &[
            ("b.weight", "BF16", &[rows, 32], bf16(r, 32 * rows, 0.02)),
            ("h", "F16", &[rows, 16], f16(r, 16 * rows)),
            ("f", "F32", &[rows], noise(r, 4 * rows)),
            ("d", "F64", &[3], noise(r, 24)),
            ("e", "F8_E4M3", &[rows, 8], int4(r, 8 * rows)),
            ("i", "I64", &[rows], (0..rows).flat_map(u64::to_le_bytes).collect()),
        ],
    ));
    let mut copies = plain(r);
    copies.push(("tied", "I8", copies[0].2, copies[0].3.clone()));
    copies.push(("none", "F32", &[0, 7], Vec::new()));
    copies.push(("scalar \u{1f600}\n\"\\", "I64", &[], vec![42, 0, 0, 0, 0, 0, 0, 0]));
    copies.push(("", "BOOL", &[2, 1, 3], vec![0, 1, 1, 0, 1, 0]));
    all.push(one("copies", &copies));
    let index = "{\"weight_map\": {\"a.weight\": \"1.safetensors\", \"a.weight_scale\": \
                 \"1.safetensors\", \"p.weight_packed\": \"2.safetensors\", \"p.weight_scale\": \
                 \"2.safetensors\"}}";
    let files = vec![
        ("model.safetensors.index.json", index.as_bytes().to_vec()),
        ("1.safetensors", safetensors(&plain(r))),
        ("2.safetensors", safetensors(&packed(r, rows, 32))),
    ];
    all.push(of_files("shards", files));
    for (name, config) in [
        ("predictors", tools(&Predictor::OF_TILES, &[], Coder::Direct)),
        ("transforms", tools(&[Predictor::Dc], &Transform::ALL, Coder::Direct)),
        ("bitplanes", tools(&[Predictor::None], &[], Coder::Bitplane)),
        ("bitplanes-dct", tools(&Predictor::OF_TILES, &[Transform::Dct], Coder::Bitplane)),
        ("linear", tools(&[Predictor::Linear], &[], Coder::Direct)),
    ] {
        let tensors = [plain(r), packed(r, rows, 64).to_vec()].concat();
        all.push(Sample { config, ..one(name, &tensors) });
    }
    all.extend(of_bitsandbytes(rows));
    all.push(asymmetric(rows));
    all.push(told_beside(rows));
    all.push(small_shards());
    all.push(nothing_gained(rows));
    all.push(mlx(rows));
    all.extend(straddling(rows));
    all
}

/// NF4, with its absmax, its map and the state that tells the shape; INT8 with the scales of rows.
fn of_bitsandbytes(rows: u64) -> [Sample; 2] {
    let r = &mut Random(17);
    let state = format!(r#"{{"quant_type":"nf4","blocksize":64,"shape":[{rows},128]}}"#);
    let map = (0..16u16).map(|i| f32::from(i) / 7.5 - 1.0).flat_map(f32::to_le_bytes).collect();
    let nf4 = one(
        "nf4",
        &[
            ("n.weight", "U8", &[64 * rows, 1], int4(r, 64 * rows)),
            ("n.weight.absmax", "F32", &[2 * rows], absmax(r, 2 * rows)),
            ("n.weight.quant_map", "F32", &[16], map),
            (
                "n.weight.quant_state.bitsandbytes__nf4",
                "U8",
                &[state.len() as u64],
                state.into_bytes(),
            ),
        ],
    );
    let int8 = one(
        "bnb-int8",
        &[
            ("l.weight", "I8", &[rows, 48], int8(r, rows, 48)),
            ("l.SCB", "F32", &[rows], absmax(r, rows)),
            ("l.weight_format", "U8", &[1], vec![0]),
        ],
    );
    [nf4, int8]
}

/// Shards of a tensor each: what they hold beside them is together, without their names.
fn small_shards() -> Sample {
    let files =
        ["1-of-4", "2-of-4", "3-of-4", "4-of-4"].map(|n| &*format!("model-{n}.safetensors").leak());
    let names = ["layers.0.weight", "layers.1.weight", "layers.2.weight", "norm"];
    let lines = names.iter().zip(files).map(|(tensor, file)| format!("\"{tensor}\": \"{file}\""));
    let index = format!("{{\"weight_map\": {{{}}}}}", lines.collect::<Vec<_>>().join(", "));
    let shard = |(i, tensor)| safetensors(&[(tensor, "U8", &[6], vec![i; 6])]);
    let shards = files.into_iter().zip((0..).zip(names).map(shard));
    let index = ("model.safetensors.index.json", index.into_bytes());
    of_files("small-shards", std::iter::once(index).chain(shards).collect())
}

fn absmax(random: &mut Random, n: u64) -> Vec<u8> {
    let number = |_| (random.normal(0.1).abs() + 0.01) as f32;
    (0..n).map(number).flat_map(f32::to_le_bytes).collect()
}

/// Compressed-tensors with zero points: packed along the rows for four bits, a byte a row for eight.
fn asymmetric(rows: u64) -> Sample {
    let r = &mut Random(23);
    one(
        "asymmetric",
        &[
            ("p.weight_packed", "I32", &[rows, 8], int4(r, 32 * rows)),
            ("p.weight_scale", "F16", &[rows, 4], f16(r, 4 * rows)),
            ("p.weight_zero_point", "I32", &[rows.div_ceil(8), 4], int4(r, 16 * rows.div_ceil(8))),
            ("b.weight", "I8", &[rows, 40], int8(r, rows, 40)),
            ("b.weight_scale", "BF16", &[rows, 1], bf16(r, rows, 0.1)),
            ("b.weight_zero_point", "I8", &[rows, 1], int8(r, rows, 1)),
        ],
    )
}

/// MLX's codes of four bits, of a matrix and of experts, whose biases by scales say where zero lies among them.
fn mlx(rows: u64) -> Sample {
    let r = &mut Random(37);
    let bf16 = |x: f64| {
        let [.., a, b] = (x as f32).to_le_bytes();
        [a, b]
    };
    let mut layer = |groups: u64| {
        let [mut codes, mut scales, mut biases] = [const { Vec::new() }; 3];
        for _ in 0..groups {
            let scale = (0.01 + r.below(100) as f64 / 5000.0) * [-1.0, 1.0][r.below(2)];
            let zero = r.below(8) + 4;
            scales.extend(bf16(scale));
            biases.extend(bf16(-scale * zero as f64));
            let mut code = || (r.normal(1.2) + zero as f64).round().clamp(0.0, 15.0) as u8;
            codes.extend((0..32).map(|_| code() | code() << 4));
        }
        [codes, scales, biases]
    };
    let [codes, scales, biases] = layer(2 * rows);
    let [of_experts, their_scales, their_biases] = layer(2 * rows);
    let sample = one(
        "mlx",
        &[
            ("l.weight", "U32", &[rows, 16], codes),
            ("l.scales", "BF16", &[rows, 2], scales),
            ("l.biases", "BF16", &[rows, 2], biases),
            ("e.weight", "U32", &[2, rows, 8], of_experts),
            ("e.scales", "BF16", &[2, rows, 1], their_scales),
            ("e.biases", "BF16", &[2, rows, 1], their_biases),
        ],
    );
    let beside = Quantization { bits: Some(4), group_size: Some(64), ..Quantization::default() };
    Sample { beside, ..sample }
}

/// Bytes that stay as they are: in the data, whose next entry begins on 4 bytes or on 128, and in the index.
fn nothing_gained(rows: u64) -> Sample {
    let r = &mut Random(31);
    one(
        "plain",
        &[
            ("a", "F16", &[5, 103], noise(r, 1030)),
            ("b", "U8", &[1107], noise(r, 1107)),
            ("c.weight", "I8", &[4 * rows, 64], int8(r, 4 * rows, 64)),
            ("d", "FOO", &[4], noise(r, 1025)),
            ("e", "F32", &[5], noise(r, 20)),
        ],
    )
}

/// Files of which every bit is flipped.
pub fn tiny() -> Vec<(String, Vec<u8>)> {
    let all = all(1).into_iter().filter(|s| !matches!(s.name, "gptq" | "q5_0" | "q5_k"));
    let stored =
        self::all(12).into_iter().filter(|s| matches!(s.name, "int8" | "awq")).map(|mut s| {
            s.config = s.config.group_symbols(1 << 10);
            s
        });
    all.chain(stored).map(|s| (s.name.to_owned(), s.compress())).collect()
}

/// Files of a few kilobytes, as ground for mutations.
pub fn small() -> Vec<(String, Vec<u8>)> {
    let all = all(1).into_iter().chain(all(4).into_iter().map(|mut s| {
        s.config = s.config.group_symbols(300);
        s
    }));
    all.map(|s| (s.name.to_owned(), s.compress())).collect()
}

/// Codes that straddle words, as one stream of bits: GPTQ's of three bits, along rows, and MLX's of six and of three, along
/// columns, the latter so many that they are coded in pairs.
fn straddling(rows: u64) -> [Sample; 3] {
    let r = &mut Random(41);
    let mut code = |bits: u32, width: f64| {
        let half = f64::from(1u32 << (bits - 1));
        (r.normal(width) + half).round().clamp(0.0, 2.0 * half - 1.0) as u32
    };
    let mut words = |bits: u32, count: u64| -> Vec<[u8; 4]> {
        let mut words = vec![[0u8; 4]; count as usize];
        for at in (0..32 * words.len()).step_by(bits as usize) {
            let width = [0.8, 1.5][at / 480 % 2] * f64::from(1u32 << (bits - 3));
            let code = u64::from(code(bits, width));
            let [a, b, ..] = (code << (at % 8)).to_le_bytes();
            words[at / 32][at / 8 % 4] |= a;
            if let Some(next) = words.get_mut((at / 8 + 1) / 4) {
                next[(at / 8 + 1) % 4] |= b;
            }
        }
        words
    };
    // Six words a column, which is 64 inputs.
    let (inputs, outputs) = (6, 4 * rows);
    let columns = words(3, inputs * outputs);
    let of_row = |row: u64| columns.iter().skip(row as usize).step_by(inputs as usize);
    let weights = (0..inputs).flat_map(|row| of_row(row).copied().collect::<Vec<_>>());
    let weights: Vec<u8> = weights.flatten().collect();
    let zeros = words(3, 4 * outputs / 32 * 3).concat();
    let codes = words(6, 12 * rows).concat();
    let gptq = one(
        "gptq-3-bits",
        &[
            ("l.qweight", "I32", &[inputs, outputs], weights),
            ("l.qzeros", "I32", &[4, outputs / 32 * 3], zeros),
            ("l.scales", "F16", &[4, outputs], f16(&mut Random(43), 4 * outputs)),
        ],
    );
    let pairs = words(3, 96 * rows).concat();
    let mlx = |name, bits, words: u64, codes| {
        let blocks = words * 32 / bits / 64;
        let numbers = |seed| f16(&mut Random(seed), blocks * rows);
        let weight = ("l.weight", "U32", &[rows, words][..], codes);
        let shape = [rows, blocks];
        let (scales, biases) = (
            ("l.scales", "F16", &shape[..], numbers(47)),
            ("l.biases", "F16", &shape[..], numbers(53)),
        );
        let bits = Some(bits);
        let beside = Quantization { bits, group_size: Some(64), ..Quantization::default() };
        Sample { beside, ..one(name, &[weight, scales, biases]) }
    };
    [gptq, mlx("mlx-6-bits", 6, 12, codes), mlx("mlx-3-bits", 3, 96, pairs)]
}

/// Bytes of nibbles of which a `config.json` tells.
fn told_beside(rows: u64) -> Sample {
    let r = &mut Random(29);
    let sample = one(
        "told-beside",
        &[
            ("l.weight", "U8", &[rows, 32], int4(r, 32 * rows)),
            ("l.weight_scale", "F16", &[rows, 2], f16(r, 2 * rows)),
        ],
    );
    let beside = Quantization {
        method: Some("compressed-tensors".into()),
        bits: Some(4),
        group_size: Some(32),
        ..Quantization::default()
    };
    Sample { beside, ..sample }
}
