//! Opening `.wcodec` files that are damaged beside their tensors, and what is wrong with them.

use crate::error::{guard, lt_error, lt_status, quiet};
use crate::failure::Failure;
use crate::options::lt_decode_options;
use crate::raw;
use crate::source::Source;
use crate::wcodec::{lt_wcodec_reader, open_to};
use std::ffi::{c_char, c_void};

/// Something that is wrong with a file beside its tensors. The pointer lives until the file is closed.
#[repr(C)]
pub struct lt_wcodec_damage {
    /// Its byte in the file.
    pub offset: u64,
    /// What it is, and what was done about it.
    pub what: *const c_char,
    /// 0.
    pub reserved: [u64; 2],
}

/// Opens a file as lt_wcodec_open does, and one whose header, index, footer or tables are damaged as far
/// as that goes: a flipped bit is put right in memory, of an index that is damaged otherwise the tensors
/// before the damage are there. Tensors are compared with their checksums as ever; small ones, which stand in the
/// index, are errors where nothing proves what it says of them.
/// lt_wcodec_damage_count and lt_wcodec_damage_info say what is wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_salvage(
    path: *const c_char,
    base: *const c_char,
    options: *const lt_decode_options,
    reader: *mut *mut lt_wcodec_reader,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    unsafe {
        open_to(|| Source::at(path), (base, options), lt_wcodec_reader::salvage, reader, error)
    }
}

/// lt_wcodec_salvage for a file that lies in memory, which stays as it is until the file is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_salvage_memory(
    file: *const c_void,
    file_size: usize,
    base: *const c_char,
    options: *const lt_decode_options,
    reader: *mut *mut lt_wcodec_reader,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for, of the file until it is closed.
    unsafe {
        let source = || Source::held(file, file_size);
        open_to(source, (base, options), lt_wcodec_reader::salvage, reader, error)
    }
}

/// How many things are wrong with a file that lt_wcodec_salvage has opened; 0 for others, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_damage_count(reader: *const lt_wcodec_reader) -> usize {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(0, || unsafe { raw::reference(reader, "reader").map_or(0, |held| held.damage.len()) })
}

/// What is wrong, in the order in which it was found: the thing `index`, counted from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_damage_info(
    reader: *const lt_wcodec_reader,
    index: usize,
    info: *mut lt_wcodec_damage,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(info, "info")?;
        let damage = &raw::reference(reader, "reader")?.damage;
        let none = || Failure::invalid(format!("damage {index} of {}", damage.len()));
        let (offset, what) = damage.get(index).ok_or_else(none)?;
        let told =
            lt_wcodec_damage { offset: *offset, what: what.as_ptr().cast(), reserved: [0; 2] };
        raw::store(info, told);
        Ok(())
    })
}
