//! On a machine with a GPU: what the CPU decodes, the GPU decodes. On others: an error that says so.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod damage;
#[path = "../../latens/tests/common/skipped.rs"]
mod skipped;
#[path = "../../latens/tests/wcodec_common/mod.rs"]
mod wcodec_common;

use latens::Limits;
use latens::wcodec::Reader;
use latens::wcodec::view::Values;
use latens_cuda::{Error, Gpu, GpuReader};
use wcodec_common::samples;

fn gpu() -> Option<Gpu> {
    match Gpu::open(0) {
        Ok(gpu) => Some(gpu),
        Err(Error::GpuUnavailable(why)) => {
            skipped::skipped(&format!("on a GPU: {why}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn no_device_is_an_error() {
    let error = Gpu::open(1 << 20).expect_err("a million GPUs");
    assert!(matches!(error, Error::GpuUnavailable(_)), "{error}");
    assert!(error.to_string().starts_with("no GPU: "), "{error}");
}

#[test]
fn tensors_and_rows() {
    let Some(gpu) = gpu() else { return };
    for mut sample in samples::all(40) {
        sample.config = sample.config.group_symbols(1500);
        let reader = Reader::open(sample.compress(), Limits::default()).unwrap();
        let reader = GpuReader::new(gpu.clone(), reader).batch_bytes(1 << 14);
        for tensor in reader.all().unwrap() {
            let want = reader.reader().tensor(tensor.number).unwrap();
            assert!(tensor.to_host().unwrap() == want, "{}: {}", sample.name, tensor.number);
            let rows = reader.reader().layout(tensor.number).unwrap().rows;
            let range = rows / 3..rows / 2 + 1;
            let want = match reader.reader().rows(tensor.number, range.clone()).unwrap() {
                Values::Signed(values) => values.into_iter().map(i8::cast_unsigned).collect(),
                Values::Unsigned(values) | Values::Words(values) => values,
            };
            let got = reader.rows(tensor.number, range).unwrap();
            let all = reader.reader().tensor(tensor.number).unwrap();
            let (from, to) = (all.len() / 3, all.len() / 2);
            let part = reader.bytes(tensor.number, from as u64..to as u64).unwrap();
            assert!(part.to_host().unwrap() == all[from..to], "{}: bytes", sample.name);
            assert!(got.to_host().unwrap() == want, "{}: {}", sample.name, tensor.number);
        }
    }
}

/// What is damaged gives the bytes or the error that the CPU gives; what is sound, no fault.
#[test]
fn damage_is_an_error() {
    let Some(gpu) = gpu() else { return };
    let (grounds, mut errors) = (damage::apart(), 0);
    for case in 0..damage::cases(300) {
        let (name, file) = damage::damaged(&grounds, case);
        let limits = Limits::default().max_output(1 << 24).max_alloc(1 << 24);
        let Ok(reader) = Reader::open(file, limits) else { continue };
        let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
        let reader = GpuReader::new(gpu.clone(), reader.threads(1));
        for number in numbers {
            let before = reader.fallbacks();
            match (reader.reader().tensor(number), reader.tensors(&[number])) {
                (Ok(want), Ok(got)) => {
                    assert!(got[0].to_host().unwrap() == want, "{name}, case {case}: {number}");
                    assert_eq!(reader.fallbacks(), before, "{name}, case {case}: {number}");
                }
                (Err(_), Err(_)) => errors += 1,
                (want, got) => panic!(
                    "{name}, case {case}: {number}: {:?} of the CPU, {:?} of the GPU",
                    want.err(),
                    got.err()
                ),
            }
        }
    }
    assert!(errors > 10, "{errors} errors");
}
