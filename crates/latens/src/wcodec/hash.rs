//! The model hash: SHA-256 over names, types, shapes and bytes of all tensors in order.

use latens_kernels::rans::encode::Block;
use sha2::compress256;
use sha2::digest::block_buffer::{BlockBuffer, Eager};
use sha2::digest::consts::U64;
use std::sync::Mutex;

/// Where SHA-256 begins.
#[rustfmt::skip]
const BEGIN: [u32; 8] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
];

/// A running model hash. Its state is at hand, as kernels go on with it.
#[derive(Clone, Debug)]
pub(crate) struct ModelHash {
    state: [u32; 8],
    /// Bytes of a block that is not whole yet.
    begun: BlockBuffer<U64, Eager>,
    bytes: u64,
}

impl ModelHash {
    pub(crate) fn new() -> Self {
        Self { state: BEGIN, begun: BlockBuffer::default(), bytes: 0 }
    }

    /// Takes in the next tensor.
    pub(crate) fn tensor(&mut self, name: &str, dtype: &str, shape: &[u64], bytes: &[u8]) {
        self.begin(name, dtype, shape, bytes.len());
        self.bytes(bytes);
    }

    /// Takes in what is to be known of the next tensor before its bytes.
    pub(crate) fn begin(&mut self, name: &str, dtype: &str, shape: &[u64], len: usize) {
        let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        self.bytes(&length(name.len()));
        self.bytes(name.as_bytes());
        self.bytes(&length(dtype.len())[..1]);
        self.bytes(dtype.as_bytes());
        self.bytes(&length(shape.len()));
        shape.iter().for_each(|d| self.bytes(&d.to_le_bytes()));
        self.bytes(&(len as u64).to_le_bytes());
    }

    /// Takes in the next bytes of a tensor.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let Self { state, begun, bytes: all } = self;
        begun.digest_blocks(bytes, |blocks| compress256(state, blocks));
        *all += bytes.len() as u64;
    }

    /// The state, and blocks that it is to take in from elsewhere: about so many bytes of `bytes`, from which they are
    /// taken.
    fn blocks<'b>(&mut self, bytes: &mut &'b [u8], about: usize) -> (&mut [u32; 8], &'b [Block]) {
        let begun = match self.begun.get_pos() {
            0 => 0,
            begun => size_of::<Block>() - begun,
        };
        let (begun, rest) = bytes.split_at(begun.min(bytes.len()));
        self.bytes(begun);
        let count = about.div_ceil(size_of::<Block>());
        let blocks = rest.as_chunks().0;
        let blocks = blocks.get(..count).unwrap_or(blocks);
        let taken = size_of_val(blocks);
        *bytes = &rest[taken..];
        self.bytes += taken as u64;
        (&mut self.state, blocks)
    }

    pub(crate) fn finish(mut self) -> [u8; 32] {
        let Self { state, begun, bytes } = &mut self;
        begun.len64_padding_be(*bytes * 8, |block| compress256(state, std::slice::from_ref(block)));
        let mut out = [0; 32];
        for (out, word) in out.as_chunks_mut::<4>().0.iter_mut().zip(state) {
            *out = word.to_be_bytes();
        }
        out
    }
}

/// A hash, and bytes in memory that it is still to take in: some work leaves time for that.
pub(crate) struct Pending<'b> {
    pub(crate) hash: ModelHash,
    pub(crate) bytes: &'b [u8],
}

/// The same for whoever comes first.
pub(crate) type Shared<'b> = Mutex<Pending<'b>>;

impl Pending<'_> {
    /// What is to be taken in beside work, about so many bytes of it.
    pub(crate) fn beside(&mut self, about: usize) -> (&mut [u32; 8], &[Block]) {
        self.hash.blocks(&mut self.bytes, about)
    }

    /// The hash, with all bytes.
    pub(crate) fn finish(mut self) -> ModelHash {
        self.hash.bytes(self.bytes);
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// However it is cut, and whatever is taken in beside.
    #[test]
    fn it_is_sha_256_of_all() {
        let bytes: Vec<u8> =
            (0..10_000u32).map(|i| i.to_le_bytes()[0] ^ i.to_le_bytes()[1]).collect();
        for (name, about) in [("", 0), ("name", 64), ("longer", 100), ("name", 5000), ("x", 20_000)]
        {
            let mut hash = ModelHash::new();
            hash.begin(name, "U8", &[100, 100], bytes.len());
            let mut pending = Pending { hash, bytes: &bytes };
            for _ in 0..3 {
                let (state, blocks) = pending.beside(about);
                let all: Vec<_> = blocks.iter().map(|&block| block.into()).collect();
                compress256(state, &all);
            }
            let mut whole = Sha256::new();
            whole.update(u32::try_from(name.len()).unwrap().to_le_bytes());
            whole.update(name);
            whole.update(b"\x02U8\x02\0\0\0");
            [100u64, 100, 10_000].iter().for_each(|n| whole.update(n.to_le_bytes()));
            whole.update(&bytes);
            let expected: [u8; 32] = whole.finalize().into();
            assert_eq!(pending.finish().finish(), expected, "{name} {about}");
        }
    }
}
