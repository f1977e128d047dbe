//! What holds for all numbers and all settings: they come back, however they are read; no file is
//! much larger than its numbers; an error leaves the rest of a buffer alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod bounds;
#[path = "../common/mod.rs"]
mod common;
mod failing;

use common::numbers::{Random, Shape, make, special_bits};
use common::{difference, without_trailer};
use latens::pco::standalone::{Checksum, Decoder};
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
        (1..2000u64).prop_map(ModeSpec::Trend),
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

/// The kinds of numbers are what the tables of the tests take them for.
#[test]
fn kinds_of_types() {
    let floats = NumberType::ALL.into_iter().filter(|t| t.kind() == NumberKind::Float);
    assert_eq!(floats.map(NumberType::mantissa_bits).collect::<Vec<_>>(), [10, 23, 52]);
}
