//! The operations in portable code, for tests.

use super::Vector;
use crate::lane::Lane;

/// Bytes in place of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Model(pub(crate) [u8; 64]);

impl Model {
    fn lane<L: Lane>(self, i: usize) -> u64 {
        let size = L::BITS as usize / 8;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.0[i * size..][..size]);
        u64::from_le_bytes(bytes)
    }

    fn each<L: Lane>(f: impl Fn(usize) -> u64) -> Self {
        let size = L::BITS as usize / 8;
        let mut all = [0; 64];
        for (i, lane) in all.chunks_exact_mut(size).enumerate() {
            lane.copy_from_slice(&L::truncate(f(i)).widen().to_le_bytes()[..size]);
        }
        Model(all)
    }
}

impl Vector for Model {
    unsafe fn load(bytes: &[u8; 64]) -> Self {
        Model(*bytes)
    }
    unsafe fn load_part(bytes: &[u8]) -> Self {
        let mut all = [0; 64];
        let have = bytes.len().min(64);
        all[..have].copy_from_slice(&bytes[..have]);
        Model(all)
    }
    unsafe fn store<L: Lane>(self, out: &mut [L]) {
        for (i, value) in out.iter_mut().take(512 / L::BITS as usize).enumerate() {
            *value = L::truncate(self.lane::<L>(i));
        }
    }
    unsafe fn splat<L: Lane>(x: L) -> Self {
        Self::each::<L>(|_| x.widen())
    }
    unsafe fn permute_bytes(self, index: Self) -> Self {
        Model(index.0.map(|i| self.0[usize::from(i % 64)]))
    }
    unsafe fn shift_right<L: Lane>(self, by: Self) -> Self {
        let shift = |x: u64, by: u64| if by < L::BITS.into() { x >> by } else { 0 };
        Self::each::<L>(|i| shift(self.lane::<L>(i), by.lane::<L>(i)))
    }
    unsafe fn shift_left<L: Lane>(self, by: Self) -> Self {
        let shift = |x: u64, by: u64| if by < L::BITS.into() { x << by } else { 0 };
        Self::each::<L>(|i| shift(self.lane::<L>(i), by.lane::<L>(i)))
    }
    unsafe fn and(self, other: Self) -> Self {
        Self::each::<u64>(|i| self.lane::<u64>(i) & other.lane::<u64>(i))
    }
    unsafe fn or(self, other: Self) -> Self {
        Self::each::<u64>(|i| self.lane::<u64>(i) | other.lane::<u64>(i))
    }
    unsafe fn add<L: Lane>(self, other: Self) -> Self {
        Self::each::<L>(|i| self.lane::<L>(i).wrapping_add(other.lane::<L>(i)))
    }
    unsafe fn multiply<L: Lane>(self, other: Self) -> Self {
        Self::each::<L>(|i| self.lane::<L>(i).wrapping_mul(other.lane::<L>(i)))
    }
    unsafe fn take_bits(self, begin: Self) -> Self {
        let byte = |i: usize| {
            let bits = self.lane::<u64>(i / 8);
            bits.rotate_right(u32::from(begin.0[i]) % 64).to_le_bytes()[0]
        };
        Model(std::array::from_fn(byte))
    }
    unsafe fn sum_bytes(self) -> Self {
        Self::each::<u64>(|i| self.0[8 * i..8 * i + 8].iter().map(|&b| u64::from(b)).sum())
    }
    unsafe fn below<L: Lane, const N: usize>(self) -> Self {
        Self::each::<L>(|i| if i & N == 0 { 0 } else { self.lane::<L>((i & !(N - 1)) - 1) })
    }
    unsafe fn first<L: Lane>(self) -> L {
        L::truncate(self.lane::<L>(0))
    }
    unsafe fn broadcast_last<L: Lane>(self) -> Self {
        Self::each::<L>(|_| self.lane::<L>(512 / L::BITS as usize - 1))
    }
}
