//! Tensors that lie in no file, as the safetensors file that they would make.
//!
//! As the library `safetensors` does it, types with large elements come first, then names in order,
//! and the header is filled up with spaces to eight bytes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::io;

use serde_core::Serialize;

use super::source::{Held, ReadAt};
use super::{Checkpoint, LONGEST_NAME, Quantization, TensorInfo, quoted};
use crate::error::{Error, Result};
use crate::wcodec::dtype::{Dtype, elements};
use crate::wcodec::layout::entry::MAX_DIMENSIONS;

/// The member of a header that is no tensor.
const METADATA: &str = "__metadata__";

/// Tensors that are in memory or can be read by position, on their way to a [`Checkpoint`].
///
/// What writes a checkpoint reads tensors when it comes to them, a stretch at a time, and those that belong to them
/// (scales, zero points) with them, wherever they are: so it takes all names, types and shapes first, and holds no more bytes
/// than it needs.
///
/// ```
/// use latens::Limits;
/// use latens::wcodec::{self, Config, Reader, checkpoint::Tensors, dtype::Dtype};
///
/// let weights: Vec<u8> = (0..64u8).map(|i| i % 5).collect();
/// let mut tensors = Tensors::new();
/// tensors.metadata("format", "pt");
/// tensors.add("layer.weight", Dtype::I8, &[8, 8], weights.clone())?;
/// tensors.add("layer.weight_scale", Dtype::F32, &[8, 1], vec![0; 32])?;
/// let checkpoint = tensors.checkpoint("model.safetensors")?;
/// let file = wcodec::compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new())?;
///
/// let reader = Reader::open(file, Limits::default())?;
/// let number = reader.find("layer.weight").expect("it is there");
/// assert_eq!(reader.tensor(number)?, weights);
/// # Ok::<(), latens::Error>(())
/// ```
#[derive(Default)]
pub struct Tensors {
    pub(in crate::wcodec) metadata: BTreeMap<String, String>,
    pub(in crate::wcodec) told: Quantization,
    tensors: Vec<(Member, Bytes)>,
    names: HashSet<String>,
}

/// The bytes of a tensor, whoever has them.
type Bytes = Box<dyn ReadAt>;

/// A tensor of a safetensors file.
pub(in crate::wcodec) struct Member {
    name: String,
    dtype: Dtype,
    shape: Vec<u64>,
    len: u64,
}

impl Member {
    /// Of a checkpoint that was made of [`Tensors`].
    pub(in crate::wcodec) fn of(info: &TensorInfo) -> Self {
        let TensorInfo { name, dtype, shape, len, .. } = info;
        Self { name: name.clone(), dtype: *dtype, shape: shape.clone(), len: *len }
    }

    /// Which one comes first.
    pub(in crate::wcodec) fn order(&self, other: &Self) -> Ordering {
        let size = |m: &Self| m.dtype.block().map_or(0, |(elements, bytes)| 8 * bytes / elements);
        (size(other), &self.name).cmp(&(size(self), &other.name))
    }
}

/// What stands before the data of a safetensors file of tensors in this order.
pub(in crate::wcodec) fn header_of<'m>(
    metadata: &BTreeMap<String, String>,
    members: impl Iterator<Item = &'m Member>,
) -> Result<Vec<u8>> {
    let mut fields = Vec::new();
    if !metadata.is_empty() {
        fields.push(format!("{}:{}", json(METADATA)?, json(metadata)?));
    }
    let mut end = 0;
    for Member { name, dtype, shape, len } in members {
        let begin = end;
        end += len;
        let (name, dtype, shape) = (json(name)?, json(dtype.name())?, json(shape)?);
        fields.push(format!(
            r#"{name}:{{"dtype":{dtype},"shape":{shape},"data_offsets":[{begin},{end}]}}"#
        ));
    }
    let mut text = format!("{{{}}}", fields.join(",")).into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.append(&mut text);
    Ok(header)
}

impl Tensors {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An entry of the file's metadata, in place of an earlier one of that name.
    pub fn metadata(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.metadata.insert(name.into(), value.into());
    }

    /// Says how they are quantised, where names, types and shapes do not tell and the metadata do not say.
    pub fn quantization(&mut self, told: Quantization) {
        self.told = told;
    }

    /// Adds a tensor: its elements in row-major order, little-endian, as safetensors has them.
    ///
    /// # Errors
    /// Invalid argument where another tensor has the name, or it is longer than [`LONGEST_NAME`]; where
    /// there are more than 32 dimensions; where safetensors has no such type; where `bytes` are not as many as type and shape say.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        dtype: Dtype,
        shape: &[u64],
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<()> {
        self.add_source(name, dtype, shape, Held(bytes))
    }

    /// As [`Tensors::add`], of bytes that `source` has when they are asked for, from several threads and some of
    /// them more than once: a part of a file, an array elsewhere. They must be the same each time.
    ///
    /// # Errors
    /// Those of [`Tensors::add`]; I/O where the source does not say its size.
    pub fn add_source(
        &mut self,
        name: impl Into<String>,
        dtype: Dtype,
        shape: &[u64],
        source: impl ReadAt + 'static,
    ) -> Result<()> {
        let name = name.into();
        let fail = |what: String| Err(Error::invalid(what).within(quoted(&name)));
        if name.len() > LONGEST_NAME || name == METADATA {
            return fail(format!("a name is no {METADATA} and has at most {LONGEST_NAME} bytes"));
        }
        if shape.len() as u64 > MAX_DIMENSIONS {
            let n = shape.len();
            return fail(format!("{n} dimensions, {MAX_DIMENSIONS} at most; reshape it"));
        }
        let block = dtype.block().filter(|_| dtype.id() < 256);
        let Some((together, block)) = block else {
            return fail(format!("safetensors has no type {}", dtype.name()));
        };
        let wanted = elements(shape).filter(|n| n.is_multiple_of(together));
        let wanted = wanted.and_then(|n| (n / together).checked_mul(block));
        let found = source.size().map_err(|e| Error::from(e).within(quoted(&name)))?;
        if wanted != Some(found) {
            let dtype = dtype.name();
            return fail(format!("{dtype} of shape {shape:?} does not take {found} bytes"));
        }
        if !self.names.insert(name.clone()) {
            return fail("two tensors have this name".to_owned());
        }
        let member = Member { name, dtype, shape: shape.to_vec(), len: found };
        self.tensors.push((member, Box::new(source)));
        Ok(())
    }

    /// As a checkpoint of one file of this name. Nothing is copied.
    ///
    /// # Errors
    /// Where all of it is too much for the format.
    pub fn checkpoint(self, name: impl Into<String>) -> Result<Checkpoint> {
        let Self { metadata, told, mut tensors, .. } = self;
        tensors.sort_by(|(a, _), (b, _)| a.order(b));
        let header = header_of(&metadata, tensors.iter().map(|(member, _)| member))?;
        let mut len = header.len() as u64;
        let mut parts: Vec<(u64, Bytes)> = vec![(0, Box::new(Held(header)))];
        for (member, bytes) in tensors {
            parts.push((len, bytes));
            len += member.len;
        }
        let source = Parts { len, parts };
        let none = |_: &str| Err(Error::invalid("no other files"));
        Checkpoint::read(name.into(), Box::new(source), told, &none)
    }
}

fn json<V: Serialize + ?Sized>(value: &V) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::invalid(e.to_string()))
}

/// Bytes end to end that lie apart.
struct Parts {
    len: u64,
    /// Where each begins, and its bytes.
    parts: Vec<(u64, Bytes)>,
}

impl Parts {
    /// The part of the byte at `offset`, which byte of it that is, and how many it has from there on.
    fn find(&self, offset: u64) -> Option<(&dyn ReadAt, u64, u64)> {
        // Empty ones begin where the one behind them does.
        let behind = self.parts.partition_point(|part| part.0 <= offset);
        let (begin, bytes) = self.parts.get(behind.checked_sub(1)?)?;
        let end = self.parts.get(behind).map_or(self.len, |part| part.0);
        Some((&**bytes, offset - begin, end.saturating_sub(offset)))
    }
}

impl ReadAt for Parts {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let found = self.find(offset).filter(|(_, _, left)| *left > 0);
            let (part, from, left) = found.ok_or(io::ErrorKind::UnexpectedEof)?;
            let n = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
            let (now, rest) = buf.split_at_mut(n);
            part.read_exact_at(now, from)?;
            (buf, offset) = (rest, offset + n as u64);
        }
        Ok(())
    }

    fn held(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let (part, from, left) = self.find(offset)?;
        (len as u64 <= left).then(|| part.held(from, len))?
    }
}
