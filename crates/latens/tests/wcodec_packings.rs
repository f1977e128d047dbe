//! Packings that whoever compresses says tensors have: files come back, and readers give the numbers that are meant.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::wcodec::checkpoint::Tensors;
use latens::wcodec::dtype::Dtype;
use latens::wcodec::view::{Axis, BitOrder, Packing, PackingChoice, Sign, Values};
use latens::wcodec::{
    BaseCheckpoint, BaseFile, Coder, Config, Reader, Tools, Writer, compress_checkpoint,
};
use latens::{ErrorKind, Limits, Result};
use wcodec_common::{Random, open, safetensors};

/// Numbers as i16, and the bytes that hold them.
struct Made {
    numbers: Vec<i16>,
    bytes: Vec<u8>,
}

/// Small numbers, or noise, packed as `choice` says in `bytes` bytes.
fn made(choice: PackingChoice, bytes: usize, width: f64, seed: u64) -> Made {
    let PackingChoice::As(packing) = choice else { panic!("{choice} packs nothing") };
    let mut random = Random(seed);
    let mut numbers = Vec::new();
    let mut packed = vec![0u8; bytes];
    let each = 2 * usize::from(packing.word);
    for word in packed.chunks_mut(usize::from(packing.word)) {
        for k in 0..each {
            let value = random.normal(width).round().clamp(-8.0, 7.0) as i16;
            let (number, nibble) = match packing.sign {
                Sign::Signed => (value, value & 15),
                Sign::Unsigned => (value + 8, value + 8),
                Sign::Offset => (value, value + 8),
            };
            numbers.push(number);
            // In little-endian words the lowest nibble is in the first byte.
            let place = if packing.order == BitOrder::HighFirst { each - 1 - k } else { k };
            word[place / 2] |= (nibble as u8) << (4 * (place % 2));
        }
    }
    Made { numbers, bytes: packed }
}

fn numbers(values: Values) -> Vec<i16> {
    match values {
        Values::Signed(values) => values.into_iter().map(i16::from).collect(),
        Values::Unsigned(values) => values.into_iter().map(i16::from).collect(),
        Values::Words(_) => panic!("words"),
    }
}

/// A reader of a file whose every byte comes back.
fn written(source: &[u8], config: &Config) -> Result<Reader<Vec<u8>>> {
    let file = compress_checkpoint(&open(source.to_vec()), None, config, Vec::new())?;
    let reader = Reader::open(file, Limits::default())?;
    reader.verify()?;
    let mut back = Vec::new();
    reader.write_file(0, &mut back)?;
    assert!(back == source);
    Ok(reader)
}

#[test]
fn each_kind_in_each_type() {
    let packings = PackingChoice::named().filter(|c| *c != PackingChoice::None);
    let types = [("I8", 1), ("U8", 1), ("U16", 2), ("I32", 4), ("U32", 4), ("I64", 8)];
    for (i, choice) in packings.enumerate() {
        let mut tensors = Vec::new();
        let mut want = Vec::new();
        for (dtype, width) in types {
            // Large, and small of noise: bytes would be smaller.
            for (rows, cols, spread) in [(96usize, 256usize, 1.5), (3, 8, 9.0), (5, 16, 0.0)] {
                let Made { numbers, bytes } = made(choice, rows * cols, spread, i as u64);
                let name = format!("{dtype}.{rows}.weight");
                tensors.push((name.clone(), dtype, [rows as u64, (cols / width) as u64], bytes));
                want.push((name, numbers, 2 * cols as u64));
            }
        }
        let given = tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| (name.as_str(), *dtype, &shape[..], bytes.clone()));
        let mut given: Vec<_> = given.collect();
        let scale: Vec<u8> = (0..384u32).map(|i| (i * 7 % 31) as u8).collect();
        given.push(("I8.96.weight_scale", "F16", &[96, 2], scale));
        let source = safetensors(&given);
        for level in [1, 8, 9] {
            let config = Config::default().level(level).threads(2).packing("*.weight", choice);
            let reader = written(&source, &config).unwrap();
            for (name, want, cols) in &want {
                let number = reader.find(name).unwrap();
                let layout = reader.layout(number).unwrap();
                assert_eq!(layout.cols, *cols, "{choice} {name}");
                let found = numbers(reader.rows(number, 0..layout.rows).unwrap());
                assert!(found == *want, "{choice} {name} at level {level}");
                let slice = numbers(reader.slice(number, 1..2, 3..7).unwrap());
                let at = *cols as usize + 3;
                assert_eq!(slice, want[at..at + 4], "{choice} {name}");
                let packing = reader.inspect(number).unwrap().packing;
                let PackingChoice::As(said) = choice else { unreachable!() };
                let high = said.order == BitOrder::HighFirst;
                assert_eq!(packing.contains("high first"), high, "{packing}");
            }
        }
    }
}

/// What names tell is packed may be said not to be, and packed otherwise.
#[test]
fn names_are_overruled() {
    let mut random = Random(5);
    let mut noise = |n: usize| -> Vec<u8> { (0..n).map(|_| random.next() as u8).collect() };
    let state = br#"{"quant_type": "nf4", "shape": [16, 32]}"#.to_vec();
    let source = safetensors(&[
        ("a.qweight", "I32", &[16, 4], noise(256)),
        ("a.scales", "F16", &[2, 32], noise(128)),
        ("u.qweight", "U32", &[16, 4], noise(256)),
        ("u.scales", "F16", &[2, 32], noise(128)),
        ("b.weight", "U8", &[256, 1], noise(256)),
        ("b.weight.absmax", "F32", &[8], noise(32)),
        ("c.weight", "BF16", &[128, 1], noise(256)),
        ("c.weight.quant_state.bitsandbytes__nf4", "U8", &[40], state),
        ("plain.weight", "BF16", &[16, 16], noise(512)),
        ("norm.weight", "F32", &[16], noise(64)),
    ]);
    for level in [1, 8, 12] {
        let config = Config::default().level(level).packing("*", PackingChoice::None);
        let reader = written(&source, &config).unwrap();
        for (number, entry) in reader.tensors() {
            let layout = reader.layout(number).unwrap();
            assert_eq!(
                layout.rows * layout.cols,
                entry.shape.iter().product::<u64>(),
                "{}",
                entry.name
            );
            let bytes = reader.tensor(number).unwrap();
            match reader.rows(number, 0..layout.rows).unwrap() {
                Values::Words(words) => assert!(words == bytes, "{}", entry.name),
                Values::Unsigned(found) => assert!(found == bytes, "{}", entry.name),
                Values::Signed(_) => panic!("{}", entry.name),
            }
        }
    }
    // The last pattern counts.
    let high: PackingChoice = "uint4-high-in-32".parse().unwrap();
    let config = Config::default().packing("a.*t", high).packing("*.scales", PackingChoice::None);
    let config = config.packing("u.qweight", high).packing("u.q*", PackingChoice::None);
    let reader = written(&source, &config).unwrap();
    let layout = |name: &str| reader.layout(reader.find(name).unwrap()).unwrap();
    assert_eq!((layout("a.qweight").rows, layout("a.qweight").cols), (16, 32));
    assert_eq!((layout("u.qweight").rows, layout("u.qweight").cols), (16, 4));
    let bytes = reader.tensor(0).unwrap();
    let want: Vec<i16> = bytes
        .chunks(4)
        .flat_map(|word| word.iter().rev().flat_map(|b| [i16::from(b >> 4), i16::from(b & 15)]))
        .collect();
    assert_eq!(reader.entry(0).unwrap().name, "a.qweight");
    assert!(numbers(reader.rows(0, 0..16).unwrap()) == want);
}

/// A tensor of the same bytes as another one means what is said of it, and the other what its name tells.
#[test]
fn copies_bases_and_tools() {
    let choice: PackingChoice = "int4-high".parse().unwrap();
    let Made { numbers: want, bytes } = made(choice, 64 * 64, 1.3, 3);
    let shape: &[u64] = &[64, 64];
    let tensors: Vec<_> =
        ["a", "b", "c"].map(|name| (name, "U8", shape, bytes.clone())).into_iter().collect();
    let source = safetensors(&tensors);
    let check = |reader: &Reader<Vec<u8>>| {
        for name in ["b", "c"] {
            let number = reader.find(name).unwrap();
            assert!(numbers(reader.rows(number, 0..64).unwrap()) == want, "{name}");
        }
        let a = numbers(reader.rows(reader.find("a").unwrap(), 0..64).unwrap());
        assert!(a.iter().zip(&bytes).all(|(a, b)| *a == i16::from(*b)));
    };
    let config = Config::default().packing("b", choice).packing("c", choice);
    check(&written(&source, &config).unwrap());
    let tools = Tools { coder: Coder::Bitplane, ..Tools::default() };
    check(&written(&source, &config.clone().tools(Some(tools))).unwrap());
    let base = BaseCheckpoint::new(open(source.clone())).unwrap();
    let against = Some(BaseFile { base: &base, name: "base" });
    let file = compress_checkpoint(&open(source.clone()), against, &config, Vec::new()).unwrap();
    assert!(file.len() < 4096, "{}", file.len());
    let base = Box::new(BaseCheckpoint::new(open(source)).unwrap());
    check(&Reader::open(file, Limits::default()).unwrap().with_base(base).unwrap());
}

#[test]
fn what_does_not_fit_is_said_before_anything_is_written() {
    let source = safetensors(&[
        ("odd", "U8", &[4, 6], vec![0x21; 24]),
        ("norm", "BF16", &[8], vec![1; 16]),
        ("empty", "U8", &[0, 6], Vec::new()),
    ]);
    let fails = |config: Config| {
        let mut out = Vec::new();
        let e = compress_checkpoint(&open(source.clone()), None, &config, &mut out).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidArgument);
        assert_eq!(config.fits(&open(source.clone())).unwrap_err().to_string(), e.to_string());
        assert!(out.is_empty());
        e.to_string()
    };
    let choice = |text: &str| text.parse::<PackingChoice>().unwrap();
    let config = Config::default;
    let words = fails(config().packing("odd", choice("uint4-high-in-32")));
    assert!(words.contains("\"odd\"") && words.contains("U8 [4, 6]"), "{words}");
    let fit = "none, int4, int4-high, uint4, uint4-high, int4-offset, int4-offset-high";
    assert!(words.contains(&format!("what does: {fit}")), "{words}");
    assert_eq!(words.matches("in-32").count(), 1, "{words}");
    let floats = fails(config().packing("n*", choice("int4")));
    assert!(floats.contains("\"norm\"") && floats.contains("what does: none"), "{floats}");
    let nothing =
        fails(config().packing("odd", choice("int4")).packing("*.weight", choice("int4")));
    assert!(nothing.contains("*.weight"), "{nothing}");
    let rows = Packing::words(BitOrder::LowFirst, Axis::Rows, Sign::Unsigned);
    fails(config().packing("odd", rows));
    assert!(config().packing("odd", rows).validate().is_err());
    written(&source, &config().packing("empty", choice("int4")).packing("*d", choice("int4")))
        .unwrap();
}

/// Layers that come one by one: a pattern is for all of them.
#[test]
fn layer_by_layer() {
    let choice: PackingChoice = "int4-offset-high".parse().unwrap();
    let write = |config: &Config| -> Result<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), "model.safetensors", config)?;
        for layer in 0..3u64 {
            let mut tensors = Tensors::new();
            let made = made(choice, 512, 1.5, layer);
            tensors.add(format!("{layer}.weight"), Dtype::I8, &[8, 64], made.bytes)?;
            writer.write(tensors)?;
        }
        writer.finish()
    };
    let config = Config::default().packing("2.*", choice).packing("*.weight", choice);
    let reader = Reader::open(write(&config).unwrap(), Limits::default()).unwrap();
    for layer in 0..3u64 {
        let number = reader.find(&format!("{layer}.weight")).unwrap();
        let found = numbers(reader.rows(number, 0..8).unwrap());
        assert!(found == made(choice, 512, 1.5, layer).numbers);
    }
    let e = write(&Config::default().packing("3.*", choice)).unwrap_err();
    assert!(e.to_string().contains("3.*"), "{e}");
}
