//! Checkpoints made here, sound and broken.

mod detection;
mod gguf_files;
mod safetensors_files;

use super::source::ReadAt;
use super::*;
use crate::error::{ErrorKind, Result};
use crate::wcodec::made;

fn noise(n: usize) -> Vec<u8> {
    made::noise(n, 1)
}

fn open_bytes(name: &str, bytes: &[u8]) -> Result<Checkpoint> {
    let none = |_: &str| Err(Error::invalid("no shards"));
    Checkpoint::read(name.to_owned(), Box::new(bytes.to_vec()), Quantization::default(), &none)
}

/// The file as its segments have it.
fn assemble(checkpoint: &Checkpoint, file: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let read = |offset, len: u64| {
        let mut bytes = vec![0; usize::try_from(len).unwrap()];
        checkpoint.read_at(file, offset, &mut bytes).unwrap();
        bytes
    };
    for segment in &checkpoint.files[file].segments {
        match *segment {
            Segment::Bytes { offset, len } => out.extend(read(offset, len)),
            Segment::Zeros { len } => out.resize(out.len() + usize::try_from(len).unwrap(), 0),
            Segment::Tensor(i) => {
                let t = &checkpoint.tensors[i];
                assert_eq!(t.file, file);
                let mut bytes = vec![0; usize::try_from(t.len).unwrap()];
                checkpoint.read_tensor(i, 0, &mut bytes).unwrap();
                let layout = t.layout().expect("the guessed view fits");
                let parts = layout.split(&bytes).unwrap();
                out.extend(layout.join(parts).unwrap());
                for view in t.candidates() {
                    assert!(view.layout(t.dtype, &t.shape, t.len).is_some());
                }
            }
        }
    }
    out
}

/// Damaged files: each is refused, or comes back as it is.
struct Mutants {
    name: &'static str,
    whole: usize,
    refused: usize,
}

impl Mutants {
    fn of(name: &'static str) -> Self {
        Self { name, whole: 0, refused: 0 }
    }

    fn check(&mut self, bytes: &[u8]) {
        match open_bytes(self.name, bytes) {
            Ok(checkpoint) => {
                assert_eq!(assemble(&checkpoint, 0), bytes);
                self.whole += 1;
            }
            Err(e) => {
                assert!(e.at().is_some(), "{e}");
                self.refused += 1;
            }
        }
    }

    fn are_of_both(&self) {
        let Self { whole, refused, .. } = self;
        assert!(*whole > 100 && *refused > 100, "{whole} whole, {refused} refused");
    }
}

fn view_of(checkpoint: &Checkpoint, name: &str) -> View {
    tensor_of(checkpoint, name).view
}

fn tensor_of<'a>(checkpoint: &'a Checkpoint, name: &str) -> &'a TensorInfo {
    checkpoint.tensors.iter().find(|t| t.name == name).expect(name)
}
