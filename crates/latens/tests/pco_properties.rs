//! What holds for all numbers and all settings: they come back, however they are read; no file is
//! much larger than its numbers; an error leaves the rest of a buffer alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod common;

use common::numbers::{Random, Shape, make, special_bits};
use common::{difference, modes, without_trailer};
use latens::pco::standalone::{Checksum, Decoder, Encoder};
use latens::pco::wrapped::{FileDecoder, FileEncoder};
use latens::pco::{Config, DeltaSpec, Favor, ModeSpec};
use latens::{AnyNumbers, Error, Latent, Limits, Number, NumberKind, NumberType, with_number_type};
use proptest::prelude::*;
use std::io::Read;

/// Words that proptest can shrink, made to numbers of a type; with bits that break things among
/// them.
fn numbers<T: Number>(words: &[(u64, u8)]) -> Vec<T> {
    let specials = special_bits(T::TYPE);
    let number = |&(word, kind): &(u64, u8)| {
        let bits = match kind % 4 {
            0 => word,
            1 => word % 100,
            2 => specials[word as usize % specials.len()],
            _ => word >> 40 << 3,
        };
        T::from_bits(T::L::truncate(bits))
    };
    words.iter().map(number).collect()
}

fn words(most: usize) -> impl Strategy<Value = Vec<(u64, u8)>> {
    prop_oneof![
        prop::collection::vec((any::<u64>(), any::<u8>()), 0..most),
        // All of one kind, and repeating.
        (prop::collection::vec(any::<u64>(), 1..40), any::<u8>(), 0..most).prop_map(
            |(words, kind, n)| words.iter().cycle().take(n).map(|&w| (w, kind)).collect()
        ),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let mode = prop_oneof![
        Just(ModeSpec::Auto),
        Just(ModeSpec::Classic),
        Just(ModeSpec::Dict),
        (1..=u64::MAX).prop_map(ModeSpec::IntMult),
        (1..300u64).prop_map(ModeSpec::IntMult),
        any::<f64>().prop_map(ModeSpec::FloatMult),
        (-9..9i32).prop_map(|e| ModeSpec::FloatMult(10f64.powi(e))),
        (1..=52u32).prop_map(ModeSpec::FloatQuant),
    ];
    let delta = prop_oneof![
        Just(DeltaSpec::Auto),
        Just(DeltaSpec::None),
        (1..=7u32, any::<bool>())
            .prop_map(|(order, secondary)| DeltaSpec::Consecutive { order, secondary }),
        (prop::option::of(1..=16u32), 0..=8u32, any::<bool>()).prop_map(
            |(window_log, state_log, secondary)| DeltaSpec::Lookback {
                window_log,
                state_log,
                secondary
            }
        ),
        (1..=32usize).prop_map(|order| DeltaSpec::Conv1 { order }),
    ];
    let favor = prop_oneof![Just(Favor::Speed), Just(Favor::Balanced), Just(Favor::Size)];
    (mode, delta, favor, 0..=12u32, 1..2000usize, any::<bool>()).prop_map(
        |(mode, delta, favor, level, chunk_n, checksum)| {
            let config = Config::default().mode(mode).delta(delta).favor(favor);
            config.level(level).chunk_n(chunk_n).checksum(checksum)
        },
    )
}

fn number_type() -> impl Strategy<Value = NumberType> {
    prop::sample::select(&NumberType::ALL[..])
}

/// The setting if it fits the type, else the nearest that does.
fn fitting(ty: NumberType, config: Config) -> Config {
    if config.validate(ty).is_ok() {
        return config;
    }
    let auto = config.clone().mode(ModeSpec::Auto);
    if auto.validate(ty).is_ok() { auto } else { auto.delta(DeltaSpec::Auto) }
}

/// A reader that gives few bytes at a time.
struct Trickle<'a> {
    bytes: &'a [u8],
    random: Random,
    most: usize,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.random.below(9) == 0 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let n = (1 + self.random.below(self.most)).min(buffer.len()).min(self.bytes.len());
        buffer[..n].copy_from_slice(&self.bytes[..n]);
        self.bytes = &self.bytes[n..];
        Ok(n)
    }
}

/// All numbers of a file, read in pieces of all sizes from a reader.
fn in_pieces<T: Number>(reader: impl Read, seed: u64) -> latens::Result<(Vec<T>, Checksum)> {
    let mut decoder = Decoder::new(reader, Limits::default())?;
    let mut random = Random(seed);
    let mut out = Vec::new();
    loop {
        let size = *random.pick(&[1, 1, 2, 3, 100, 255, 256, 257, 600, 5000]);
        let mut piece = vec![T::default(); size];
        let got = decoder.read(&mut piece)?;
        out.extend_from_slice(&piece[..got]);
        if got < size {
            return Ok((out, decoder.finish()?.checksum));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whole, in pieces, from a reader that gives a byte at a time, into a shorter buffer.
    #[test]
    fn numbers_come_back_however_they_are_read(
        ty in number_type(),
        words in words(1500),
        config in config(),
        seed in any::<u64>(),
    ) {
        let config = fitting(ty, config);
        with_number_type!(ty, T => {
            let numbers: Vec<T> = numbers(&words);
            let file = latens::pco::compress(&numbers, &config).unwrap();
            let whole = latens::pco::decompress::<T>(&file).unwrap();
            prop_assert_eq!(difference(&whole, &numbers), None);

            let (pieces, _) = in_pieces::<T>(&file[..], seed).unwrap();
            prop_assert_eq!(difference(&pieces, &numbers), None);

            let most = if seed % 2 == 0 { 1 } else { 100 };
            let trickle = Trickle { bytes: &file, random: Random(seed), most };
            let (trickled, checksum) = in_pieces::<T>(trickle, seed).unwrap();
            prop_assert_eq!(difference(&trickled, &numbers), None);
            let chunks = numbers.len().div_ceil(config.chunk_len());
            let has = file.ends_with(b"LATENSC1");
            prop_assert_eq!(checksum, if has { Checksum::Verified } else { Checksum::Absent });

            let any = latens::pco::decompress_any(&file, Limits::default()).unwrap();
            prop_assert!(any == AnyNumbers::from(numbers.clone()) || numbers.is_empty());

            let room = seed as usize % (numbers.len() + 10);
            let mut into = vec![T::default(); room];
            let done = latens::pco::decompress_into(&file, &mut into).unwrap();
            prop_assert_eq!(done.count, room.min(numbers.len()));
            prop_assert_eq!(done.finished, room >= numbers.len());
            prop_assert_eq!(difference(&into[..done.count], &numbers[..done.count]), None);

            if has {
                let plain = without_trailer(&file, chunks);
                let whole = latens::pco::decompress::<T>(plain).unwrap();
                prop_assert_eq!(difference(&whole, &numbers), None);
            }
        });
    }

    /// Pages of any lengths, decoded in any order by several threads.
    #[test]
    fn pages_are_independent(
        ty in number_type(),
        words in words(1200),
        config in config(),
        cuts in prop::collection::vec(1..500usize, 0..8),
    ) {
        let config = fitting(ty, config);
        with_number_type!(ty, T => {
            let numbers: Vec<T> = numbers(&words);
            let mut lens = Vec::new();
            let mut left = numbers.len();
            for cut in cuts {
                if cut < left {
                    lens.push(cut);
                    left -= cut;
                }
            }
            lens.extend((left > 0).then_some(left));
            let encoder = FileEncoder::new(config);
            let chunk = encoder.chunk_encoder(&numbers, &lens).unwrap();
            let mut meta = Vec::new();
            encoder.write_header(&mut meta).unwrap();
            chunk.write_meta(&mut meta).unwrap();
            let (decoder, at) = FileDecoder::new(&meta, Limits::default()).unwrap();
            let (decoder, used) = decoder.chunk_decoder::<T>(&meta[at..]).unwrap();
            prop_assert_eq!(at + used, meta.len());
            let mut out = vec![T::default(); numbers.len()];
            std::thread::scope(|scope| {
                let mut rest = &mut out[..];
                for (page, &n) in lens.iter().enumerate() {
                    let (dst, tail) = rest.split_at_mut(n);
                    rest = tail;
                    let (chunk, decoder) = (&chunk, &decoder);
                    scope.spawn(move || {
                        let mut bytes = Vec::new();
                        let written = chunk.write_page(page, &mut bytes).unwrap();
                        bytes.extend([0xab; 5]);
                        assert_eq!(decoder.decode_page(&bytes, dst).unwrap(), written);
                    });
                }
            });
            prop_assert_eq!(difference(&out, &numbers), None);
        });
    }

    /// After an error, nothing behind the numbers that it reports has changed, and those are right.
    #[test]
    fn an_error_leaves_the_rest_of_the_buffer_alone(
        ty in number_type(),
        words in words(1500),
        config in config(),
        seed in any::<u64>(),
    ) {
        let config = fitting(ty, config);
        with_number_type!(ty, T => {
            let numbers: Vec<T> = numbers(&words);
            let mut file = latens::pco::compress(&numbers, &config.clone().checksum(false)).unwrap();
            file.truncate(seed as usize % file.len());
            let marks: Vec<T> = make(Shape::Random, numbers.len() + 300, seed);
            let untouched = |dst: &[T], error: &Error| {
                let count = error.values_before().unwrap_or(0) as usize;
                assert_eq!(difference(&dst[..count], &numbers[..count]), None);
                assert_eq!(difference(&dst[count..], &marks[count..]), None);
            };
            let mut dst = marks.clone();
            let error = latens::pco::decompress_into(&file, &mut dst).unwrap_err();
            untouched(&dst, &error);
            if let Ok(mut decoder) = Decoder::new(&file[..], Limits::default()) {
                let mut dst = marks.clone();
                let error = decoder.read(&mut dst).unwrap_err();
                untouched(&dst, &error);
            }
        });
    }
}

/// A chunk of no numbers and no pages has metadata that a reader takes, with every delta encoding.
#[test]
fn chunks_without_pages() {
    for delta in common::deltas() {
        for mode in modes(NumberType::U32) {
            let config = Config::default().mode(mode).delta(delta);
            let chunk = FileEncoder::new(config).chunk_encoder::<u32>(&[], &[]).unwrap();
            let mut meta = vec![4, 1];
            let written = chunk.write_meta(&mut meta).unwrap();
            let (decoder, at) = FileDecoder::new(&meta, Limits::default()).unwrap();
            let (decoder, used) = decoder.chunk_decoder::<u32>(&meta[at..]).unwrap();
            assert_eq!(used, written, "{mode} {delta}");
            assert_eq!(decoder.delta_encoding(), chunk.delta_encoding());
        }
    }
}

/// A writer that fails hands its error on; chunks of another type are refused.
#[test]
fn writers_that_fail() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let n = bytes.len().min(self.0);
            self.0 -= n;
            if n == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(n) }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let numbers: Vec<i32> = (0..3000).map(|i| i * i % 1009).collect();
    let config = Config::default().chunk_n(1000);
    let whole = latens::pco::compress(&numbers, &config).unwrap().len();
    for room in 0..=whole {
        let write = || {
            let mut encoder = Encoder::new(Full(room), NumberType::I32, 3000, &config)?;
            for chunk in numbers.chunks(1000) {
                encoder.write_chunk(chunk)?;
            }
            encoder.finish()
        };
        match write() {
            Ok(_) => assert_eq!(room, whole),
            Err(error) => assert_eq!(error.kind(), latens::ErrorKind::Io, "{error}"),
        }
    }
    let mut encoder = Encoder::new(Vec::new(), NumberType::I32, 0, &config).unwrap();
    let error = encoder.write_chunk(&[1u32]).unwrap_err();
    assert_eq!(error.kind(), latens::ErrorKind::InvalidArgument);
    assert!(encoder.write_chunk::<i32>(&[]).is_err());
}

/// A reader that fails is an I/O error, at whatever byte it fails.
#[test]
fn readers_that_fail() {
    struct Broken<'a>(&'a [u8]);
    impl Read for Broken<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::ErrorKind::ConnectionReset.into()),
                n => Ok(n),
            }
        }
    }
    let numbers: Vec<i32> = (0..3000).map(|i| i * i % 1009).collect();
    let file = latens::pco::compress(&numbers, &Config::default().chunk_n(1000)).unwrap();
    for len in 0..file.len() {
        let error = in_pieces::<i32>(Broken(&file[..len]), 1).unwrap_err();
        assert_eq!(error.kind(), latens::ErrorKind::Io, "{len}: {error}");
    }
}

/// Bytes above the raw ones, and the same without the checksum trailer.
fn excess<T: Number>(numbers: &[T], config: &Config) -> (i64, i64) {
    let raw = (numbers.len() * T::TYPE.bytes()) as i64;
    let file = latens::pco::compress(numbers, config).unwrap();
    let trailer = 20 + 16 * numbers.len().div_ceil(config.chunk_len());
    (file.len() as i64 - raw, (file.len() - trailer) as i64 - raw)
}

/// Random numbers of every type never take more than 0.1 % + 64 bytes above their raw bytes, at any
/// level, the checksum trailer included.
#[test]
fn incompressible_numbers_stay_within_a_thousandth_and_64_bytes() {
    fn check<T: Number>(worst: &mut Vec<String>) {
        let sizes = [
            0,
            1,
            2,
            3,
            7,
            20,
            64,
            100,
            255,
            256,
            257,
            1000,
            4096,
            10_000,
            65_536,
            1 << 18,
            300_000,
        ];
        let (mut most, mut most_with) = ((i64::MIN, 0, 0), (i64::MIN, 0, 0));
        for n in sizes {
            let all: Vec<T> = make(Shape::Random, n, n as u64);
            for level in 0..=12 {
                if n > 5000 && ![0, 8, 12].contains(&level) {
                    continue;
                }
                let (with, without) = excess(&all, &Config::default().level(level));
                let bar = (n * T::TYPE.bytes()) as i64 / 1000 + 64;
                if with > bar {
                    worst.push(format!("{} n={n} level {level}: {with} above raw", T::TYPE));
                }
                most = most.max((without - bar, n, level));
                most_with = most_with.max((with - bar, n, level));
            }
        }
        println!(
            "{}: nearest to the bar {most:?} (bytes over it, n, level), with trailer {most_with:?}",
            T::TYPE
        );
    }
    let mut worst = Vec::new();
    for ty in NumberType::ALL {
        with_number_type!(ty, T => check::<T>(&mut worst));
    }
    assert!(worst.is_empty(), "{}", worst.join("\n"));
}

/// The same for every shape of numbers that the tests know, and Classic without deltas.
#[test]
fn no_numbers_take_much_more_than_their_bytes() {
    fn check<T: Number>(worst: &mut Vec<String>) {
        for shape in Shape::ALL {
            for n in [1, 2, 5, 30, 100, 300, 1000, 5000] {
                for (level, mode, delta) in [
                    (8, ModeSpec::Auto, DeltaSpec::Auto),
                    (0, ModeSpec::Auto, DeltaSpec::Auto),
                    (3, ModeSpec::Auto, DeltaSpec::Auto),
                    (12, ModeSpec::Auto, DeltaSpec::Auto),
                    (8, ModeSpec::Classic, DeltaSpec::None),
                    (0, ModeSpec::Classic, DeltaSpec::None),
                    (12, ModeSpec::Classic, DeltaSpec::None),
                ] {
                    let config = Config::default().level(level).mode(mode).delta(delta);
                    let all: Vec<T> = make(shape, n, n as u64);
                    let (_, without) = excess(&all, &config);
                    if without > (n * T::TYPE.bytes()) as i64 / 1000 + 64 {
                        worst.push(format!(
                            "{} {shape:?} n={n} level {level} {mode} {delta}: {without} above raw",
                            T::TYPE
                        ));
                    }
                }
            }
        }
    }
    let mut worst = Vec::new();
    for ty in NumberType::ALL {
        with_number_type!(ty, T => check::<T>(&mut worst));
    }
    assert!(worst.is_empty(), "{} cases\n{}", worst.len(), worst.join("\n"));
}

/// What a caller forces on numbers that do not fit it costs what it costs, but not without bound:
/// two latents and their metadata for a number at most.
#[test]
fn forced_settings_have_bounds_too() {
    for ty in NumberType::ALL {
        with_number_type!(ty, T => {
            let all: Vec<T> = make(Shape::Random, 2500, 1);
            for mode in modes(ty) {
                for delta in common::deltas().into_iter().step_by(3) {
                    let config = Config::default().mode(mode).delta(delta).level(4);
                    if config.validate(ty).is_err() {
                        continue;
                    }
                    let raw = (all.len() * ty.bytes()) as i64;
                    let (_, without) = excess(&all, &config);
                    assert!(without < raw * 3 / 2 + 140_000, "{ty} {mode} {delta}: {without}");
                }
            }
        });
    }
}

/// The kinds of numbers are what the tables of the tests take them for.
#[test]
fn kinds_of_types() {
    let floats = NumberType::ALL.into_iter().filter(|t| t.kind() == NumberKind::Float);
    assert_eq!(floats.map(NumberType::mantissa_bits).collect::<Vec<_>>(), [10, 23, 52]);
}
