//! Short streams: levels of rows and columns, means of columns. Their count is known.
//!
//! | field | form |
//! |---|---|
//! | bytes that follow | varint |
//! | base | 8 bits |
//! | each value less base | Golomb code with memory, zigzag |
//! | padding | zero, to a byte |

use crate::bits::reader::BitReader;
use crate::bits::varint;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::golomb::{self, Memory};

/// The value from which the others differ least: a median.
pub(crate) fn base(values: &[u8]) -> u8 {
    let mut counts = [0usize; 256];
    values.iter().for_each(|&v| counts[usize::from(v)] += 1);
    let mut below = 0;
    for (value, count) in (0u8..=255).zip(counts) {
        below += count;
        if below * 2 >= values.len() {
            return value;
        }
    }
    0
}

/// Appends `values`.
pub(crate) fn write(values: &[u8], out: &mut Vec<u8>) {
    let (base, mut memory, mut bits) = (base(values), Memory::new(), BitWriter::default());
    bits.write(u64::from(base), 8);
    for &value in values {
        memory.write_signed(i32::from(value) - i32::from(base), &mut bits);
    }
    let bytes = bits.finish();
    varint::write(bytes.len() as u64, out);
    out.extend_from_slice(&bytes);
}

/// Bytes that [`write`] appends.
pub(crate) fn cost(values: &[u8]) -> usize {
    let (base, mut memory) = (i32::from(base(values)), Memory::new());
    let bits: u64 =
        values.iter().map(|&v| u64::from(memory.cost_signed(i32::from(v) - base))).sum();
    bytes_of(bits)
}

/// The same, of values that take so many bits.
pub(crate) fn bytes_of(bits: u64) -> usize {
    usize::try_from(bits / 8).unwrap_or(usize::MAX - 4) + 4
}

/// About the bits that each value takes among `values`.
pub(crate) fn prices(values: &[u8]) -> [f32; 256] {
    let (base, mut memory) = (i32::from(base(values)), Memory::new());
    // How often k is what, and one of the states where it is.
    let mut states = [(0usize, memory); golomb::MOST as usize + 1];
    for &value in values {
        let state = &mut states[memory.k() as usize];
        *state = (state.0 + 1, memory);
        memory.cost_signed(i32::from(value) - base);
    }
    let price = |value: u8| {
        let of_state = |&(n, state): &(usize, Memory)| {
            n as f64 * f64::from(state.clone().cost_signed(i32::from(value) - base))
        };
        let sum: f64 = states.iter().filter(|state| state.0 > 0).map(of_state).sum();
        sum / values.len().max(1) as f64
    };
    #[expect(clippy::cast_possible_truncation, reason = "an estimate")]
    std::array::from_fn(|value| price(value.to_le_bytes()[0]) as f32)
}

/// Reads `count` values.
pub(crate) fn read(fields: &mut Fields<'_>, count: usize, what: &'static str) -> Result<Vec<u8>> {
    let length = fields.varint(what)?;
    let start = fields.at();
    let bytes = fields.bytes(length, what)?;
    if count > bytes.len() * 8 {
        return Err(Error::corrupt(
            start,
            format!("{what}: {count} values do not fit in {length} bytes"),
        ));
    }
    let mut r = BitReader::new(bytes, 0);
    let mut go = || {
        let base = i64::from(r.read_u8(what)?);
        let mut memory = Memory::new();
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            let at = r.byte();
            let value = match memory.peek_signed(bytes, r.bit()) {
                Some((value, bits)) => {
                    r = BitReader::new(bytes, r.bit() + bits);
                    base + value
                }
                None => base + memory.read_signed(&mut r, what)?,
            };
            values.push(u8::try_from(value).map_err(|_| {
                Error::corrupt(at, format!("{what} has a value of {value}; 0 to 255 are legal"))
            })?);
        }
        r.align(what)?;
        match r.bits_left() {
            0 => Ok(values),
            _ => Err(Error::corrupt(r.byte(), format!("{what} has bytes too many"))),
        }
    };
    go().map_err(|e: Error| e.offset_by(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut out = Vec::new();
            write(&values, &mut out);
            let mut fields = Fields::new(&out);
            prop_assert_eq!(read(&mut fields, values.len(), "levels").unwrap(), values.clone());
            prop_assert_eq!(fields.left(), 0);
            prop_assert!(cost(&values).abs_diff(out.len()) <= 2);
        }
    }
}
