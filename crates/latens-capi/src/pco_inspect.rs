//! What is inside of a standalone Pco file.

use crate::error::{guard, lt_error, lt_status, quiet};
use crate::failure::Failure;
use crate::options::{decode, lt_decode_options, number_of};
use crate::raw;
use latens::pco::{self, Inspection, standalone::Checksum};
use std::ffi::{CString, c_char, c_void};

/// A standalone file, taken apart. Several threads may read it.
pub struct lt_pco_inspection {
    found: Inspection,
    /// Mode and delta encoding of each chunk.
    codings: Vec<(CString, CString)>,
}

/// Facts about a standalone file.
#[repr(C)]
pub struct lt_pco_info {
    /// Numbers in the file.
    pub n: u64,
    /// Chunks in the file.
    pub chunks: usize,
    /// Bytes of the file, its trailer included; there may be others behind.
    pub bytes: u64,
    /// lt_type; LT_TYPE_ANY for an empty file that says none.
    pub number_type: u32,
    /// 0 to 3.
    pub standalone_version: u32,
    /// Of the format inside: 0 to 4.
    pub format_major: u32,
    /// Of the format inside.
    pub format_minor: u32,
    /// Whether there was a checksum trailer; it was verified.
    pub checksum: bool,
    /// Whether bytes follow that do not belong to the file.
    pub trailing: bool,
    /// 0.
    pub reserved: [u64; 4],
}

/// Facts about a chunk.
#[repr(C)]
pub struct lt_pco_chunk_info {
    /// Numbers in the chunk.
    pub n: u64,
    /// Of its first byte, from the start of the file.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// How numbers split into latents, as options spell it. It lives as long as the inspection.
    pub mode: *const c_char,
    /// How latents are predicted, likewise.
    pub delta: *const c_char,
    /// 0.
    pub reserved: [u64; 4],
}

/// Text of the library's own as a C string.
pub(crate) fn c_string(text: &impl ToString) -> CString {
    CString::new(text.to_string()).unwrap_or_default()
}

/// Takes a standalone file apart, which decodes all of it: `*inspection`, to be freed by
/// lt_pco_inspection_free. `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_inspect(
    file: *const c_void,
    file_size: usize,
    options: *const lt_decode_options,
    inspection: *mut *mut lt_pco_inspection,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(inspection, std::ptr::null_mut());
        raw::required(inspection, "inspection")?;
        let settings = decode(options)?;
        let file = raw::input::<u8>(file.cast(), file_size, "file")?;
        let found = pco::inspect_with(file, settings.limits, &settings.watch)?;
        let coding = |chunk: &pco::ChunkInspection| {
            (c_string(&chunk.info.mode), c_string(&chunk.info.delta))
        };
        let codings = found.chunks.iter().map(coding).collect();
        let made = Box::new(lt_pco_inspection { found, codings });
        raw::store(inspection, Box::into_raw(made));
        Ok(())
    })
}

/// Facts about the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_inspection_file(
    inspection: *const lt_pco_inspection,
    info: *mut lt_pco_info,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(info, "info")?;
        let found = &raw::reference(inspection, "inspection")?.found;
        let told = lt_pco_info {
            n: found.n,
            chunks: found.chunks.len(),
            bytes: found.ending.consumed,
            number_type: number_of(found.number_type),
            standalone_version: u32::from(found.standalone_version),
            format_major: u32::from(found.format_version.major),
            format_minor: u32::from(found.format_version.minor),
            checksum: found.ending.checksum == Checksum::Verified,
            trailing: found.ending.trailing,
            reserved: [0; 4],
        };
        raw::store(info, told);
        Ok(())
    })
}

/// Facts about chunk `index`, which counts from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_inspection_chunk(
    inspection: *const lt_pco_inspection,
    index: usize,
    info: *mut lt_pco_chunk_info,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(info, "info")?;
        let held = raw::reference(inspection, "inspection")?;
        let (Some(chunk), Some((mode, delta))) =
            (held.found.chunks.get(index), held.codings.get(index))
        else {
            let count = held.codings.len();
            return Err(Failure::invalid(format!("chunk {index} of {count}")));
        };
        let told = lt_pco_chunk_info {
            n: chunk.info.n as u64,
            offset: chunk.offset,
            bytes: chunk.bytes,
            mode: mode.as_ptr(),
            delta: delta.as_ptr(),
            reserved: [0; 4],
        };
        raw::store(info, told);
        Ok(())
    })
}

/// Frees an inspection. NULL is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_inspection_free(inspection: *mut lt_pco_inspection) {
    // SAFETY: NULL, or one that lt_pco_inspect made, not freed yet, as the caller promises.
    quiet((), || unsafe { raw::free(inspection) });
}
