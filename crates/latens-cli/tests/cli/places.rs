//! Places that cannot be written to: a full file system, a folder of somebody else's. Files that
//! are none.

use crate::checkpoints::model;
use crate::skipped::skipped;
use crate::tool::{Folder, column, system};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

/// A small file system in memory, unmounted at the end.
struct Tmpfs<'a>(&'a Folder);

impl<'a> Tmpfs<'a> {
    /// `None`, and why, where none can be mounted.
    fn mount(f: &'a Folder, size: &str) -> Option<Self> {
        fs::create_dir(f.path("small")).unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(f.path("small"))
            .output();
        match done {
            Ok(done) if done.status.success() => return Some(Tmpfs(f)),
            Ok(done) => {
                let why = String::from_utf8_lossy(&done.stderr).into_owned();
                skipped(&format!("a full file system: no tmpfs can be mounted: {why}"));
            }
            Err(error) => skipped(&format!("a full file system: mount does not run: {error}")),
        }
        None
    }
}

impl Drop for Tmpfs<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path("small")).status();
    }
}

#[test]
fn a_full_file_system() {
    let f = Folder::new();
    f.write("a.npy", &column(100_000));
    f.run(&["compress", "-q", "a.npy"]).ok();
    let Some(_small) = Tmpfs::mount(&f, "16k") else { return };
    for args in [
        &["compress", "a.npy", "-o", "small/b.pco"][..],
        &["compress", "a.npy", "-o", "small/b.pco.zip"],
        &["compress", "a.npy", "-o", "small/b.parquet"],
        &["decompress", "a.pco", "-o", "small/b.npy"],
        &["decompress", "a.pco", "-o", "small/b.raw"],
    ] {
        f.run(args).fails(&["No space left", "small/b."]);
        assert_eq!(fs::read_dir(f.path("small")).unwrap().count(), 0, "{args:?}");
    }
}

#[test]
fn a_folder_that_may_not_be_written_to() {
    let f = Folder::new();
    f.write("a.npy", &column(50));
    fs::create_dir(f.path("locked")).unwrap();
    fs::set_permissions(f.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(f.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let args = ["compress", "a.npy", "-o", "locked/a.pco"];
    // Root may write anywhere: as root the tool runs as nobody.
    let is_root = fs::write(f.path("locked/probe"), b"").is_ok();
    if !is_root {
        f.run(&args).fails(&["Permission denied", "in locked/a.pco"]);
        return;
    }
    fs::remove_file(f.path("locked/probe")).unwrap();
    let as_nobody = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.args(args).current_dir(f.path("")).stdin(Stdio::null()).output()
    };
    let tool = env!("CARGO_BIN_EXE_latens");
    match as_nobody(&[tool, "--version"]) {
        Ok(done) if done.status.success() => {}
        other => {
            let why = "root, and nobody cannot run the tool";
            return skipped(&format!("a locked folder: {why}: {other:?}"));
        }
    }
    let done = as_nobody(&[&[tool], &args[..]].concat()).unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{err}");
    assert!(err.contains("Permission denied") && err.contains("in locked/a.pco"), "{err}");
    assert_eq!(fs::read_dir(f.path("locked")).unwrap().count(), 0);
}

#[test]
fn links_that_lead_nowhere() {
    let f = Folder::new();
    f.write("a.npy", &column(50));
    symlink("b.pco", f.path("a.pco")).unwrap();
    symlink("a.pco", f.path("b.pco")).unwrap();
    f.run(&["compress", "a.npy", "-f"]).fails(&["a.pco"]);
    symlink("no/where.pco", f.path("c.pco")).unwrap();
    f.run(&["compress", "a.npy", "-o", "c.pco"]).fails(&["c.pco"]);
    symlink("none.npy", f.path("d.npy")).unwrap();
    f.run(&["compress", "d.npy"]).fails(&["No such file", "d.npy"]);
    assert_eq!(f.names(), ["a.npy", "a.pco", "b.pco", "c.pco", "d.npy"]);
}

#[test]
fn a_pipe_among_the_files_of_a_checkpoint_is_not_waited_for() {
    let f = Folder::new();
    let index = json!({"metadata": {}, "weight_map": {"a": "m-1.safetensors"}});
    f.write("m.safetensors.index.json", &serde_json::to_vec(&index).unwrap());
    f.write("m.safetensors", &model(1));
    for pipe in ["m-1.safetensors", "config.json"] {
        system("mkfifo", &[pipe], &f.path(""));
    }
    // Nobody writes into either: opening one would never end.
    let within = |args: &str| {
        let tool = env!("CARGO_BIN_EXE_latens");
        let line = format!("exec timeout 60 '{tool}' {args}");
        Command::new("sh").args(["-c", &line]).current_dir(f.path("")).output().unwrap()
    };
    let shards = within("compress m.safetensors.index.json");
    let said = String::from_utf8_lossy(&shards.stderr);
    assert_eq!(shards.status.code(), Some(1), "{said}");
    assert!(said.contains("no regular file") && said.contains("m-1.safetensors"), "{said}");
    assert_eq!(within("compress m.safetensors").status.code(), Some(0));
    f.run(&["decompress", "m.wcodec", "-o", "back.safetensors"]).ok();
    assert_eq!(f.read("back.safetensors"), model(1));
}
