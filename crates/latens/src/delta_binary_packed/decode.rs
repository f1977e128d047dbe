//! Reading a whole stream.

use super::parallel::Pieces;
use super::{Decoder, Element, Options};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::watch::Watch;

/// Values after which a [`Watch`] is called.
const STEP: usize = 1 << 20;

/// What [`decode_into`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded {
    /// Values written to the front of the buffer: all that the stream has.
    pub count: usize,
    /// Bytes that the stream takes: what follows it begins there.
    pub consumed: usize,
}

/// Decodes the stream at the start of `bytes` to the front of `out`, which must have room for all
/// of it; what `out` has beyond that is left as it is.
///
/// # Errors
/// Invalid argument where the stream announces more values than `out` holds; otherwise as
/// [`Decoder::new`] and [`Decoder::read`]. [`Error::values_before`] says how many values were
/// written all the same: these are right, and beyond them `out` is untouched. (`None` is 0.)
///
/// ```
/// use latens::delta_binary_packed::{Layout, Options, decode_into, encode};
/// let page = encode(&[7u32; 300], Layout::default_for::<u32>());
/// let mut out = [0u32; 400];
/// // The header and two blocks of 128 values, then the input ends.
/// let error = decode_into(&page[..17], &mut out, Options::default()).unwrap_err();
/// assert_eq!((error.at(), error.values_before()), (Some(17), Some(257)));
/// assert_eq!((out[256], out[257]), (7, 0));
/// # Ok::<(), latens::Error>(())
/// ```
pub fn decode_into<T: Element>(bytes: &[u8], out: &mut [T], options: Options) -> Result<Decoded> {
    decode_into_with(bytes, out, options, 1, &Watch::NONE)
}

/// Like [`decode_into`], on `threads` threads (0 for as many as there are cores), this one included,
/// telling `watch` every 2^20 values at the latest. Answers and errors do not depend on the threads, of
/// which several pay where `out` is memory that nobody has touched yet: else stores bound one already.
///
/// # Errors
/// Those of [`decode_into`] and of `watch`.
pub fn decode_into_with<T: Element>(
    bytes: &[u8],
    out: &mut [T],
    options: Options,
    threads: usize,
    watch: &Watch,
) -> Result<Decoded> {
    let mut decoder = Decoder::<T>::new(bytes, options)?;
    let count = decoder.remaining();
    if count > out.len() as u64 {
        let room = out.len();
        return Err(Error::invalid(format!(
            "the stream has {count} values, the buffer has room for {room}"
        )));
    }
    if let Some(pieces) = Pieces::of(&decoder, threads) {
        return pieces.decode_into(out, watch);
    }
    let mut done = 0;
    for piece in out.chunks_mut(STEP) {
        let after = |error: Error| if done > 0 { error.after_values(done as u64) } else { error };
        let got = decoder.read(piece).map_err(after)?;
        done += got;
        watch.done(got as u64).map_err(|error| error.after_values(done as u64))?;
        if got < piece.len() {
            break;
        }
    }
    finish(&mut decoder, done)
}

/// The result where all was read, the error where not.
fn finish<T: Element>(decoder: &mut Decoder<'_, T>, count: usize) -> Result<Decoded> {
    if decoder.remaining() > 0 {
        decoder.skip(1).map_err(|error| error.after_values(count as u64))?;
    }
    Ok(Decoded { count, consumed: decoder.consumed() })
}

/// Decodes the stream at the start of `bytes`; returns its values and the bytes it takes.
///
/// All blocks are walked first, by their widths. So an input in error costs no memory, and a
/// count that the blocks do not bear out is never allocated for. A short stream of constant steps
/// may still stand for billions of values, and legally so: `limits` bound that.
///
/// # Errors
/// As [`decode_into`]; invalid argument where the values pass [`Limits::max_output`] or memory.
pub fn decode<T: Element>(
    bytes: &[u8],
    limits: Limits,
    options: Options,
) -> Result<(Vec<T>, usize)> {
    decode_with(bytes, limits, options, 1, &Watch::NONE)
}

/// Like [`decode`], on `threads` threads (0 for as many as there are cores), this one included, telling
/// `watch` every 2^20 values at the latest, and when the widths of all are walked.
///
/// # Errors
/// Those of [`decode`] and of `watch`.
pub fn decode_with<T: Element>(
    bytes: &[u8],
    limits: Limits,
    options: Options,
    threads: usize,
    watch: &Watch,
) -> Result<(Vec<T>, usize)> {
    const CHUNK: usize = 1 << 14;
    let mut decoder = Decoder::<T>::new(bytes, options)?;
    let total = decoder.remaining();
    limits.check_output(total.saturating_mul(size_of::<T>() as u64))?;
    if let Some(pieces) = Pieces::of(&decoder, threads) {
        watch.ask()?;
        // If there is memory at all, it is had as zeros, which each thread is the first to touch.
        drop(room::<T>(total)?);
        let mut values = vec![T::default(); pieces.values()];
        let consumed = pieces.decode_into(&mut values, watch)?.consumed;
        return Ok((values, consumed));
    }
    let mut walk = decoder.clone();
    let sound = walk.skip(total)?;
    watch.ask()?;
    if sound < total {
        return Err(walk.skip(1).map_or_else(|error| error, |_| never(sound, total)));
    }
    let mut values = room(total)?;
    let mut told = 0;
    while decoder.remaining() > 0 {
        let start = values.len();
        let now = usize::try_from(decoder.remaining()).unwrap_or(CHUNK).min(CHUNK);
        values.resize(start + now, T::default());
        let done = decoder.read(&mut values[start..])?;
        values.truncate(start + done);
        if values.len() - told >= STEP {
            watch.done((values.len() - told) as u64)?;
            told = values.len();
        }
    }
    Ok((values, decoder.consumed()))
}

/// Memory for so many values.
fn room<T>(total: u64) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let reserved = usize::try_from(total).ok().and_then(|n| values.try_reserve_exact(n).ok());
    match reserved {
        Some(()) => Ok(values),
        None => {
            Err(Error::invalid(format!("there is no memory for the {total} values of the stream")))
        }
    }
}

#[cold]
fn never(sound: u64, total: u64) -> Error {
    Error::corrupt(0, format!("{sound} of {total} values are there"))
}
