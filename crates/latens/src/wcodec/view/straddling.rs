//! Symbols of 3, 5 and 6 bits, which straddle the ends of bytes and words: of GPTQ and MLX. Words are little-endian and the
//! lowest bits come first, so those of a row are one stream of bits, eight symbols in as many bytes as a symbol has bits.

use latens_kernels::dispatch::Present;

/// Symbols that are whole bytes together.
const EIGHT: usize = 8;

/// The symbols of a stream.
pub(super) fn unpack(stream: &[u8], bits: u8, out: &mut [u8]) {
    #[inline(always)]
    fn of_width<const BITS: usize>(stream: &[u8], out: &mut [u8]) {
        let (eights, rest) = stream.as_chunks::<BITS>();
        let (out, last) = out.as_chunks_mut::<EIGHT>();
        for (bytes, out) in eights.iter().zip(out) {
            *out = spread::<BITS>(*bytes);
        }
        let mut bytes = [0; BITS];
        bytes[..rest.len()].copy_from_slice(rest);
        last.iter_mut().zip(spread::<BITS>(bytes)).for_each(|(out, symbol)| *out = symbol);
    }
    Present::in_use().call(
        #[inline(always)]
        || match bits {
            3 => of_width::<3>(stream, out),
            5 => of_width::<5>(stream, out),
            _ => of_width::<6>(stream, out),
        },
    );
}

/// The inverse of [`unpack`].
pub(super) fn pack(symbols: &[u8], bits: u8, stream: &mut [u8]) {
    #[inline(always)]
    fn of_width<const BITS: usize>(symbols: &[u8], stream: &mut [u8]) {
        let (eights, rest) = symbols.as_chunks::<EIGHT>();
        let (stream, last) = stream.as_chunks_mut::<BITS>();
        for (symbols, bytes) in eights.iter().zip(stream) {
            *bytes = gather::<BITS>(*symbols);
        }
        let mut symbols = [0; EIGHT];
        symbols[..rest.len()].copy_from_slice(rest);
        last.iter_mut().zip(gather::<BITS>(symbols)).for_each(|(byte, with)| *byte = with);
    }
    Present::in_use().call(
        #[inline(always)]
        || match bits {
            3 => of_width::<3>(symbols, stream),
            5 => of_width::<5>(symbols, stream),
            _ => of_width::<6>(symbols, stream),
        },
    );
}

/// Eight symbols from the lowest bit up.
#[inline(always)]
fn spread<const BITS: usize>(bytes: [u8; BITS]) -> [u8; EIGHT] {
    let mut stream = [0; EIGHT];
    stream[..BITS].copy_from_slice(&bytes);
    let stream = u64::from_le_bytes(stream);
    std::array::from_fn(|k| (stream >> (BITS * k)).to_le_bytes()[0] & mask(BITS))
}

/// The inverse of [`spread`].
#[inline(always)]
fn gather<const BITS: usize>(symbols: [u8; EIGHT]) -> [u8; BITS] {
    let place = |(k, symbol): (usize, u8)| u64::from(symbol & mask(BITS)) << (BITS * k);
    let stream = symbols.into_iter().enumerate().map(place).fold(0, |all, one| all | one);
    let stream = stream.to_le_bytes();
    std::array::from_fn(|i| stream[i])
}

fn mask(bits: usize) -> u8 {
    u8::MAX >> (8 - bits)
}

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
pub(super) fn unpack_rows(words: &[u8], width: u8, bits: u8, cols: usize, rows: &mut [u8]) {
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

/// The inverse of [`unpack_rows`], onto words that are zero.
pub(super) fn pack_rows(rows: &[u8], width: u8, bits: u8, cols: usize, words: &mut [u8]) {
    #[inline(always)]
    fn of_width<const WIDTH: usize>(rows: &[u8], bits: usize, cols: usize, words: &mut [u8]) {
        let words = words.as_chunks_mut::<WIDTH>().0;
        for (r, row) in rows.chunks_exact(cols).enumerate() {
            let Place { byte, bit, goes_on } = Place::of(r, bits);
            let mut put = |byte: usize, part: &dyn Fn(u8) -> u8| {
                let words = words.iter_mut().skip(byte / WIDTH * cols);
                row.iter().zip(words).for_each(|(symbol, word)| {
                    word[byte % WIDTH] |= part(symbol & mask(bits));
                });
            };
            put(byte, &|symbol| symbol << bit);
            if goes_on {
                put(byte + 1, &|symbol| symbol >> (8 - bit));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbol by symbol, bit by bit.
    #[test]
    fn bits_lie_where_the_stream_has_them() {
        for bits in [3u8, 5, 6] {
            let stream: Vec<u8> = (0..60u32).map(|i| (i * i * 7 + 91).to_le_bytes()[0]).collect();
            // Whole eights, and half of one.
            for bytes in [30, 60, 27 / 3 * usize::from(bits) / 3 * 3] {
                let stream = &stream[..bytes];
                let mut symbols = vec![0; bytes * 8 / usize::from(bits)];
                unpack(stream, bits, &mut symbols);
                for (k, &symbol) in symbols.iter().enumerate() {
                    let bit = |i: usize| (stream[i / 8] >> (i % 8)) & 1;
                    let first = k * usize::from(bits);
                    let want: u8 = (0..bits).map(|b| bit(first + usize::from(b)) << b).sum();
                    assert_eq!(symbol, want, "{bits} bits, symbol {k}");
                }
                if symbols.len() * usize::from(bits) == 8 * bytes {
                    let mut back = vec![0xee; bytes];
                    symbols.iter_mut().for_each(|symbol| *symbol |= 0x40 << (bits / 6));
                    pack(&symbols, bits, &mut back);
                    assert_eq!(back, stream, "{bits} bits");
                }
            }
        }
    }

    /// Rows of a column are its stream, whatever the width of its words.
    #[test]
    fn columns_are_streams() {
        for (bits, width) in
            [3u8, 5, 6].into_iter().flat_map(|b| [1u8, 2, 4, 8].map(|width| (b, width)))
        {
            for cols in [1, 3, 70] {
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
