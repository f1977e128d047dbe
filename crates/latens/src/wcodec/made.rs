//! Made-up checkpoints for tests.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::{Checkpoint, Quantization, ReadAt};
use crate::wcodec::view::BlockKind;

/// Bytes without a pattern.
pub(super) fn noise(n: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(n).collect()
}

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
    behind_header(&format!("{{{}}}", entries.join(",")), &data)
}

/// A safetensors file of this header.
pub(super) fn behind_header(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// A GGUF file, field by field.
#[derive(Default)]
pub(super) struct Gguf {
    pairs: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    pub(super) alignment: usize,
    data: Vec<u8>,
}

pub(super) fn gguf_string(text: &[u8]) -> Vec<u8> {
    let mut out = (text.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(text);
    out
}

impl Gguf {
    pub(super) fn new() -> Self {
        Gguf { alignment: 32, ..Gguf::default() }
    }

    pub(super) fn pair(&mut self, key: &str, kind: u32, value: &[u8]) -> &mut Self {
        self.pairs.push([&gguf_string(key.as_bytes()), &kind.to_le_bytes()[..], value].concat());
        self
    }

    pub(super) fn listed(
        &mut self,
        name: &[u8],
        dims: &[u64],
        kind: u32,
        offset: u64,
    ) -> &mut Self {
        let mut t = gguf_string(name);
        t.extend(u32::try_from(dims.len()).unwrap().to_le_bytes());
        dims.iter().for_each(|d| t.extend(d.to_le_bytes()));
        t.extend(kind.to_le_bytes());
        t.extend(offset.to_le_bytes());
        self.tensors.push(t);
        self
    }

    /// A tensor of these bytes, behind those before.
    pub(super) fn tensor(
        &mut self,
        name: &str,
        dims: &[u64],
        kind: u32,
        bytes: Vec<u8>,
    ) -> &mut Self {
        self.data.resize(self.data.len().next_multiple_of(self.alignment), 0);
        let offset = self.data.len() as u64;
        self.data.extend(bytes);
        self.listed(name.as_bytes(), dims, kind, offset)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF\x03\0\0\0".to_vec();
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.pairs.len() as u64).to_le_bytes());
        out.extend(self.pairs.concat());
        out.extend(self.tensors.concat());
        out.resize(out.len().next_multiple_of(self.alignment), 0);
        out.extend(&self.data);
        out
    }
}

/// A GGUF file of tensors of these blocks, with so many columns and rows: `byte` says what is at a byte of their data.
pub(super) fn gguf(
    tensors: &[(BlockKind, [u64; 2])],
    mut byte: impl FnMut(usize) -> u8,
) -> Vec<u8> {
    let (mut file, mut before) = (Gguf::new(), 0);
    for (kind, dimensions) in tensors {
        let len =
            usize::try_from(kind.dtype().bytes(dimensions.iter().product()).unwrap()).unwrap();
        let name = format!("blk.{before}.ffn_up.weight");
        let bytes = (0..len).map(&mut byte).collect();
        file.tensor(&name, dimensions, u32::from(kind.dtype().id() - 256), bytes);
        before += len.next_multiple_of(32);
    }
    file.bytes()
}

/// One of these files read.
pub(super) fn checkpoint(file: Vec<u8>) -> Checkpoint {
    let none = |_: &str| Err(Error::invalid("no shards"));
    let name = if file.starts_with(b"GGUF") { "model.gguf" } else { "model.safetensors" };
    let name = name.to_owned();
    Checkpoint::read(name, Box::new(file), Quantization::default(), &none).unwrap()
}

/// Shards with these names, and their index.
pub(super) fn sharded(index: &str, shards: &[(String, Vec<u8>)]) -> Checkpoint {
    let shard = |name: &str| -> Result<Box<dyn ReadAt>> {
        let found = shards.iter().find(|(of, _)| of == name);
        Ok(Box::new(found.ok_or_else(|| Error::invalid("no shard"))?.1.clone()))
    };
    let name = "model.safetensors.index.json".to_owned();
    let index = Box::new(index.as_bytes().to_vec());
    Checkpoint::read(name, index, Quantization::default(), &shard).unwrap()
}

/// The index of shards that have one tensor each; names of these, and of the shards.
pub(super) fn index_of_shards<'n>(all: impl Iterator<Item = (&'n str, &'n str)>) -> String {
    let lines = all.map(|(tensor, shard)| format!("\n    \"{tensor}\": \"{shard}\""));
    format!("{{\"weight_map\": {{{}\n}}}}", lines.collect::<Vec<_>>().join(","))
}
