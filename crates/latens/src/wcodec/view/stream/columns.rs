//! Symbols of 2, 3, 5 and 6 bits below each other, from the lowest bit up: of GPTQ. Words are little-endian, so those of a column
//! are one stream of bits, whether or not they straddle the ends of bytes and words.

use super::mask;
use latens_kernels::dispatch::Present;

/// Where a symbol of a column lies: the byte of the column's stream and the bit where it begins, and whether it goes on in the
/// byte behind.
struct Place {
    byte: usize,
    bit: usize,
    goes_on: bool,
}

impl Place {
    fn of(row: usize, bits: usize) -> Self {
        let (byte, bit) = (row * bits / 8, row * bits % 8);
        Self { byte, bit, goes_on: bit + bits > 8 }
    }
}

/// Rows of symbols, `cols` each, from rows of as many words of `width` bytes: words below each other are a column's stream.
pub(in super::super) fn unpack_rows(
    words: &[u8],
    width: u8,
    bits: u8,
    cols: usize,
    rows: &mut [u8],
) {
    #[inline(always)]
    fn of_width<const WIDTH: usize>(words: &[u8], bits: usize, cols: usize, rows: &mut [u8]) {
        let words = words.as_chunks::<WIDTH>().0;
        let row_of = |byte: usize| words.iter().skip(byte / WIDTH * cols);
        for (r, row) in rows.chunks_exact_mut(cols).enumerate() {
            let Place { byte, bit, goes_on } = Place::of(r, bits);
            let (low, high) = (byte % WIDTH, (byte + 1) % WIDTH);
            match goes_on {
                false => row.iter_mut().zip(row_of(byte)).for_each(|(symbol, word)| {
                    *symbol = (word[low] >> bit) & mask(bits);
                }),
                true => {
                    let words = row_of(byte).zip(row_of(byte + 1));
                    for (symbol, (word, next)) in row.iter_mut().zip(words) {
                        *symbol = ((word[low] >> bit) | (next[high] << (8 - bit))) & mask(bits);
                    }
                }
            }
        }
    }
    let bits = usize::from(bits);
    Present::in_use().call(
        #[inline(always)]
        || match width {
            1 => of_width::<1>(words, bits, cols, rows),
            2 => of_width::<2>(words, bits, cols, rows),
            4 => of_width::<4>(words, bits, cols, rows),
            _ => of_width::<8>(words, bits, cols, rows),
        },
    );
}

/// Columns of rows that are packed at once.
const BAND: usize = 32;

/// The inverse of [`unpack_rows`].
pub(in super::super) fn pack_rows(rows: &[u8], width: u8, bits: u8, cols: usize, words: &mut [u8]) {
    #[inline(always)]
    fn of_width<const WIDTH: usize>(rows: &[u8], bits: usize, cols: usize, words: &mut [u8]) {
        let words = words.as_chunks_mut::<WIDTH>().0;
        for (r, words) in words.chunks_exact_mut(cols).enumerate() {
            let (bands, rest) = words.as_chunks_mut::<BAND>();
            let done = bands.len() * BAND;
            for (i, words) in bands.iter_mut().enumerate() {
                *words = words_of::<BAND, WIDTH>(rows, bits, (r, i * BAND, cols));
            }
            for (i, word) in (done..).zip(rest) {
                [*word] = words_of::<1, WIDTH>(rows, bits, (r, i, cols));
            }
        }
    }
    let bits = usize::from(bits);
    Present::in_use().call(
        #[inline(always)]
        || match width {
            1 => of_width::<1>(rows, bits, cols, words),
            2 => of_width::<2>(rows, bits, cols, words),
            4 => of_width::<4>(rows, bits, cols, words),
            _ => of_width::<8>(rows, bits, cols, words),
        },
    );
}

/// The words of a row from a column on. Arrays by value: what is written may be where nothing else is read, and vectors do it.
#[inline(always)]
fn words_of<const N: usize, const WIDTH: usize>(
    rows: &[u8],
    bits: usize,
    (row, col, cols): (usize, usize, usize),
) -> [[u8; WIDTH]; N] {
    let (first, end) = (8 * WIDTH * row, 8 * WIDTH * (row + 1));
    let (mut words, mask) = ([0u64; N], u64::from(mask(bits)));
    for r in first / bits..end.div_ceil(bits) {
        let symbols = rows.get(r * cols + col..).and_then(|row| row.first_chunk().copied());
        let symbols: [u8; N] = symbols.unwrap_or([0; N]);
        // Of the first one the lower bits may be in the word before.
        let (up, down) = ((r * bits).saturating_sub(first), first.saturating_sub(r * bits));
        for (word, symbol) in words.iter_mut().zip(symbols) {
            *word |= ((u64::from(symbol) & mask) << (up % 64)) >> (down % 8);
        }
    }
    words.map(
        #[inline(always)]
        |word| {
            let bytes = word.to_le_bytes();
            std::array::from_fn(|i| bytes[i])
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::unpack;
    use super::*;

    /// Rows of a column are its stream, whatever the width of its words.
    #[test]
    fn columns_are_streams() {
        for (bits, width) in
            [2u8, 3, 5, 6].into_iter().flat_map(|b| [1u8, 2, 4, 8].map(|width| (b, width)))
        {
            for cols in [1, 3, 32, 70] {
                let (wide, word_rows) = (usize::from(width), 3 * usize::from(bits));
                let words: Vec<u8> = (0..word_rows * cols * wide)
                    .map(|i: usize| (i * i * 31 + 7).to_le_bytes()[1])
                    .collect();
                let mut rows = vec![0; words.len() * 8 / usize::from(bits)];
                unpack_rows(&words, width, bits, cols, &mut rows);
                for c in 0..cols {
                    let words = words.chunks_exact(wide).skip(c).step_by(cols);
                    let stream: Vec<u8> = words.flatten().copied().collect();
                    let mut want = vec![0; stream.len() * 8 / usize::from(bits)];
                    unpack(&stream, bits, &mut want);
                    let column: Vec<u8> = rows.iter().skip(c).step_by(cols).copied().collect();
                    assert_eq!(column, want, "{bits} bits, {width} bytes, column {c}");
                }
                let mut back = vec![0; words.len()];
                rows.iter_mut().for_each(|symbol| *symbol |= 0x80);
                pack_rows(&rows, width, bits, cols, &mut back);
                assert_eq!(back, words, "{bits} bits, {width} bytes, {cols} columns");
            }
        }
    }
}
