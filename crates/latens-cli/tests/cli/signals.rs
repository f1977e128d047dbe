//! Ends that were not asked for leave nothing behind; broken pipes are quiet.

use crate::checkpoints::{safetensors, weights};
use crate::tool::{Folder, column, system};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Whether this process, and so what it starts, ignores a signal: shells without job control see to that
/// for what they run in the background, and the tool leaves it at that.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}

/// Until it is so, for 20 seconds at least: by looks, as the clock goes on where all are stopped.
fn wait_for(it: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if it() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn told_to_end(name: &str, number: i32) {
    if is_ignored(number) {
        eprintln!("not tried: signal {number} is ignored here");
        return;
    }
    let f = Folder::new();
    let args = ["compress", "-", "--from", "npy", "-o", "out.pco"];
    let mut child = f.latens(&args).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&column(1000)[..500]).unwrap();
    wait_for(|| !f.names().is_empty());
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
fn quit_and_no_more_time_remove_the_temporary_file() {
    told_to_end("-QUIT", 3);
    told_to_end("-XCPU", 24);
}

#[test]
fn a_file_that_may_not_grow_is_an_error() {
    let f = Folder::new();
    f.write("a.npy", &column(20_000));
    let tool = env!("CARGO_BIN_EXE_latens");
    let line = format!("ulimit -f 8; exec '{tool}' compress -l0 a.npy");
    let done = Command::new("sh").args(["-c", &line]).current_dir(f.path("")).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.starts_with("latens: File too large\n  in a.pco\n"), "{said}");
    assert_eq!(f.names(), ["a.npy"]);
}

#[test]
fn term_removes_folders_made_for_outputs() {
    let f = Folder::new();
    let bytes = weights(1 << 22, 7);
    f.write("m.safetensors", &safetensors(&[("w", "I8", &[1 << 11, 1 << 11], bytes)]));
    f.run(&["compress", "-q", "--level", "1", "m.safetensors"]).ok();
    let mut ended = 0;
    for _ in 0..5 {
        let args = ["decompress", "-q", "-T1", "m.wcodec", "-o", "new/deep/"];
        let mut child = f.latens(&args).spawn().unwrap();
        wait_for(|| f.path("new/deep").exists());
        system("kill", &["-TERM", &child.id().to_string()], &f.path(""));
        // It may have been faster.
        let was_ended = child.wait().unwrap().signal() == Some(15);
        ended += u32::from(was_ended);
        let whole = f.path("new/deep/m.safetensors").exists();
        assert_eq!(f.path("new").exists(), whole, "ended: {was_ended}");
        let _ = std::fs::remove_dir_all(f.path("new"));
    }
    assert!(ended > 0, "never ended before its end");
}

#[test]
fn no_signal_leaves_a_checkpoint_that_was_unpacked() {
    let f = Folder::new();
    let bytes = weights(1 << 20, 8);
    f.write("m.safetensors", &safetensors(&[("w", "I8", &[1 << 10, 1 << 10], bytes)]));
    f.run(&["compress", "-q", "--level", "1", "m.safetensors"]).ok();
    for wait in [0, 5, 20, 80] {
        let mut child = f.latens(&["inspect", "--ablate", "-q", "m.wcodec"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        system("kill", &["-INT", &child.id().to_string()], &f.path(""));
        child.wait().unwrap();
        assert_eq!(f.names(), ["m.safetensors", "m.wcodec"]);
    }
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
