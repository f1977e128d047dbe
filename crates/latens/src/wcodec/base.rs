//! Another checkpoint, against which one is coded.

use crate::error::{Error, Result};
use crate::watch::Watch;
use crate::wcodec::checkpoint::{Checkpoint, ReadAt};
use crate::wcodec::data::Stretches;
use crate::wcodec::dtype::Dtype;
use crate::wcodec::hash::ModelHash;
use crate::wcodec::reader::Reader;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a tensor that are hashed at a time.
const HASHED: usize = 1 << 20;

/// What is known of a tensor of a base before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseTensor {
    /// Its type.
    pub dtype: Dtype,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Its bytes.
    pub length: u64,
}

/// What it takes to read some bytes of a tensor of a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// As much as all of it: large tensors are held in memory.
    Whole,
    /// More than these bytes, and less than all: large tensors are held where all of them is wanted.
    Groups,
    /// These bytes alone: large tensors are read by stretches, some of them again.
    Bytes,
}

/// Another checkpoint, against which one was coded or is to be.
pub trait Base: Send + Sync {
    /// Its model hash.
    fn model_hash(&self) -> [u8; 32];
    /// Type, shape and bytes of a tensor.
    ///
    /// # Errors
    /// When there is no such tensor, or it cannot be read.
    fn tensor(&self, name: &str) -> Result<(Dtype, Vec<u64>, Vec<u8>)>;
    /// What is known of a tensor, if there is one of that name.
    fn about(&self, name: &str) -> Option<BaseTensor>;
    /// Bytes of a tensor from byte `from` on, to all of `out`.
    ///
    /// # Errors
    /// Those of [`Base::tensor`]; invalid argument where the tensor has no such bytes.
    fn read(&self, name: &str, from: u64, out: &mut [u8]) -> Result<()> {
        let (_, _, bytes) = self.tensor(name)?;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let there = bytes.get(from..).and_then(|rest| rest.get(..out.len()));
        out.copy_from_slice(
            there.ok_or_else(|| Error::invalid("these bytes are beyond the tensor's end"))?,
        );
        Ok(())
    }
    /// What [`Base::read`] takes.
    fn access(&self) -> Access {
        Access::Whole
    }
}

impl<B: Base + ?Sized> Base for Arc<B> {
    fn model_hash(&self) -> [u8; 32] {
        (**self).model_hash()
    }

    fn tensor(&self, name: &str) -> Result<(Dtype, Vec<u64>, Vec<u8>)> {
        (**self).tensor(name)
    }

    fn about(&self, name: &str) -> Option<BaseTensor> {
        (**self).about(name)
    }

    fn read(&self, name: &str, from: u64, out: &mut [u8]) -> Result<()> {
        (**self).read(name, from, out)
    }

    fn access(&self) -> Access {
        (**self).access()
    }
}

/// The bytes of a tensor of a base, read where they are wanted.
pub(crate) struct BaseBytes<'a> {
    pub(crate) base: &'a dyn Base,
    pub(crate) name: &'a str,
    pub(crate) len: usize,
}

impl Stretches for BaseBytes<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        out.resize(range.len(), 0);
        // A byte of the base is none of the file that is read against it.
        self.base.read(self.name, range.start as u64, out).map_err(|e| match e.at() {
            Some(_) => e.of_another("the base"),
            None => e,
        })
    }
}

/// A checkpoint as a base: all of it is read once, for its hash.
#[derive(Debug)]
pub struct BaseCheckpoint {
    checkpoint: Checkpoint,
    by_name: HashMap<String, usize>,
    model_hash: [u8; 32],
}

impl BaseCheckpoint {
    /// Reads all tensors.
    ///
    /// # Errors
    /// I/O.
    pub fn new(checkpoint: Checkpoint) -> Result<Self> {
        Self::new_with(checkpoint, &Watch::NONE)
    }

    /// The same, asking `watch` before each tensor, and within large ones.
    ///
    /// # Errors
    /// I/O, and that of the watch.
    pub fn new_with(checkpoint: Checkpoint, watch: &Watch) -> Result<Self> {
        let mut hash = ModelHash::new();
        for (i, t) in checkpoint.tensors.iter().enumerate() {
            watch.ask()?;
            let len = usize::try_from(t.len);
            let len = len.map_err(|_| Error::invalid("a tensor larger than memory"))?;
            hash.begin(&t.name, t.type_name(), &t.shape, len);
            if let Some(bytes) = checkpoint.held(i) {
                hash.bytes(bytes);
                continue;
            }
            let mut buffer = Vec::new();
            for from in (0..len).step_by(HASHED) {
                watch.ask()?;
                buffer.resize(HASHED.min(len - from), 0);
                checkpoint.read_tensor(i, from as u64, &mut buffer)?;
                hash.bytes(&buffer);
            }
        }
        let names = checkpoint.tensors.iter().enumerate();
        let by_name = names.map(|(i, t)| (t.name.clone(), i)).collect();
        Ok(Self { checkpoint, by_name, model_hash: hash.finish() })
    }
}

/// All bytes of a tensor, copied where the source does not have them in memory.
pub(crate) fn bytes(checkpoint: &Checkpoint, number: usize) -> Result<Cow<'_, [u8]>> {
    if let Some(bytes) = checkpoint.held(number) {
        return Ok(Cow::Borrowed(bytes));
    }
    let len = checkpoint.tensors.get(number).map_or(0, |t| t.len);
    let len = usize::try_from(len).map_err(|_| Error::invalid("a tensor larger than memory"))?;
    let mut bytes = vec![0; len];
    checkpoint.read_tensor(number, 0, &mut bytes)?;
    Ok(Cow::Owned(bytes))
}

fn missing(name: &str) -> Error {
    Error::invalid(format!("the base has no tensor {name:?}"))
}

impl Base for BaseCheckpoint {
    fn model_hash(&self) -> [u8; 32] {
        self.model_hash
    }

    fn tensor(&self, name: &str) -> Result<(Dtype, Vec<u64>, Vec<u8>)> {
        let number = self.by_name.get(name).copied().ok_or_else(|| missing(name))?;
        let info = self.checkpoint.tensors.get(number).ok_or_else(|| missing(name))?;
        let bytes = bytes(&self.checkpoint, number)?.into_owned();
        Ok((info.dtype, info.shape.clone(), bytes))
    }

    fn about(&self, name: &str) -> Option<BaseTensor> {
        let info = self.checkpoint.tensors.get(*self.by_name.get(name)?)?;
        Some(BaseTensor { dtype: info.dtype, shape: info.shape.clone(), length: info.len })
    }

    fn read(&self, name: &str, from: u64, out: &mut [u8]) -> Result<()> {
        let number = self.by_name.get(name).copied().ok_or_else(|| missing(name))?;
        self.checkpoint.read_tensor(number, from, out)
    }

    fn access(&self) -> Access {
        Access::Bytes
    }
}

impl<S: ReadAt> Base for Reader<S> {
    fn model_hash(&self) -> [u8; 32] {
        Reader::model_hash(self)
    }

    fn tensor(&self, name: &str) -> Result<(Dtype, Vec<u64>, Vec<u8>)> {
        let number = self.find(name).ok_or_else(|| missing(name))?;
        let entry = self.entry(number).ok_or_else(|| missing(name))?;
        Ok((Dtype::named(entry.dtype), entry.shape, Reader::tensor(self, number)?))
    }

    fn about(&self, name: &str) -> Option<BaseTensor> {
        let entry = self.entry(self.find(name)?)?;
        let (dtype, length) = (Dtype::named(entry.dtype), entry.length as u64);
        Some(BaseTensor { dtype, shape: entry.shape, length })
    }

    fn read(&self, name: &str, from: u64, out: &mut [u8]) -> Result<()> {
        let number = self.find(name).ok_or_else(|| missing(name))?;
        self.byte_range_into(number, from, out)
    }

    fn access(&self) -> Access {
        Access::Groups
    }
}
