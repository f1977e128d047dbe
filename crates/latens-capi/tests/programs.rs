//! Programs in C and C++ against the header, with the static and the shared library, as they are
//! installed; plain, and under AddressSanitizer and UndefinedBehaviorSanitizer. And the examples of
//! the documents.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "programs/installed.rs"]
mod installed;
#[path = "../../latens/tests/common/skipped.rs"]
mod skipped;

use installed::{Installed, Language, SANITIZERS, assert_success, has, here, sanitizer};
use skipped::skipped;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program of one language: with both libraries, with and without sanitizers.
fn try_program(language: Language, name: &str, sources: &[PathBuf]) {
    if !has(language) {
        return;
    }
    let installed = Installed::new();
    for (shared, kind) in [(false, "static"), (true, "shared")] {
        let plain = installed.compile(language, sources, &format!("{name}-{kind}"), shared, &[]);
        installed.run(&plain, "");
        if let Some(options) = sanitizer() {
            let name = format!("{name}-{kind}-sanitized");
            let program = installed.compile(language, sources, &name, shared, &SANITIZERS);
            installed.run(&program, options);
        }
    }
}

#[test]
fn a_program_in_c() {
    let folder = here().join("tests/programs");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sources: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "c")).collect();
    assert!(sources.len() >= 7, "{sources:?}");
    try_program(Language::C, "c", &sources);
}

#[test]
fn a_program_in_cpp() {
    try_program(Language::Cpp, "cpp", &[here().join("tests/programs/main.cpp")]);
}

/// Blocks of code of a language in a document.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|behind| behind.split("\n```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_examples_of_the_documents() {
    if !has(Language::C) || !has(Language::Cpp) {
        return;
    }
    let installed = Installed::new();
    let mut tried = 0;
    for document in ["README.md", "../../README.md"] {
        let text = fs::read_to_string(here().join(document)).unwrap();
        for (language, extension) in [(Language::C, "c"), (Language::Cpp, "cpp")] {
            for block in blocks(&text, extension) {
                let name = format!("example{tried}");
                let source = installed.folder.path().join(&name).with_extension(extension);
                fs::write(&source, block + "\n").unwrap();
                installed.run(&installed.compile(language, &[source], &name, true, &[]), "");
                tried += 1;
            }
        }
    }
    assert!(tried >= 5, "{tried} examples");
}

/// The lines of the README that build its first example, as they stand. What the static one makes
/// runs where there is no shared library, what the others make does not.
#[cfg(target_os = "linux")]
#[test]
fn the_commands_of_the_readme() {
    let there =
        |name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there("pkg-config") || !there("cc") {
        skipped("capi: the README's commands: pkg-config or cc is not there");
        return;
    }
    let installed = Installed::new();
    let (folder, lib) = (installed.folder.path(), installed.prefix().join("lib"));
    let readme = fs::read_to_string(here().join("README.md")).unwrap();
    fs::write(folder.join("prices.c"), blocks(&readme, "c").swap_remove(0)).unwrap();
    let built = |line: &str, name: &str| {
        let made = Command::new("sh")
            .args(["-euc", line])
            .current_dir(folder)
            .env("PKG_CONFIG_PATH", lib.join("pkgconfig"))
            .output();
        assert_success(&made.unwrap(), line);
        let program = folder.join(name);
        fs::rename(folder.join("prices"), &program).unwrap();
        program
    };
    let commands = blocks(&readme, "console").into_iter().find(|block| block.starts_with("cc "));
    let commands = commands.unwrap();
    let [shared, with_path, fixed] = commands.lines().collect::<Vec<_>>()[..] else {
        panic!("{commands}")
    };
    let programs = [built(shared, "shared"), built(with_path, "with_path"), built(fixed, "static")];
    let runs = |program: &PathBuf, path: &Path| {
        let done = Command::new(program).env("LD_LIBRARY_PATH", path).output().unwrap();
        done.status.success()
    };
    assert!(runs(&programs[0], &lib));
    assert_eq!([&programs[1], &programs[2]].map(|program| runs(program, Path::new(""))), [true; 2]);
    for entry in fs::read_dir(&lib).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains(".so") {
            fs::remove_file(path).unwrap();
        }
    }
    let alone = programs.each_ref().map(|program| runs(program, Path::new("")));
    assert_eq!(alone, [false, false, true]);
}

/// Where there is no library nothing is installed.
#[test]
fn nothing_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("usr");
    let mut install = Command::new("sh");
    install.arg(here().join("install.sh")).arg("--prefix").arg(&prefix);
    let done = install.arg("--from").arg(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("no liblatens_capi in") && !prefix.exists(), "{said}");
}

/// What `pkg-config` says, where there is one, finds library and header.
#[test]
fn pkg_config_finds_it() {
    let installed = Installed::new();
    let lib = installed.prefix().join("lib");
    assert_eq!(installed.pkg_config("Version"), [env!("CARGO_PKG_VERSION")]);
    assert_eq!(installed.pkg_config("Libs"), ["-L${libdir}", "-llatens"]);
    assert!(lib.join("liblatens.a").exists());
    let asked = Command::new("pkg-config")
        .env("PKG_CONFIG_PATH", lib.join("pkgconfig"))
        .args(["--cflags", "--libs", "latens"])
        .output();
    match asked {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8(output.stdout).unwrap();
            let include = format!("-I{}", installed.prefix().join("include").display());
            assert!(said.contains(&include) && said.contains("-llatens"), "{said}");
        }
        _ => skipped("capi: pkg-config, which is not there"),
    }
}
