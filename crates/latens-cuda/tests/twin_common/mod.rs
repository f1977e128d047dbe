//! The kernels as a program of this machine: `kernels/twin.cpp`, built by the C++ compiler in `CXX` (or
//! `c++`), fed with batches.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

#[path = "../../../latens/tests/common/skipped.rs"]
pub mod skipped;

use self::skipped::skipped;
use latens::wcodec::Reader;
use latens::wcodec::checkpoint::ReadAt;
use latens_cuda::{BLOCK_FIELDS, GROUP_FIELDS, JOIN_BLOCK_FIELDS, JOIN_FIELDS, PART_FIELDS};
use latens_cuda::{Batch, Output};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Twin {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Drop for Twin {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// Builds the program; `None`, said with the reason, where there is no compiler or it does not
/// know `flags`.
pub fn build(name: &str, flags: &[&str]) -> Option<PathBuf> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/twin.cpp");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let common = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-o"];
    let output =
        Command::new(&compiler).args(flags).args(common).arg(&target).arg(&source).output();
    match output {
        Err(error) => {
            skipped(&format!("the kernels as C++: {compiler}: {error}"));
            None
        }
        Ok(output) if !output.status.success() => {
            let text = String::from_utf8_lossy(&output.stderr);
            // Without sanitizers it must compile.
            assert!(!flags.iter().all(|f| f.starts_with("-O")), "{text}");
            skipped(&format!("the kernels as C++ with {flags:?}: {text}"));
            None
        }
        Ok(_) => Some(target),
    }
}

/// A result of a batch.
pub struct Ran {
    /// One number for each group.
    pub status: Vec<u32>,
    pub outputs: Vec<u8>,
}

impl Twin {
    pub fn start(program: &Path) -> Self {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .env("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::with_capacity(1 << 16, child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// Runs a batch as a device would.
    pub fn run<S: ReadAt>(&mut self, reader: &Reader<S>, batch: &Batch) -> latens::Result<Ran> {
        let mut input = vec![0; batch.input];
        for fetch in &batch.fetches {
            reader.stored_bytes(fetch.from, &mut input[fetch.to..][..fetch.bytes])?;
        }
        let (mut planes, mut direct) = (vec![0u8; batch.planes], Vec::new());
        for upload in &batch.uploads {
            let end = upload.to + upload.bytes.len();
            if upload.to_output {
                direct.push(upload);
            } else {
                planes[upload.to..end].copy_from_slice(&upload.bytes);
            }
        }
        let records = [
            (&batch.parts, PART_FIELDS),
            (&batch.groups, GROUP_FIELDS),
            (&batch.joins, JOIN_FIELDS),
            (&batch.blocks, BLOCK_FIELDS),
            (&batch.join_blocks, JOIN_BLOCK_FIELDS),
        ];
        let mut message = Vec::new();
        let lengths = [input.len(), batch.side.len(), planes.len(), batch.outputs, batch.scratch];
        let lengths = lengths.into_iter().chain(records.iter().map(|(r, each)| r.len() / each));
        lengths.for_each(|n| message.extend((n as u64).to_le_bytes()));
        message.extend(input);
        message.extend(&batch.side);
        message.extend(planes);
        records.iter().for_each(|(r, _)| r.iter().for_each(|w| message.extend(w.to_le_bytes())));
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(&message).and_then(|()| stdin.flush()).expect("the program has ended");
        let mut words = vec![0; 4 * (batch.group_count() + 1)];
        self.stdout.read_exact(&mut words).expect("the program has ended");
        let mut outputs = vec![0; batch.outputs];
        self.stdout.read_exact(&mut outputs).expect("the program has ended");
        for upload in direct {
            outputs[upload.to..][..upload.bytes.len()].copy_from_slice(&upload.bytes);
        }
        let mut status: Vec<u32> =
            words.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        let sticky = status.pop().unwrap();
        assert_eq!(sticky, status.iter().fold(0, |all, s| all | s), "the sticky flag");
        Ok(Ran { status, outputs })
    }

    /// The bytes of a tensor, or why there are none.
    pub fn tensor<S: ReadAt>(
        &mut self,
        reader: &Reader<S>,
        number: usize,
        count: &mut Count,
    ) -> Result<Vec<u8>, String> {
        let mut batch = Batch::default();
        let plan = reader.plan(number);
        let plan = plan.and_then(|plan| batch.add(number, plan, Output::Stored));
        plan.map_err(|e| format!("plan: {e}"))?;
        let ran = self.run(reader, &batch).map_err(|e| format!("read: {e}"))?;
        count.groups += ran.status.len();
        match ran.status.iter().find(|status| **status != 0) {
            None => Ok(ran.outputs[batch.tensors[0].out.clone()].to_vec()),
            Some(status) => Err(format!("status {status:#x}")),
        }
    }

    /// Whether program and library say the same of every tensor of a file.
    pub fn agrees<S: ReadAt>(&mut self, name: &str, reader: &Reader<S>, count: &mut Count) {
        let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
        for number in numbers {
            let want = reader.tensor(number);
            let got = self.tensor(reader, number, count);
            count.tensors += 1;
            match (&want, &got) {
                (Ok(want), Ok(got)) => assert!(want == got, "{name}: tensor {number} differs"),
                (Err(_), Err(_)) => count.errors += 1,
                (Err(want), Ok(_)) => panic!("{name}: tensor {number} is decoded, not: {want}"),
                (Ok(_), Err(got)) => panic!("{name}: tensor {number} is refused: {got}"),
            }
        }
    }
}

/// What was compared.
#[derive(Debug, Default)]
pub struct Count {
    pub tensors: usize,
    pub groups: usize,
    pub errors: usize,
}
