//! A sum (or a class) and a symbol as one place in a table.

use crate::wcodec::encode::matrix::FEW_BITS;
use latens_kernels::dispatch::{Present, Work};

/// Places of all sums and symbols, and bits of these; of few bits as well, whose counts fit
/// the nearest cache.
pub(super) const PLACES: usize = 256 << BITS;
pub(super) const BITS: u32 = 8;
pub(super) const FEW_PLACES: usize = 256 << FEW_BITS;

/// Places of symbols by their sums (or classes), all of them made before one is used: compilers make
/// many at a time then.
struct Zip<'a> {
    sums: &'a [u8],
    symbols: &'a [u8],
    /// Bits of a symbol in a place.
    bits: u32,
    out: &'a mut [[u8; 2]],
}

impl Work for Zip<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let bits = self.bits;
        for ((out, &sum), &symbol) in self.out.iter_mut().zip(self.sums).zip(self.symbols) {
            *out = (u16::from(sum) << bits | u16::from(symbol)).to_le_bytes();
        }
    }
}

/// The places of `symbols`, in `out`, two bytes each.
pub(super) fn places<'o>(
    sums: &[u8],
    symbols: &[u8],
    bits: u32,
    out: &'o mut Vec<[u8; 2]>,
) -> &'o [[u8; 2]] {
    out.resize(symbols.len(), [0; 2]);
    Present::in_use().run(Zip { sums, symbols, bits, out });
    out
}
