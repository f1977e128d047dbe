//! Keeps the picture in ARCHITECTURE.md true: reads the sources and checks which module uses which.
//!
//! ```text
//! wcodec → pco → ans → bits → latens-kernels
//!     delta_binary_packed → bits
//!             all of them → number → limits, watch, threads → error
//!             wcodec, pco → spare
//! ```
//! A module may use what lies below it, not what lies beside or above it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Top-level modules and what each of them may use. A new module must be added here, and drawn.
const MAY_USE: [(&str, &[&str]); 11] = [
    ("error", &[]),
    ("spare", &[]),
    ("threads", &["error"]),
    ("watch", &["error"]),
    ("limits", &["error"]),
    ("number", &["kernels", "limits", "error"]),
    ("bits", &["kernels", "number", "limits", "error"]),
    ("ans", &["bits", "kernels", "number", "limits", "error"]),
    ("pco", &["ans", "bits", "kernels", "number", "limits", "watch", "threads", "spare", "error"]),
    ("delta_binary_packed", &["bits", "kernels", "number", "limits", "watch", "threads", "error"]),
    (
        "wcodec",
        &[
            "pco", "ans", "bits", "kernels", "number", "limits", "watch", "threads", "spare",
            "error",
        ],
    ),
];

/// Inside of a format: structures, modes and deltas do not know the directions built on them.
const BELOW: [&str; 3] = ["layout", "mode", "delta"];
const DIRECTIONS: [&str; 5] = ["binning", "encode", "decode", "standalone", "wrapped"];

/// A path that starts at the crate's root, as far as it tells: `crate::pco::layout` is
/// `["pco", "layout"]`.
type Used = Vec<String>;

/// The source without comments, so that doc links do not count.
fn without_comments(source: &str) -> String {
    source.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// All paths of a `use` tree or an expression that begins at `text`: `a::{b, c::d}::…`.
fn paths(text: &str) -> Vec<Used> {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        let (mut depth, mut start, mut out) = (0usize, 0, Vec::new());
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    out.extend(paths(&group[start..at]).into_iter().filter(|p| !p.is_empty()));
                    start = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
        return out;
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (head, tail) = text.split_at(end);
    if head.is_empty() {
        return vec![Vec::new()];
    }
    if tail.starts_with('!') {
        return vec![vec![format!("{head}!")]];
    }
    let rest = match tail.strip_prefix("::") {
        Some(rest) if !rest.starts_with('<') => paths(rest),
        _ => vec![Vec::new()],
    };
    rest.into_iter().map(|p| std::iter::once(head.to_owned()).chain(p).collect()).collect()
}

/// Everything that a file of module path `module` uses of its crate, and of the kernels.
fn uses(module: &[String], source: &str) -> Vec<Used> {
    let source = without_comments(source);
    let mut out = Vec::new();
    let starts_word =
        |at: usize| !source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    for (at, word) in source.match_indices("crate::") {
        if starts_word(at) {
            out.extend(paths(&source[at + word.len()..]));
        }
    }
    if source.match_indices("latens_kernels").any(|(at, _)| starts_word(at)) {
        out.push(vec!["kernels".to_owned()]);
    }
    // `super::super::x` from two levels deep names `crate::x`.
    for (at, _) in source.match_indices("super::") {
        if !starts_word(at) {
            continue;
        }
        let rest = source[at..].trim_start_matches("super::");
        let up = (source[at..].len() - rest.len()) / "super::".len();
        for path in paths(rest) {
            let known = path.first().is_some_and(|head| MAY_USE.iter().any(|(m, _)| m == head));
            if up >= module.len() && known {
                out.push(path);
            } else if up < module.len() {
                out.push(module[..module.len() - up].iter().cloned().chain(path).collect());
            }
        }
    }
    out
}

/// Names that the root re-exports, with the module they come from.
fn reexports(lib: &str) -> BTreeMap<String, String> {
    let lib = without_comments(lib);
    let mut out = BTreeMap::new();
    for (at, word) in lib.match_indices("pub use ") {
        for path in paths(&lib[at + word.len()..]) {
            if let (Some(first), Some(last)) = (path.first(), path.last()) {
                out.insert(last.clone(), first.clone());
            }
        }
    }
    out
}

/// What is wrong with one file; empty when nothing is.
fn violations(
    module: &[String],
    source: &str,
    reexports: &BTreeMap<String, String>,
) -> Vec<String> {
    let name = module.join("::");
    let Some((top, may)) = MAY_USE.iter().find(|(m, _)| *m == module[0]) else {
        return vec![format!("module {} is not in the picture", module[0])];
    };
    let mut out = Vec::new();
    for mut used in uses(module, source) {
        let Some(mut head) = used.first().cloned() else { continue };
        if head.ends_with('!') {
            continue; // macros of the crate live at its root
        }
        if let Some(home) = reexports.get(&head) {
            used.insert(0, home.clone());
            head.clone_from(home);
        }
        if head != *top && !may.contains(&head.as_str()) {
            out.push(format!("{name} uses {}", used.join("::")));
        }
        let part =
            |path: &[String], of: &[&str]| path.get(1).is_some_and(|p| of.contains(&p.as_str()));
        if head == *top && part(module, &BELOW) && part(&used, &DIRECTIONS) {
            out.push(format!("{name} uses {}, which is built on it", used.join("::")));
        }
    }
    out
}

fn rust_files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// `src/pco/layout/mode.rs` is `["pco", "layout", "mode"]`.
fn module_path(src: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(src).unwrap().with_extension("");
    let parts = inside.iter().map(|p| p.to_string_lossy().into_owned());
    parts.filter(|p| p != "mod").collect()
}

#[test]
fn dependencies_run_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let reexports = reexports(&fs::read_to_string(src.join("lib.rs")).unwrap());
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    assert!(files.len() > 3, "sources not found");
    let mut wrong = Vec::new();
    for file in files {
        let module = module_path(&src, &file);
        if module != ["lib"] {
            let source = fs::read_to_string(&file).unwrap();
            wrong.extend(violations(&module, &source, &reexports));
        }
    }
    assert!(wrong.is_empty(), "against the picture in ARCHITECTURE.md:\n{}", wrong.join("\n"));
}

#[test]
fn kernels_know_nothing_of_latens() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../latens-kernels");
    let manifest = fs::read_to_string(kernels.join("Cargo.toml")).unwrap();
    let depends = |line: &str| {
        let name = line.split(['=', '.']).next().unwrap_or("").trim();
        name == "latens" || line.contains("package = \"latens\"")
    };
    assert!(!manifest.lines().any(depends), "latens-kernels depends on latens");
    let mut files = Vec::new();
    rust_files(&kernels.join("src"), &mut files);
    for file in files {
        let source = without_comments(&fs::read_to_string(&file).unwrap());
        assert!(!source.contains("latens::"), "{} uses latens", file.display());
    }
}

#[test]
fn the_checker_finds_what_breaks_the_rule() {
    let lib = "pub use number::{Latent, Number}; pub use pco::Config; // pub use wcodec::X;";
    let reexports = reexports(lib);
    let check = |module: &str, source: &str| {
        let module: Vec<String> = module.split("::").map(str::to_owned).collect();
        violations(&module, source, &reexports).len()
    };
    for (module, source) in [
        ("bits::reader", "use crate::{error::Error, number::{Latent, Number}};"),
        ("ans::tans", "use crate::bits::reader::BitReader;\nuse latens_kernels::dispatch;"),
        ("pco::encode", "use crate::ans::tans; let x = crate::bits::low_mask(3);"),
        ("wcodec::float", "use crate::pco::Config;"),
        ("pco::layout::mode", "/// [`crate::wcodec`]\nuse super::variable::Variable;"),
        ("pco::decode::page", "use super::super::layout::mode; use crate::Latent;"),
        ("number", "#[cfg(test)] mod tests { use super::*; }"),
        ("pco", "crate::with_number_type!(ty, T => f::<T>())"),
    ] {
        assert_eq!(check(module, source), 0, "{module}: {source}");
    }
    for (module, source) in [
        ("bits::reader", "use crate::pco::Config;"),
        ("bits::reader", "use crate::{error::Error, ans::tans};"),
        ("bits::reader", "use crate::Config;"),
        ("bits::reader", "use crate::{\n    error::Error,\n    ans::{\n        tans,\n    },\n};"),
        ("bits::reader", "use super::super::ans::tans;"),
        ("ans::tans", "fn f() -> crate::pco::Config {}"),
        ("ans", "use super::pco::Config;"),
        ("pco::encode", "use crate::wcodec::Tensor;"),
        ("pco::encode", "use crate::delta_binary_packed::Block;"),
        ("delta_binary_packed", "use crate::pco::Config;"),
        ("delta_binary_packed::decode", "use crate::ans::tans;"),
        ("number::latent", "use crate::bits::low_mask;"),
        ("limits", "use latens_kernels::dispatch::simd;"),
        ("error", "use crate::limits::Limits;"),
        ("pco::layout::mode", "use crate::pco::decode::page;"),
        ("pco::mode::dict", "use super::super::encode::search;"),
        ("surprise", ""),
    ] {
        assert_eq!(check(module, source), 1, "{module}: {source}");
    }
}
