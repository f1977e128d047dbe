//! Made-up checkpoints for tests.

use crate::error::Error;
use crate::wcodec::checkpoint::{Checkpoint, Quantization};
use crate::wcodec::view::BlockKind;

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

/// A GGUF file of tensors of these blocks, with so many columns and rows: `byte` says what is at a byte of their data.
pub(super) fn gguf(
    tensors: &[(BlockKind, [u64; 2])],
    mut byte: impl FnMut(usize) -> u8,
) -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    let mut put = |n: u64| file.extend_from_slice(&n.to_le_bytes());
    put(tensors.len() as u64);
    put(0);
    let mut data = Vec::new();
    for (kind, dimensions) in tensors {
        let name = format!("blk.{}.ffn_up.weight", data.len());
        file.extend_from_slice(&(name.len() as u64).to_le_bytes());
        file.extend_from_slice(name.as_bytes());
        file.extend_from_slice(&2u32.to_le_bytes());
        dimensions.iter().for_each(|n| file.extend_from_slice(&n.to_le_bytes()));
        file.extend_from_slice(&u32::from(kind.dtype().id() - 256).to_le_bytes());
        file.extend_from_slice(&(data.len() as u64).to_le_bytes());
        let bytes = kind.dtype().bytes(dimensions.iter().product()).unwrap();
        data.extend((0..usize::try_from(bytes).unwrap()).map(&mut byte));
        data.resize(data.len().next_multiple_of(32), 0);
    }
    file.resize(file.len().next_multiple_of(32), 0);
    file.append(&mut data);
    file
}

/// One of these files read.
pub(super) fn checkpoint(file: Vec<u8>) -> Checkpoint {
    let none = |_: &str| Err(Error::invalid("no shards"));
    let name = if file.starts_with(b"GGUF") { "model.gguf" } else { "model.safetensors" };
    let name = name.to_owned();
    Checkpoint::read(name, Box::new(file), Quantization::default(), &none).unwrap()
}
