//! Standalone Pco: whole, in pieces, into a buffer, on two threads, looked into.

use super::{LIFTED, MAX_OUTPUT, Verdict, refused};
use crate::common::difference;
use crate::measure::measured;
use crate::random::digest;
use latens::pco::standalone::Decoder;
use latens::{Limits, Number, with_number_type};
use std::io::Read;

/// The bytes are a file; the selector is not used.
pub fn body(_: u8, file: &[u8]) -> Verdict {
    let limits = Limits::default().max_output(MAX_OUTPUT);
    let decoded = measured(|| latens::pco::decompress_any(file, limits));
    let number_type = Decoder::new(file, limits).and_then(|mut d| d.number_type());
    if let Ok(Some(ty)) = number_type {
        with_number_type!(ty, T => ways::<T>(file, limits));
    }
    let _ = latens::pco::inspect(file, limits);
    match decoded {
        Ok(numbers) => {
            let bytes = numbers.to_le_bytes();
            let seed = u64::from(numbers.number_type().pco_byte());
            Verdict::Accepted { digest: digest(seed, &bytes), bytes: bytes.len() }
        }
        Err(error) => refused(&error, file.len()),
    }
}

/// The same file without the limit, into a buffer.
pub fn lifted(_: u8, file: &[u8]) -> Option<usize> {
    let ty = Decoder::new(file, Limits::default()).ok()?.number_type().ok()??;
    with_number_type!(ty, T => {
        let mut buffer = vec![T::default(); LIFTED / ty.bytes()];
        let done = measured(|| latens::pco::decompress_into(file, &mut buffer));
        Some(done.ok()?.count * ty.bytes())
    })
}

/// A reader that gives three bytes at a time.
struct Few<'a>(&'a [u8]);

impl Read for Few<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(3);
        self.0.read(&mut buffer[..n])
    }
}

/// A number that decoding rarely gives.
pub fn marker<T: Number>() -> T {
    use latens::Latent;
    T::from_bits(T::L::truncate(0xa5c3_96e1_5aa5_3c69))
}

/// Nothing behind `count` has changed.
pub fn untouched<T: Number>(buffer: &[T], count: usize) {
    let marker = marker::<T>().to_bits();
    let changed = buffer[count..].iter().position(|x| x.to_bits() != marker);
    assert_eq!(changed, None, "a write behind the {count} numbers that were reported");
}

/// Every way to read gives the same numbers, and leaves alone what it does not report.
fn ways<T: Number>(file: &[u8], limits: Limits) {
    let whole = latens::pco::decompress_with::<T>(file, limits, 1, &latens::Watch::NONE);
    let count = whole.as_ref().map_or(300, Vec::len).min(4000);
    let room = if file.len().is_multiple_of(2) { count + 9 } else { count / 2 };
    let mut buffer = vec![marker::<T>(); room];
    let reported = match latens::pco::decompress_into(file, &mut buffer) {
        Ok(done) => {
            assert!(done.count <= room, "{} numbers in {room} places", done.count);
            if let Ok(numbers) = &whole {
                assert_eq!(done.finished, done.count == numbers.len(), "finished");
                assert_eq!(difference(&buffer[..done.count], &numbers[..done.count]), None);
            }
            done.count
        }
        Err(error) => {
            assert!(whole.is_err() || error.is_limit(), "decompress_into alone says {error}");
            error.values_before().unwrap_or(0) as usize
        }
    };
    untouched(&buffer, reported);
    if let Ok(numbers) = &whole {
        assert_eq!(streamed::<T>(file, limits, numbers.len()), bits(numbers), "streamed");
        if file.len() % 32 == 5 {
            let parallel =
                latens::pco::decompress_with::<T>(file, limits, 2, &latens::Watch::NONE).unwrap();
            assert_eq!(difference(&parallel, numbers), None, "on two threads");
        }
    }
}

fn bits<T: Number>(numbers: &[T]) -> Vec<T::L> {
    crate::common::bits(numbers)
}

fn streamed<T: Number>(file: &[u8], limits: Limits, most: usize) -> Vec<T::L> {
    let mut decoder = Decoder::new(Few(file), limits).expect("it was read before");
    let mut piece = [marker::<T>(); 77];
    let mut out = Vec::new();
    loop {
        piece.fill(marker());
        let got = decoder.read(&mut piece).expect("it was read before");
        untouched(&piece, got);
        out.extend(piece[..got].iter().map(|x| x.to_bits()));
        assert!(out.len() <= most, "more numbers than before");
        if got == 0 {
            decoder.finish().expect("it was finished before");
            assert!(decoder.position() <= file.len() as u64);
            return out;
        }
    }
}
