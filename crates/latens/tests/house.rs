//! The house's own rules: what README and ARCHITECTURE name exists, files stay small, unsafe code
//! stays where it belongs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a source file may have.
const MOST_LINES: usize = 600;

/// Where unsafe code may stand: the kernels, the pointers of C, and where a GPU's driver is called.
const MAY_BE_UNSAFE: [&str; 5] = [
    "latens-kernels/src/",
    "latens-capi/src/",
    "latens-cuda/src/dlpack.rs",
    "latens-cuda/src/gpu.rs",
    "latens-cuda/src/launch.rs",
];

/// Documents whose claims are checked.
const DOCUMENTS: [&str; 27] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "GLOSSARY.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "optimizations.md",
    "optimizations/delta-binary-packed.md",
    "optimizations/others.md",
    "optimizations/pco-decoding.md",
    "optimizations/pco-encoding.md",
    "optimizations/wcodec.md",
    "benches/results/README.md",
    "benches/results/robustness.md",
    "crates/latens-capi/README.md",
    "crates/latens-cuda/README.md",
    "fuzz/README.md",
    "python/README.md",
    "specs/pco.md",
    "specs/delta-binary-packed.md",
    "specs/wcodec.md",
    "specs/wcodec-tiles.md",
    "specs/wcodec-views.md",
    "testdata/golden/README.md",
    "testdata/golden/wcodec/README.md",
    "testdata/hostile/README.md",
    "testdata/real/README.md",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every Rust file under `crates/*/src`, as a path from `crates` on.
fn sources() -> Vec<(String, String)> {
    fn walk(dir: &Path, base: &Path, out: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, base, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(base).unwrap().to_string_lossy().replace('\\', "/");
                out.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let crates = repository().join("crates");
    let mut out = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let src = entry.unwrap().path().join("src");
        if src.is_dir() {
            walk(&src, &crates, &mut out);
        }
    }
    assert!(out.len() > 50, "the sources were not found");
    out
}

/// Whether `unsafe` stands in a line as code: not in a comment, not inside of a name.
fn has_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

#[test]
fn files_stay_small() {
    let long: Vec<String> = sources()
        .iter()
        .map(|(name, text)| (name, text.lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(name, lines)| format!("{name}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "over {MOST_LINES} lines:\n{}", long.join("\n"));
}

#[test]
fn unsafe_code_stays_where_it_belongs() {
    let found: Vec<String> = sources()
        .iter()
        .filter(|(name, _)| !MAY_BE_UNSAFE.iter().any(|home| name.starts_with(home)))
        .flat_map(|(name, text)| {
            let lines = text.lines().enumerate().filter(|(_, line)| has_unsafe(line));
            lines.map(move |(i, _)| format!("{name}:{}", i + 1))
        })
        .collect();
    assert!(found.is_empty(), "unsafe code where it may not be:\n{}", found.join("\n"));
    assert!(
        has_unsafe("let x = unsafe { f() };") && !has_unsafe("#![forbid(unsafe_code)] // unsafe")
    );
    assert!(read("crates/latens/src/lib.rs").lines().any(|l| l == "#![forbid(unsafe_code)]"));
}

#[test]
fn relative_links_of_the_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for document in DOCUMENTS {
        let text = read(document);
        let folder = repository().join(document).parent().unwrap().to_owned();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap_or("");
            let file = target.split('#').next().unwrap_or("");
            if !file.is_empty() && !target.contains("://") && !folder.join(file).exists() {
                broken.push(format!("{document}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "links to nothing:\n{}", broken.join("\n"));
}

/// A path in backticks under `crates/`, `specs/`, `testdata/`, `benches/` or `.ci/` is a claim
/// that it exists, unless a capital word in it stands for many.
#[test]
fn paths_that_the_documents_name_exist() {
    const ROOTS: [&str; 5] = ["crates/", "specs/", "testdata/", "benches/", ".ci/"];
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let text = read(document);
        for path in text.split('`').skip(1).step_by(2) {
            let names_a_path = ROOTS.iter().any(|root| path.starts_with(root))
                && path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
                && !path.split('/').any(|part| part == "FORMAT");
            if names_a_path && !repository().join(path).exists() {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "named but not there:\n{}", missing.join("\n"));
}

/// The walks of ARCHITECTURE.md end every row with the files it passes through.
#[test]
fn the_way_of_a_number_leads_through_files_that_exist() {
    let text = read("ARCHITECTURE.md");
    let way = text.split("## The way of one number").nth(1).unwrap();
    let way = way.split("\n## ").next().unwrap();
    let src = repository().join("crates/latens/src");
    let (mut rows, mut missing) = (0, Vec::new());
    for line in way.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| step")) {
        let places = line.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap_or("");
        let mut folder = PathBuf::new();
        for place in places.split('`').skip(1).step_by(2) {
            // A bare file name stands in the folder of the one before it.
            let here = if place.contains('/') { PathBuf::from(place) } else { folder.join(place) };
            let top = src.join(place).exists();
            if !src.join(&here).exists() && !top {
                missing.push(line.to_owned());
            }
            folder = here.parent().unwrap_or(Path::new("")).to_owned();
        }
        rows += 1;
    }
    assert!(rows >= 20, "{rows} rows");
    assert!(missing.is_empty(), "steps through files that do not exist:\n{}", missing.join("\n"));
}

/// Fenced blocks with a language of `name`.
fn blocks<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((_, from)) = rest.split_once("```") {
        let Some((block, behind)) = from.split_once("```") else { break };
        if let Some((_, body)) = block.split_once('\n').filter(|(head, _)| head.trim() == name) {
            out.push(body);
        }
        rest = behind;
    }
    out
}

/// The first block of the README is the two commands, the table they name is there, and `.ci/run`
/// runs them as they stand.
#[test]
fn the_two_commands() {
    let readme = read("README.md");
    let commands: Vec<&str> = blocks(&readme, "console")[0].lines().collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let table = commands[0].split(' ').next_back().unwrap();
    assert!(repository().join(table).exists(), "{table}");
    let ci = read(".ci/run");
    for command in commands {
        assert!(ci.contains(command), ".ci/run does not run `{command}`");
    }
}

/// Numbers of the README's table of sizes are those of the file beside it.
#[test]
fn sizes_in_the_readme_are_those_measured() {
    let readme = read("README.md");
    let csv = read("benches/results/pco_sizes_level8.csv");
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().starts_with("name,type,n,raw_bytes,latens_bytes,pco_bytes"));
    let mut rows = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [name, .., ours, theirs] = fields[..6] else { panic!("{line}") };
        let start = format!("| `{name}` |");
        for row in readme.lines().filter(|l| l.starts_with(&start)) {
            let grouped = |cell: &str| cell.replace([',', ' ', '*'], "");
            let cells: Vec<String> = row.split('|').map(grouped).collect();
            assert!(cells.contains(&ours.to_owned()), "{row}: latens takes {ours}");
            assert!(cells.contains(&theirs.to_owned()), "{row}: pco takes {theirs}");
            rows += 1;
        }
    }
    assert!(rows > 5, "{rows} rows of the README are in the CSV");
}

/// Documents are for strangers: nothing in them points into somebody's machine.
#[test]
fn documents_name_no_machine() {
    for document in DOCUMENTS {
        let text = read(document);
        for place in ["/root/", "/home/", "/work/", "/Users/"] {
            assert!(!text.contains(place), "{document} names {place}");
        }
    }
}
