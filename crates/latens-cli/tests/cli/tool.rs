//! Running the tool, and files for it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that is gone after the test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Names of all files, hidden ones too, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The tool, with this as its working folder.
    pub fn latens(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_latens"));
        command.args(args).current_dir(self.0.path()).env_remove("NO_COLOR");
        command.env("TMPDIR", self.0.path()).stdin(Stdio::null());
        command
    }

    /// Run to the end.
    pub fn run(&self, args: &[&str]) -> Done {
        Done::of(self.latens(args).output().unwrap(), args)
    }

    /// Run to the end with these bytes on stdin.
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Done {
        let mut command = self.latens(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Done::of(output, args)
    }
}

/// A run that is over.
pub struct Done {
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: String,
}

impl Done {
    fn of(output: Output, args: &[&str]) -> Self {
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!err.contains("panicked"), "{args:?}: {err}");
        Done { code: output.status.code(), out: output.stdout, err }
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    /// It went well.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    /// It failed with exit code 1 and one to three lines that hold all of this.
    #[track_caller]
    pub fn fails(self, said: &[&str]) -> Self {
        self.ends_with(1, said)
    }

    #[track_caller]
    pub fn ends_with(self, code: i32, said: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.err);
        let lines = self.err.lines().count();
        assert!((1..=3).contains(&lines), "{lines} lines: {}", self.err);
        for part in said {
            assert!(self.err.contains(part), "`{part}` is missing: {}", self.err);
        }
        self
    }
}

/// A `.npy` file, version 1.0.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let length = (text.len() + 11).next_multiple_of(64).max(128) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.resize(10 + length - 1, b' ');
    bytes.push(b'\n');
    bytes.extend(data);
    bytes
}

/// Numbers as bytes: a sawtooth with noise, the same on every run.
pub fn numbers(n: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252u64;
    (0..n as u64)
        .flat_map(|i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((i % 1000 * 50 + state % 16) as i64 - 300).to_le_bytes()
        })
        .collect()
}

/// So many `i64` as a `.npy` file.
pub fn column(n: usize) -> Vec<u8> {
    npy("<i8", false, &format!("({n},)"), &numbers(n))
}

/// Run another program.
#[track_caller]
pub fn system(program: &str, args: &[&str], folder: &Path) {
    assert!(Command::new(program).args(args).current_dir(folder).status().unwrap().success());
}
