//! Threads that the system refuses: all but so many, as strace makes it. The work is done by those
//! that there are, and the bytes are the same.

use crate::checkpoints::model;
use crate::faults::{can_inject, traced};
use crate::tool::{Folder, column};

/// Runs the tool where all but the first `granted` threads are refused.
fn run(f: &Folder, granted: usize, args: &[&str]) -> bool {
    let fault = format!("error=EAGAIN:when={}+", granted + 1);
    let (done, log) = traced(f, args, "?clone,?clone3", &fault);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!((done.status.code(), &*said), (Some(0), ""), "{granted} threads, {args:?}");
    log.contains("(INJECTED)")
}

#[test]
fn threads_that_are_refused() {
    if !can_inject() {
        return;
    }
    let f = Folder::new();
    f.write("a.npy", &column(600_000));
    f.write("m.safetensors", &model(3));
    let jobs: [(&str, &[&str]); 8] = [
        ("a.pco", &["compress", "a.npy", "-q", "-T", "8"]),
        ("a.pco.zip", &["compress", "a.npy", "-o", "a.pco.zip", "-q", "-T", "8"]),
        ("a.parquet", &["compress", "a.npy", "-o", "a.parquet", "-q", "-T", "8"]),
        ("b.npy", &["decompress", "a.pco", "-o", "b.npy", "-q", "-T", "8"]),
        ("c.npy", &["decompress", "a.pco.zip", "-o", "c.npy", "-q", "-T", "8"]),
        ("m.wcodec", &["compress", "m.safetensors", "-q", "-T", "8"]),
        ("n.safetensors", &["decompress", "m.wcodec", "-o", "n.safetensors", "-q", "-T", "8"]),
        ("", &["verify", "-q", "a.pco", "a.pco.zip", "a.parquet", "m.wcodec", "-T", "8"]),
    ];
    let mut refused = 0;
    for (output, args) in jobs {
        f.run(args).ok();
        let whole = (!output.is_empty()).then(|| f.read(output));
        for granted in [0, 1, 2, 5] {
            if whole.is_some() {
                std::fs::remove_file(f.path(output)).unwrap();
            }
            refused += usize::from(run(&f, granted, args));
            if let Some(whole) = &whole {
                assert!(f.read(output) == *whole, "other bytes with {granted} threads: {args:?}");
            }
        }
    }
    // Whatever is small wants few.
    println!("{refused} of 32 runs were refused a thread");
    assert!(refused > 20, "{refused}");
}
