//! System calls that fail: each of them, one after the other, as strace makes them. The final name
//! never holds a part of a file, the input stays as it was, nothing else is left, and the tool says
//! what happened. What is merely interrupted goes on.

use crate::checkpoints::model;
use crate::skipped::skipped;
use crate::tool::{Folder, column};
use std::process::{Command, Output};

/// What is done, from which file to which.
const JOBS: [(&str, &str, &[&str]); 7] = [
    ("a.npy", "out.pco", &["compress", "a.npy", "-o", "out.pco", "-q", "-T", "1"]),
    ("a.npy", "out.pco.zip", &["compress", "a.npy", "-o", "out.pco.zip", "-q", "-T", "1"]),
    ("a.pco", "out.npy", &["decompress", "a.pco", "-o", "out.npy", "-q", "-T", "1"]),
    ("a.pco", "out.npy", &["decompress", "a.pco", "-o", "out.npy", "-q", "-T", "1", "-f"]),
    ("a.npy", "out.parquet", &["compress", "a.npy", "-o", "out.parquet", "-q", "-T", "1"]),
    (
        "m.safetensors",
        "o.wcodec",
        &["compress", "m.safetensors", "-o", "o.wcodec", "-q", "-T", "1"],
    ),
    ("m.wcodec", "o.safetensors", &["decompress", "m.wcodec", "-o", "o.safetensors", "-q"]),
];

/// Calls that bring bytes to their place, and those that bring them here.
const CALLS: [&str; 6] = [
    "write,pwrite64,writev,pwritev",
    "fsync,fdatasync",
    "rename,renameat,renameat2,link,linkat",
    "fchmod,chmod,fchmodat",
    "unlink,unlinkat",
    "pread64,preadv",
];

/// Whether strace may trace here; says why where it may not.
pub fn can_inject() -> bool {
    let tried = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).output();
    let why = match tried {
        Ok(done) if done.status.success() => return true,
        Ok(done) => String::from_utf8_lossy(&done.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    skipped(&format!("failing system calls: strace does not run here: {why}"));
    false
}

struct Injected {
    /// Whether call `n` came to be.
    happened: bool,
    /// Whether the words themselves could not be written.
    muted: bool,
    code: Option<i32>,
    err: String,
}

/// Runs the tool under strace, which does to `calls` what `fault` says; also returns what it saw.
pub fn traced(f: &Folder, args: &[&str], calls: &str, fault: &str) -> (Output, String) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(log.path())
        .args(["-e", &format!("trace={calls}"), "-e", &format!("inject={calls}:{fault}")])
        .arg(env!("CARGO_BIN_EXE_latens"))
        .args(args)
        .current_dir(f.path(""))
        .env("TMPDIR", f.path(""))
        .output()
        .unwrap();
    (output, std::fs::read_to_string(log.path()).unwrap())
}

/// Runs the tool with the `n`th of `calls` failing, from 1 on.
fn inject(f: &Folder, args: &[&str], calls: &str, error: &str, n: usize) -> Injected {
    let existing = format!("?{}", calls.replace(',', ",?"));
    let (output, traced) = traced(f, args, &existing, &format!("error={error}:when={n}"));
    Injected {
        happened: traced.contains("(INJECTED)"),
        muted: traced.lines().any(|l| l.contains("write(2, ") && l.contains("(INJECTED)")),
        code: output.status.code(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// What the job gives where all goes well.
fn prepared(f: &Folder, output: &str, args: &[&str]) -> Vec<u8> {
    f.write("a.npy", &column(40_000));
    f.run(&["compress", "-q", "a.npy"]).ok();
    f.write("m.safetensors", &model(4));
    f.run(&["compress", "-q", "-l", "1", "m.safetensors"]).ok();
    f.run(args).ok();
    let whole = f.read(output);
    std::fs::remove_file(f.path(output)).unwrap();
    whole
}

fn every_call_fails(error: &str) {
    if !can_inject() {
        return;
    }
    let mut failures = 0;
    for (input, output, args) in JOBS {
        let f = Folder::new();
        let whole = prepared(&f, output, args);
        let source = f.read(input);
        for calls in CALLS {
            for n in 1..200 {
                let old = args.contains(&"-f");
                if old {
                    f.write(output, b"precious");
                }
                let done = inject(&f, args, calls, error, n);
                let what = format!("{error} at {calls} number {n} of {args:?}: {}", done.err);
                assert_eq!(f.read(input), source, "{what}");
                let there = std::fs::read(f.path(output)).ok();
                let kept = old.then(|| b"precious".to_vec());
                if done.code == Some(127) {
                    // The dynamic linker's call: the program did not begin.
                    assert!(there == kept, "{what}");
                } else if done.code == Some(0) {
                    // Nothing was injected, or it did no harm: a file that could not be removed.
                    assert!(there == Some(whole.clone()), "{what}");
                } else {
                    failures += 1;
                    assert_eq!(done.code, Some(1), "{what}");
                    let lines = done.err.lines().count();
                    assert!(done.muted || (1..=3).contains(&lines), "{what}");
                    let before = there == kept || there.as_ref() == Some(&whole);
                    assert!(before, "a part of a file: {what}");
                }
                let mut names = f.names();
                let known = ["a.npy", "a.pco", "m.safetensors", "m.wcodec", output];
                names.retain(|name| !known.contains(&name.as_str()));
                let unlinking = calls.starts_with("unlink");
                assert!(names.is_empty() || unlinking, "{names:?} is left: {what}");
                names.iter().for_each(|name| std::fs::remove_file(f.path(name)).unwrap());
                let _ = std::fs::remove_file(f.path(output));
                if !done.happened {
                    break;
                }
            }
        }
    }
    println!("{failures} failures with {error}");
    assert!(failures > 20, "{failures}");
}

#[test]
fn no_space_left_at_every_call() {
    every_call_fails("ENOSPC");
}

#[test]
fn input_output_error_at_every_call() {
    every_call_fails("EIO");
}

#[test]
fn interrupted_calls_are_made_again() {
    if !can_inject() {
        return;
    }
    for (_, output, args) in JOBS {
        let f = Folder::new();
        let whole = prepared(&f, output, args);
        for calls in [
            "read,pread64,readv,preadv",
            "write,pwrite64,writev,pwritev",
            "fsync,fdatasync",
            "open,openat",
            "fchmod",
            "ftruncate,fallocate",
        ] {
            for n in 1..200 {
                let done = inject(&f, args, calls, "EINTR", n);
                // Before the program has begun a call may belong to the dynamic linker, which gives
                // up with 127.
                if done.code != Some(127) {
                    assert_eq!(done.code, Some(0), "{calls} number {n} of {args:?}: {}", done.err);
                    assert!(f.read(output) == whole, "{calls} number {n} of {args:?}");
                    std::fs::remove_file(f.path(output)).unwrap();
                }
                if !done.happened {
                    break;
                }
            }
        }
    }
}

/// What is on its way lies in a folder that has nothing to do with input and output.
#[test]
fn trouble_with_temporary_files_names_their_folder() {
    let f = Folder::new();
    let rows: String = (0..20_000).map(|i| format!("{i},{}\n", i * 7919 % 10_007)).collect();
    f.write("t.csv", format!("a,b\n{rows}").as_bytes());
    f.write("m.safetensors", &model(4));
    for command in [
        "compress t.csv -o t.pco.zip",
        "compress - --from csv -o t.pco.zip < t.csv",
        "compress - --from safetensors -o m.wcodec < m.safetensors",
        "compress t.csv --to parquet -o -",
    ] {
        let script = format!("ulimit -f 8; '{}' {command}", env!("CARGO_BIN_EXE_latens"));
        let mut bash = Command::new("bash");
        let done = bash.args(["-c", &script]).current_dir(f.path("")).env("TMPDIR", f.path(""));
        let done = done.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{command}: {said}");
        let place = format!("latens: File too large\n  in {}\n  `ulimit -f`", f.path("").display());
        assert!(said.starts_with(&place), "{command}: {said}");
    }
    assert_eq!(f.names(), ["m.safetensors", "t.csv"]);
}

#[test]
fn a_file_that_cannot_be_read_is_not_called_damaged() {
    if !can_inject() {
        return;
    }
    let f = Folder::new();
    f.write("a.npy", &column(4000));
    let mut failures = 0;
    for (file, output) in [("a.parquet", "b.csv"), ("a.pco.zip", "b.npy"), ("a.pco", "b.npy")] {
        f.run(&["compress", "a.npy", "-o", file]).ok();
        let args = ["decompress", file, "-o", output, "-f", "-q", "-T", "1"];
        for (calls, n) in (1..40).flat_map(|n| [("pread64", n), ("read", n)]) {
            let done = inject(&f, &args, calls, "EIO", n);
            if done.code == Some(1) {
                let said = done.err.starts_with("latens: Input/output error\n");
                assert!(said && done.err.contains(file), "{calls} {n} of {file}: {}", done.err);
                failures += 1;
            }
        }
    }
    assert!(failures > 10, "{failures}");
}
