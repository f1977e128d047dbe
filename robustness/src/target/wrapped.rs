//! Wrapped Pco: header, chunk metadata, one page.

use super::pco::{marker, untouched};
use super::{Verdict, refused};
use crate::ground::pco::type_of;
use crate::measure::measured;
use crate::random::digest;
use latens::pco::wrapped::FileDecoder;
use latens::{Error, Latent, Limits, Number, with_number_type};
use std::ops::RangeInclusive;

/// Two bytes of count, as a container would say it, then the parts. The selector is the type.
pub fn body(selector: u8, bytes: &[u8]) -> Verdict {
    let Some((n, parts)) = bytes.split_at_checked(2) else { return Verdict::Refused };
    let n = usize::from(u16::from_le_bytes([n[0], n[1]]));
    with_number_type!(type_of(selector), T => typed::<T>(n, parts))
}

/// Numbers of pages of which many are decoded at once, and how many of them are.
const SIDE_BY_SIDE: RangeInclusive<usize> = 128..=4096;
const PAGES: usize = 13;

fn typed<T: Number>(n: usize, parts: &[u8]) -> Verdict {
    let mut buffer = vec![marker::<T>(); n + 5];
    let decoded = measured(|| decode(parts, &mut buffer[..n]));
    if SIDE_BY_SIDE.contains(&n) {
        again_at_once(n, parts, &decoded, &buffer[..n]);
    }
    match decoded {
        Ok(()) => {
            untouched(&buffer, n);
            let bits = buffer[..n].iter().map(|x| x.to_bits().to_u64());
            let bytes: Vec<u8> = bits.flat_map(u64::to_le_bytes).collect();
            Verdict::Accepted { digest: digest(n as u64, &bytes), bytes: n * T::TYPE.bytes() }
        }
        Err(error) => {
            untouched(&buffer, error.values_before().unwrap_or(0) as usize);
            refused(&error, parts.len())
        }
    }
}

/// The page again and again in one call: the same numbers each time, or the same error at the first.
fn again_at_once<T: Number>(n: usize, parts: &[u8], alone: &Result<(), Error>, numbers: &[T]) {
    let mut buffer = vec![marker::<T>(); PAGES * n + 5];
    let decoded = decode_many(parts, n, &mut buffer);
    match (decoded, alone) {
        (Ok(()), Ok(())) => {
            untouched(&buffer, PAGES * n);
            for page in buffer.chunks_exact(n).take(PAGES) {
                let same = page.iter().zip(numbers).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "other numbers by pages in one call");
            }
        }
        (Err(error), Err(alone)) => {
            assert_eq!((error.kind(), error.at()), (alone.kind(), alone.at()), "{error}, {alone}");
            let right = error.values_before().unwrap_or(0);
            assert_eq!(right, alone.values_before().unwrap_or(0), "{error}, {alone}");
            untouched(&buffer, right as usize);
        }
        (at_once, alone) => panic!("by pages in one call {at_once:?}, alone {alone:?}"),
    }
}

fn decode_many<T: Number>(parts: &[u8], n: usize, buffer: &mut [T]) -> Result<(), Error> {
    let (file, header) = FileDecoder::new(parts, Limits::default())?;
    let rest = &parts[header..];
    let (chunk, meta) = file.chunk_decoder::<T>(rest)?;
    let places = buffer.chunks_exact_mut(n).take(PAGES);
    chunk.decode_pages(&mut places.map(|dst| (&rest[meta..], dst)).collect::<Vec<_>>())?;
    Ok(())
}

fn decode<T: Number>(parts: &[u8], dst: &mut [T]) -> Result<(), Error> {
    let limits = Limits::default();
    let (file, header) = FileDecoder::new(parts, limits)?;
    let rest = &parts[header..];
    let (chunk, meta) = file.chunk_decoder::<T>(rest)?;
    let page = &rest[meta..];
    let taken = chunk.decode_page(page, dst)?;
    assert!(taken <= page.len(), "a page of {taken} bytes in {}", page.len());
    Ok(())
}
