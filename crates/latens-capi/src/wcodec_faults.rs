//! All that is wrong with a `.wcodec` file.

use crate::error::{LT_NONE, guard, lt_error, lt_status, quiet};
use crate::failure::Failure;
use crate::raw;
use crate::tensor::with_nul;
use crate::wcodec::lt_wcodec_reader;
use std::ffi::c_char;

/// Things that are wrong with a .wcodec file.
pub struct lt_wcodec_faults(Vec<Fault>);

struct Fault {
    tensor: Option<u64>,
    failure: Failure,
    what: Vec<u8>,
}

/// Something that is wrong with a file. The pointer lives as long as the lt_wcodec_faults.
#[repr(C)]
pub struct lt_wcodec_fault {
    /// The index of the tensor that cannot be read, or LT_NONE where it is something else of the file.
    pub tensor: u64,
    /// Its byte in the file, or LT_NONE.
    pub offset: u64,
    /// What it is, as in lt_error.message but of any length.
    pub what: *const c_char,
    /// What a call would return that comes upon it.
    pub status: lt_status,
    /// 0.
    pub reserved0: u32,
    /// 0.
    pub reserved: [u64; 4],
}

/// Finds all that is wrong with a file of which lt_wcodec_verify tells the first thing: `*faults`, to be freed by
/// lt_wcodec_faults_free, which may be none. It goes on behind damage, one tensor after the other: of each it tells the
/// first thing that is wrong, and every other group without its checksum. A tensor that needs a base which was not
/// given is among them. What ends the search is an error: one of reading the file, a limit, the watch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_find_faults(
    reader: *const lt_wcodec_reader,
    faults: *mut *mut lt_wcodec_faults,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(faults, std::ptr::null_mut());
        raw::required(faults, "faults")?;
        let held = raw::reference(reader, "reader")?;
        let found = held.reader.faults()?.into_iter().map(|fault| {
            let tensor = fault.tensor.and_then(|number| held.index_of(number));
            let failure = Failure::from(fault.error);
            let what = with_nul(&failure.message);
            Fault { tensor: tensor.map(|index| index as u64), failure, what }
        });
        raw::store(faults, Box::into_raw(Box::new(lt_wcodec_faults(found.collect()))));
        Ok(())
    })
}

/// How many there are; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_fault_count(faults: *const lt_wcodec_faults) -> usize {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(0, || unsafe { raw::reference(faults, "faults").map_or(0, |found| found.0.len()) })
}

/// Fault `index`, counted from 0 in the order of the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_fault_info(
    faults: *const lt_wcodec_faults,
    index: usize,
    info: *mut lt_wcodec_fault,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(info, "info")?;
        let found = &raw::reference(faults, "faults")?.0;
        let none = || Failure::invalid(format!("fault {index} of {}", found.len()));
        let fault = found.get(index).ok_or_else(none)?;
        let told = lt_wcodec_fault {
            tensor: fault.tensor.unwrap_or(LT_NONE),
            offset: fault.failure.offset.unwrap_or(LT_NONE),
            what: fault.what.as_ptr().cast(),
            status: fault.failure.status,
            reserved0: 0,
            reserved: [0; 4],
        };
        raw::store(info, told);
        Ok(())
    })
}

/// Frees what lt_wcodec_find_faults has found. NULL is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_faults_free(faults: *mut lt_wcodec_faults) {
    // SAFETY: NULL, or what was found, as the caller promises.
    quiet((), || unsafe { raw::free(faults) });
}
