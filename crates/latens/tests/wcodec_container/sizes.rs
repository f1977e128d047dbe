//! Tensors that take few bytes: equal numbers, equal shapes, equal bytes, pruned weights.

use crate::wcodec_common::{Random, back, open, safetensors};
use latens::Limits;
use latens::wcodec::checkpoint::{Checkpoint, Quantization, ReadAt};
use latens::wcodec::{Config, Reader, compress_checkpoint};

/// A group may claim so many times its stored bytes and no more, and equal numbers take few.
#[test]
fn tensors_of_equal_numbers_come_back() {
    let widths = [("I8", 1), ("BF16", 2), ("F16", 2), ("I16", 2), ("F32", 4), ("I32", 4)];
    for (dtype, width) in widths.into_iter().chain([("I64", 8), ("U64", 8), ("F64", 8)]) {
        let shape = [600, 1000];
        let source = safetensors(&[("w.weight", dtype, &shape, vec![3; 600_000 * width])]);
        for level in [1, 8] {
            let config = Config::default().level(level);
            let file =
                compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
            assert!(file.len() < 5000, "{dtype}: {}", file.len());
            let reader = Reader::open(file, Limits::default()).unwrap();
            let number = reader.find("w.weight").unwrap();
            let tensor = reader.tensor(number).unwrap_or_else(|e| panic!("{dtype}: {e}"));
            assert!(tensor == vec![3; 600_000 * width], "{dtype}");
        }
    }
}

/// An AWQ layer of so many rows and columns whose weights spread the wider the smaller the scales are
/// that each 64 rows of a column have.
fn awq(
    random: &mut Random,
    (rows, cols): (usize, usize),
    large: impl Fn(usize, usize) -> bool,
) -> [Vec<u8>; 3] {
    let group = 64;
    let mut weights = Vec::new();
    for row in 0..rows {
        for col in (0..cols).step_by(2) {
            let mut nibble = |col: usize| {
                let width = if large(row / group, col) { 0.7 } else { 3.5 };
                (random.normal(width).round().clamp(-8.0, 7.0) + 8.0) as u8
            };
            // A word holds eight columns in the order 0, 2, 4, 6, 1, 3, 5, 7.
            let (word, pair) = (col / 8 * 8, col % 8 / 2);
            let of = |i: usize| word + [0, 2, 4, 6, 1, 3, 5, 7][i];
            weights.push(nibble(of(2 * pair)) | nibble(of(2 * pair + 1)) << 4);
        }
    }
    let places = (0..rows / group).flat_map(|group| (0..cols).map(move |col| (group, col)));
    let scale = |(group, col)| if large(group, col) { 0.4 } else { 0.01 };
    let scales = places.map(scale).flat_map(|x| latens::f16::from_f64(x).to_bits().to_le_bytes());
    [weights, vec![0x88; rows / group * cols / 2], scales.collect()]
}

/// What a reader keeps from one tensor to the next is not what the next one's classes come from.
#[test]
fn layers_of_the_same_shape_have_classes_of_their_own() {
    let mut random = Random(5);
    let layers = [
        awq(&mut random, (256, 64), |_, col| col % 3 == 0),
        awq(&mut random, (256, 64), |_, col| col % 5 > 2),
        awq(&mut random, (256, 64), |group, col| (group + col) % 2 == 0),
    ];
    let mut tensors: Vec<(&str, &str, &[u64], Vec<u8>)> = Vec::new();
    for (names, [weights, zeros, scales]) in [
        ["a.qweight", "a.qzeros", "a.scales"],
        ["b.qweight", "b.qzeros", "b.scales"],
        ["c.qweight", "c.qzeros", "c.scales"],
    ]
    .into_iter()
    .zip(layers)
    {
        tensors.push((names[0], "I32", &[256, 8], weights));
        tensors.push((names[1], "I32", &[4, 8], zeros));
        tensors.push((names[2], "F16", &[4, 64], scales));
    }
    let source = safetensors(&tensors);
    let config = Config::default().group_symbols(1 << 11);
    let file = compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
    assert!(file.len() * 8 < source.len() * 7, "no classes: {} of {}", file.len(), source.len());
    for threads in 1..=3 {
        let reader = Reader::open(file.clone(), Limits::default()).unwrap().threads(threads);
        for (name, _, _, bytes) in &tensors {
            let number = reader.find(name).unwrap();
            assert!(reader.tensor(number).unwrap() == *bytes, "{name}, {threads} threads");
        }
    }
}

/// Other views are tried on a sample, which has no scales: none may win by that.
#[test]
fn higher_levels_still_see_the_scales_of_large_tensors() {
    let scattered = |group: usize, col: usize| (group * 7 + col * 13) % 5 < 2;
    let [weights, zeros, scales] = awq(&mut Random(7), (2048, 512), scattered);
    let source = safetensors(&[
        ("a.qweight", "I32", &[2048, 64], weights),
        ("a.qzeros", "I32", &[32, 64], zeros),
        ("a.scales", "F16", &[32, 512], scales),
    ]);
    let size = |level| {
        let config = Config::default().level(level);
        compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap().len()
    };
    let (default, higher) = (size(8), size(9));
    assert!(higher <= default + default / 1000, "{higher} at level 9, {default} at level 8");
}

/// The same bytes as other matrices and types: a descriptor is of rows and columns.
#[test]
fn tensors_of_the_same_bytes_and_other_shapes_come_back() {
    let mut random = Random(11);
    let noise: Vec<u8> = (0..1 << 15).map(|_| random.below(23) as u8).collect();
    for bytes in [vec![0; 1 << 15], noise] {
        let shapes: [(&str, &str, &[u64]); 9] = [
            ("a", "I8", &[8, 4096]),
            ("b", "I8", &[4096, 8]),
            ("c", "I8", &[1 << 15]),
            ("d", "U8", &[8, 4096]),
            ("e", "F16", &[8, 2048]),
            ("f", "F16", &[2048, 8]),
            ("g", "F32", &[8192]),
            ("h", "I32", &[64, 128]),
            ("tied", "I8", &[8, 4096]),
        ];
        let tensors = shapes.map(|(name, dtype, shape)| (name, dtype, shape, bytes.clone()));
        let source = safetensors(&tensors);
        for level in [1, 8, 9] {
            let config = Config::default().level(level);
            let checkpoint = open(source.clone());
            let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
            let reader = Reader::open(file, Limits::default()).unwrap();
            reader.verify().unwrap();
            for (name, _, shape, bytes) in &tensors {
                let number = reader.find(name).unwrap();
                assert!(reader.tensor(number).unwrap() == *bytes, "{name}");
                let layout = reader.layout(number).unwrap();
                if shape.len() == 2 && layout.rows == shape[0] {
                    reader.rows(number, 1..3).unwrap();
                }
            }
            let tied = reader.entry(reader.find("tied").unwrap()).unwrap();
            assert_eq!(tied.copy_of, reader.find("a"), "level {level}");
        }
    }
}

/// Names and numbers of a header come again, and tables do not know of it: many tensors of two numbers take
/// less than they did.
#[test]
fn headers_that_repeat_are_few_bytes() {
    let tensors: Vec<(String, Vec<u8>)> = (0..2000u32)
        .map(|i| (format!("layers.{i}.scale"), i.wrapping_mul(0x9e37_79b9).to_le_bytes().repeat(2)))
        .collect();
    let listed: Vec<_> =
        tensors.iter().map(|(n, b)| (n.as_str(), "F32", &[2u64][..], b.clone())).collect();
    let source = safetensors(&listed);
    for more in [0, 1, 4] {
        // Blanks behind the header's JSON belong to it.
        let length = u64::from_le_bytes(source[..8].try_into().unwrap());
        let mut padded = (length + more).to_le_bytes().to_vec();
        padded.extend_from_slice(&source[8..8 + length as usize]);
        padded.resize(padded.len() + more as usize, b' ');
        padded.extend_from_slice(&source[8 + length as usize..]);
        for level in [0, 8, 12] {
            let config = Config::default().level(level);
            let file =
                compress_checkpoint(&open(padded.clone()), None, &config, Vec::new()).unwrap();
            assert!(back(&file).unwrap() == padded, "{more} more, level {level}");
            let few = file.len() * 5 < padded.len() * 4;
            assert!(few || level == 0 || more == 1, "{more}, {level}: {}", file.len());
            let reader = Reader::open(file, Limits::default()).unwrap();
            assert!(reader.metadata(0).is_some(), "the header is one entry");
        }
    }
}

/// Bytes of a file of one tensor at each of two levels.
fn at_levels(levels: [u32; 2], tensor: (&str, &str, &[u64], Vec<u8>)) -> [usize; 2] {
    let source = safetensors(&[tensor]);
    levels.map(|level| {
        let config = Config::default().level(level);
        compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap().len()
    })
}

/// What a view takes is known before another one is held against it: weights of which most are zero, and
/// which repeat as words of eight bytes, took half as much again at level 9.
#[test]
fn pruned_weights_are_not_larger_at_higher_levels() {
    let mut random = Random(11);
    let mut half = || {
        let bits = (random.normal(0.02) as f32).to_bits() >> 16;
        if random.next() % 10 < 7 { 0u16 } else { bits as u16 }
    };
    let (rows, cols) = (4096u64, 640u64);
    let bytes: Vec<u8> = (0..rows * cols).flat_map(|_| half().to_le_bytes()).collect();
    let [usual, high] = at_levels([8, 9], ("w.weight", "BF16", &[rows, cols], bytes));
    assert!(high * 1000 < usual * 1001, "{high}, {usual} at level 8");
}

/// What columns have in common is seen in a sample of long rows too.
#[test]
fn long_rows_are_not_larger_at_higher_levels() {
    let mut random = Random(12);
    let (rows, cols) = (40u64, 20000u64);
    let scales: Vec<f64> = (0..cols).map(|_| 2f64.powf(random.normal(1.0))).collect();
    let mut one = |scale: &f64| (random.normal(*scale) as f32).to_le_bytes();
    let bytes: Vec<u8> =
        (0..rows).flat_map(|_| scales.iter().flat_map(&mut one).collect::<Vec<u8>>()).collect();
    let [low, usual] = at_levels([4, 8], ("coef", "F32", &[rows, cols], bytes));
    assert!(usual * 1000 < low * 1001, "{usual}, {low} at level 4");
}

/// Tensors of noise of these names and so many bytes are never above the flat file and 0.1 % and 4 KiB.
fn take_no_more(names: &[String], length: usize, random: &mut Random) {
    let shape: &[u64] = &[length as u64];
    let noise = |random: &mut Random| (0..length).map(|_| random.next() as u8).collect();
    let tensors = names.iter().map(|name| (&name[..], "I8", shape, noise(random)));
    let source = safetensors(&tensors.collect::<Vec<_>>());
    are_within_the_bound(&open(source.clone()), &[&source], &format!("{length}, {}", names[0]));
}

/// The files of a checkpoint take no more than they did, and 0.1 % and 4 KiB, and come back.
fn are_within_the_bound(checkpoint: &Checkpoint, files: &[&[u8]], what: &str) {
    let file = compress_checkpoint(checkpoint, None, &Config::default(), Vec::new()).unwrap();
    let flat: usize = files.iter().map(|bytes| bytes.len()).sum();
    assert!(file.len() <= flat + flat / 1000 + 4096, "{what}: {} of {flat}", file.len());
    let reader = Reader::open(file, Limits::default()).unwrap();
    for (number, bytes) in files.iter().enumerate() {
        let mut out = Vec::new();
        reader.write_file(number, &mut out).unwrap();
        assert!(out == *bytes, "{what}: file {number}");
    }
    reader.verify().unwrap();
}

/// A thousand tensors on which nothing is gained, of lengths that fill 4 and 128 bytes and that do not, have neither
/// descriptors nor padding.
#[test]
fn many_small_tensors_of_noise_take_no_more_than_they_did() {
    let mut random = Random(13);
    let names: Vec<String> = (0..1000).map(|i| format!("t{i}")).collect();
    for length in [0, 4, 250, 1000, 1022, 1025, 1500, 3000, 4096, 20_000] {
        take_no_more(&names, length, &mut random);
    }
}

/// The same of names that share nothing and are longer than all else that a header says.
#[test]
fn names_that_share_nothing_take_no_more_than_they_did() {
    let mut random = Random(29);
    for (letters, long, length) in [
        ("0123456789abcdef", 64, 1000),
        ("0123456789abcdef", 128, 1),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 100, 4000),
        ("abcdefghijklmnopqrstuvwxyz .:", 1000, 0),
        ("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\"\\\n\u{1}", 100, 1),
        ("的一是不了人我在有他这为之大来以个中上们", 60, 4),
    ] {
        let letters: Vec<char> = letters.chars().collect();
        let name = |_| (0..long).map(|_| *random.pick(&letters)).collect();
        let names: Vec<String> = (0..1000).map(name).collect();
        take_no_more(&names, length, &mut random);
    }
}

/// Shards of a tensor each, by names as they usually are and by long ones, and the index that names both.
#[test]
fn many_small_shards_take_no_more_than_they_did() {
    let mut random = Random(37);
    for (count, length, long) in [(500, 0, false), (500, 1000, false), (200, 1, true)] {
        let mut name = |i: usize| match long {
            false => (format!("layers.{i}.w"), format!("model-{i:05}-of-00500.safetensors")),
            true => ["ab-.é\"\n", "ab-.é"]
                .map(|letters| {
                    let letters: Vec<char> = letters.chars().collect();
                    (0..150).map(|_| *random.pick(&letters)).collect()
                })
                .into(),
        };
        let names: Vec<(String, String)> = (0..count).map(&mut name).collect();
        let quoted = |name: &str| serde_json::Value::from(name).to_string();
        let lines =
            names.iter().map(|(tensor, file)| format!("{}:{}", quoted(tensor), quoted(file)));
        let index = format!("{{\"weight_map\":{{{}}}}}", lines.collect::<Vec<_>>().join(","));
        let shape: &[u64] = &[length as u64];
        let shards = names.iter().map(|(tensor, file)| {
            let noise = (0..length).map(|_| random.next() as u8).collect();
            (file.clone(), safetensors(&[(tensor, "U8", shape, noise)]))
        });
        let shards: Vec<(String, Vec<u8>)> = shards.collect();
        let shard = |name: &str| -> latens::Result<Box<dyn ReadAt>> {
            let found = shards.iter().find(|(of, _)| of == name).unwrap();
            Ok(Box::new(found.1.clone()))
        };
        let (name, told) = ("model.safetensors.index.json".to_owned(), Quantization::default());
        let index = index.into_bytes();
        let checkpoint = Checkpoint::read(name, Box::new(index.clone()), told, &shard).unwrap();
        let shards = shards.iter().map(|(_, bytes)| &bytes[..]);
        let files: Vec<&[u8]> = std::iter::once(&index[..]).chain(shards).collect();
        are_within_the_bound(&checkpoint, &files, &format!("{count} shards of {length}"));
    }
}

/// Biases by scales are where zero lies among MLX's codes.
#[test]
fn biases_say_where_codes_are() {
    let mut random = Random(71);
    let (rows, groups, cols) = (256, 6, 6 * 64);
    let bf16 = |x: f32| [x.to_bits().to_le_bytes()[2], x.to_bits().to_le_bytes()[3]];
    let (mut scales, mut biases, mut codes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows * groups {
        let scale = (0.01 + random.below(100) as f32 / 5000.0) * [-1.0, 1.0][random.below(2)];
        let zero = 3 + random.below(10);
        scales.extend(bf16(scale));
        biases.extend(bf16(-scale * zero as f32));
        let code = |_| (random.normal(1.3) + zero as f64).round().clamp(0.0, 15.0) as u8;
        codes.extend((0..64).map(code));
    }
    let packed: Vec<u8> = codes.as_chunks::<2>().0.iter().map(|[a, b]| a | b << 4).collect();
    assert_eq!(packed.len(), rows * cols / 2);
    let told = Quantization { bits: Some(4), group_size: Some(64), ..Quantization::default() };
    let size = |dtype: &str, biases: &[u8]| {
        let source = safetensors(&[
            ("l.weight", "U32", &[256, 48], packed.clone()),
            ("l.scales", "BF16", &[256, 6], scales.clone()),
            ("l.biases", dtype, &[256, 6], biases.to_vec()),
        ]);
        let none = |_: &str| Err(latens::Error::invalid("no shards"));
        let file = Box::new(source.clone());
        let checkpoint = Checkpoint::read("m.safetensors".into(), file, told.clone(), &none);
        let checkpoint = checkpoint.unwrap();
        let file = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
        assert!(back(&file).unwrap() == source);
        let reader = Reader::open(file, Limits::default()).unwrap();
        let weight = reader.find("l.weight").unwrap();
        assert_eq!(reader.layout(weight).unwrap().cols, 384);
        reader.entry(weight).unwrap().stored
    };
    // Those of eight bytes are no source.
    let (told, untold) = (size("BF16", &biases), size("F64", &biases.repeat(4)));
    println!("{told} bytes, {untold} without biases");
    assert!(told * 100 < untold * 85, "{told} of {untold}");
}
