//! The targets for libFuzzer, and for seeds without it.

use crate::target::{self, Target, Verdict};
use std::sync::OnceLock;

/// Runs a target on an input of a fuzzer: a selector, then the bytes. Nothing but a panic is a
/// finding.
pub fn input(target: &Target, input: &[u8]) -> Option<Verdict> {
    let (selector, bytes) = input.split_first()?;
    Some((target.body)(*selector, bytes))
}

/// The same by name, which is looked up once in a process.
///
/// # Panics
/// Where there is no such target.
pub fn named(name: &str, data: &[u8]) {
    static TARGET: OnceLock<Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        target::interop::quiet_peers();
        target::find(name).expect("a target")
    });
    let _ = input(target, data);
}

/// The body of a fuzz target.
#[macro_export]
macro_rules! fuzz {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::fuzz::named($name, data));
    };
}
