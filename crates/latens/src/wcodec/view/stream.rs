//! Symbols of 2, 3, 5 and 6 bits side by side, from the lowest bit up: of GPTQ and MLX. Words are little-endian, so those of
//! a row are one stream of bits, whether or not they straddle the ends of bytes and words.

pub(super) mod columns;

use latens_kernels::dispatch::Present;

/// Symbols that are whole bytes together, and pairs that are read at once.
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
            2 => of_width::<2>(stream, out),
            3 => of_width::<3>(stream, out),
            5 => of_width::<5>(stream, out),
            _ => of_width::<6>(stream, out),
        },
    );
}

/// The inverse of [`unpack`].
pub(super) fn pack(symbols: &[u8], bits: u8, stream: &mut [u8]) {
    Present::in_use().call(
        #[inline(always)]
        || match bits {
            2 => put::<2>(symbols, stream, squeeze::<2>),
            3 => put::<3>(symbols, stream, squeeze::<3>),
            5 => put::<5>(symbols, stream, squeeze::<5>),
            _ => put::<6>(symbols, stream, squeeze::<6>),
        },
    );
}

/// The same of pairs of symbols of 2 or 3 bits, a byte each, the first one in its lower half.
pub(super) fn pack_pairs(pairs: &[u8], bits: u8, stream: &mut [u8]) {
    Present::in_use().call(
        #[inline(always)]
        || match bits {
            2 => put::<4>(pairs, stream, squeeze_pairs::<2, 4>),
            _ => put::<6>(pairs, stream, squeeze_pairs::<3, 6>),
        },
    );
}

/// What is made of each eight bytes, of which `EACH` are left.
#[inline(always)]
fn put<const EACH: usize>(bytes: &[u8], stream: &mut [u8], squeeze: impl Fn(u64) -> u64) {
    let (eights, rest) = bytes.as_chunks::<EIGHT>();
    let (stream, last) = stream.as_chunks_mut::<EACH>();
    for (eight, out) in eights.iter().zip(stream) {
        let squeezed = squeeze(u64::from_le_bytes(*eight)).to_le_bytes();
        *out = std::array::from_fn(|i| squeezed[i]);
    }
    let mut eight = [0; EIGHT];
    eight[..rest.len()].copy_from_slice(rest);
    let squeezed = squeeze(u64::from_le_bytes(eight)).to_le_bytes();
    last.iter_mut().zip(squeezed).for_each(|(out, byte)| *out = byte);
}

/// Eight symbols from the lowest bit up.
#[inline(always)]
fn spread<const BITS: usize>(bytes: [u8; BITS]) -> [u8; EIGHT] {
    let mut stream = [0; EIGHT];
    stream[..BITS].copy_from_slice(&bytes);
    let stream = u64::from_le_bytes(stream);
    std::array::from_fn(|k| (stream >> (BITS * k)).to_le_bytes()[0] & mask(BITS))
}

/// The lower bits of each byte, next to each other: of two, of four, of all.
#[inline(always)]
fn squeeze<const BITS: usize>(bytes: u64) -> u64 {
    let of_one = every(u64::from(mask(BITS)), 16);
    let two = bytes & of_one | (bytes >> (8 - BITS)) & of_one << BITS;
    let of_two = every((1 << (2 * BITS)) - 1, 32);
    let four = two & of_two | (two >> (16 - 2 * BITS)) & of_two << (2 * BITS);
    let of_four = (1 << (4 * BITS)) - 1;
    four & of_four | (four >> (32 - 4 * BITS)) & of_four << (4 * BITS)
}

/// The lower bits of each half of a byte, next to each other.
#[inline(always)]
fn squeeze_pairs<const BITS: usize, const TWICE: usize>(pairs: u64) -> u64 {
    let of_one = every(u64::from(mask(BITS)), 8);
    squeeze::<TWICE>(pairs & of_one | (pairs >> (4 - BITS)) & of_one << BITS)
}

/// `bits` in each `width` bits.
const fn every(bits: u64, width: usize) -> u64 {
    let (mut all, mut at) = (0, 0);
    while at < 64 {
        all |= bits << at;
        at += width;
    }
    all
}

/// The lowest bits of a byte.
pub(super) fn mask(bits: usize) -> u8 {
    u8::MAX >> (8 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbol by symbol, bit by bit.
    #[test]
    fn bits_lie_where_the_stream_has_them() {
        for bits in [2u8, 3, 5, 6] {
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

    /// Pairs pack to the bytes of their symbols, whole eights of them or not, and higher bits are no symbol's.
    #[test]
    fn pairs_pack_as_their_symbols_do() {
        for bits in [2u8, 3] {
            for len in [0, 4, 8, 64, 68, 1000] {
                let symbol = |i: usize| (i * i * 7 + i / 3).to_le_bytes()[0] & mask(bits.into());
                let symbols: Vec<u8> = (0..2 * len).map(symbol).collect();
                let pair = |two: &[u8; 2]| two[0] | two[1] << 4 | 0x88;
                let pairs: Vec<u8> = symbols.as_chunks().0.iter().map(pair).collect();
                let mut wanted = vec![0; symbols.len() * usize::from(bits) / 8];
                let mut packed = vec![0xee; wanted.len()];
                pack(&symbols, bits, &mut wanted);
                pack_pairs(&pairs, bits, &mut packed);
                assert_eq!(packed, wanted, "{bits} bits, {len}");
            }
        }
    }
}
