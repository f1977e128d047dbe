//! The model hash: SHA-256 over names, types, shapes and bytes of all tensors in order.

use sha2::{Digest, Sha256};

/// A running model hash.
#[derive(Clone, Debug)]
pub(crate) struct ModelHash(Sha256);

impl ModelHash {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    /// Takes in what is to be known of the next tensor before its bytes.
    pub(crate) fn begin(&mut self, name: &str, dtype: &str, shape: &[u64], len: usize) {
        let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        self.0.update(length(name.len()));
        self.0.update(name);
        self.0.update(&length(dtype.len())[..1]);
        self.0.update(dtype);
        self.0.update(length(shape.len()));
        shape.iter().for_each(|d| self.0.update(d.to_le_bytes()));
        self.0.update((len as u64).to_le_bytes());
    }

    /// Takes in the next bytes of a tensor.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
