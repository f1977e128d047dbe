//! Small integers packed in words: plain INT4, GPTQ, AWQ, compressed-tensors, bitsandbytes, MLX.
//!
//! | where | bits | word | order | axis | sign |
//! |---|---|---|---|---|---|
//! | GPTQ `qweight` `[in·bits/32, out]` | 4 (2, 3, 8) | 4 bytes | low first | rows | unsigned |
//! | GPTQ `qzeros` `[groups, out·bits/32]` | 4 (2, 3, 8) | 4 bytes | low first | columns | unsigned |
//! | AWQ `qweight` `[in, out/8]`, `qzeros` | 4 | 4 bytes | AWQ's | columns | unsigned |
//! | compressed-tensors `weight_packed` `[out, in/8]` | 4 (8) | 4 bytes | low first | columns | offset |
//! | bitsandbytes NF4, FP4 `[n/2, 1]` | 4 | 1 byte | high first | columns | unsigned |
//! | MLX `weight` `[out, in·bits/32]` | 4 (2, 3, 5, 6, 8) | 4 bytes | low first | columns | unsigned |

use super::super::dtype::Dtype;
use super::matrix;
use super::nibbles::{self, NibbleOrder};
use super::parts::Sign;
use super::stream::{self, columns};

/// Which symbol of a word comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOrder {
    /// The one in the lowest bits.
    LowFirst,
    /// The one in the highest bits.
    HighFirst,
    /// AWQ's order of eight nibbles in four bytes: from the lowest bits up 0, 2, 4, 6, 1, 3, 5, 7.
    Awq,
}

/// Along which axis of the matrix the symbols of a word lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Side by side in a row.
    Columns,
    /// Below each other in a column: a row of words is several rows of symbols.
    Rows,
}

/// How symbols are packed in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packing {
    /// Bits a symbol: 2, 4 or 8; 3, 5 or 6 from the lowest bit up, where symbols straddle the ends of words.
    pub bits: u8,
    /// Bytes a word: 1, 2, 4 or 8, little-endian.
    pub word: u8,
    /// Order of the symbols in a word.
    pub order: BitOrder,
    /// Axis of the symbols of a word.
    pub axis: Axis,
    /// What the symbols stand for.
    pub sign: Sign,
    /// Symbols a row, where the tensor's own shape does not tell: bytes that were flattened. 0
    /// leaves it to the shape. Only for [`Axis::Columns`].
    pub cols: u32,
}

impl Packing {
    /// Nibbles two a byte, side by side, as the shape has the bytes.
    pub fn nibbles(order: BitOrder, sign: Sign) -> Self {
        Packing { bits: 4, word: 1, order, axis: Axis::Columns, sign, cols: 0 }
    }

    /// Nibbles eight to a word of four bytes.
    pub fn words(order: BitOrder, axis: Axis, sign: Sign) -> Self {
        Packing { bits: 4, word: 4, order, axis, sign, cols: 0 }
    }

    /// Whether the fields go together.
    pub fn is_valid(self) -> bool {
        (matches!(self.bits, 2 | 4 | 8) || (self.straddles() && self.order == BitOrder::LowFirst))
            && matches!(self.word, 1 | 2 | 4 | 8)
            && (self.order != BitOrder::Awq || (self.bits, self.word) == (4, 4))
            && (self.cols == 0 || self.axis == Axis::Columns)
    }

    /// Whether symbols straddle the ends of words.
    fn straddles(self) -> bool {
        matches!(self.bits, 3 | 5 | 6)
    }

    /// Whether symbols come one after the other in the bits of words along their axis, and are neither nibbles nor bytes.
    fn is_stream(self) -> bool {
        self.order == BitOrder::LowFirst && matches!(self.bits, 2 | 3 | 5 | 6)
    }

    /// Words that hold whole symbols together: one, where these do not straddle its end.
    fn words_together(self) -> u64 {
        match self.bits {
            3 | 6 => 3,
            5 => 5,
            _ => 1,
        }
    }

    /// Bytes of the words that hold whole symbols together.
    pub(super) fn run_bytes(self) -> u64 {
        self.words_together() * u64::from(self.word)
    }

    /// Symbols of those words.
    pub(super) fn each(self) -> u64 {
        8 * self.run_bytes() / u64::from(self.bits.max(1))
    }

    /// Rows and columns of symbols, rows a unit.
    pub(super) fn matrix(self, dtype: Dtype, shape: &[u64], len: u64) -> Option<(u64, u64, u64)> {
        let each = self.each();
        let (rows, cols) = matrix::of_words(dtype, shape, len, u64::from(self.word))?;
        let symbols_of = |words: u64| {
            let whole = words / self.words_together();
            (whole * self.words_together() == words).then(|| whole.checked_mul(each))?
        };
        match (self.axis, u64::from(self.cols)) {
            (Axis::Rows, _) => Some((symbols_of(rows)?, cols, each)),
            (Axis::Columns, 0) => Some((rows, symbols_of(cols)?, 1)),
            (Axis::Columns, cols) => {
                let all = symbols_of(len / u64::from(self.word))?;
                (cols.is_multiple_of(each) && all.is_multiple_of(cols)).then_some((
                    all / cols,
                    cols,
                    1,
                ))
            }
        }
    }

    /// Byte of a word and bit of that byte where symbol `k` begins.
    fn place(self, k: usize) -> (usize, u32) {
        let (bits, word) = (usize::from(self.bits), usize::from(self.word));
        let bit = match self.order {
            BitOrder::LowFirst => bits * k,
            BitOrder::HighFirst => 8 * word - bits * (k + 1),
            BitOrder::Awq => 4 * (k / 2 + 4 * (k % 2)),
        };
        (bit / 8, u32::try_from(bit % 8).unwrap_or(0))
    }

    fn mask(self) -> u8 {
        u8::MAX >> (8 - self.bits.clamp(1, 8))
    }

    /// The order of nibbles where four bytes can be taken at once.
    fn nibble_order(self) -> Option<NibbleOrder> {
        match (self.bits, self.word, self.order) {
            (4, _, BitOrder::LowFirst) => Some(NibbleOrder::Low),
            (4, 1, BitOrder::HighFirst) => Some(NibbleOrder::HighInByte),
            (4, 4, BitOrder::HighFirst) => Some(NibbleOrder::High),
            (4, 4, BitOrder::Awq) => Some(NibbleOrder::Awq),
            _ => None,
        }
    }

    /// The symbols of `bytes`, row by row, `cols` a row.
    pub(super) fn unpack(self, bytes: &[u8], cols: usize) -> Vec<u8> {
        let mut out = vec![0; self.symbols_in(bytes.len())];
        self.unpack_into(bytes, cols, &mut out);
        out
    }

    /// As [`Packing::unpack`], into `out`, which is as long as what that gives.
    pub(super) fn unpack_into(self, bytes: &[u8], cols: usize, out: &mut [u8]) {
        match self.axis {
            Axis::Rows => {
                let unit = self.unit(cols).max(1);
                let rows = bytes.chunks_exact(self.bytes_of(unit).max(1));
                for (words, out) in rows.zip(out.chunks_exact_mut(unit)) {
                    self.unpack_rows(words, cols, out);
                }
            }
            Axis::Columns if self.is_stream() => stream::unpack(bytes, self.bits, out),
            Axis::Columns => {
                let fast = self.nibble_order().map_or(0, |order| {
                    let fast = bytes.len() / 4 * 4;
                    nibbles::unpack(&bytes[..fast], order, &mut out[..2 * fast]);
                    fast
                });
                let (words, out) = (&bytes[fast..], &mut out[self.symbols_in(fast)..]);
                self.unpack_words(words, out);
            }
        }
    }

    /// The bytes that hold `symbols`: the inverse of [`Packing::unpack`].
    pub(super) fn pack(self, symbols: &[u8], cols: usize) -> Vec<u8> {
        let mut out = vec![0; self.bytes_of(symbols.len())];
        self.pack_onto_zeros(symbols, cols, &mut out);
        out
    }

    /// As [`Packing::pack`], into `out`, which is as long as what that gives.
    pub(crate) fn pack_into(self, symbols: &[u8], cols: usize, out: &mut [u8]) {
        if !self.is_stream() && (self.nibble_order().is_none() || self.word != 4) {
            out.fill(0);
        }
        self.pack_onto_zeros(symbols, cols, out);
    }

    /// Symbols that are packed on their own: those of whole words, or rows of them.
    pub(crate) fn unit(self, cols: usize) -> usize {
        let each = usize::try_from(self.each()).unwrap_or(usize::MAX);
        match self.axis {
            Axis::Columns => each,
            Axis::Rows => each.saturating_mul(cols),
        }
    }

    /// Whether its bytes are pairs of neighbours, the first one low.
    pub(crate) fn is_pairs(self) -> bool {
        (self.bits, self.order, self.axis) == (4, BitOrder::LowFirst, Axis::Columns)
    }

    /// Whether [`Packing::pack_pairs`] can be.
    pub(crate) fn packs_pairs(self) -> bool {
        self.is_stream() && self.axis == Axis::Columns && self.bits < 4
    }

    /// The bytes of pairs of neighbours, the first one in the lower half of a byte, into `out`, which is as long as they are.
    pub(crate) fn pack_pairs(self, pairs: &[u8], out: &mut [u8]) {
        stream::pack_pairs(pairs, self.bits, out);
    }

    fn pack_onto_zeros(self, symbols: &[u8], cols: usize, out: &mut [u8]) {
        match self.axis {
            Axis::Rows => {
                let unit = self.unit(cols).max(1);
                let units = symbols.chunks_exact(unit);
                for (symbols, words) in units.zip(out.chunks_exact_mut(self.bytes_of(unit).max(1)))
                {
                    self.pack_rows(symbols, cols, words);
                }
            }
            Axis::Columns if self.is_stream() => stream::pack(symbols, self.bits, out),
            Axis::Columns => {
                let fast = self.nibble_order().map_or(0, |order| {
                    let fast = out.len() / 4 * 4;
                    nibbles::pack(&symbols[..2 * fast], order, &mut out[..fast]);
                    fast
                });
                let (symbols, words) = (&symbols[self.symbols_in(fast)..], &mut out[fast..]);
                self.pack_words(symbols, words);
            }
        }
    }

    /// Symbols of so many bytes.
    pub(crate) fn symbols_in(self, bytes: usize) -> usize {
        bytes * 8 / usize::from(self.bits)
    }

    /// Bytes of so many symbols.
    pub(crate) fn bytes_of(self, symbols: usize) -> usize {
        symbols.saturating_mul(usize::from(self.bits)) / 8
    }

    fn unpack_words(self, words: &[u8], out: &mut [u8]) {
        let (word, mask) = (usize::from(self.word), self.mask());
        let words = words.chunks_exact(word);
        for (word, out) in words.zip(out.chunks_exact_mut(self.symbols_in(word))) {
            for (k, out) in out.iter_mut().enumerate() {
                let (byte, bit) = self.place(k);
                *out = (word[byte] >> bit) & mask;
            }
        }
    }

    fn pack_words(self, symbols: &[u8], out: &mut [u8]) {
        let (word, mask) = (usize::from(self.word), self.mask());
        let symbols = symbols.chunks_exact(self.symbols_in(word));
        for (symbols, word) in symbols.zip(out.chunks_exact_mut(word)) {
            for (k, symbol) in symbols.iter().enumerate() {
                let (byte, bit) = self.place(k);
                word[byte] |= (symbol & mask) << bit;
            }
        }
    }

    fn unpack_rows(self, words: &[u8], cols: usize, out: &mut [u8]) {
        if let (4, Some(order)) = (self.word, self.nibble_order()) {
            return nibbles::unpack_rows(words, order, out);
        }
        if self.is_stream() {
            return columns::unpack_rows(words, self.word, self.bits, cols, out);
        }
        let (word, mask) = (usize::from(self.word), self.mask());
        for (k, row) in out.chunks_exact_mut(cols).enumerate() {
            let (byte, bit) = self.place(k);
            for (out, word) in row.iter_mut().zip(words.chunks_exact(word)) {
                *out = (word[byte] >> bit) & mask;
            }
        }
    }

    fn pack_rows(self, symbols: &[u8], cols: usize, out: &mut [u8]) {
        if let (4, Some(order)) = (self.word, self.nibble_order()) {
            return nibbles::pack_rows(symbols, order, out);
        }
        if self.is_stream() {
            return columns::pack_rows(symbols, self.word, self.bits, cols, out);
        }
        let (word, mask) = (usize::from(self.word), self.mask());
        for (k, row) in symbols.chunks_exact(cols).enumerate() {
            let (byte, bit) = self.place(k);
            for (symbol, word) in row.iter().zip(out.chunks_exact_mut(word)) {
                word[byte] |= (symbol & mask) << bit;
            }
        }
    }

    /// A word for the packing, for people.
    pub(super) fn name(self) -> String {
        let sign = match self.sign {
            Sign::Signed => "int",
            Sign::Unsigned => "uint",
            Sign::Offset => "offset int",
        };
        let order = match self.order {
            BitOrder::LowFirst => "low first",
            BitOrder::HighFirst => "high first",
            BitOrder::Awq => "awq",
        };
        let axis = match self.axis {
            Axis::Columns => "columns",
            Axis::Rows => "rows",
        };
        format!("{sign}{} in {} bits, {order}, {axis}", self.bits, 8 * u32::from(self.word))
    }
}
