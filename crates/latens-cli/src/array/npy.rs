//! The header of a `.npy` file.
//!
//! | bytes | what |
//! |---|---|
//! | 6 | `\x93NUMPY` |
//! | 2 | version: 1.0, 2.0 or 3.0 |
//! | 2 (1.0) or 4 | length of the text, little-endian |
//! | … | a Python dictionary: `{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }`, padded with spaces and closed with a line feed |
//!
//! The numbers follow, in the order and endianness that the header says. Source: NumPy's
//! documentation of `numpy.lib.format`.

use latens::NumberType;
use std::io::{self, Read};

use super::npy_literal;
use crate::message::{Failure, Result};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// No header of plain numbers comes near it; a longer one is refused before it is read.
const MAX_TEXT: u32 = 1 << 16;
/// NumPy leaves room for the first dimension to grow to so many digits, and so do we: that is why
/// a header can be patched in place.
const GROWTH_DIGITS: usize = 21;

/// Length of the header of a plain column, as [`NpyHeader::to_bytes`] writes it.
pub const COLUMN_HEADER_BYTES: u64 = 128;

/// What a `.npy` file says of its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// Type of the numbers.
    pub ty: NumberType,
    /// Most significant byte first; always false for one-byte types.
    pub big_endian: bool,
    /// First index fastest.
    pub fortran: bool,
    /// Extents, in the order of the indices; empty for a single number without dimensions.
    pub shape: Vec<u64>,
}

impl NpyHeader {
    /// A plain column: one dimension, C order, little-endian.
    pub fn column(ty: NumberType, n: u64) -> Self {
        NpyHeader { ty, big_endian: false, fortran: false, shape: vec![n] }
    }

    /// Whether a bare `.pco` holds all the numbers of the array in their order. In which order the
    /// bytes of each lay, it does not say.
    pub fn is_column(&self) -> bool {
        self.shape.len() == 1
    }

    /// Numbers in all: 1 for a 0-d array.
    ///
    /// # Errors
    /// When they are more than 2^64 bytes could hold.
    pub fn count(&self) -> Result<u64> {
        let n = self.shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
        n.filter(|n| n.checked_mul(self.ty.bytes() as u64).is_some()).ok_or_else(|| {
            Failure::new(format!("the shape {} holds more than 2^64 bytes", self.shape_text()))
        })
    }

    /// Bytes of numbers that follow the header.
    ///
    /// # Errors
    /// As [`NpyHeader::count`].
    pub fn data_bytes(&self) -> Result<u64> {
        Ok(self.count()? * self.ty.bytes() as u64)
    }

    /// As Python writes the tuple: `()`, `(3,)`, `(2, 3)`.
    pub fn shape_text(&self) -> String {
        match self.shape.as_slice() {
            [one] => format!("({one},)"),
            many => {
                let parts: Vec<String> = many.iter().map(u64::to_string).collect();
                format!("({})", parts.join(", "))
            }
        }
    }

    /// `<f8`, `>i2`, `|u1`.
    pub fn descr(&self) -> String {
        let order = match (self.ty.bytes(), self.big_endian) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        let kind = match self.ty.kind() {
            latens::NumberKind::Unsigned => 'u',
            latens::NumberKind::Signed => 'i',
            latens::NumberKind::Float => 'f',
        };
        format!("{order}{kind}{}", self.ty.bytes())
    }

    /// The header as `numpy.save` writes it, byte for byte. Its length does not depend on the first
    /// extent (the last one in Fortran order).
    pub fn to_bytes(&self) -> Vec<u8> {
        let fortran = if self.fortran { "True" } else { "False" };
        let mut text = format!(
            "{{'descr': '{}', 'fortran_order': {fortran}, 'shape': {}, }}",
            self.descr(),
            self.shape_text()
        );
        let growing = if self.fortran { self.shape.last() } else { self.shape.first() };
        if let Some(extent) = growing {
            let digits = extent.to_string().len();
            text.extend(std::iter::repeat_n(' ', GROWTH_DIGITS.saturating_sub(digits)));
        }
        let padded = |front: usize| {
            let used = front + text.len() + 1;
            text.len() + 1 + (64 - used % 64)
        };
        let mut bytes = MAGIC.to_vec();
        let length = padded(10);
        match u16::try_from(length) {
            Ok(short) => {
                bytes.extend([1, 0]);
                bytes.extend(short.to_le_bytes());
            }
            Err(_) => {
                bytes.extend([2, 0]);
                bytes.extend(u32::try_from(padded(12)).unwrap_or(u32::MAX).to_le_bytes());
            }
        }
        let end = bytes.len() + if bytes[6] == 1 { length } else { padded(12) };
        bytes.extend(text.as_bytes());
        bytes.resize(end - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Read a header and leave `input` at the first number; also returns the bytes it took.
    ///
    /// # Errors
    /// Corrupt or truncated, with the offset; a type that is not one of the eleven, by name.
    pub fn read(input: &mut impl Read) -> Result<(NpyHeader, u64)> {
        let mut front = [0u8; 8];
        let have = read_up_to(input, &mut front)?;
        // However short it is: what begins otherwise is not cut off.
        if !MAGIC.starts_with(&front[..have.min(MAGIC.len())]) {
            return Err(Failure::new(
                "corrupt: this is no .npy file: it does not begin with \\x93NUMPY",
            )
            .at_byte(0)
            .hint("name its format with --from, e.g. --from raw --type f64"));
        }
        if have < front.len() {
            return Err(ends_too_early(have as u64));
        }
        let length = match front[6..] {
            [1, 0] => {
                let mut b = [0; 2];
                fill(input, &mut b, 8)?;
                u32::from(u16::from_le_bytes(b))
            }
            [2 | 3, 0] => {
                let mut b = [0; 4];
                fill(input, &mut b, 8)?;
                u32::from_le_bytes(b)
            }
            _ => {
                return Err(Failure::new(format!(
                    "corrupt: .npy version {}.{} is not 1.0, 2.0 or 3.0",
                    front[6], front[7]
                ))
                .at_byte(6));
            }
        };
        let start: u64 = if front[6] == 1 { 10 } else { 12 };
        if length > MAX_TEXT {
            return Err(Failure::new(format!(
                "corrupt: a .npy header of {length} bytes; one of plain numbers has {MAX_TEXT} at most"
            ))
            .at_byte(8));
        }
        let mut text = vec![0; length as usize];
        fill(input, &mut text, start)?;
        let fields = npy_literal::parse(&text).map_err(|e| e.offset_by(start))?;
        let (ty, big_endian) = number_type(&fields.descr)?;
        let header = NpyHeader { ty, big_endian, fortran: fields.fortran, shape: fields.shape };
        header.count().map_err(|e| e.at_byte(start))?;
        Ok((header, start + u64::from(length)))
    }
}

/// `<f8` as a type and whether it is big-endian.
fn number_type(descr: &str) -> Result<(NumberType, bool)> {
    let refuse = || {
        Failure::new(format!(
            "the array's type '{descr}' is not one of u8…u64, i8…i64, f16, f32, f64"
        ))
        .hint(match descr.trim_start_matches(['<', '>', '|', '=']).chars().next() {
            Some('b') => "in NumPy: array.view('u1'), and .view(bool) to get it back",
            Some('M' | 'm') => "in NumPy: array.view('i8'), and .view(array.dtype) to get it back",
            Some('c') => "in NumPy: array.view(array.real.dtype), twice as many numbers",
            _ => "in NumPy: array.astype(…) gives it one of these types, where its values allow it",
        })
    };
    let mut chars = descr.chars();
    let (order, rest) = match chars.next() {
        Some(order @ ('<' | '>' | '|' | '=')) => (order, chars.as_str()),
        _ => ('=', descr),
    };
    let ty = match rest {
        "u1" => NumberType::U8,
        "u2" => NumberType::U16,
        "u4" => NumberType::U32,
        "u8" => NumberType::U64,
        "i1" => NumberType::I8,
        "i2" => NumberType::I16,
        "i4" => NumberType::I32,
        "i8" => NumberType::I64,
        "f2" => NumberType::F16,
        "f4" => NumberType::F32,
        "f8" => NumberType::F64,
        _ => return Err(refuse()),
    };
    // `|` means that order does not apply: true of single bytes only.
    if order == '|' && ty.bytes() > 1 {
        return Err(refuse());
    }
    let big = order == '>' || (order == '=' && cfg!(target_endian = "big"));
    Ok((ty, big && ty.bytes() > 1))
}

fn fill(input: &mut impl Read, into: &mut [u8], at: u64) -> Result<()> {
    match read_up_to(input, into)? {
        have if have < into.len() => Err(ends_too_early(at + have as u64)),
        _ => Ok(()),
    }
}

fn ends_too_early(at: u64) -> Failure {
    Failure::new("truncated: the .npy header ends too early").at_byte(at)
}

/// How many bytes there are, if not as many as `into` has room for.
fn read_up_to(input: &mut impl Read, into: &mut [u8]) -> Result<usize> {
    let mut have = 0;
    while have < into.len() {
        match input.read(&mut into[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(have)
}

#[cfg(test)]
mod tests;
