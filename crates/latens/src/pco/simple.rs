//! Whole files in memory, in one call.

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{AnyNumbers, AnySlice, Latent, Number, NumberType};
use crate::pco::config::Config;
use crate::pco::layout::chunk_head::ChunkHead;
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::preamble::Preamble;
use crate::pco::layout::trailer::Trailer;
use crate::pco::parallel::{decompress_any_with, decompress_into_with, decompress_with};
use crate::pco::standalone::{Encoder, Engine, Slice, check_start, encode_any_chunk};
use crate::watch::Watch;
use std::io::Cursor;

/// Bytes of numbers that are reserved on the word of a file, besides four times the file's size.
/// Tables take at most about half as much.
const TRUST: u64 = 12 << 20;
/// Bytes of numbers that are collected where the file has announced fewer.
const SMALL: u64 = 4 << 20;

/// Numbers after which a [`Watch`] is called at the latest, where one thread decodes.
const STEP: usize = 1 << 18;

/// What [`decompress_into`] has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decompressed {
    /// Numbers written to the front of the buffer.
    pub count: usize,
    /// Whether that was all of them.
    pub finished: bool,
}

/// Encodes numbers as a standalone file, cut by [`Config::chunk_lens`].
///
/// ```
/// # fn main() -> latens::Result<()> {
/// use latens::pco;
/// let numbers: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.25).collect();
/// let file = pco::compress(&numbers, &pco::Config::default())?;
/// assert!(file.len() < 200);
/// assert_eq!(pco::decompress::<f64>(&file)?, numbers);
/// # Ok(()) }
/// ```
///
/// # Errors
/// Invalid argument when the configuration does not fit the type.
pub fn compress<T: Number>(numbers: &[T], config: &Config) -> Result<Vec<u8>> {
    compress_any(numbers.into(), config)
}

/// [`compress`] for numbers whose type is known only at run time.
///
/// # Errors
/// Those of [`compress`].
pub fn compress_any(numbers: AnySlice<'_>, config: &Config) -> Result<Vec<u8>> {
    let n = numbers.len();
    let mut encoder = Encoder::new(Vec::new(), numbers.number_type(), n as u64, config)?;
    let mut from = 0;
    for len in config.chunk_lens(n) {
        let chunk = numbers.range(from..from + len);
        from += len;
        if from == n {
            return encoder.finish_with(chunk);
        }
        encoder.write_encoded(encode_any_chunk(chunk, config)?)?;
    }
    encoder.finish()
}

/// All numbers of a standalone file.
///
/// A checksum trailer is verified; other bytes behind the end of the file are an error. Where they
/// are expected, use [`standalone::Decoder`](crate::pco::standalone::Decoder), which says how many
/// bytes it consumed.
///
/// # Errors
/// Invalid argument when the numbers are not of type `T`, else what is wrong and where.
pub fn decompress<T: Number>(file: &[u8]) -> Result<Vec<T>> {
    decompress_with(file, Limits::default(), 1, &Watch::NONE)
}

/// [`decompress`] of numbers of type `ty`, as bits, within limits, telling `watch`.
pub(crate) fn watched<L: Latent>(
    file: &[u8],
    ty: NumberType,
    limits: Limits,
    watch: &Watch,
) -> Result<Vec<L>> {
    let width = ty.bytes() as u64;
    let mut decoder = open(file, limits)?;
    let hint = decoder.n_hint();
    // A dictionary of the first chunk has spent what its bytes have earned.
    decoder.chunk()?;
    let behind = file.len() as u64 - decoder.position();
    // What it has earned, or is small; else it must prove its count before memory is taken.
    let mut n = 0;
    if hint.saturating_mul(width) <= earned(behind) {
        let most = hint.max(SMALL / width);
        if let Some(numbers) = collect(&mut decoder, ty, hint, most, watch)? {
            return Ok(numbers);
        }
        // There is more than was announced.
        n = most + 1;
    }
    let mut decoder = decoder.without_checks();
    n += decoder.count(ty)?;
    // Its tables are to be gone before another decoder makes them again.
    drop(decoder);
    match collect(&mut open(file, limits)?, ty, n, n, watch)? {
        Some(numbers) => Ok(numbers),
        None => Err(Error::invalid("the file's count of numbers has changed")),
    }
}

/// Bytes of numbers that may be reserved for a file with so many bytes behind its metadata.
pub(crate) fn earned(bytes: u64) -> u64 {
    TRUST.saturating_add(bytes.saturating_mul(4))
}

/// All numbers, with room for `reserved` of them at once; `None` if there are more than `most`, of which
/// one is read then.
fn collect<L: Latent>(
    decoder: &mut Engine<Slice<'_>>,
    ty: NumberType,
    reserved: u64,
    most: u64,
    watch: &Watch,
) -> Result<Option<Vec<L>>> {
    const PIECE: usize = 1 << 16;
    let most = usize::try_from(most).unwrap_or(usize::MAX / 16);
    let mut numbers = Vec::new();
    numbers.reserve_exact(usize::try_from(reserved).unwrap_or(usize::MAX / 16));
    while numbers.len() < most {
        let have = numbers.len();
        let room = match numbers.capacity() - have {
            // No more than was announced, as a rule.
            0 if have > 0 && decoder.chunk()?.is_none() => break,
            0 => have.max(4096),
            room => room,
        };
        numbers.resize(have + room.min(most - have).clamp(1, PIECE), L::ZERO);
        let got = decoder.read_bits(ty, &mut numbers[have..])?;
        numbers.truncate(have + got);
        if got == 0 {
            break;
        }
        watch.done(got as u64)?;
    }
    if decoder.read_bits(ty, &mut [L::ZERO])? > 0 {
        return Ok(None);
    }
    finish(decoder)?;
    Ok(Some(numbers))
}

/// Decodes a whole file into a buffer that may be shorter than its numbers.
///
/// Where it is, and the file has a checksum trailer, the stored bytes of the chunks that are read are
/// compared with it beforehand.
///
/// # Errors
/// As [`decompress`]; of `dst` then only the first [`Error::values_before`] numbers have changed.
pub fn decompress_into<T: Number>(file: &[u8], dst: &mut [T]) -> Result<Decompressed> {
    decompress_into_with(file, dst, Limits::default(), 1, &Watch::NONE)
}

/// [`decompress_into`] likewise.
pub(crate) fn watched_into<L: Latent>(
    file: &[u8],
    ty: NumberType,
    dst: &mut [L],
    limits: Limits,
    watch: &Watch,
) -> Result<Decompressed> {
    // What is read in part is not compared at the end.
    let told = Trailer::read_end(file, 0);
    let n = |trailer: &Trailer| trailer.chunks.iter().map(|chunk| u64::from(chunk.n)).sum::<u64>();
    if let Ok(Some(trailer)) = &told
        && (dst.len() as u64) < n(trailer)
    {
        check_start(&mut Cursor::new(file), dst.len() as u64)?;
    }
    let mut decoder = open(file, limits)?;
    let (mut count, mut rest) = (0, dst);
    // An empty buffer is read into, too: that tells a wrong type.
    loop {
        let (piece, behind) = rest.split_at_mut(rest.len().min(STEP));
        let before = |e: Error| match (e.values_before(), count as u64) {
            (None, 0) => e,
            (values, pieces) => e.after_values(values.unwrap_or(0) + pieces),
        };
        let got = decoder.read_bits(ty, piece).map_err(before)?;
        count += got;
        watch.done(got as u64).map_err(|e| e.after_values(count as u64))?;
        if got < piece.len() || behind.is_empty() {
            break;
        }
        rest = behind;
    }
    let mut end = || {
        let finished = decoder.chunk()?.is_none();
        if finished {
            finish(&mut decoder)?;
        }
        Ok(finished)
    };
    let finished = end().and_then(|finished| match told {
        Err(e) if !finished => Err(e),
        _ => Ok(finished),
    });
    let finished = finished.map_err(|e: Error| e.after_values(count as u64))?;
    Ok(Decompressed { count, finished })
}

/// What the head of a file says; see [`peek`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// The type of the first chunk, or what an empty file announces, if it does.
    pub number_type: Option<NumberType>,
    /// How many numbers are announced: a hint that nothing vouches for.
    pub n_hint: u64,
}

/// Reads the head of a standalone file, and nothing else of it.
///
/// ```
/// use latens::{NumberType, pco};
/// let file = pco::compress(&[0.5f32, 1.5], &pco::Config::default())?;
/// let head = pco::peek(&file)?;
/// assert_eq!((head.number_type, head.n_hint), (Some(NumberType::F32), 2));
/// # Ok::<(), latens::Error>(())
/// ```
///
/// # Errors
/// When it is not the head of a Pco file, or is cut off.
pub fn peek(file: &[u8]) -> Result<Head> {
    let mut r = BitReader::new(file, 0);
    let preamble = Preamble::read(&mut r)?;
    FormatVersion::read(&mut r)?;
    let first = ChunkHead::read(&mut r, preamble.uniform_type).map_err(|e| e.within("chunk 0"))?;
    let number_type = first.map(|head| head.number_type).or(preamble.uniform_type);
    Ok(Head { number_type, n_hint: preamble.n_hint })
}

/// All numbers of a standalone file whose type the file itself says. An empty file that says
/// none gives no `u8`.
///
/// # Errors
/// As [`decompress_with`](crate::pco::decompress_with); a file with chunks of different types is an invalid argument here.
pub fn decompress_any(file: &[u8], limits: Limits) -> Result<AnyNumbers> {
    decompress_any_with(file, None, limits, 1, &Watch::NONE)
}

/// Nothing but an empty file says no type: whether it is one, within limits.
pub(crate) fn check_empty(file: &[u8], limits: Limits) -> Result<()> {
    finish(&mut open(file, limits)?)
}

fn open<'a>(file: &'a [u8], limits: Limits) -> Result<Engine<Slice<'a>>> {
    let decoder = Engine::new(Slice::starting_at(file, 0), limits)?;
    Ok(if Trailer::is_at_end_of(file) { decoder } else { decoder.without_checks() })
}

/// Nothing but a checksum trailer may follow.
fn finish(decoder: &mut Engine<Slice<'_>>) -> Result<()> {
    let ending = decoder.finish()?;
    if ending.trailing {
        return Err(Error::corrupt(
            ending.consumed,
            "bytes after the end are neither a checksum trailer nor nothing",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
