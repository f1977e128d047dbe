//! Against the library `safetensors`: files that it writes are read as it reads them, and of
//! broken headers nothing is refused that it accepts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use latens::Watch;
use latens::wcodec::checkpoint::{Checkpoint, Quantization, ReadAt, Tensors};
use latens::wcodec::dtype::Dtype as Our;
use latens::wcodec::{self, Config, Reader};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn open(bytes: &[u8]) -> latens::Result<Checkpoint> {
    let none = |_: &str| Err(latens::Error::invalid("no shards"));
    let source = Box::new(bytes.to_vec());
    Checkpoint::read("m.safetensors".to_owned(), source, Quantization::default(), &none)
}

/// What both say of the tensors of a file is the same.
fn compare(bytes: &[u8], theirs: &SafeTensors<'_>) {
    let ours = open(bytes).unwrap_or_else(|e| panic!("refused: {e}"));
    assert_eq!(ours.tensors.len(), theirs.len());
    for (i, t) in ours.tensors.iter().enumerate() {
        let theirs = theirs.tensor(&t.name).unwrap();
        let shape: Vec<u64> = theirs.shape().iter().map(|&d| d as u64).collect();
        assert_eq!(t.shape, shape, "{}", t.name);
        assert_eq!(t.dtype.name(), theirs.dtype().to_string(), "{}", t.name);
        let mut data = vec![0; usize::try_from(t.len).unwrap()];
        ours.read_tensor(i, 0, &mut data).unwrap();
        assert_eq!(data, theirs.data(), "{}", t.name);
    }
}

fn sample() -> Vec<u8> {
    let data: Vec<u8> = (0..=255).cycle().take(4096).map(|b: u8| b.wrapping_mul(37)).collect();
    let kinds = [
        ("a.weight", Dtype::I8, vec![4, 6]),
        ("a.weight_scale", Dtype::BF16, vec![4, 1]),
        ("scalar", Dtype::F32, vec![]),
        ("empty", Dtype::F64, vec![0, 3]),
        ("bool", Dtype::BOOL, vec![3]),
        ("u8", Dtype::U8, vec![5]),
        ("i16", Dtype::I16, vec![2]),
        ("u16", Dtype::U16, vec![2]),
        ("f16", Dtype::F16, vec![2, 1, 3, 3]),
        ("i32", Dtype::I32, vec![3]),
        ("u32", Dtype::U32, vec![3]),
        ("i64", Dtype::I64, vec![3]),
        ("u64", Dtype::U64, vec![3]),
        ("e4m3", Dtype::F8_E4M3, vec![3]),
        ("e5m2", Dtype::F8_E5M2, vec![3]),
        ("e8m0", Dtype::F8_E8M0, vec![3]),
        ("f4", Dtype::F4, vec![3, 4]),
        ("e2m3", Dtype::F6_E2M3, vec![4]),
        ("e3m2", Dtype::F6_E3M2, vec![4]),
        ("c64", Dtype::C64, vec![2]),
        ("\u{e9}\"\\\n\u{1F600}", Dtype::U8, vec![1]),
    ];
    let mut at = 0;
    let views = kinds.map(|(name, dtype, shape)| {
        let len = shape.iter().product::<usize>() * dtype.bitsize() / 8;
        let view = TensorView::new(dtype, shape, &data[at..at + len]).unwrap();
        at += len;
        (name, view)
    });
    let metadata = [("format".to_owned(), "pt".to_owned())].into_iter().collect();
    serialize(views, Some(metadata)).unwrap()
}

#[test]
fn what_the_library_writes_is_read_alike() {
    let bytes = sample();
    compare(&bytes, &SafeTensors::deserialize(&bytes).unwrap());
}

#[test]
fn what_the_library_accepts_is_accepted() {
    let bytes = sample();
    let header = 8 + usize::try_from(u64::from_le_bytes(*bytes.first_chunk().unwrap())).unwrap();
    let (mut both, mut more) = (0, 0);
    for at in 0..header {
        for flip in [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80] {
            let mut broken = bytes.clone();
            broken[at] ^= flip;
            match SafeTensors::deserialize(&broken) {
                Ok(theirs) => {
                    compare(&broken, &theirs);
                    both += 1;
                }
                Err(_) => more += usize::from(open(&broken).is_ok()),
            }
        }
    }
    assert!(both > 500, "{both} read by both, {more} by latens alone");
}

#[test]
fn tensors_in_memory_are_a_file_that_the_library_reads() {
    let bytes = sample();
    let theirs = SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors = Tensors::new();
    tensors.metadata("format", "pt");
    let dtypes = latens::wcodec::dtype::Dtype::ALL;
    for (name, view) in theirs.tensors() {
        let dtype = *dtypes.iter().find(|d| d.name() == view.dtype().to_string()).unwrap();
        let shape: Vec<u64> = view.shape().iter().map(|&d| d as u64).collect();
        tensors.add(&*name, dtype, &shape, view.data().to_vec()).unwrap();
        assert!(tensors.add(&*name, dtype, &shape, view.data().to_vec()).is_err(), "again");
    }
    let mut fails = |name: &str, dtype, bytes: usize| {
        let error = tensors.add(name, dtype, &[32], vec![0; bytes]).unwrap_err();
        assert_eq!(error.kind(), latens::ErrorKind::InvalidArgument, "{error}");
    };
    fails("one byte more", latens::wcodec::dtype::Dtype::I8, 33);
    fails("no type of safetensors", latens::wcodec::dtype::Dtype::Q8_0, 34);
    fails("__metadata__", latens::wcodec::dtype::Dtype::I8, 32);
    fails(&"x".repeat(1025), latens::wcodec::dtype::Dtype::I8, 32);
    let checkpoint = tensors.checkpoint("m.safetensors").unwrap();
    let config = Config::default();
    let file = wcodec::compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    let mut back = Vec::new();
    let reader = Reader::open(file, latens::Limits::default()).unwrap();
    reader.write_file(0, &mut back).unwrap();
    let ours = SafeTensors::deserialize(&back).unwrap();
    assert_eq!(ours.len(), theirs.len());
    for (name, view) in theirs.tensors() {
        assert_eq!(ours.tensor(&name).unwrap(), view, "{name}");
    }
    let metadata = SafeTensors::read_metadata(&back).unwrap().1;
    assert_eq!(metadata.metadata().as_ref().unwrap()["format"], "pt");
    assert!(open(&back).is_ok());
}

/// A tensor that is nowhere: its bytes follow from where they are.
struct Generated {
    len: u64,
    most_asked: Arc<AtomicUsize>,
}

fn generated(offset: u64) -> u8 {
    let x = (offset ^ 0x5bd1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let [a, b, c, ..] = (x ^ x >> 29).to_be_bytes();
    (a % 32 + b % 32 + c % 32).wrapping_sub(47)
}

impl ReadAt for Generated {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if offset + buf.len() as u64 > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.most_asked.fetch_max(buf.len(), Ordering::Relaxed);
        (offset..).zip(buf).for_each(|(at, byte)| *byte = generated(at));
        Ok(())
    }
}

#[test]
fn tensors_that_are_read_when_they_are_needed_make_the_same_file() {
    let (rows, cols) = (9000u64, 4096u64);
    let most_asked = Arc::new(AtomicUsize::new(0));
    let source = |len| Generated { len, most_asked: Arc::clone(&most_asked) };
    let bytes = |len| (0..len).map(generated).collect::<Vec<u8>>();
    let file = |held: bool| {
        let mut tensors = Tensors::new();
        // One behind the other, and one of no bytes between them.
        for (name, dtype, shape) in [
            ("w.weight", Our::I8, [rows, cols]),
            ("w.weight_scale", Our::F32, [rows, 1]),
            ("none", Our::I8, [0, 4]),
        ] {
            let len = shape.iter().product::<u64>() * if dtype == Our::F32 { 4 } else { 1 };
            let added = match held {
                true => tensors.add(name, dtype, &shape, bytes(len)),
                false => tensors.add_source(name, dtype, &shape, source(len)),
            };
            added.unwrap();
        }
        let wrong = tensors.add_source("more", Our::I8, &[3], source(4)).unwrap_err();
        assert_eq!(wrong.kind(), latens::ErrorKind::InvalidArgument, "{wrong}");
        let checkpoint = tensors.checkpoint("m.safetensors").unwrap();
        wcodec::compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap()
    };
    let ours = file(false);
    assert!(ours == file(true));
    let most = most_asked.load(Ordering::Relaxed);
    assert!(most > 0 && most <= 4 << 20, "{most} bytes asked for at once");
    let reader = Reader::open(ours, latens::Limits::default()).unwrap();
    let number = reader.find("w.weight").unwrap();
    assert!(reader.tensor(number).unwrap() == bytes(rows * cols));
}

/// A file that is written to while it is read would be half of one and half of the other.
#[test]
fn checkpoints_that_change_meanwhile_are_refused() {
    let path =
        std::env::temp_dir().join(format!("latens-{}-changes.safetensors", std::process::id()));
    std::fs::write(&path, sample()).unwrap();
    let compress = |watch: Watch| {
        let checkpoint = Checkpoint::open(&path).unwrap();
        let config = Config::default().watch(watch);
        wcodec::compress_checkpoint(&checkpoint, None, &config, Vec::new())
    };
    assert!(compress(Watch::NONE).is_ok());
    let other = path.clone();
    let error = compress(Watch::new(move |_| {
        let file = std::fs::File::options().append(true).open(&other)?;
        Ok(file.set_modified(std::time::UNIX_EPOCH)?)
    }));
    std::fs::remove_file(&path).unwrap();
    let text = error.unwrap_err().to_string();
    assert!(text.contains("written to while it was read"), "{text}");
}
