//! Made-up checkpoints for tests.

use crate::error::Error;
use crate::wcodec::checkpoint::{Checkpoint, Quantization};

/// A tensor's name, its type and shape as a header says them, and its bytes.
pub(super) type Tensor = (&'static str, &'static str, &'static str, usize);

/// A safetensors file: `byte` says what tensor `name` has at byte `i`, the data before it being `start` bytes.
pub(super) fn safetensors(
    tensors: &[Tensor],
    mut byte: impl FnMut(&str, usize, usize) -> usize,
) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for &(name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend((0..bytes).map(|i| u8::try_from(byte(name, start, i)).unwrap()));
        let end = data.len();
        entries.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

/// That file read.
pub(super) fn checkpoint(file: Vec<u8>) -> Checkpoint {
    let none = |_: &str| Err(Error::invalid("no shards"));
    let name = "model.safetensors".to_owned();
    Checkpoint::read(name, Box::new(file), Quantization::default(), &none).unwrap()
}
