//! Work on several threads: the same results on any number of them, and a panic in one worker ends
//! the call, it never hangs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

#[path = "common/skipped.rs"]
mod skipped;
mod wcodec_common;

use latens::Limits;
use latens::wcodec::Reader;
use latens::wcodec::checkpoint::{Checkpoint, Quantization, ReadAt};
use latens::wcodec::{Config, compress_checkpoint};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use wcodec_common::{Random, safetensors};

/// A source that panics at its `at`th read, in whichever thread that is.
struct Trap {
    bytes: Vec<u8>,
    reads: AtomicUsize,
    at: usize,
}

impl ReadAt for Trap {
    fn size(&self) -> std::io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        assert!(self.reads.fetch_add(1, Ordering::Relaxed) != self.at, "a trap");
        self.bytes.read_exact_at(buf, offset)
    }
}

/// Traps are meant to be.
fn quiet_traps() {
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref::<&str>() != Some(&"a trap") {
            eprintln!("{info}");
        }
    }));
}

/// Runs `f` on a thread of its own; `None` where it panics. Fails where it does not end.
fn ends<V: Send + 'static>(what: &str, f: impl FnOnce() -> V + Send + 'static) -> Option<V> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = sender.send(catch_unwind(AssertUnwindSafe(f)).ok());
    });
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{what} hangs: {error}"),
    }
}

fn checkpoint_bytes() -> Vec<u8> {
    let mut random = Random(5);
    let mut int8 = |n| (0..n).map(|_| random.int8(9.0)).collect::<Vec<u8>>();
    let tensors: Vec<(String, Vec<u8>)> =
        (0..12).map(|i| (format!("layer.{i}.weight"), int8(64 * 48))).collect();
    let shape: &[u64] = &[64, 48];
    let tensors: Vec<_> =
        tensors.iter().map(|(name, bytes)| (&**name, "I8", shape, bytes.clone())).collect();
    safetensors(&tensors)
}

fn config(threads: usize) -> Config {
    Config::default().threads(threads).group_symbols(512)
}

fn compress(source: Box<dyn ReadAt>, threads: usize) -> latens::Result<Vec<u8>> {
    let none = |_: &str| Err(latens::Error::invalid("no shards"));
    let name = "model.safetensors".to_owned();
    let checkpoint = Checkpoint::read(name, source, Quantization::default(), &none)?;
    compress_checkpoint(&checkpoint, None, &config(threads), Vec::new())
}

#[test]
fn a_panic_in_one_worker_ends_compression() {
    quiet_traps();
    let bytes = checkpoint_bytes();
    let whole = compress(Box::new(bytes.clone()), 1).unwrap();
    let (mut panics, mut at) = (0, 0);
    loop {
        let bytes = bytes.clone();
        let trap = Box::new(Trap { bytes, reads: AtomicUsize::new(0), at });
        match ends("compression", move || compress(trap, 4)) {
            None | Some(Err(_)) => panics += 1,
            Some(Ok(file)) => {
                assert!(file == whole, "other bytes on four threads");
                break;
            }
        }
        at += 1;
    }
    println!("{panics} reads were traps");
    assert!(panics > 0);
}

#[test]
fn a_panic_in_one_worker_ends_reading() {
    quiet_traps();
    let file = compress(Box::new(checkpoint_bytes()), 2).unwrap();
    let (mut panics, mut at) = (0, 0);
    loop {
        let bytes = file.clone();
        let read = move || {
            let trap = Trap { bytes, reads: AtomicUsize::new(0), at };
            let reader = Reader::open(trap, Limits::default())?.threads(4);
            reader.verify()?;
            let mut back = Vec::new();
            reader.write_file(0, &mut back)?;
            latens::Result::Ok(back)
        };
        match ends("reading", read) {
            None | Some(Err(_)) => panics += 1,
            Some(Ok(back)) => {
                assert!(back == checkpoint_bytes());
                break;
            }
        }
        at += 1;
    }
    println!("{panics} reads were traps");
    assert!(panics > 0);
}

/// Large tensors in pieces, one in words between small ones: the same bytes and errors on any number of threads.
#[test]
fn files_are_written_alike_on_many_threads() {
    let mut random = Random(6);
    let mut int8 = |n| (0..n).map(|_| random.int8(9.0)).collect::<Vec<u8>>();
    let small = int8(64 * 48);
    let tensors: Vec<(&str, &str, &[u64], Vec<u8>)> = vec![
        ("a.small", "I8", &[64, 48], small.clone()),
        ("b.large", "I8", &[1500, 1536], int8(1500 * 1536)),
        ("c.small", "I8", &[48, 64], small),
        ("d.words", "I16", &[1050, 1024], int8(1050 * 1024 * 2)),
        ("e.weight_packed", "I32", &[2100, 256], int8(2100 * 256 * 4)),
        ("e.weight_scale", "BF16", &[2100, 16], int8(2100 * 16 * 2)),
    ];
    let bytes = safetensors(&tensors);
    let none = |_: &str| Err(latens::Error::invalid("no shards"));
    let name = "model.safetensors".to_owned();
    let checkpoint =
        Checkpoint::read(name, Box::new(bytes.clone()), Quantization::default(), &none).unwrap();
    let config = Config::default().threads(2).level(4).group_symbols(1 << 15);
    let mut file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    let write = |file: &[u8], threads| {
        let reader = Reader::open(file.to_vec(), Limits::default()).unwrap().threads(threads);
        let mut back = Vec::new();
        let done = reader.write_file(0, &mut back).map_err(|e| e.to_string());
        // What is kept for the next file does no harm to it.
        let mut again = Vec::new();
        assert_eq!(reader.write_file(0, &mut again).map_err(|e| e.to_string()), done);
        assert!(back == again || done.is_err());
        (done, back)
    };
    for threads in [1, 2, 3, 8] {
        let (done, back) = write(&file, threads);
        assert!(done.is_ok() && back == bytes, "{threads} threads: {done:?}");
    }
    for part in 1..12 {
        let at = file.len() * part / 13;
        file[at] ^= 0x10;
        let (one, _) = write(&file, 1);
        for threads in [2, 3, 8] {
            let (many, back) = write(&file, threads);
            assert_eq!(many, one, "byte {at} on {threads} threads");
            assert!(bytes.starts_with(&back));
        }
        file[at] ^= 0x10;
    }
}

/// Limits and errors are those of one thread.
#[test]
fn pco_on_many_threads_says_the_same() {
    let numbers: Vec<u32> = (0..40_000u32).map(|i| i.wrapping_mul(77) % 10_007).collect();
    let config = latens::pco::Config::default().chunk_n(3000);
    let mut file = latens::pco::compress(&numbers, &config).unwrap();
    let limits = Limits::default();
    for at in (0..file.len()).step_by(97) {
        file[at] ^= 0x10;
        let one = latens::pco::decompress_with::<u32>(&file, limits, 1, &latens::Watch::NONE);
        let bytes = file.clone();
        let many = ends("decompression", move || {
            latens::pco::decompress_with::<u32>(&bytes, limits, 4, &latens::Watch::NONE)
        });
        let many = many.expect("no panic");
        assert_eq!(one.map_err(|e| e.to_string()), many.map_err(|e| e.to_string()), "byte {at}");
        file[at] ^= 0x10;
    }
}

/// Where the child of the next test finds out that it is one.
const REFUSED: &str = "LATENS_THREADS_REFUSED";

/// The system refuses all threads but so many, as strace makes it.
#[test]
fn threads_that_are_refused() {
    let name = "threads_that_are_refused";
    if std::env::var_os(REFUSED).is_some() {
        return work_of_many_threads();
    }
    for granted in [0, 1, 2, 5] {
        let refuse = format!("inject=?clone,?clone3:error=EAGAIN:when={}+", granted + 1);
        let child = Command::new("strace")
            .args(["-f", "-qq", "-e", "trace=?clone,?clone3", "-e", &refuse])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name, "--test-threads", "1", "--nocapture"])
            .env(REFUSED, "1")
            .output();
        match child {
            Ok(child) => {
                let said = String::from_utf8_lossy(&child.stderr);
                if !said.contains("(INJECTED)") && said.contains("ptrace") {
                    let said = format!("refused threads: strace does not run here: {said}");
                    return skipped::skipped(&said);
                }
                assert!(child.status.success() && said.contains("(INJECTED)"), "{said}");
            }
            Err(error) => {
                let said = format!("refused threads: strace does not run here: {error}");
                return skipped::skipped(&said);
            }
        }
    }
}

fn work_of_many_threads() {
    let numbers: Vec<u32> = (0..40_000u32).map(|i| i.wrapping_mul(77) % 10_007).collect();
    for checksum in [true, false] {
        let config = latens::pco::Config::default().chunk_n(3000).checksum(checksum);
        let one = latens::pco::compress(&numbers, &config).unwrap();
        let file = latens::pco::compress_with(&numbers, &config, 8, &latens::Watch::NONE).unwrap();
        assert!(file == one);
        let limits = Limits::default();
        let back =
            latens::pco::decompress_with::<u32>(&file, limits, 8, &latens::Watch::NONE).unwrap();
        assert!(back == numbers);
    }
    let file = compress(Box::new(checkpoint_bytes()), 8).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap().threads(8);
    reader.verify().unwrap();
    let mut back = Vec::new();
    reader.write_file(0, &mut back).unwrap();
    assert!(back == checkpoint_bytes());
}

/// Whoever watches panics, in whichever thread that is.
#[test]
fn a_panic_in_one_worker_ends_pco() {
    quiet_traps();
    let numbers: Vec<u32> = (0..40_000u32).map(|i| i.wrapping_mul(77) % 10_007).collect();
    for checksum in [true, false] {
        let config = latens::pco::Config::default().chunk_n(3000).checksum(checksum);
        let file = latens::pco::compress(&numbers, &config).unwrap();
        for at in 0..14 {
            let calls = AtomicUsize::new(0);
            let trap = latens::Watch::new(move |_| {
                assert!(calls.fetch_add(1, Ordering::Relaxed) != at, "a trap");
                Ok(())
            });
            let (numbers, config) = (numbers.clone(), config.clone());
            let made = ends("compression", move || {
                latens::pco::compress_with(&numbers, &config, 4, &trap)
            });
            assert!(made.is_none(), "call {at}");
            // A chunk whose thread ended is decoded once more, in order.
            let (bytes, calls) = (file.clone(), AtomicUsize::new(0));
            let trap = latens::Watch::new(move |_| {
                assert!(calls.fetch_add(1, Ordering::Relaxed) != at, "a trap");
                Ok(())
            });
            let made = ends("decompression", move || {
                latens::pco::decompress_with::<u32>(&bytes, Limits::default(), 4, &trap)
            });
            assert!(made.is_none_or(|made| made.unwrap().len() == 40_000), "call {at}");
        }
    }
}
