//! Checkpoints on standard input: `-` as for everything else.

use crate::checkpoints::model;
use crate::tool::{Folder, npy};

#[test]
fn a_checkpoint_comes_and_goes_by_pipes() {
    let f = Folder::new();
    let bytes = model(11);
    f.write("m.safetensors", &bytes);
    let packed = f.run_with(&["compress", "-", "--from", "safetensors"], &bytes).ok().out;
    f.write("m.wcodec", &packed);
    let back = f.run_with(&["decompress", "-", "--from", "wcodec"], &packed).ok();
    assert_eq!((back.out == bytes, back.err.as_str()), (true, ""));
    f.run_with(&["decompress", "-", "--from", "wcodec", "-o", "out/"], &packed).ok();
    assert_eq!(f.read("out/model.safetensors"), bytes);
    let verified = f.run_with(&["verify", "-", "--from", "wcodec"], &packed).ok();
    assert!(verified.text().starts_with("-: ok, 5 tensors"), "{}", verified.text());
    f.run_with(&["verify", "-", "--from", "safetensors"], &bytes).ok();
    for (format, input) in [("wcodec", &packed), ("safetensors", &bytes)] {
        let seen = f.run_with(&["inspect", "-", "--from", format], input).ok();
        assert!(seen.text().contains("layer.weight"), "{}", seen.text());
        let seen = f.run_with(&["inspect", "-", "--from", format, "--json"], input).ok();
        let report: serde_json::Value = serde_json::from_str(seen.text()).unwrap();
        assert_eq!(report["bytes"], input.len(), "{format}");
    }
    let step = f.run_with(&["extract", "-", "step", "-o", "-"], &packed).ok();
    assert_eq!(step.out, npy("<i8", false, "()", &[7, 0, 0, 0, 0, 0, 0, 0]));
    f.run_with(&["bench", "-", "--from", "safetensors", "--codecs", "latens-1"], &bytes).ok();
    let args = ["inspect", "-", "--from", "wcodec", "--ablate", "--json"];
    assert!(f.run_with(&args, &packed).ok().text().contains("PLANAR"));
    let args = ["decompress", "-", "--from", "wcodec", "--salvage", "-o", "saved.safetensors"];
    f.run_with(&args, &packed).ok();
    assert_eq!(f.read("saved.safetensors"), bytes);
    assert_eq!(f.names(), ["m.safetensors", "m.wcodec", "out", "saved.safetensors"]);
}

#[test]
fn a_pipe_with_a_name_is_read_as_well() {
    let f = Folder::new();
    let bytes = model(13);
    let args = ["compress", "/dev/stdin", "--from", "safetensors", "-o", "m.wcodec"];
    f.run_with(&args, &bytes).ok();
    f.run(&["decompress", "-q", "m.wcodec"]).ok();
    assert_eq!(f.read("m.safetensors"), bytes);
}

#[test]
fn what_comes_by_a_pipe_is_no_better() {
    let f = Folder::new();
    let bytes = model(12);
    let packed = f.run_with(&["compress", "-", "--from", "safetensors"], &bytes).ok().out;
    let cut = &packed[..packed.len() - 9];
    f.run_with(&["decompress", "-", "--from", "wcodec"], cut).fails(&["standard input"]);
    let cut = &bytes[..bytes.len() - 9];
    f.run_with(&["compress", "-", "--from", "safetensors"], cut)
        .fails(&["standard input", "byte "]);
    f.run_with(&["compress", "-", "--from", "gguf"], &bytes).fails(&["standard input", "GGUF"]);
    f.run_with(&["compress", "-", "--from", "safetensors"], b"").fails(&["standard input"]);
    f.run_with(&["compress", "-", "--from", "wcodec"], &packed).ends_with(2, &["already"]);
    let max = ["decompress", "-", "--from", "wcodec", "--max-output", "100"];
    assert_eq!(f.run_with(&max, &packed).fails(&["--max-output 100"]).out, b"");
    assert_eq!(f.names(), [""; 0]);
}

/// A pipe is opened once: what a writer that has gone by then had put into it would be lost, and the next one waited for.
#[test]
fn a_named_pipe_is_read_however_short_its_writer_lives() {
    use std::time::{Duration, Instant};
    let f = Folder::new();
    f.write("m.safetensors", &crate::checkpoints::model(1));
    f.run(&["compress", "m.safetensors", "-l", "1"]).ok();
    crate::tool::system("mkfifo", &["p"], &f.path("."));
    let small = f.read("m.wcodec");
    assert!(small.len() < 1 << 16, "it fits into the pipe");
    for _ in 0..5 {
        let (path, bytes) = (f.path("p"), small.clone());
        let writer = std::thread::spawn(move || std::fs::write(path, bytes).unwrap());
        let args = ["extract", "p", "norm", "-f", "-o", "n.npy"];
        let mut child = f.latens(&args).spawn().unwrap();
        let started = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if started.elapsed() > Duration::from_secs(30) => {
                    child.kill().unwrap();
                    panic!("it waits for another writer");
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        assert!(status.success());
        writer.join().unwrap();
        assert_eq!(f.read("n.npy").len(), 128 + 256);
    }
}
