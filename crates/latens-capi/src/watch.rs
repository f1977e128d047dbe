//! Who is told of a long call, and can end it.

use latens::{Error, Watch};
use std::ffi::c_void;

/// Is told that `done` more numbers (of a checkpoint: bytes of tensors) of a call are done, 0 where it
/// is only asked, and says whether to go on: 0, or anything else to end the call, which fails with
/// LT_STATUS_STOPPED. `data` is the caller's, as it stands beside the function in the options.
///
/// It is called by whichever threads are at work, the caller's among them, several at once where the
/// options say more than one; after it has ended a call others may still come until that returns. It
/// must return as a C function does: no exceptions, no longjmp.
pub type lt_watch = Option<unsafe extern "C" fn(data: *mut c_void, done: u64) -> i32>;

/// A function of the caller with its data.
struct Told {
    function: unsafe extern "C" fn(data: *mut c_void, done: u64) -> i32,
    data: *mut c_void,
}

// SAFETY: the caller promises that any thread may call the function with its data, several at once.
unsafe impl Send for Told {}
// SAFETY: likewise.
unsafe impl Sync for Told {}

impl Told {
    fn go_on(&self, done: u64) -> bool {
        // SAFETY: the caller promises that the function may be called with its data until the call
        // returns, or the handle is closed, that was given them.
        unsafe { (self.function)(self.data, done) == 0 }
    }
}

/// The library's.
pub(crate) fn watch(function: lt_watch, data: *mut c_void) -> Watch {
    let Some(function) = function else { return Watch::NONE };
    let told = Told { function, data };
    Watch::new(move |step| if told.go_on(step.done) { Ok(()) } else { Err(Error::stopped()) })
}
