//! safetensors files, single and sharded.

use std::fmt::Write as _;

use super::*;

/// A file with this header and `data` bytes behind it.
pub(super) fn file(header: &str, data: usize) -> Vec<u8> {
    made::behind_header(header, &noise(data))
}

fn entry(name: &str, dtype: &str, shape: &str, begin: u64, end: u64) -> String {
    format!(
        "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":[{shape}],\"data_offsets\":[{begin},{end}]}}"
    )
}

/// A file of tensors one after the other, each with type, shape and bytes an element as a fraction.
pub(super) fn model(metadata: &str, tensors: &[(&str, Dtype, &[u64])]) -> Vec<u8> {
    let (mut header, mut at) = (format!("{{\"__metadata__\":{{{metadata}}}"), 0);
    for (name, dtype, shape) in tensors {
        let len = dtype.bytes(shape.iter().product()).unwrap();
        let shape = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        write!(header, ",{}", entry(name, dtype.name(), &shape, at, at + len)).unwrap();
        at += len;
    }
    header.push('}');
    file(&header, usize::try_from(at).unwrap())
}

fn error(header: &str, data: usize) -> Error {
    let opened = open_bytes("a.safetensors", &file(header, data));
    opened.err().unwrap_or_else(|| panic!("accepted: {header}"))
}

#[test]
fn every_byte_comes_back() {
    let header = format!(
        "{{\"__metadata__\":{{\"format\":\"pt\"}},{},{},{},{}, {}}}   ",
        entry("b", "F32", "2,3", 40, 64),
        entry("a", "I8", "5", 3, 8),
        entry("scalar", "BF16", "", 8, 10),
        entry("empty", "F64", "4,0", 10, 10),
        entry("odd \\u0000 \\\"name\\\" \u{1F600}/../x", "X9", "7,7", 64, 75),
    );
    // A gap of noise before, one of noise and one behind.
    let bytes = file(&header, 100);
    let checkpoint = open_bytes("a.safetensors", &bytes).unwrap();
    assert_eq!(assemble(&checkpoint, 0), bytes);
    let names: Vec<&str> = checkpoint.tensors.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["a", "scalar", "empty", "b", "odd \0 \"name\" \u{1F600}/../x"]);
    assert_eq!(checkpoint.tensors[4].dtype, Dtype::Unknown);
    assert_eq!(checkpoint.tensors[4].view, View::Raw);
    let data = 8 + header.len() as u64;
    assert_eq!((checkpoint.tensors[3].offset, checkpoint.tensors[3].len), (data + 40, 24));
    let mut past = [0; 2];
    assert!(checkpoint.read_tensor(0, 4, &mut past).is_err());
    assert!(checkpoint.read_tensor(0, u64::MAX, &mut past).is_err());
    assert!(checkpoint.read_tensor(9, 0, &mut past).is_err());
}

#[test]
fn zeros_between_tensors_are_named_so() {
    let header = format!("{{{},{}}}", entry("a", "U8", "4", 0, 4), entry("b", "U8", "4", 20, 24));
    let mut bytes = file(&header, 24);
    let data = 8 + header.len();
    bytes[data + 4..data + 20].fill(0);
    let checkpoint = open_bytes("a.safetensors", &bytes).unwrap();
    assert_eq!(checkpoint.files[0].segments[2], Segment::Zeros { len: 16 });
    assert_eq!(assemble(&checkpoint, 0), bytes);
    let empty = open_bytes("a.safetensors", &file("{}", 0)).unwrap();
    assert_eq!(empty.tensors, []);
}

#[test]
fn long_names_stay_bytes() {
    let (long, short) = ("n".repeat(LONGEST_NAME + 1), "n".repeat(LONGEST_NAME));
    let header =
        format!("{{{},{}}}", entry(&long, "U8", "4", 0, 4), entry(&short, "U8", "4", 4, 8));
    let bytes = file(&header, 8);
    let checkpoint = open_bytes("a.safetensors", &bytes).unwrap();
    assert_eq!(checkpoint.tensors.len(), 1);
    assert_eq!(assemble(&checkpoint, 0), bytes);
}

#[test]
fn tensors_of_many_dimensions_stay_bytes() {
    let shape = |n: usize| format!("4{}", ",1".repeat(n - 1));
    let [deep, flat] = [("deep", 33), ("flat", 32)].map(|(name, n)| (name, shape(n)));
    let header = format!(
        "{{{},{}}}",
        entry(deep.0, "U8", &deep.1, 0, 4),
        entry(flat.0, "U8", &flat.1, 4, 8)
    );
    let bytes = file(&header, 8);
    let checkpoint = open_bytes("a.safetensors", &bytes).unwrap();
    assert_eq!((checkpoint.tensors.len(), checkpoint.unnamed), (1, 1));
    assert_eq!(assemble(&checkpoint, 0), bytes);
    let config = crate::wcodec::Config::default();
    crate::wcodec::compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    // An index that names it is right.
    let index = br#"{"weight_map": {"deep": "1.safetensors", "flat": "1.safetensors"}}"#;
    let shard = |_: &str| -> Result<Box<dyn ReadAt>> { Ok(Box::new(bytes.clone())) };
    let name = "m.safetensors.index.json".to_owned();
    let sharded = Checkpoint::read(name, Box::new(index.to_vec()), Quantization::default(), &shard);
    assert_eq!(sharded.unwrap().mismatches, []);
    // Where it can be said in time, it is.
    let mut tensors = Tensors::new();
    let refused = tensors.add("deep", Dtype::U8, &[1; 33], vec![0]).unwrap_err().to_string();
    assert!(refused.contains("33 dimensions"), "{refused}");
    tensors.add("flat", Dtype::U8, &[1; 32], vec![0]).unwrap();
}

#[test]
fn errors_name_the_tensor_and_the_byte() {
    let good = entry("a", "U8", "4", 0, 4);
    for (second, kind, says) in [
        (entry("b.w", "F32", "4", 4, 8), ErrorKind::Corrupt, "has 16 bytes"),
        (entry("b.w", "U8", "4", 8, 4), ErrorKind::Corrupt, "backwards"),
        (entry("b.w", "U8", "4", 2, 6), ErrorKind::Corrupt, "overlap tensor \"a\""),
        (entry("b.w", "U8", "4", 0, 4), ErrorKind::Corrupt, "overlap tensor"),
        (entry("b.w", "U8", "5", 4, 9), ErrorKind::Truncated, "cut short"),
        (entry("b.w", "X", "5", 4, u64::MAX), ErrorKind::Truncated, "beyond"),
        (entry("b.w", "X", "5", u64::MAX, u64::MAX), ErrorKind::Corrupt, "2^64"),
        (entry("b.w", "X", "5", u64::MAX - 300, u64::MAX - 299), ErrorKind::Truncated, "beyond"),
        (entry("b.w", "U8", "4294967296,4294967296,0,9", 4, 8), ErrorKind::Corrupt, "has 0 bytes"),
        (entry("b.w", "U8", "4294967296,4294967296", 4, 8), ErrorKind::Corrupt, "2^64"),
        (entry("b.w", "U8", "-4", 4, 8), ErrorKind::Corrupt, "expected u64"),
        (entry("b.w", "U8", "4.0", 4, 8), ErrorKind::Corrupt, "expected u64"),
        (
            "\"b.w\":{\"dtype\":\"U8\",\"shape\":[4]}".to_owned(),
            ErrorKind::Corrupt,
            "missing field `data_offsets`",
        ),
        (
            "\"b.w\":{\"shape\":[4],\"data_offsets\":[4,8]}".to_owned(),
            ErrorKind::Corrupt,
            "missing field `dtype`",
        ),
        (
            "\"b.w\":{\"dtype\":\"U8\",\"data_offsets\":[4,8]}".to_owned(),
            ErrorKind::Corrupt,
            "missing field `shape`",
        ),
        (
            "\"b.w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4]}".to_owned(),
            ErrorKind::Corrupt,
            "two numbers",
        ),
        (
            "\"b.w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,8,9]}".to_owned(),
            ErrorKind::Corrupt,
            "more than 2",
        ),
        (
            "\"b.w\":{\"dtype\":\"U8\",\"shape\":[4],\"shape\":[4]}".to_owned(),
            ErrorKind::Corrupt,
            "duplicate field `shape`",
        ),
        ("\"b.w\":{\"dtype\":7}".to_owned(), ErrorKind::Corrupt, "expected a string"),
        ("\"b.w\":7".to_owned(), ErrorKind::Corrupt, "expected an object"),
    ] {
        let header = format!("{{{good},{second}}}");
        let e = error(&header, 8);
        let text = e.to_string();
        assert!(text.contains("tensor \"b.w\"") && text.contains(says), "{second}: {text}");
        assert_eq!(e.kind(), kind, "{text}");
        let from = 8 + 1 + good.len() as u64 + 1;
        let at = e.at().unwrap();
        assert!((from..from + second.len() as u64).contains(&at), "{text}: not in {from} and on");
    }
    let twice = format!("{{{good},{}}}", entry("a", "U8", "4", 4, 8));
    let text = error(&twice, 8).to_string();
    assert!(text.contains("tensor \"a\": two tensors have this name"), "{text}");
    let shape = vec!["1"; 65].join(",");
    let text = error(&format!("{{{}}}", entry("a", "U8", &shape, 0, 1)), 1).to_string();
    assert!(text.contains("more than 64 numbers"), "{text}");
    let many = entry(&"é".repeat(300), "F32", "4", 0, 1);
    assert!(error(&format!("{{{many}}}"), 1).to_string().len() < 700);
}

#[test]
fn broken_headers() {
    for (bytes, kind, says) in [
        (&b""[..], ErrorKind::Truncated, "8 bytes"),
        (b"1234567", ErrorKind::Truncated, "8 bytes"),
        (b"\x05\0\0\0\0\0\0\0{}", ErrorKind::Truncated, "behind the end"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff{}", ErrorKind::Corrupt, "is this a safetensors file"),
        (b"\x01\xe1\xf5\x05\0\0\0\0{}", ErrorKind::Corrupt, "at most 100000000 bytes"),
        (b"\x02\0\0\0\0\0\0\0[]", ErrorKind::Corrupt, "expected an object"),
        (b"\x01\0\0\0\0\0\0\0{", ErrorKind::Truncated, "ends early"),
        (b"\x03\0\0\0\0\0\0\0{}x", ErrorKind::Corrupt, "trailing characters"),
        (b"\x05\0\0\0\0\0\0\0{\"\xff\":", ErrorKind::Corrupt, "invalid unicode"),
        (b"\0\0\0\0\0\0\0\0", ErrorKind::Truncated, "ends early"),
    ] {
        let e = open_bytes("a.safetensors", bytes).expect_err("broken");
        assert!(e.to_string().contains(says), "{e}");
        assert_eq!(e.kind(), kind, "{e}");
        assert!(e.at().is_some());
    }
}

/// Flips, truncations and insertions: an error, or a checkpoint whose segments are the file.
#[test]
fn mutated_files_are_refused_or_come_back() {
    let header = format!(
        "{{\"__metadata__\":{{\"format\":\"pt\"}},{},{},{}}}",
        entry("a.weight", "I8", "4,4", 0, 16),
        entry("a.weight_scale", "BF16", "4,1", 16, 24),
        entry("c", "F32", "2", 24, 32),
    );
    let bytes = file(&header, 32);
    let mut mutants = Mutants::of("a.safetensors");
    for i in 0..bytes.len() {
        mutants.check(&bytes[..i]);
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[i] ^= 1 << bit;
            mutants.check(&flipped);
        }
    }
    mutants.are_of_both();
}

#[test]
fn sharded() {
    let one = model("", &[("a.weight", Dtype::I8, &[8, 16]), ("b", Dtype::F32, &[3])]);
    let two = model("", &[("a.weight_scale", Dtype::BF16, &[8, 1]), ("b", Dtype::F32, &[3])]);
    let index = br#"{"metadata": {"total_size": 1}, "weight_map":
        {"a.weight": "1.safetensors", "b": "1.safetensors", "a.weight_scale": "2.safetensors"}}"#;
    let open = |index: &[u8]| {
        let shard = |name: &str| -> Result<Box<dyn ReadAt>> {
            match name {
                "1.safetensors" => Ok(Box::new(one.clone())),
                "2.safetensors" => Ok(Box::new(two.clone())),
                "short.safetensors" => Ok(Box::new(one[..one.len() - 3].to_vec())),
                _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound).into()),
            }
        };
        let source: Box<dyn ReadAt> = Box::new(index.to_vec());
        Checkpoint::read(
            "m.safetensors.index.json".to_owned(),
            source,
            Quantization::default(),
            &shard,
        )
    };
    let checkpoint = open(index).unwrap();
    assert_eq!(checkpoint.format, Format::Sharded);
    for (i, want) in [&index[..], &one, &two].into_iter().enumerate() {
        assert_eq!(assemble(&checkpoint, i), want, "file {i}");
    }
    let names: Vec<&str> = checkpoint.tensors.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["a.weight", "b", "a.weight_scale"], "the second b stays bytes");
    assert_eq!(checkpoint.tensors[0].siblings.scale, Some(2), "in the other shard");
    let [Mismatch::Doubled { tensor, file: 2, at }] = &checkpoint.mismatches[..] else {
        panic!("{:?}", checkpoint.mismatches)
    };
    assert!(
        tensor == "b" && two[usize::try_from(*at).unwrap()..].starts_with(b"{\"dtype\":\"F32\"")
    );

    // The index decides, where it can.
    let index = br#"{"weight_map": {"a.weight": "2.safetensors", "none": "1.safetensors", "b": "2.safetensors"}}"#;
    let checkpoint = open(index).unwrap();
    let home = |name| checkpoint.files[tensor_of(&checkpoint, name).file].name.clone();
    assert_eq!(["a.weight", "b"].map(home), ["1.safetensors", "2.safetensors"]);
    // In the order in which the index names them.
    assert_eq!(checkpoint.files[1].name, "2.safetensors");
    for (i, want) in [&index[..], &two, &one].into_iter().enumerate() {
        assert_eq!(assemble(&checkpoint, i), want, "file {i}");
    }
    let found = checkpoint.mismatches.iter().map(|mismatch| match mismatch {
        Mismatch::Missing { tensor, file, at } => (tensor.as_str(), *file, Some(*at)),
        Mismatch::Doubled { tensor, file, .. } => (tensor.as_str(), *file, None),
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found, [("a.weight", 1, Some(28)), ("none", 2, Some(53)), ("b", 2, None)]);

    for (index, says) in [
        ("{\"weight_map\":{\"a\":\"none.safetensors\"}}", "none.safetensors"),
        ("{\"weight_map\":{}}", "names no tensor"),
        ("{\"weight_map\":{\"a\":\"../1.safetensors\"}}", "plain name"),
        ("{\"weight_map\":{\"a\":\"/etc/passwd\"}}", "plain name"),
        ("{\"weight_map\":{\"a\":\"..\"}}", "plain name"),
        ("{\"weight_map\":{\"a\":\"C:x\"}}", "plain name"),
        ("{\"weight_map\":{\"a\":\"\"}}", "plain name"),
        ("{\"weight_map\":{\"a\":\"m.safetensors.index.json\"}}", "itself"),
        ("{\"weight_map\":{\"a\":\"short.safetensors\"}}", "tensor \"b\""),
        ("{\"weight_map\":{\"a\":1}}", "m.safetensors.index.json"),
        ("{}", "no weight_map"),
        ("{\"weight_map\":{}", "ends early"),
    ] {
        let e = open(index.as_bytes()).expect_err(index);
        assert!(e.to_string().contains(says), "{index}: {e}");
    }
}

#[test]
fn opened_from_a_folder() {
    let folder = std::env::temp_dir().join(format!("latens-views-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let shard = model("", &[("x.weight_packed", Dtype::I32, &[4, 2])]);
    std::fs::write(folder.join("s.safetensors"), &shard).unwrap();
    std::fs::write(folder.join("config.json"), b"{\"quantization_config\":{\"bits\":8}}").unwrap();
    let index = folder.join("m.safetensors.index.json");
    std::fs::write(&index, b"{\"weight_map\":{\"x.weight_packed\":\"s.safetensors\"}}").unwrap();
    let checkpoint = Checkpoint::open(&index).unwrap();
    assert_eq!(checkpoint.quantization.bits, Some(8));
    assert!(matches!(checkpoint.tensors[0].view, View::Packed(p) if p.bits == 8));
    assert_eq!(assemble(&checkpoint, 1), shard);
    assert!(Checkpoint::open(&folder.join("none.safetensors")).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}
