//! Tensors of all types against their namesakes of a base.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::wcodec::checkpoint::{ReadAt, open_file};
use latens::wcodec::dtype::Dtype;
use latens::wcodec::view::Values;
use latens::wcodec::{
    Base, BaseCheckpoint, BaseFile, BaseTensor, Config, OF_BASE, Reader, compress_checkpoint,
    open_base,
};
use latens::{ErrorKind, Limits, Watch};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use wcodec_common::{Random, open, open_as, safetensors};

/// Type, bytes of an element, and how many of the tuned file's bytes its tensor may take against the base, in per cent of what
/// it takes alone.
const TYPES: [(&str, usize, usize); 9] = [
    ("BF16", 2, 50),
    ("F16", 2, 60),
    ("F32", 4, 75),
    ("F64", 8, 90),
    ("I16", 2, 50),
    ("I32", 4, 50),
    ("U64", 8, 60),
    ("F8_E4M3", 1, 60),
    ("I8", 1, 60),
];

/// Numbers of a type, and the same but for a little.
fn pair(random: &mut Random, dtype: &str, n: usize) -> [Vec<u8>; 2] {
    let [mut base, mut tuned] = [Vec::new(), Vec::new()];
    for _ in 0..n {
        let (x, more) = (random.normal(0.02), random.normal(0.00004));
        let y = x + more;
        let (whole, step) = (random.normal(9000.0) as i64, i64::from(random.below(9) == 0));
        let mut put = |x: &[u8], y: &[u8]| {
            base.extend(x);
            tuned.extend(y);
        };
        match dtype {
            "BF16" => put(&(x as f32).to_le_bytes()[2..], &(y as f32).to_le_bytes()[2..]),
            "F16" => {
                // Of the numbers that an f32 with as many bits of exponent has.
                let half = |x: f64| (((x as f32).to_bits() >> 13) as u16).to_le_bytes();
                put(&half(x), &half(y));
            }
            "F32" => put(&(x as f32).to_le_bytes(), &(y as f32).to_le_bytes()),
            "F64" => put(&x.to_le_bytes(), &y.to_le_bytes()),
            "I16" => put(&(whole as i16).to_le_bytes(), &((whole + step) as i16).to_le_bytes()),
            "I32" => put(&(whole as i32).to_le_bytes(), &((whole + step) as i32).to_le_bytes()),
            "U64" => put(&whole.to_le_bytes(), &(whole + step).to_le_bytes()),
            _ => put(&[whole as u8], &[(whole + step) as u8]),
        }
    }
    [base, tuned]
}

fn flat(values: Values) -> Vec<u8> {
    match values {
        Values::Signed(values) => values.into_iter().map(i8::cast_unsigned).collect(),
        Values::Unsigned(bytes) | Values::Words(bytes) => bytes,
    }
}

#[test]
fn numbers_of_every_type_are_coded_against_a_base() {
    let mut random = Random(91);
    for (dtype, width, most) in TYPES {
        for level in [1, 8, 9] {
            let [base, tuned] = pair(&mut random, dtype, 300 * 128);
            assert_eq!(base.len(), 300 * 128 * width);
            let source = |tuned: &[u8]| {
                // The second is the same as in the base, the third is not there.
                safetensors(&[
                    ("w", dtype, &[300, 128], tuned.to_vec()),
                    ("same", dtype, &[128, 300], base.clone()),
                    ("new", dtype, &[10], base[..10 * width].to_vec()),
                ])
            };
            let file = source(&tuned);
            let of_base = safetensors(&[
                ("w", dtype, &[300, 128], base.clone()),
                ("same", dtype, &[128, 300], base.clone()),
            ]);
            let held = || Box::new(BaseCheckpoint::new(open(of_base.clone())).unwrap());
            let compress = |based: bool| {
                let (held, name) = (held(), "base");
                let against = based.then_some(BaseFile { base: &*held, name });
                let made = [1, 2, 3].map(|threads| {
                    let config = Config::default().level(level).threads(threads);
                    let config = config.group_symbols(1 << 13);
                    compress_checkpoint(&open(file.clone()), against, &config, Vec::new()).unwrap()
                });
                assert!(made[0] == made[1] && made[0] == made[2], "{dtype}, level {level}");
                made[0].clone()
            };
            let place = format!("{dtype}, level {level}");
            let alone = Reader::open(compress(false), Limits::default()).unwrap();
            let reader = Reader::open(compress(true), Limits::default()).unwrap();
            assert!(reader.verify().is_err_and(|e| e.to_string().contains("base")), "{place}");
            let reader = reader.with_base(held()).unwrap().threads(3);
            reader.verify().unwrap();
            let mut back = Vec::new();
            reader.write_file(0, &mut back).unwrap();
            assert!(back == file, "{place}");
            let stored = |reader: &Reader<Vec<u8>>, name: &str| {
                reader.entry(reader.find(name).unwrap()).unwrap().stored
            };
            let (with, without) = (stored(&reader, "w"), stored(&alone, "w"));
            println!("{place}: {with} of {without} bytes, the same {}", stored(&reader, "same"));
            assert!(with * 100 <= without * most, "{place}: {with} of {without}");
            // A descriptor and the states of groups.
            assert!(stored(&reader, "same") * 100 < base.len() * 15, "{place}");
            for name in ["w", "same", "new"] {
                let (n, m) = (reader.find(name).unwrap(), alone.find(name).unwrap());
                let layout = reader.layout(n).unwrap();
                let of = alone.layout(m).unwrap();
                assert_eq!((layout.rows, layout.cols), (of.rows, of.cols), "{place}, {name}");
                let some = 1..layout.rows.clamp(1, 70);
                let rows = flat(reader.rows(n, some.clone()).unwrap());
                assert!(rows == flat(alone.rows(m, some).unwrap()), "{place}, {name}");
                let end = reader.byte_length(n).unwrap() as u64;
                let some = end / 3..end.min(end / 3 + 17);
                let range = reader.byte_range(n, some.clone()).unwrap();
                assert!(range == alone.byte_range(m, some).unwrap(), "{place}, {name}");
                let (told, of) = (reader.inspect(n).unwrap(), alone.inspect(m).unwrap());
                assert_eq!((told.packing, told.weights), (of.packing, of.weights), "{place}");
            }
        }
    }
}

/// A tensor against the base's of another shape: bytes that it takes, and those that it takes alone.
fn stored_against(dtype: &str, of_base: (&[u64], &[u8]), tuned: (&[u64], &[u8])) -> [usize; 2] {
    let file = safetensors(&[("w", dtype, tuned.0, tuned.1.to_vec())]);
    let of_base = safetensors(&[("w", dtype, of_base.0, of_base.1.to_vec())]);
    let held = || Box::new(BaseCheckpoint::new(open(of_base.clone())).unwrap());
    let config = Config::default().group_symbols(1 << 13);
    let (base, name) = (held(), "base");
    let against = Some(BaseFile { base: &*base, name });
    let made = compress_checkpoint(&open(file.clone()), against, &config, Vec::new()).unwrap();
    let reader = Reader::open(made, Limits::default()).unwrap().with_base(held()).unwrap();
    reader.verify().unwrap();
    let mut back = Vec::new();
    reader.write_file(0, &mut back).unwrap();
    assert!(back == file, "{dtype}");
    let made = compress_checkpoint(&open(file.clone()), None, &config, Vec::new()).unwrap();
    let alone = Reader::open(made, Limits::default()).unwrap();
    // The last rows, which the base may not have, and some that lie on both sides of its end.
    let rows = reader.layout(0).unwrap().rows;
    for some in [rows - 1..rows, rows - rows.min(30)..rows, rows / 2..rows / 2 + 1] {
        let (one, other) = (reader.rows(0, some.clone()), alone.rows(0, some));
        assert!(flat(one.unwrap()) == flat(other.unwrap()), "{dtype}");
    }
    [&reader, &alone].map(|reader| reader.entry(0).unwrap().stored)
}

#[test]
fn a_base_may_have_other_rows() {
    let mut random = Random(92);
    for (dtype, width) in [("BF16", 2), ("F32", 4), ("I8", 1)] {
        let [base, tuned] = pair(&mut random, dtype, 400 * 96);
        let row = 96 * width;
        for (of_base, of_tuned) in [(370, 400), (400, 390), (1, 400), (400, 400)] {
            let (shape, own) = ([of_base as u64, 96], [of_tuned as u64, 96]);
            let base = (&shape[..], &base[..of_base * row]);
            let [with, alone] = stored_against(dtype, base, (&own, &tuned[..of_tuned * row]));
            println!("{dtype}, {of_base} rows for {of_tuned}: {with} of {alone} bytes");
            // A row is too little to be worth anything.
            let most = if of_base == 1 { 1.02 } else { 0.88 };
            assert!(with as f64 <= alone as f64 * most, "{dtype}, {of_base}: {with} of {alone}");
        }
        // Another number of columns is another tensor.
        let [with, alone] = stored_against(dtype, (&[320, 120], &base), (&[400, 96], &tuned));
        assert_eq!(with, alone, "{dtype}");
    }
}

#[test]
fn long_vectors_are_coded_against_a_base() {
    let mut random = Random(93);
    for (dtype, width) in [("BF16", 2), ("F32", 4), ("I8", 1)] {
        // Of the last, no rows of equal length are made.
        for (n, gains) in [(3 << 16, true), (100_000, true), (65_537, false)] {
            let [base, tuned] = pair(&mut random, dtype, n);
            assert_eq!(base.len(), n * width);
            let shape = [n as u64];
            let [with, alone] = stored_against(dtype, (&shape, &base), (&shape, &tuned));
            println!("{dtype}, {n} numbers: {with} of {alone} bytes");
            assert_eq!(with as f64 <= alone as f64 * 0.88, gains, "{dtype}: {with} of {alone}");
        }
    }
}

#[test]
fn a_base_of_no_use_is_not_named() {
    let mut random = Random(94);
    let [one, other] = [0, 1].map(|_| pair(&mut random, "BF16", 40 * 96)[0].clone());
    let file = safetensors(&[("w", "BF16", &[40, 96], one)]);
    let of_base = safetensors(&[("w", "BF16", &[40, 96], other)]);
    let base = BaseCheckpoint::new(open(of_base)).unwrap();
    let (config, name) = (Config::default(), "base");
    let against = Some(BaseFile { base: &base, name });
    let made = compress_checkpoint(&open(file.clone()), against, &config, Vec::new()).unwrap();
    let reader = Reader::open(made, Limits::default()).unwrap();
    assert_eq!(reader.base_name(), None);
    reader.verify().unwrap();
    // Whoever gives it nevertheless is not refused.
    let reader = reader.with_base(Box::new(base)).unwrap();
    let mut back = Vec::new();
    reader.write_file(0, &mut back).unwrap();
    assert!(back == file);
}

/// A base that reads tensors as a whole, which are as long as it says, if it says so.
struct Whole(BaseCheckpoint, Option<u64>);

impl Base for Whole {
    fn model_hash(&self) -> [u8; 32] {
        self.0.model_hash()
    }

    fn about(&self, name: &str) -> Option<BaseTensor> {
        let about = self.0.about(name)?;
        Some(BaseTensor { length: self.1.unwrap_or(about.length), ..about })
    }

    fn tensor(&self, name: &str) -> latens::Result<(Dtype, Vec<u64>, Vec<u8>)> {
        self.0.tensor(name)
    }
}

/// Large ones are read by stretches, whatever the base is, and come out as others do; also where the base has other rows.
#[test]
fn large_tensors_are_coded_against_a_base() {
    let mut random = Random(96);
    let config = Config::default().threads(1);
    for (dtype, width) in [("BF16", 2), ("F32", 4), ("I8", 1)] {
        let cols = 4096 / width;
        let all = pair(&mut random, dtype, 1500 * cols);
        let file = |of: usize, rows: usize| {
            let bytes = all[of][..rows * cols * width].to_vec();
            safetensors(&[("w", dtype, &[rows as u64, cols as u64], bytes)])
        };
        for (of_base, rows) in [(1500, 1500), (1300, 1500), (1500, 1270)] {
            let (one, tuned) = (file(0, of_base), file(1, rows));
            let plain = || BaseCheckpoint::new(open(one.clone())).unwrap();
            let stored = compress_checkpoint(&open(one.clone()), None, &config, Vec::new());
            let stored = Reader::open(stored.unwrap(), Limits::default()).unwrap();
            let bases: [Arc<dyn Base>; 3] =
                [Arc::new(plain()), Arc::new(Whole(plain(), None)), Arc::new(stored)];
            let mut made = Vec::new();
            for base in &bases {
                let (mut some, end) = (vec![0; 999], (of_base * 4096) as u64);
                base.read("w", end - 5000, &mut some).unwrap();
                assert!(some == all[0][of_base * 4096 - 5000..][..999], "{dtype}");
                assert!(base.read("w", end - 998, &mut some).is_err());
                let against = Some(BaseFile { base: &**base, name: "base" });
                let file = compress_checkpoint(&open(tuned.clone()), against, &config, Vec::new());
                made.push(file.unwrap());
            }
            assert!(made[0] == made[1] && made[0].len() < tuned.len() * 7 / 10, "{dtype}");
            let (base, config) = (&*bases[0], Config::default().threads(3));
            let against = Some(BaseFile { base, name: "base" });
            let again = compress_checkpoint(&open(tuned.clone()), against, &config, Vec::new());
            assert!(again.unwrap() == made[0], "{dtype}");
            let whole = Reader::open(made[2].clone(), Limits::default()).unwrap();
            let whole = whole.with_base(Box::new(Arc::clone(&bases[0]))).unwrap();
            whole.compare(&open(tuned.clone())).unwrap();
            for (i, base) in bases.iter().enumerate() {
                for threads in [1, 3] {
                    let reader = Reader::open(made[0].clone(), Limits::default()).unwrap();
                    let reader = reader.threads(threads).with_base(Box::new(Arc::clone(base)));
                    let reader = reader.unwrap();
                    reader.verify().unwrap();
                    let mut back = Vec::new();
                    reader.write_file(0, &mut back).unwrap();
                    assert!(back == tuned, "{dtype}, {of_base} rows for {rows}, base {i}");
                    for (from, to) in [(0, 1), (700, 764), (1260, 1270), (rows - 1, rows)] {
                        let some = reader.byte_range(0, 4096 * from as u64..4096 * to as u64);
                        let flat = &all[1][4096 * from..4096 * to];
                        assert!(some.unwrap() == flat, "{dtype}, {from} to {to}, base {i}");
                    }
                }
            }
        }
    }
}

/// Else a few bytes could ask for a large tensor of the base again and again.
#[test]
fn a_tensor_of_the_base_is_not_much_larger() {
    let mut random = Random(95);
    let [one, tuned] = pair(&mut random, "I8", 64 * 96);
    let file = |bytes: &[u8]| safetensors(&[("w", "I8", &[64, 96], bytes.to_vec())]);
    let held = || BaseCheckpoint::new(open(file(&one))).unwrap();
    let most = 16 * 64 * 96 + (1 << 20);
    let compress = |length: u64| {
        let (config, base) = (Config::default(), Whole(held(), Some(length)));
        let against = Some(BaseFile { base: &base, name: "base" });
        let made = compress_checkpoint(&open(file(&tuned)), against, &config, Vec::new()).unwrap();
        Reader::open(made, Limits::default()).unwrap()
    };
    assert!(compress(most).base_name().is_some());
    assert!(compress(most + 1).base_name().is_none());
    for (length, fits) in [(most, true), (most + 1, false)] {
        let reader = compress(1).with_base(Box::new(Whole(held(), Some(length)))).unwrap();
        let refused = reader.verify().err().map(|e| e.to_string());
        assert_eq!(refused.is_none(), fits, "{refused:?}");
        assert!(refused.is_none_or(|e| e.contains("too large")), "{length}");
    }
}

/// A folder of this test's own, gone when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("latens-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Files of a tensor, of one a little beside it that is packed against it, and of one that is packed against that.
fn chain() -> [Vec<u8>; 4] {
    let mut random = Random(5);
    let base: Vec<u8> = (0..64 * 256).map(|_| random.int8(30.0)).collect();
    let mut tuned = base.clone();
    tuned.iter_mut().step_by(40).for_each(|byte| *byte ^= 1);
    let mut next = tuned.clone();
    next.iter_mut().step_by(50).for_each(|byte| *byte ^= 1);
    let source = |bytes: &[u8]| safetensors(&[("w", "I8", &[64, 256], bytes.to_vec())]);
    let pack = |source: &[u8], base: Option<&[u8]>| {
        let base = base.map(|base| BaseCheckpoint::new(open(base.to_vec())).unwrap());
        let against = base.as_ref().map(|base| BaseFile { base, name: "its; base" });
        let config = Config::default().group_symbols(1 << 10);
        compress_checkpoint(&open(source.to_vec()), against, &config, Vec::new()).unwrap()
    };
    let (base, tuned, next) = (source(&base), source(&tuned), source(&next));
    let packed = [pack(&base, None), pack(&tuned, Some(&base)), pack(&next, Some(&tuned))];
    let [packed, first, second] = packed;
    [base, packed, first, second]
}

fn base_at(path: &Path) -> latens::Result<Box<dyn Base>> {
    open_base(path, Limits::default(), &Watch::NONE)
}

#[test]
fn a_base_is_opened_by_what_it_is() {
    let folder = Folder::new("base-kinds");
    let [base, packed, first, _] = chain();
    for (name, bytes) in [
        ("b.safetensors", &base),
        ("b.bin", &base),
        ("b", &packed),
        ("b.wcodec", &packed),
        ("c.wcodec", &base),
        ("c.safetensors", &packed),
    ] {
        let opened = base_at(&folder.write(name, bytes)).unwrap();
        let reader = Reader::open(first.clone(), Limits::default()).unwrap();
        reader.with_base(opened).unwrap().verify().unwrap();
    }
}

#[test]
fn errors_of_a_base_are_its_own() {
    let folder = Folder::new("base-errors");
    let [base, packed, first, second] = chain();
    let place = |path: &Path| format!("{OF_BASE}{}", path.display());
    let fails = |path: &Path| {
        let error = base_at(path).map(|_| ()).unwrap_err();
        assert_eq!((error.places().first(), error.at()), (Some(&place(path)), None), "{error}");
        error
    };
    let error = fails(&folder.0.join("none.wcodec"));
    assert_eq!(error.kind(), ErrorKind::Io);
    let error = fails(&folder.0);
    assert!(error.kind() == ErrorKind::Io && error.what().contains("folder"), "{error}");
    let error = fails(&folder.write("words", b"no checkpoint at all"));
    assert!(error.kind() == ErrorKind::InvalidArgument && error.what().contains("no checkpoint"));
    let error = fails(&folder.write("cut.wcodec", &packed[..packed.len() - 3]));
    assert!(error.what().contains("(byte "), "{error}");
    let error = fails(&folder.write("cut.safetensors", &base[..base.len() - 3]));
    assert!(error.to_string().contains("(byte "), "{error}");
    // What needs a base itself is of no use.
    let error = fails(&folder.write("first.wcodec", &first));
    assert!(error.what().contains("made against its; base"), "{error}");
    // Damage that is found when a tensor is read.
    let mut bad = packed;
    bad[1000] ^= 1;
    let path = folder.write("bad.wcodec", &bad);
    let reader = Reader::open(first, Limits::default()).unwrap();
    let reader = reader.with_base(base_at(&path).unwrap()).unwrap();
    let mut out = vec![0; 64 * 256];
    let error = reader.tensor_into(0, &mut out).unwrap_err();
    assert_eq!((error.kind(), error.at()), (ErrorKind::Corrupt, None), "{error}");
    assert!(error.places().contains(&place(&path)) && error.what().contains("(byte "), "{error}");
    assert_eq!(error.values_before(), None);
    // Another one.
    let other = Reader::open(second, Limits::default()).unwrap();
    let error = other.with_base(base_at(&path).unwrap()).unwrap_err();
    assert!(error.what().contains("this is not the base"), "{error}");
}

/// A file whose last bytes can no longer be read once it is broken.
struct Breaks {
    bytes: Vec<u8>,
    last: usize,
    is_broken: Arc<AtomicBool>,
}

impl ReadAt for Breaks {
    fn size(&self) -> std::io::Result<u64> {
        self.bytes.size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        let left = self.bytes.len() - buf.len() - offset as usize;
        match self.is_broken.load(Relaxed) && left < self.last {
            true => Err(std::io::Error::other("the disk is gone")),
            false => self.bytes.read_exact_at(buf, offset),
        }
    }
}

/// A base that fails while a tensor is decoded: what was decoded before that stands, and nothing else was touched.
#[test]
fn a_base_may_fail_in_the_midst_of_a_tensor() {
    let mut random = Random(97);
    for (dtype, width) in [("BF16", 2), ("I8", 1)] {
        let [one, tuned] = pair(&mut random, dtype, 3000 * 4096 / width);
        let file = |bytes: &[u8]| {
            safetensors(&[("w", dtype, &[3000, 4096 / width as u64], bytes.to_vec())])
        };
        let base = BaseCheckpoint::new(open(file(&one))).unwrap();
        let against = Some(BaseFile { base: &base, name: "base" });
        let config = Config::default();
        let made = compress_checkpoint(&open(file(&tuned)), against, &config, Vec::new()).unwrap();
        let broken = || {
            let (bytes, is_broken) = (file(&one), Arc::new(AtomicBool::new(false)));
            let breaks = Breaks { bytes, last: 1000 * 4096, is_broken: Arc::clone(&is_broken) };
            let base = BaseCheckpoint::new(open_as("base.safetensors", breaks)).unwrap();
            is_broken.store(true, Relaxed);
            base
        };
        let failed = compress_checkpoint(
            &open(file(&tuned)),
            Some(BaseFile { base: &broken(), name: "base" }),
            &config,
            Vec::new(),
        );
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Io);
        for threads in [1, 3] {
            let reader = Reader::open(made.clone(), Limits::default()).unwrap().threads(threads);
            let reader = reader.with_base(Box::new(broken())).unwrap();
            let mut out = vec![0xee; tuned.len()];
            let error = reader.tensor_into(0, &mut out).unwrap_err();
            assert!(error.kind() == ErrorKind::Io && error.at().is_none(), "{error}");
            let right = error.values_right().unwrap_or(0) as usize;
            let changed = error.values_before().unwrap_or(0) as usize;
            assert!(right <= changed && out[..right] == tuned[..right], "{right}, {changed}");
            assert!(out[changed..].iter().all(|&byte| byte == 0xee), "{dtype}, {changed}");
            let mut written = Vec::new();
            let error = reader.write_file(0, &mut written).unwrap_err();
            assert!(error.kind() == ErrorKind::Io && file(&tuned).starts_with(&written), "{error}");
            assert!(
                reader.byte_range(0, 4096 * 900..4096 * 964).unwrap()
                    == tuned[4096 * 900..][..4096 * 64]
            );
            assert!(reader.byte_range(0, 4096 * 2500..4096 * 2501).is_err());
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new("base-pipe");
    let path = folder.0.join("p.wcodec");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    for error in [base_at(&path).map(|_| ()).unwrap_err(), open_file(&path).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.what().contains("no regular file"), "{error}");
    }
}
