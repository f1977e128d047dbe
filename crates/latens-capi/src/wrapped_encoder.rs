//! Writing the wrapped Pco format: parts of a file for containers of the caller's own.

use crate::buffer::{self, lt_buffer};
use crate::error::{guard, lt_error, lt_status, quiet};
use crate::options::{encode, known, lt_pco_options};
use crate::pco_inspect::c_string;
use crate::raw;
use latens::pco::wrapped::{AnyChunkEncoder, FileEncoder};
use std::ffi::{CString, c_char, c_void};

/// Makes the chunks of a wrapped file. Several threads may use it.
pub struct lt_pco_file_encoder {
    encoder: FileEncoder,
}

/// A chunk with everything chosen, ready to be written in parts. Several threads may use it.
pub struct lt_pco_chunk_encoder {
    encoder: AnyChunkEncoder,
    mode: CString,
    delta: CString,
}

/// Begins a wrapped file: `*encoder`, to be freed by lt_pco_file_encoder_free. `options` may be NULL;
/// of them level, mode, delta, favor and watch count, the last for chunks until the encoder is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_file_encoder_new(
    options: *const lt_pco_options,
    encoder: *mut *mut lt_pco_file_encoder,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(encoder, std::ptr::null_mut());
        raw::required(encoder, "encoder")?;
        let settings = encode(options)?;
        let watched = FileEncoder::new(settings.config).watched(&settings.watch);
        let made = Box::new(lt_pco_file_encoder { encoder: watched });
        raw::store(encoder, Box::into_raw(made));
        Ok(())
    })
}

/// The header of the file, in `header`, which the caller frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_file_encoder_header(
    encoder: *const lt_pco_file_encoder,
    header: *mut lt_buffer,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        buffer::clear(header);
        raw::required(header, "header")?;
        let mut bytes = Vec::new();
        raw::reference(encoder, "encoder")?.encoder.write_header(&mut bytes)?;
        raw::store(header, lt_buffer::from_vec(bytes));
        Ok(())
    })
}

/// Plans a chunk of `n` numbers of a type, in `pages` pages of `page_lens` numbers each, none of them
/// 0, which sum to `n`: `*chunk`, to be freed by lt_pco_chunk_encoder_free. It does not need `numbers`
/// any longer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_encoder_new(
    encoder: *const lt_pco_file_encoder,
    r#type: u32,
    numbers: *const c_void,
    n: usize,
    page_lens: *const usize,
    pages: usize,
    chunk: *mut *mut lt_pco_chunk_encoder,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(chunk, std::ptr::null_mut());
        raw::required(chunk, "chunk")?;
        let file = &raw::reference(encoder, "encoder")?.encoder;
        let lens = raw::input(page_lens, pages, "page_lens")?;
        let numbers = raw::numbers(known(r#type)?, numbers, n, "numbers")?;
        let encoder = file.any_chunk_encoder(numbers, lens)?;
        let (mode, delta) = (c_string(&encoder.mode()), c_string(&encoder.delta_encoding()));
        let made = lt_pco_chunk_encoder { encoder, mode, delta };
        raw::store(chunk, Box::into_raw(Box::new(made)));
        Ok(())
    })
}

/// The mode of a chunk, as options spell it. It lives as long as the chunk; NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_encoder_mode(
    chunk: *const lt_pco_chunk_encoder,
) -> *const c_char {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(std::ptr::null(), || unsafe {
        raw::reference(chunk, "chunk").map_or(std::ptr::null(), |held| held.mode.as_ptr())
    })
}

/// The delta encoding of a chunk, likewise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_encoder_delta(
    chunk: *const lt_pco_chunk_encoder,
) -> *const c_char {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(std::ptr::null(), || unsafe {
        raw::reference(chunk, "chunk").map_or(std::ptr::null(), |held| held.delta.as_ptr())
    })
}

/// Pages of a chunk; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_encoder_pages(chunk: *const lt_pco_chunk_encoder) -> usize {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(0, || unsafe { raw::reference(chunk, "chunk").map_or(0, |held| held.encoder.pages()) })
}

/// The metadata of a chunk, in `meta`, which the caller frees. Every page needs it to be decoded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_encoder_meta(
    chunk: *const lt_pco_chunk_encoder,
    meta: *mut lt_buffer,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        buffer::clear(meta);
        raw::required(meta, "meta")?;
        let mut bytes = Vec::new();
        raw::reference(chunk, "chunk")?.encoder.write_meta(&mut bytes)?;
        raw::store(meta, lt_buffer::from_vec(bytes));
        Ok(())
    })
}

/// Page `index`, which counts from 0, in `page`, which the caller frees. The container keeps its size
/// and its count of numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_encoder_page(
    chunk: *const lt_pco_chunk_encoder,
    index: usize,
    page: *mut lt_buffer,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        buffer::clear(page);
        raw::required(page, "page")?;
        let mut bytes = Vec::new();
        raw::reference(chunk, "chunk")?.encoder.write_page(index, &mut bytes)?;
        raw::store(page, lt_buffer::from_vec(bytes));
        Ok(())
    })
}

/// Frees a chunk. NULL is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_chunk_encoder_free(chunk: *mut lt_pco_chunk_encoder) {
    // SAFETY: NULL, or one that lt_pco_chunk_encoder_new made, not freed yet, as the caller promises.
    quiet((), || unsafe { raw::free(chunk) });
}

/// Frees a file encoder; its chunks live on. NULL is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_file_encoder_free(encoder: *mut lt_pco_file_encoder) {
    // SAFETY: NULL, or one that lt_pco_file_encoder_new made, not freed yet, as the caller promises.
    quiet((), || unsafe { raw::free(encoder) });
}
