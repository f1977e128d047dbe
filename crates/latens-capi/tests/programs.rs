//! Programs in C and C++ against the header, with the static and the shared library, as they are
//! installed; plain, and under AddressSanitizer and UndefinedBehaviorSanitizer. And the examples of
//! the documents.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "../../latens/tests/common/skipped.rs"]
mod skipped;

use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::{Config, compress_checkpoint};
use skipped::skipped;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const SANITIZERS: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];

#[derive(Clone, Copy)]
enum Language {
    C,
    Cpp,
}

impl Language {
    fn compiler(self) -> String {
        let (name, usual) = match self {
            Language::C => ("CC", "cc"),
            Language::Cpp => ("CXX", "c++"),
        };
        env::var(name).unwrap_or_else(|_| usual.to_owned())
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Language::C => &["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wpedantic"],
            Language::Cpp => &["-std=c++17", "-Wpedantic"],
        }
    }
}

/// The library as it is installed, in a folder that is gone when the tests are over.
struct Installed {
    folder: tempfile::TempDir,
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo puts the libraries of this package: beside the tests, or one folder up.
fn built() -> PathBuf {
    let deps = env::current_exe().unwrap().parent().unwrap().to_owned();
    let has = |folder: &Path| folder.join("liblatens_capi.a").exists();
    let up = deps.parent().map(Path::to_owned);
    up.filter(|up| !has(&deps) && has(up)).unwrap_or(deps)
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let install = Command::new("sh")
            .arg(here().join("install.sh"))
            .arg("--prefix")
            .arg(folder.path().join("usr"))
            .arg("--from")
            .arg(built())
            .output()
            .unwrap();
        assert_success(&install, "install.sh");
        let made = Self { folder };
        fs::write(made.model(), checkpoint()).unwrap();
        made
    }

    fn prefix(&self) -> PathBuf {
        self.folder.path().join("usr")
    }

    fn model(&self) -> PathBuf {
        self.folder.path().join("model.wcodec")
    }

    /// A line of the pkg-config file.
    fn pkg_config(&self, key: &str) -> Vec<String> {
        let text = fs::read_to_string(self.prefix().join("lib/pkgconfig/latens.pc")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key}: "))).unwrap();
        line.split(' ').map(str::to_owned).collect()
    }

    /// Compiles and links; the program.
    fn compile(
        &self,
        language: Language,
        sources: &[PathBuf],
        name: &str,
        shared: bool,
        more: &[&str],
    ) -> PathBuf {
        let program = self.folder.path().join(name);
        let lib = self.prefix().join("lib");
        let mut compiler = Command::new(language.compiler());
        compiler
            .args(language.flags())
            .args(["-Wall", "-Wextra", "-Werror", "-O1", "-g", "-pthread"])
            .args(more)
            .arg("-I")
            .arg(self.prefix().join("include"))
            .args(sources)
            .arg("-o")
            .arg(&program);
        if shared {
            compiler.arg("-L").arg(&lib).arg("-llatens");
            compiler.arg(format!("-Wl,-rpath,{}", lib.display()));
        } else {
            compiler.arg(lib.join("liblatens.a")).args(self.pkg_config("Libs.private"));
        }
        assert_success(&compiler.output().unwrap(), name);
        program
    }

    fn run(&self, program: &Path, options: &str) {
        let output = Command::new(program)
            .arg(self.model())
            .env("ASAN_OPTIONS", options)
            .env("UBSAN_OPTIONS", "print_stacktrace=1")
            .output()
            .unwrap();
        assert_success(&output, &program.display().to_string());
    }
}

fn assert_success(output: &Output, what: &str) {
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Whether there is a compiler; says so where there is none.
fn has(language: Language) -> bool {
    let name = language.compiler();
    let there = Command::new(&name).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        skipped(&format!("capi: there is no {name}"));
    }
    there
}

/// Options for AddressSanitizer where the compiler has it and it runs here: without a search for
/// leaks where that is not possible, as under a debugger.
fn sanitizer() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&'static str>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("probe.c"), folder.path().join("probe"));
        fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let made = Command::new(Language::C.compiler())
            .args(SANITIZERS)
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .output();
        let runs = |options: &str| {
            let output = Command::new(&program).env("ASAN_OPTIONS", options).output();
            output.is_ok_and(|o| o.status.success())
        };
        let found = made
            .is_ok_and(|o| o.status.success())
            .then(|| ["detect_leaks=1", "detect_leaks=0"].into_iter().find(|options| runs(options)))
            .flatten();
        match found {
            None => skipped("capi: AddressSanitizer, which this compiler does not have"),
            Some("detect_leaks=0") => skipped("capi: the search for leaks"),
            Some(_) => {}
        }
        found
    })
}

/// A checkpoint whose bytes `programs/wcodec.c` knows.
fn checkpoint() -> Vec<u8> {
    let tensors: [(&str, &str, &str, usize, usize); 7] = [
        ("layer.weight", "I8", "[6400,48]", 6400 * 48, 0),
        ("layer.weight_scale", "F32", "[6400,1]", 6400 * 4, 1),
        ("cube", "U8", "[2,3,4]", 24, 2),
        ("half", "BF16", "[16,16]", 512, 3),
        ("nothing", "F32", "[0,8]", 0, 4),
        ("one \u{e9}", "I64", "[]", 8, 5),
        ("tied", "I8", "[6400,48]", 6400 * 48, 0),
    ];
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (name, dtype, shape, bytes, kind) in tensors {
        let start = data.len();
        data.extend((0..bytes).map(|i| u8::try_from((i * 7 + i / 48 * 13 + kind) % 23).unwrap()));
        let end = data.len();
        entries.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    let none = |_: &str| Err(latens::Error::invalid("no shards"));
    let name = "model.safetensors".to_owned();
    let checkpoint = Checkpoint::read(name, Box::new(file), Quantization::default(), &none);
    let config = Config::default().level(3).threads(1).group_symbols(1 << 14);
    compress_checkpoint(&checkpoint.unwrap(), None, &config, Vec::new()).unwrap()
}

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
