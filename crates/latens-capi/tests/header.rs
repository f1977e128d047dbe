//! The header beside the sources is the one that they make.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What stands above the declarations.
const HEAD: &str = "\
/* latens: lossless compression for numbers. Pco, Parquet DELTA_BINARY_PACKED, WCodec.
 *
 * Made from the sources of the crate latens-capi; its README.md has rules and examples. In short:
 * calls return LT_STATUS_OK or what went wrong, and tell an lt_error, which may be NULL, more; what
 * lies in an lt_buffer is freed by lt_buffer_free; options are set by their _init functions, NULL
 * stands for the defaults; every function may be called from any thread, and no handle is freed
 * while another thread uses it.
 *
 * Pointers: where n elements are spoken of, as many are there, or n is 0. Outputs of which it is not
 * said that they may be NULL must not be. Strings end with a NUL.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */";

fn made() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    config.header = Some(HEAD.to_owned());
    // It follows the modules itself.
    let builder = cbindgen::Builder::new().with_config(config);
    let mut out = Vec::new();
    builder.with_src(root.join("src/lib.rs")).generate().unwrap().write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_header_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/latens.h");
    let made = made();
    if std::env::var_os("LATENS_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
        return;
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    let at = there.lines().zip(made.lines()).position(|(a, b)| a != b);
    assert!(
        there == made,
        "include/latens.h is not current from line {} on: LATENS_BLESS=1 cargo test -p latens-capi \
         --test header",
        at.map_or(there.lines().count().min(made.lines().count()), |at| at) + 1
    );
}

/// Functions with `no_mangle` in all sources.
#[test]
fn every_function_is_in_the_header_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = made();
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(root.join("src")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for behind in text.split("#[unsafe(no_mangle)]").skip(1) {
            let Some((_, name)) = behind.split_once("extern \"C\" fn ") else { continue };
            names.insert(name.split('(').next().unwrap().to_owned());
        }
    }
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        assert_eq!(header.matches(&format!("{name}(")).count(), 1, "{name} in the header");
    }
}
