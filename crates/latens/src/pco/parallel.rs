//! Whole files on several threads.
//!
//! Where chunks begin and how many numbers they hold is said by the checksum trailer ([`listed`]),
//! or guessed, or found out by walking through the file ([`walked`]), so that each can be decoded by itself.
//! Nothing of it is believed: what does not prove right in every point is decoded once more in
//! order, which finds the error, or that there is none.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{AnyNumbers, AnySliceMut, Latent, Number, NumberType, with_latent};
use crate::pco::layout::trailer::Trailer;
use crate::pco::parallel::kept::Kept;
use crate::pco::simple::{Decompressed, check_empty, earned, peek, watched, watched_into};
use crate::pco::standalone::ChunkTable;
use crate::watch::Watch;

mod compress;
mod guessed;
mod kept;
mod listed;
mod walked;

pub use compress::{compress_any_to, compress_any_with, compress_to, compress_with};

/// Like [`decompress`](crate::pco::decompress), within limits, on `threads` threads (0 for as many as
/// there are cores), this one included, and with a [`Watch`].
///
/// Answers and errors do not depend on the threads. Files of one chunk are decoded by one. Without a
/// checksum trailer it is guessed where chunks begin; where chunks are not of like length one thread has
/// to find it out, before it decodes as well, and there is little to gain. Memory is that of one decoder for each thread; [`Limits::max_alloc`] bounds
/// each of them.
///
/// ```
/// use latens::{Limits, Watch, pco};
/// let numbers: Vec<u32> = (0..600_000).collect();
/// let file = pco::compress(&numbers, &pco::Config::default())?;
/// let limits = Limits::default().max_output(4 << 20);
/// assert_eq!(pco::decompress_with::<u32>(&file, limits, 2, &Watch::NONE)?, numbers);
/// # Ok::<(), latens::Error>(())
/// ```
///
/// # Errors
/// As [`decompress`](crate::pco::decompress), invalid argument when a limit is passed, and that of
/// `watch`.
pub fn decompress_with<T: Number>(
    file: &[u8],
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<T>> {
    let numbers = decompress_any_with(file, Some(T::TYPE), limits, threads, watch)?;
    numbers.into_vec().ok_or_else(|| Error::invalid("numbers of another type"))
}

/// [`decompress_with`] for numbers whose type is known only at run time: `number_type`, or where that is
/// `None` what the file says. An empty file that says none gives no `u8`.
///
/// ```
/// use latens::{AnyNumbers, Limits, NumberType, Watch, pco};
/// let file = pco::compress(&[7i32; 5], &pco::Config::default())?;
/// let decompress = |ty| pco::decompress_any_with(&file, ty, Limits::default(), 1, &Watch::NONE);
/// assert_eq!(decompress(None)?, AnyNumbers::from(vec![7i32; 5]));
/// assert!(decompress(Some(NumberType::U32)).is_err());
/// # Ok::<(), latens::Error>(())
/// ```
///
/// # Errors
/// Those of [`decompress_with`]; a file with chunks of different types is an invalid argument here.
pub fn decompress_any_with(
    file: &[u8],
    number_type: Option<NumberType>,
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Result<AnyNumbers> {
    let said = match number_type {
        Some(ty) => Some(ty),
        None => peek(file)?.number_type,
    };
    let Some(ty) = said else {
        check_empty(file, limits)?;
        return Ok(AnyNumbers::new(NumberType::U8));
    };
    with_latent!(ty, L => {
        let bits = all::<L>(file, ty, limits, threads, watch)?;
        Ok(AnyNumbers::of_bits(ty, bits))
    })
}

/// All numbers of type `ty` as bits.
fn all<L: Latent>(
    file: &[u8],
    ty: NumberType,
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<L>> {
    let Some((chunks, threads)) = Chunks::of(file, threads) else {
        return watched(file, ty, limits, watch);
    };
    let (first, second) = watch.for_two_tries();
    match decode(file, ty, &chunks, limits, threads, &first) {
        Some(numbers) => Ok(numbers),
        None => watched(file, ty, limits, &second),
    }
}

/// Like [`decompress_into`](crate::pco::decompress_into), within limits, on `threads` threads (0 for
/// as many as there are cores) where `dst` has room for all numbers, and with a [`Watch`].
///
/// # Errors
/// As [`decompress_into`](crate::pco::decompress_into), invalid argument when a limit is passed, and
/// that of `watch`; of `dst` then only the first
/// [`Error::values_before`](crate::Error::values_before) numbers have changed.
pub fn decompress_into_with<T: Number>(
    file: &[u8],
    dst: &mut [T],
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Result<Decompressed> {
    decompress_any_into_with(file, dst.into(), limits, threads, watch)
}

/// [`decompress_into_with`] for numbers whose type is known only at run time.
///
/// # Errors
/// Those of [`decompress_into_with`].
pub fn decompress_any_into_with(
    file: &[u8],
    dst: AnySliceMut<'_>,
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Result<Decompressed> {
    let ty = dst.number_type();
    with_latent!(ty, L => {
        into::<L>(file, ty, dst.into_bits().of_width()?, limits, threads, watch)
    })
}

/// Numbers of type `ty` as bits.
fn into<L: Latent>(
    file: &[u8],
    ty: NumberType,
    dst: &mut [L],
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Result<Decompressed> {
    let mut second = None;
    if let Some((chunks, threads)) = Chunks::of(file, threads)
        && let Some(dst) = dst.get_mut(..chunks.n())
        && limits.check_output(size_of_val(dst) as u64).is_ok()
    {
        let (first, then) = watch.for_two_tries();
        let kept = Kept::new();
        if chunks.decode(file, ty, dst, limits, threads, &first, Some(&kept)).is_some() {
            return Ok(Decompressed { count: dst.len(), finished: true });
        }
        kept.restore(dst);
        second = Some(then);
    }
    watched_into(file, ty, dst, limits, second.as_ref().unwrap_or(watch))
}

/// How the chunks of a file are found.
enum Chunks {
    Listed(ChunkTable),
    Walked(walked::Opening),
}

impl Chunks {
    /// With the threads in force; `None` where that is one, or there are not two chunks or more in
    /// good order, as far as the ends tell.
    fn of(file: &[u8], threads: usize) -> Option<(Self, usize)> {
        if threads == 1 {
            return None;
        }
        let chunks = Self::found(file)?;
        let threads = crate::threads::count(threads);
        (threads > 1).then_some((chunks, threads))
    }

    fn found(file: &[u8]) -> Option<Self> {
        match Trailer::is_at_end_of(file) {
            true => ChunkTable::of(file).filter(|table| table.len() > 1).map(Chunks::Listed),
            false => walked::Opening::of(file).map(Chunks::Walked),
        }
    }

    /// Numbers that the file announces.
    fn n(&self) -> usize {
        match self {
            Chunks::Listed(table) => table.n(),
            Chunks::Walked(opening) => opening.n,
        }
    }

    /// Bytes before the first chunk.
    fn start(&self) -> usize {
        match self {
            Chunks::Listed(table) => table.start(),
            Chunks::Walked(opening) => opening.start,
        }
    }

    /// Decodes into `dst`, which has room for [`Chunks::n`] numbers and no more; `None` where
    /// anything is wrong. What `dst` held is then in `kept`, where there is one.
    #[expect(clippy::too_many_arguments, reason = "what a call says")]
    fn decode<L: Latent>(
        &self,
        file: &[u8],
        ty: NumberType,
        dst: &mut [L],
        limits: Limits,
        threads: usize,
        watch: &Watch,
        kept: Option<&Kept<L>>,
    ) -> Option<()> {
        match self {
            Chunks::Listed(table) => {
                listed::decode(file, ty, table, dst, limits, threads, watch, kept)
            }
            Chunks::Walked(opening) => {
                walked::decode(file, ty, opening, dst, limits, threads, watch, kept)
            }
        }
    }
}

/// `None` where anything is wrong.
fn decode<L: Latent>(
    file: &[u8],
    ty: NumberType,
    chunks: &Chunks,
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Option<Vec<L>> {
    let bytes = (chunks.n() as u64).checked_mul(ty.bytes() as u64)?;
    if bytes > earned((file.len() - chunks.start()) as u64) || limits.check_output(bytes).is_err() {
        return None;
    }
    let mut numbers = vec![L::ZERO; chunks.n()];
    chunks.decode(file, ty, &mut numbers, limits, threads, watch, None)?;
    Some(numbers)
}

#[cfg(test)]
mod tests;
