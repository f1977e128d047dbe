//! Parquet's three delta encodings.

use super::{LIFTED, MAX_OUTPUT, Verdict, refused};
use crate::measure::measured;
use crate::random::digest;
use latens::delta_binary_packed::{
    ByteArrays, Decoder, Element, Options, decode, decode_into, decode_with, delta_byte_array,
    delta_length_byte_array, header, inspect,
};
use latens::{Error, Limits, Watch};

/// Type in the low two bits of the selector, strict reading in the third.
pub fn numbers(selector: u8, page: &[u8]) -> Verdict {
    let options = if selector & 4 == 0 { Options::default() } else { Options::STRICT };
    match selector & 3 {
        0 => typed(page, options, -77i32, |x| x.to_le_bytes().to_vec()),
        1 => typed(page, options, -77i64, |x| x.to_le_bytes().to_vec()),
        2 => typed(page, options, 77u32, |x| x.to_le_bytes().to_vec()),
        _ => typed(page, options, 77u64, |x| x.to_le_bytes().to_vec()),
    }
}

/// The same page without the limit, into a buffer.
pub fn numbers_lifted(selector: u8, page: &[u8]) -> Option<usize> {
    fn typed<T: Element>(page: &[u8], options: Options) -> Option<usize> {
        let mut buffer = vec![T::default(); LIFTED / size_of::<T>()];
        let done = measured(|| decode_into(page, &mut buffer, options));
        Some(done.ok()?.count * size_of::<T>())
    }
    let options = if selector & 4 == 0 { Options::default() } else { Options::STRICT };
    match selector & 3 {
        0 => typed::<i32>(page, options),
        1 => typed::<i64>(page, options),
        2 => typed::<u32>(page, options),
        _ => typed::<u64>(page, options),
    }
}

fn typed<T: Element + PartialEq + std::fmt::Debug>(
    page: &[u8],
    options: Options,
    marker: T,
    to_bytes: fn(&T) -> Vec<u8>,
) -> Verdict {
    let limits = Limits::default().max_output(MAX_OUTPUT);
    let decoded = measured(|| decode::<T>(page, limits, options));
    into_a_buffer(page, options, marker, decoded.as_ref().ok());
    on_threads(page, options, &decoded);
    match decoded {
        Ok((values, consumed)) => {
            assert!(consumed <= page.len(), "{consumed} bytes of {}", page.len());
            in_steps(page, options, &values, consumed);
            assert_eq!(inspect(page).map(|report| report.consumed).ok(), Some(consumed));
            let bytes: Vec<u8> = values.iter().flat_map(to_bytes).collect();
            Verdict::Accepted { digest: digest(0, &bytes), bytes: bytes.len() }
        }
        Err(error) => refused(&error, page.len()),
    }
}

/// What is reported is written, and nothing else; a buffer of any room does.
fn into_a_buffer<T: Element + PartialEq + std::fmt::Debug>(
    page: &[u8],
    options: Options,
    marker: T,
    values: Option<&(Vec<T>, usize)>,
) {
    let room = values.map_or(700, |v| v.0.len()) + page.len() % 7;
    let mut buffer = vec![marker; room];
    let count = match decode_into(page, &mut buffer, options) {
        Ok(done) => {
            assert!(done.consumed <= page.len());
            done.count
        }
        Err(error) => {
            assert!(values.is_none(), "decode_into alone says {error}");
            error.values_before().unwrap_or(0) as usize
        }
    };
    assert!(buffer[count..].iter().all(|x| *x == marker), "a write behind {count} values");
    if let Some((values, _)) = values {
        assert!(buffer[..count] == values[..], "decode_into gives other values");
    }
}

/// Long streams say the same on two threads; short ones are decoded by one anyhow.
fn on_threads<T: Element + PartialEq + std::fmt::Debug>(
    page: &[u8],
    options: Options,
    decoded: &latens::Result<(Vec<T>, usize)>,
) {
    if header(page).map_or(0, |header| header.total_count) <= 1 << 16 {
        return;
    }
    let limits = Limits::default().max_output(MAX_OUTPUT);
    match (decoded, decode_with::<T>(page, limits, options, 2, &Watch::NONE)) {
        (Ok(one), Ok(two)) => assert!(*one == two, "other values on two threads"),
        (Err(one), Err(two)) => assert_eq!(one.to_string(), two.to_string()),
        (one, two) => panic!("one thread says {:?}, two say {:?}", one.is_ok(), two.is_ok()),
    }
}

/// Skipping some, reading some, to the same end.
fn in_steps<T: Element + PartialEq>(page: &[u8], options: Options, values: &[T], consumed: usize) {
    let mut decoder = Decoder::<T>::new(page, options).expect("it was read before");
    let skip = values.len() / 3;
    assert_eq!(decoder.skip(skip as u64).expect("it was read before"), skip as u64);
    let mut some = vec![T::default(); values.len() - skip];
    let got = decoder.read(&mut some).expect("it was read before");
    assert!(some[..got] == values[skip..], "other values behind a skip");
    assert_eq!(decoder.consumed(), consumed);
}

/// DELTA_LENGTH_BYTE_ARRAY; the selector's lowest bit is strict reading.
pub fn lengths(selector: u8, page: &[u8]) -> Verdict {
    verdict(page, strings_of_lengths(selector, page, MAX_OUTPUT))
}

/// The same page with a limit that is further away.
pub fn lengths_lifted(selector: u8, page: &[u8]) -> Option<usize> {
    strings_of_lengths(selector, page, LIFTED as u64).ok().map(|(strings, _)| bytes(&strings))
}

fn strings_of_lengths(selector: u8, page: &[u8], most: u64) -> Decoded<'_> {
    let limits = Limits::default().max_output(most);
    measured(|| delta_length_byte_array::decode(page, limits, options(selector)))
}

/// DELTA_BYTE_ARRAY; the selector's lowest bit is strict reading.
pub fn prefixes(selector: u8, page: &[u8]) -> Verdict {
    verdict(page, strings_of_prefixes(selector, page, MAX_OUTPUT))
}

/// The same page with a limit that is further away.
pub fn prefixes_lifted(selector: u8, page: &[u8]) -> Option<usize> {
    strings_of_prefixes(selector, page, LIFTED as u64).ok().map(|(strings, _)| bytes(&strings))
}

fn strings_of_prefixes(selector: u8, page: &[u8], most: u64) -> Decoded<'_> {
    let limits = Limits::default().max_output(most);
    measured(|| delta_byte_array::decode(page, limits, options(selector)))
}

fn options(selector: u8) -> Options {
    Options { strict: selector & 1 == 1, ..Options::default() }
}

type Decoded<'a> = Result<(ByteArrays<'a>, usize), Error>;

/// What is handed out: the bytes, and where each string ends.
fn bytes(strings: &ByteArrays<'_>) -> usize {
    strings.data().len() + size_of_val(strings.ends())
}

fn verdict(page: &[u8], decoded: Decoded<'_>) -> Verdict {
    match decoded {
        Ok((strings, consumed)) => {
            assert!(consumed <= page.len(), "{consumed} bytes of {}", page.len());
            assert_eq!(strings.iter().map(<[u8]>::len).sum::<usize>(), strings.data().len());
            let digest = strings.iter().fold(0, digest);
            Verdict::Accepted { digest, bytes: bytes(&strings) }
        }
        Err(error) => refused(&error, page.len()),
    }
}
