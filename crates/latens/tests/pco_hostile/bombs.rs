//! Third-party files, and bombs: a few bytes that stand for very many numbers.

use crate::bounded;
use crate::common::counting::peak_of;
use crate::common::fields::Fields;
use crate::common::skipped::vectors;
use crate::written::{CORRUPT, TRUNCATED, U8};
use cpu_time::ThreadTime;
use latens::pco::standalone::Decoder;
use latens::{ErrorKind, Limits, with_number_type};
use std::time::Duration;

#[test]
fn third_party_hostile_files() {
    let Some(folder) = vectors("hostile") else { return };
    let expected = [
        ("abort_asset_v0_1_1_standalone_versioned.pco.havoc.11.pco", TRUNCATED, "the input ends"),
        ("abort_asset_v0_1_1_standalone_versioned.pco.splice.642.pco", CORRUPT, "2 bins"),
        ("abort_asset_v0_3_0_f16.pco.havoc.1101.pco", TRUNCATED, "the input ends"),
        (
            "abort_asset_v0_4_0_lookback_delta.pco.havoc.922.pco",
            CORRUPT,
            "weights of the bins sum to 66",
        ),
        ("abort_asset_v0_4_8_minor_version.pco.blowup.90.pco", CORRUPT, "unknown mode 8"),
        ("abort_asset_v0_4_8_minor_version.pco.splice.10.pco", CORRUPT, "unknown mode 8"),
        ("bigalloc_asset_v1_0_0_i8.pco.havoc.769.pco", CORRUPT, "78 bins"),
        ("bigalloc_asset_v1_0_0_u8.pco.havoc.769.pco", CORRUPT, "78 bins"),
        ("bigalloc_f64_classic_lb.pco.havoc.2773.pco", TRUNCATED, "the input ends"),
        ("bigalloc_f64_fmult_lb.pco.havoc.2773.pco", TRUNCATED, "the input ends"),
        ("bigalloc_u32_intmult_cv.pco.havoc.3350.pco", TRUNCATED, "3171 bins"),
        ("v049_panic_asset_v0_4_8_minor_version.pco.blowup.90.pco", CORRUPT, "unknown mode 8"),
    ];
    for (name, kind, text) in expected {
        let file = std::fs::read(folder.join(name)).unwrap();
        let error = bounded(name, &file, Limits::default()).unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert!(error.to_string().contains(text), "{name}: {error}");
        assert!(error.at().is_some_and(|at| at <= file.len() as u64), "{name}: {error}");
    }
    let bombs = [
        ("bomb_const_i64.pco.blowup.200.pco", 134_217_729),
        ("bomb_const_i64.pco.blowup.215.pco", 134_217_721),
        ("bomb_const_i64.pco.blowup.234.pco", 133_701_441),
    ];
    for (name, bytes) in bombs {
        let file = std::fs::read(folder.join(name)).unwrap();
        let numbers = bounded(name, &file, Limits::default()).unwrap();
        // The figures are of the reference's output file, a byte longer than its numbers.
        let ours = numbers.len() * numbers.number_type().bytes();
        assert!(ours.abs_diff(bytes) <= 8, "{name}: {ours} bytes");
        refused_by_limit(name, &file);
        streams_in_a_megabyte(name, &file, ours as u64);
    }
    let name = "bomb_20chunks.pco";
    let file = std::fs::read(folder.join(name)).unwrap();
    refused_by_limit(name, &file);
    streams_in_a_megabyte(name, &file, 20 << 27);
}

/// With a limit on the output, a bomb is an error that names the limit, soon and cheaply.
fn refused_by_limit(name: &str, file: &[u8]) {
    let start = ThreadTime::now();
    let error = bounded(name, file, Limits::default().max_output(1 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{name}: {error}");
    assert!(error.to_string().contains("max_output = 1048576"), "{name}: {error}");
    assert!(start.elapsed() < Duration::from_millis(100), "{name}: {:?}", start.elapsed());
}

/// A stream of numbers needs no memory for those that have passed.
fn streams_in_a_megabyte(name: &str, file: &[u8], bytes: u64) {
    let start = ThreadTime::now();
    let (total, peak) = peak_of(|| {
        let mut decoder = Decoder::new(file, Limits::default()).unwrap();
        let ty = decoder.number_type().unwrap().unwrap();
        with_number_type!(ty, T => {
            let mut buffer = vec![T::default(); 4096];
            let mut total = 0u64;
            loop {
                match decoder.read(&mut buffer).unwrap() {
                    0 => break total * ty.bytes() as u64,
                    got => total += got as u64,
                }
            }
        })
    });
    assert_eq!(total, bytes, "{name}");
    assert!(peak < 1 << 20, "{name}: {peak} bytes held");
    let most = Duration::from_secs(3 * (1 + (bytes >> 27)));
    assert!(start.elapsed() < most, "{name}: {:?}", start.elapsed());
    println!("{name}: {bytes} bytes streamed in {:?} with {peak} bytes", start.elapsed());
}

/// The smallest bomb: 2^24 numbers from nine bytes of chunk, often.
#[test]
fn bombs_of_ours() {
    let mut fields = Fields::head(0, 1);
    for _ in 0..8 {
        fields = fields.chunk(U8, 1 << 24).field(0, 8).variable(8, 0, &[(1, 7, 0)]).pad();
    }
    let cut = fields.clone().done();
    let file = fields.end();
    // The count hint says 1: it must cost neither the numbers nor much time.
    let numbers = bounded("bomb", &file, Limits::default()).unwrap();
    assert_eq!(numbers.len(), 8 << 24);
    refused_by_limit("bomb", &file);
    streams_in_a_megabyte("bomb", &file, 8 << 24);
    // Without its end it is an error, and has earned nothing.
    let (error, peak) = peak_of(|| latens::pco::decompress_any(&cut, Limits::default()));
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.at()), (TRUNCATED, Some(cut.len() as u64)), "{error}");
    assert!(peak <= (16 << 20) + 4 * cut.len(), "{peak} bytes held");
}
