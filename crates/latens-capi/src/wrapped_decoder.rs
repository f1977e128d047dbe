//! Reading the wrapped Pco format.

use crate::error::{guard, lt_error, lt_status, quiet};
use crate::options::{decode, known, lt_decode_options};
use crate::pco_inspect::c_string;
use crate::raw::{self, Checked};
use latens::pco::wrapped::{AnyChunkDecoder, FileDecoder};
use std::ffi::{CString, c_char, c_void};

/// Knows the format version of a wrapped file. Several threads may use it.
pub struct lt_pco_file_decoder {
    decoder: FileDecoder,
}

/// The metadata of a chunk, with its tables. Several threads may decode pages with it.
pub struct lt_pco_chunk_decoder {
    decoder: AnyChunkDecoder,
    mode: CString,
    delta: CString,
}

/// Reads the header at the start of `src`: `*decoder`, to be freed by lt_pco_file_decoder_free, and in
/// `*consumed`, unless NULL, the bytes it takes. `options`, which bound the chunks and watch their
/// pages until the last of the chunks is freed, may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_file_decoder_new(
    src: *const c_void,
    src_size: usize,
    options: *const lt_decode_options,
    decoder: *mut *mut lt_pco_file_decoder,
    consumed: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(decoder, std::ptr::null_mut());
        raw::store(consumed, 0);
        raw::required(decoder, "decoder")?;
        let settings = decode(options)?;
        let src = raw::input::<u8>(src.cast(), src_size, "src")?;
        let (made, size) = FileDecoder::new(src, settings.limits)?;
        let made = lt_pco_file_decoder { decoder: made.watched(&settings.watch) };
        raw::store(decoder, Box::into_raw(Box::new(made)));
        raw::store(consumed, size);
        Ok(())
    })
}

/// Reads the metadata of a chunk of numbers of a type at the start of `src`: `*chunk`, to be freed by
/// lt_pco_chunk_decoder_free, and in `*consumed`, unless NULL, the bytes it takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_decoder_new(
    decoder: *const lt_pco_file_decoder,
    r#type: u32,
    src: *const c_void,
    src_size: usize,
    chunk: *mut *mut lt_pco_chunk_decoder,
    consumed: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(chunk, std::ptr::null_mut());
        raw::store(consumed, 0);
        raw::required(chunk, "chunk")?;
        let file = &raw::reference(decoder, "decoder")?.decoder;
        let src = raw::input::<u8>(src.cast(), src_size, "src")?;
        let (decoder, size) = file.any_chunk_decoder(known(r#type)?, src)?;
        let (mode, delta) = (c_string(&decoder.mode()), c_string(&decoder.delta_encoding()));
        let made = lt_pco_chunk_decoder { decoder, mode, delta };
        raw::store(chunk, Box::into_raw(Box::new(made)));
        raw::store(consumed, size);
        Ok(())
    })
}

/// The mode of a chunk, as options spell it. It lives as long as the chunk; NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_decoder_mode(
    chunk: *const lt_pco_chunk_decoder,
) -> *const c_char {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(std::ptr::null(), || unsafe {
        raw::reference(chunk, "chunk").map_or(std::ptr::null(), |held| held.mode.as_ptr())
    })
}

/// The delta encoding of a chunk, likewise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_decoder_delta(
    chunk: *const lt_pco_chunk_decoder,
) -> *const c_char {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(std::ptr::null(), || unsafe {
        raw::reference(chunk, "chunk").map_or(std::ptr::null(), |held| held.delta.as_ptr())
    })
}

/// Decodes the page at the start of `src`, which has exactly `n` numbers, directly to `numbers`, and
/// tells `consumed`, unless NULL, the bytes it takes; others behind do no harm. After an error nothing
/// behind the error's `values_before` numbers was touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_decoder_page(
    chunk: *const lt_pco_chunk_decoder,
    src: *const c_void,
    src_size: usize,
    numbers: *mut c_void,
    n: usize,
    consumed: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(consumed, 0);
        let held = raw::reference(chunk, "chunk")?;
        let src = raw::input::<u8>(src.cast(), src_size, "src")?;
        let ty = held.decoder.number_type();
        let bytes = raw::size_of_numbers(ty, n);
        raw::apart(src.as_ptr(), src.len(), numbers.cast::<u8>(), bytes)?;
        let out = raw::numbers_mut(ty, numbers, n, "numbers")?;
        let size = held.decoder.decode_page(src, out)?;
        raw::store(consumed, size);
        Ok(())
    })
}

/// Decodes `pages` pages, those at the starts of `srcs`, of `src_sizes` bytes, which have exactly `lens` numbers each: one behind
/// the other to `numbers`, which has room for all of these, `n`. Tells `consumed`, unless NULL, how many bytes each
/// takes. What lt_pco_chunk_decoder_page does page by page, in less time where a dozen or more short pages of as many numbers
/// each follow one another. After an error, which names its page, nothing behind the error's `values_before` numbers was
/// touched, and `consumed` is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_decoder_pages(
    chunk: *const lt_pco_chunk_decoder,
    srcs: *const *const c_void,
    src_sizes: *const usize,
    lens: *const usize,
    pages: usize,
    numbers: *mut c_void,
    n: usize,
    consumed: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        let held = raw::reference(chunk, "chunk")?;
        let srcs = raw::input(srcs, pages, "srcs")?;
        let sizes = raw::input(src_sizes, pages, "src_sizes")?;
        let lens = raw::input(lens, pages, "lens")?;
        let each = srcs.iter().zip(sizes);
        let each = each.map(|(&src, &size)| raw::input::<u8>(src.cast(), size, "src"));
        let each = each.collect::<Checked<Vec<_>>>()?;
        let ty = held.decoder.number_type();
        for page in &each {
            let bytes = raw::size_of_numbers(ty, n);
            raw::apart(page.as_ptr(), page.len(), numbers.cast::<u8>(), bytes)?;
        }
        let out = raw::numbers_mut(ty, numbers, n, "numbers")?;
        let found = held.decoder.decode_pages_into(&each, lens, out)?;
        if !consumed.is_null() {
            raw::output(consumed, pages, "consumed")?.copy_from_slice(&found);
        }
        Ok(())
    })
}

/// Frees a chunk. NULL is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_decoder_free(chunk: *mut lt_pco_chunk_decoder) {
    // SAFETY: NULL, or one that lt_pco_chunk_decoder_new made, not freed yet, as the caller promises.
    quiet((), || unsafe { raw::free(chunk) });
}

/// Frees a file decoder; its chunks live on. NULL is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_file_decoder_free(decoder: *mut lt_pco_file_decoder) {
    // SAFETY: NULL, or one that lt_pco_file_decoder_new made, not freed yet, as the caller promises.
    quiet((), || unsafe { raw::free(decoder) });
}
