//! The two kinds of checkpoints, as the encoder reads them. What is accepted comes back from a
//! container byte for byte.

use super::{Verdict, refused};
use crate::measure::measured;
use crate::random::digest;
use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::{Config, Reader, compress_checkpoint};
use latens::{Error, Limits, Result};

/// The bytes are a safetensors file.
pub fn safetensors(_: u8, file: &[u8]) -> Verdict {
    body("model.safetensors", file)
}

/// The bytes are a GGUF file.
pub fn gguf(_: u8, file: &[u8]) -> Verdict {
    body("model.gguf", file)
}

fn open(name: &str, file: &[u8]) -> Result<Checkpoint> {
    let none = |_: &str| Err(Error::invalid("no shards here"));
    let source = Box::new(file.to_vec());
    Checkpoint::read(name.to_owned(), source, Quantization::default(), &none)
}

fn body(name: &str, file: &[u8]) -> Verdict {
    let checkpoint = match measured(|| open(name, file)) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return refused(&error, file.len()),
    };
    let hash = digest(0, file);
    // Compressing takes a thousand times as long as reading.
    if hash.is_multiple_of(16) {
        let config = Config::default().level(1).threads(1);
        let packed = compress_checkpoint(&checkpoint, None, &config, Vec::new())
            .unwrap_or_else(|error| panic!("it was read, but is not compressed: {error}"));
        let reader = Reader::open(packed, Limits::default()).unwrap().threads(1);
        let mut back = Vec::new();
        reader.write_file(0, &mut back).unwrap();
        assert!(back == file, "another file comes back");
    }
    Verdict::Accepted { digest: hash, bytes: file.len() }
}
