//! A watch on checkpoints: told of every tensor and every byte once, by every call, and able to end it.

#![allow(clippy::unwrap_used, reason = "tests")]

mod wcodec_common;

use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::{Config, Reader, compress_checkpoint};
use latens::{Error, Limits, Result, Watch};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use wcodec_common::{Random, safetensors};

/// What was told.
#[derive(Default)]
struct Told {
    names: Vec<String>,
    done: u64,
    steps: usize,
}

impl Told {
    /// How many names there are, and that none came twice.
    fn names(&self) -> usize {
        let all: BTreeSet<&String> = self.names.iter().collect();
        assert_eq!(all.len(), self.names.len());
        all.len()
    }
}

/// A few of so many steps, the first among them.
fn some(steps: usize) -> impl Iterator<Item = usize> {
    (0..steps).step_by((steps / 7).max(1))
}

/// Runs `call` with a watch that ends it with step `last`.
fn told<T>(last: usize, call: impl FnOnce(&Watch) -> Result<T>) -> (Result<T>, Told) {
    let told = Arc::new(Mutex::new(Told::default()));
    let own = Arc::clone(&told);
    let watch = Watch::new(move |step| {
        let mut told = own.lock().unwrap();
        told.steps += 1;
        if told.steps > last {
            return Err(Error::stopped());
        }
        told.done += step.done;
        told.names.extend(step.tensor.map(str::to_owned));
        Ok(())
    });
    let result = call(&watch);
    let told = std::mem::take(&mut *told.lock().unwrap());
    (result, told)
}

/// INT8 and floats, packed INT4 with what belongs to it, an odd one, a copy, and none at all.
fn checkpoint() -> (Checkpoint, usize, u64) {
    let mut random = Random(11);
    let mut bytes = |n: usize| (0..n).map(|_| random.int8(9.0)).collect::<Vec<u8>>();
    let same = bytes(96 * 64);
    let tensors: Vec<(&str, &str, &[u64], Vec<u8>)> = vec![
        ("a.weight", "I8", &[256, 128], bytes(256 * 128)),
        ("a.weight_scale", "BF16", &[256, 1], bytes(512)),
        ("b.weight_packed", "I32", &[64, 16], bytes(64 * 16 * 4)),
        ("b.weight_scale", "BF16", &[64, 1], bytes(128)),
        ("c.weight", "F32", &[3000, 7], bytes(3000 * 7 * 4)),
        ("d.odd", "U8", &[7, 13], bytes(91)),
        ("e.none", "F16", &[0, 4], Vec::new()),
        ("f.same", "I8", &[96, 64], same.clone()),
        ("g.same", "I8", &[96, 64], same),
    ];
    let (count, file) = (tensors.len(), safetensors(&tensors));
    let (name, length) = ("model.safetensors".to_owned(), file.len() as u64);
    let none = |_: &str| Err(Error::invalid("no shards"));
    let read = Checkpoint::read(name, Box::new(file), Quantization::default(), &none).unwrap();
    (read, count, length)
}

#[test]
fn every_call_tells_of_all_and_can_be_ended() {
    let (checkpoint, count, length) = checkpoint();
    for threads in [1, 3] {
        for level in [2, 8, 11] {
            let config = Config::default().level(level).threads(threads).group_symbols(512);
            let compress = |watch: &Watch| {
                let config = config.clone().watch(watch.clone());
                compress_checkpoint(&checkpoint, None, &config, Vec::new())
            };
            let (file, seen) = told(usize::MAX, compress);
            assert_eq!((seen.names(), seen.done), (count, length), "compress, level {level}");
            for last in some(seen.steps) {
                assert!(told(last, compress).0.unwrap_err().is_stopped(), "step {last}");
            }
            let reader = Reader::open(file.unwrap(), Limits::default()).unwrap().threads(threads);
            let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
            let of_tensors: u64 = reader.tensors().map(|(_, tensor)| tensor.length as u64).sum();
            type Call<'a> = &'a dyn Fn(&Reader<Vec<u8>>) -> Result<()>;
            let calls: [(&str, u64, Call<'_>); 5] = [
                ("verify", length, &|reader| reader.verify()),
                ("write_file", length, &|reader| reader.write_file(0, &mut std::io::sink())),
                ("compare", length, &|reader| reader.compare(&checkpoint)),
                ("for_each", of_tensors, &|reader| reader.for_each(&numbers, |_, _| Ok(None))),
                ("tensor", of_tensors, &|reader| {
                    numbers.iter().try_for_each(|&number| reader.tensor(number).map(drop))
                }),
            ];
            for (name, all, call) in calls {
                let (done, seen) = told(usize::MAX, |watch| call(&reader.watched(watch)));
                done.unwrap();
                assert_eq!((seen.names(), seen.done), (count, all), "{name}, level {level}");
                for last in some(seen.steps) {
                    let ended = told(last, |watch| call(&reader.watched(watch))).0.unwrap_err();
                    assert!(ended.is_stopped(), "{name}, step {last}: {ended}");
                }
            }
            // Parts of tensors, and nobody who watches any more.
            let number = reader.find("a.weight").unwrap();
            let (rows, seen) = told(9, |watch| reader.watched(watch).rows(number, 3..9));
            assert!(rows.is_ok() && seen.names == ["a.weight"], "{:?}", seen.names);
            // Decoding ends with the last row that was asked for.
            // With the header, which may tell of its packing.
            assert!((6 * 128..32 * 128).contains(&seen.done), "{}", seen.done);
            reader.verify().unwrap();
        }
    }
}
