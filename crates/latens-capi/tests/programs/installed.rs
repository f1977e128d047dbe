//! The library as it is installed, compilers, and a checkpoint for the programs to read.

use crate::skipped::skipped;
use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::{BaseCheckpoint, BaseFile, Config, compress_checkpoint};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub(super) const SANITIZERS: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];

#[derive(Clone, Copy)]
pub(super) enum Language {
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
pub(super) struct Installed {
    pub(super) folder: tempfile::TempDir,
}

pub(super) fn here() -> &'static Path {
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
    pub(super) fn new() -> Self {
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
        let [base, packed, tuned] = tuned();
        for (name, bytes) in
            [("base.safetensors", &base), ("base.wcodec", &packed), ("tuned.wcodec", &tuned)]
        {
            fs::write(made.folder.path().join(name), bytes).unwrap();
        }
        made
    }

    pub(super) fn prefix(&self) -> PathBuf {
        self.folder.path().join("usr")
    }

    fn model(&self) -> PathBuf {
        self.folder.path().join("model.wcodec")
    }

    /// A line of the pkg-config file.
    pub(super) fn pkg_config(&self, key: &str) -> Vec<String> {
        let text = fs::read_to_string(self.prefix().join("lib/pkgconfig/latens.pc")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key}: "))).unwrap();
        line.split(' ').map(str::to_owned).collect()
    }

    /// Compiles and links; the program.
    pub(super) fn compile(
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

    pub(super) fn run(&self, program: &Path, options: &str) {
        let output = Command::new(program)
            .arg(self.model())
            .env("ASAN_OPTIONS", options)
            .env("UBSAN_OPTIONS", "print_stacktrace=1")
            .output()
            .unwrap();
        assert_success(&output, &program.display().to_string());
    }
}

pub(super) fn assert_success(output: &Output, what: &str) {
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Whether there is a compiler; says so where there is none.
pub(super) fn has(language: Language) -> bool {
    let name = language.compiler();
    let there = Command::new(&name).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        skipped(&format!("capi: there is no {name}"));
    }
    there
}

/// Options for AddressSanitizer where the compiler has it and it runs here: without a search for
/// leaks where that is not possible, as under a debugger.
pub(super) fn sanitizer() -> Option<&'static str> {
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
    let tensors: [Tensor; 7] = [
        ("layer.weight", "I8", "[6400,48]", 6400 * 48, 0),
        ("layer.weight_scale", "F32", "[6400,1]", 6400 * 4, 1),
        ("cube", "U8", "[2,3,4]", 24, 2),
        ("half", "BF16", "[16,16]", 512, 3),
        ("nothing", "F32", "[0,8]", 0, 4),
        ("one \u{e9}", "I64", "[]", 8, 5),
        ("tied", "I8", "[6400,48]", 6400 * 48, 0),
    ];
    pack(
        safetensors(&tensors, |i, kind| u8::try_from((i * 7 + i / 48 * 13 + kind) % 23).unwrap()),
        None,
    )
}

/// A checkpoint whose bytes `programs/base.c` knows, the same as a .wcodec, and one that is coded against it.
fn tuned() -> [Vec<u8>; 3] {
    let tensors = [("w", "I8", "[256,256]", 65_536, 0), (r"a\u0000b", "U8", "[4]", 4, 1)];
    // Such as nothing but the base tells of.
    let noise = |i: usize| {
        u8::try_from(((i.wrapping_mul(2_654_435_761) >> 7) ^ ((i * i) >> 5)) % 256).unwrap()
    };
    let base = safetensors(&tensors, |i, _| noise(i));
    let tuned = safetensors(&tensors, |i, _| noise(i) ^ u8::from(i % 50 == 0));
    [base.clone(), pack(base.clone(), None), pack(tuned, Some(base))]
}

/// A tensor's name in JSON, its type and shape, its bytes, and a number that tells them.
type Tensor = (&'static str, &'static str, &'static str, usize, usize);

fn safetensors(tensors: &[Tensor], byte: impl Fn(usize, usize) -> u8) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for &(name, dtype, shape, bytes, kind) in tensors {
        let start = data.len();
        data.extend((0..bytes).map(|i| byte(i, kind)));
        let end = data.len();
        entries.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

fn pack(file: Vec<u8>, base: Option<Vec<u8>>) -> Vec<u8> {
    let read = |file: Vec<u8>| {
        let none = |_: &str| Err(latens::Error::invalid("no shards"));
        let name = "model.safetensors".to_owned();
        Checkpoint::read(name, Box::new(file), Quantization::default(), &none).unwrap()
    };
    let base = base.map(|base| BaseCheckpoint::new(read(base)).unwrap());
    let against = base.as_ref().map(|base| BaseFile { base, name: "base.safetensors" });
    let config = Config::default().level(3).threads(1).group_symbols(1 << 14);
    compress_checkpoint(&read(file), against, &config, Vec::new()).unwrap()
}
