//! The PTX that ships is what the kernels compile to.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../../latens/tests/common/skipped.rs"]
mod skipped;

use skipped::skipped;
use std::path::Path;
use std::process::Command;

/// `LATENS_NVRTC_PYTHON` is a Python that has the package nvidia-cuda-nvrtc-cu12 12.9; without it
/// `python3` is asked.
#[test]
fn is_current() {
    let python = std::env::var("LATENS_NVRTC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/make_ptx.py");
    let output = match Command::new(&python).arg(&script).arg("--check").output() {
        Ok(output) => output,
        Err(error) => return skipped(&format!("is the PTX current: {python}: {error}")),
    };
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        return skipped(&format!("is the PTX current: {text}"));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{text}");
}

#[test]
fn names_its_kernels_and_what_it_needs() {
    let has = |line: &str| latens_cuda::PTX.lines().any(|l| l.starts_with(line));
    assert!(has(".version 8.8") && has(".target sm_75"));
    for kernel in ["wcodec_check", "wcodec_decode", "wcodec_join"] {
        assert!(has(&format!(".visible .entry {kernel}(")), "{kernel}");
    }
    assert!(!latens_cuda::PTX.contains('\0'));
}
