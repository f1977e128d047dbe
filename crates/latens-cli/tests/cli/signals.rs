//! Ends that were not asked for leave nothing behind; broken pipes are quiet.

use crate::tool::{Folder, column, system};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn told_to_end(name: &str, number: i32) {
    let f = Folder::new();
    let args = ["compress", "-", "--from", "npy", "-o", "out.pco"];
    let mut child = f.latens(&args).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&column(1000)[..500]).unwrap();
    let started = Instant::now();
    while f.names().is_empty() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let names = f.names();
    assert!(names.len() == 1 && names[0].starts_with(".latens-"), "{names:?}");
    system("kill", &[name, &child.id().to_string()], &f.path(""));
    assert_eq!(child.wait().unwrap().signal(), Some(number));
    assert_eq!(f.names(), [""; 0]);
}

#[test]
fn term_removes_the_temporary_file() {
    told_to_end("-TERM", 15);
}

#[test]
fn int_removes_the_temporary_file() {
    told_to_end("-INT", 2);
}

#[test]
fn a_broken_pipe_is_quiet() {
    let f = Folder::new();
    f.write("a.npy", &column(200_000));
    f.run(&["compress", "-q", "a.npy"]).ok();
    for args in [&["decompress", "a.pco", "-o", "-"][..], &["compress", "a.npy", "-o", "-", "-q"]] {
        let mut command = f.latens(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0]).unwrap();
        drop(stdout);
        let mut words = String::new();
        child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(words, "");
        // As `cat` ends: 141 in a shell.
        assert_eq!(status.signal(), Some(13), "{status:?}");
    }
    assert_eq!(f.names(), ["a.npy", "a.pco"]);
}
