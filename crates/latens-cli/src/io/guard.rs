//! Foreign code that panics on bad input turned into an error, silently.
//!
//! The `parquet` crate panics on some hostile pages; the tool must end with a message and exit
//! code 1 there, like on any other bad input.

use crate::message::{Failure, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Run `f`; a panic inside of it is an error that says the input is bad.
///
/// What `f` was changing when it panicked must not be used again: callers drop it with the error.
///
/// # Errors
/// Those of `f`, and its panics.
pub fn guarded<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                previous(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    GUARDED.set(outer);
    outcome.unwrap_or_else(|_| Err(Failure::new("corrupt: the data cannot be decoded")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let e = guarded::<()>(|| panic!("inside")).unwrap_err();
        assert!(e.to_string().contains("cannot be decoded"));
        assert_eq!(guarded(|| Ok(1)).unwrap(), 1);
    }
}
