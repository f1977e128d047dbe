//! What a call returns, and where it says more.

use crate::failure::Failure;
use crate::raw;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use crate::failure::lt_status;

/// In `lt_error`: there is no such number.
pub const LT_NONE: u64 = 0xffff_ffff_ffff_ffff;

/// Bytes of `lt_error.message`, the NUL at its end included.
pub const LT_MESSAGE_SIZE: usize = 448;

/// What went wrong, and where. It lies in the caller's memory, and need not be initialised: each call
/// that is given one writes all of it, also when all went well. Nothing in it is to be freed.
#[repr(C)]
pub struct lt_error {
    /// What the call returned.
    pub status: lt_status,
    /// 0.
    pub reserved0: u32,
    /// Byte of the input that the error is about, or LT_NONE.
    pub offset: u64,
    /// Numbers that were written to the caller's memory before a decoder failed: nothing behind them
    /// was touched, and they are right unless a checksum is what failed, which is compared behind
    /// what it is of, or unless values_right tells of fewer. LT_NONE where this is not said.
    pub values_before: u64,
    /// How many of these, from the first one on, are right; those behind them may be anything. LT_NONE where
    /// this is not said.
    pub values_right: u64,
    /// 0.
    pub reserved: [u64; 4],
    /// The error as a sentence in UTF-8, with place and offset; "" where all went well.
    pub message: [c_char; LT_MESSAGE_SIZE],
}

/// `text` as a C string of at most `LT_MESSAGE_SIZE` bytes, cut between characters.
fn message(text: &str) -> [c_char; LT_MESSAGE_SIZE] {
    let mut end = text.len().min(LT_MESSAGE_SIZE - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut out = [0; LT_MESSAGE_SIZE];
    let bytes = text.as_bytes()[..end].iter();
    // A name from a file may hold a NUL; the message goes on behind it.
    for (to, &byte) in out.iter_mut().zip(bytes) {
        *to = if byte == 0 { b'?' } else { byte }.cast_signed() as c_char;
    }
    out
}

/// Does the work of a function of the ABI: no panic leaves it, and what went wrong is returned, and
/// told to `error`, if there is one.
pub(crate) fn guard(error: *mut lt_error, work: impl FnOnce() -> Result<(), Failure>) -> lt_status {
    let outcome =
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|e| Err(Failure::of_panic(e)));
    let said = match outcome {
        Ok(()) => Failure::new(lt_status::Ok, ""),
        Err(failure) => failure,
    };
    let told = lt_error {
        status: said.status,
        reserved0: 0,
        offset: said.offset.unwrap_or(LT_NONE),
        values_before: said.values_before.unwrap_or(LT_NONE),
        values_right: said.values_right.unwrap_or(LT_NONE),
        reserved: [0; 4],
        message: message(&said.message),
    };
    // SAFETY: the caller of every function of the ABI promises that `error` is NULL or points to
    // memory for an lt_error.
    unsafe { raw::store(error, told) };
    said.status
}

/// Does the work of a function that cannot fail; `otherwise` where it panics nevertheless.
pub(crate) fn quiet<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        std::mem::forget(payload);
        otherwise
    })
}

/// The name of a status, such as "corrupt"; "unknown" for others. It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn lt_status_name(status: u32) -> *const c_char {
    let name = match status {
        0 => c"ok",
        1 => c"corrupt",
        2 => c"truncated",
        3 => c"invalid argument",
        4 => c"I/O",
        5 => c"limit",
        6 => c"buffer too small",
        7 => c"internal",
        8 => c"stopped",
        _ => c"unknown",
    };
    name.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use latens::Error;
    use std::ffi::CStr;
    use std::mem::MaybeUninit;

    fn told(work: impl FnOnce() -> Result<(), Failure>) -> (lt_error, String) {
        let mut error = MaybeUninit::<lt_error>::uninit();
        let status = guard(error.as_mut_ptr(), work);
        // SAFETY: `guard` writes all of it.
        let error = unsafe { error.assume_init() };
        assert_eq!(error.status, status);
        // SAFETY: a message ends with a NUL.
        let text = unsafe { CStr::from_ptr(error.message.as_ptr()) };
        let text = text.to_str().unwrap().to_owned();
        (error, text)
    }

    #[test]
    fn panics_do_not_cross() {
        let (error, text) = told(|| panic!("a trap with {}", 7));
        assert_eq!(error.status, lt_status::Internal);
        assert_eq!(text, "internal: a bug of latens: a trap with 7");
        assert_eq!(quiet(3, || panic!("a trap")), 3);
        let (error, text) = told(|| std::panic::panic_any(5u8));
        assert_eq!(
            (error.status, &*text),
            (lt_status::Internal, "internal: a bug of latens: no message")
        );
        assert_eq!(guard(std::ptr::null_mut(), || panic!("a trap")), lt_status::Internal);
    }

    #[test]
    fn kinds_and_places() {
        let (error, text) = told(|| Err(Error::corrupt(7, "bad").after_values(3).into()));
        assert_eq!((error.status, error.offset, error.values_before), (lt_status::Corrupt, 7, 3));
        assert_eq!((error.values_right, error.reserved), (LT_NONE, [0; 4]));
        assert_eq!(text, "corrupt: bad (byte 7)");
        let (error, _) = told(|| Err(Error::limit("much").into()));
        assert_eq!((error.status, error.offset), (lt_status::Limit, LT_NONE));
        let (error, text) = told(|| Ok(()));
        assert_eq!((error.status, text.len()), (lt_status::Ok, 0));
        assert_eq!(size_of::<lt_error>(), 512);
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let (_, text) = told(|| Err(Failure::new(lt_status::Io, format!("a{}", "é".repeat(400)))));
        assert_eq!(text.len(), 447);
        let (_, text) = told(|| Err(Failure::new(lt_status::Io, "é".repeat(400))));
        assert_eq!(text.len(), 446);
        let (_, text) = told(|| Err(Failure::new(lt_status::Io, "a\0b")));
        assert_eq!(text, "a?b");
    }
}
