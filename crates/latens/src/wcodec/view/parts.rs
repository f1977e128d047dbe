//! What the parts of a layout look like, and what their symbols mean.

use super::super::plane::{Content, Part, Plane, Role};
use crate::error::{Error, Result};
use latens_kernels::dispatch::Present;

/// One part of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLayout {
    /// What it is for.
    pub role: Role,
    /// What it holds for each row of weights.
    pub form: Form,
}

/// What a part holds for each row of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A row of symbols.
    Symbols {
        /// Bits a symbol, 1 to 8.
        bits: u32,
        /// Symbols a row.
        cols: u64,
    },
    /// Words for Pco.
    Words {
        /// Bytes a word: 1, 2, 4 or 8.
        width: u8,
        /// Whether they are IEEE floats.
        float: bool,
        /// Words a row.
        a_row: u64,
    },
    /// Bytes.
    Raw {
        /// Bytes a row.
        a_row: u64,
    },
}

/// How a symbol stands for an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sign {
    /// Two's complement.
    #[default]
    Signed,
    /// From zero up: unsigned, or an index into a code book.
    Unsigned,
    /// Half of the range is subtracted: 8 stands for 0 in four bits.
    Offset,
}

/// What symbols stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Bits a symbol.
    pub bits: u32,
    /// How it stands for an integer.
    pub sign: Sign,
}

/// Numbers as a tensor means them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Signed integers, one a byte.
    Signed(Vec<i8>),
    /// Unsigned integers, one a byte.
    Unsigned(Vec<u8>),
    /// The bytes of words of the tensor's own type.
    Words(Vec<u8>),
}

impl Meaning {
    /// The symbol in the middle of those that weights around zero have.
    pub fn centre(self) -> u8 {
        match self.sign {
            Sign::Signed => 0,
            Sign::Unsigned | Sign::Offset => 1 << (self.bits.clamp(1, 8) - 1),
        }
    }

    /// The integers that symbols stand for, in the memory that these have.
    pub fn values(self, mut symbols: Vec<u8>) -> Values {
        let half = self.centre();
        let spare = 8 - self.bits.clamp(1, 8);
        match self.sign {
            Sign::Unsigned => return Values::Unsigned(symbols),
            // They are what they stand for.
            Sign::Signed if spare == 0 => {}
            Sign::Offset | Sign::Signed => Present::in_use().call(
                #[inline(always)]
                || match self.sign {
                    Sign::Offset => symbols.iter_mut().for_each(|s| *s = s.wrapping_sub(half)),
                    _ => symbols.iter_mut().for_each(|s| {
                        *s = ((*s << spare).cast_signed() >> spare).cast_unsigned();
                    }),
                },
            ),
        }
        Values::Signed(bytemuck::allocation::cast_vec(symbols))
    }
}

/// A part of weights.
pub(super) fn weights(rows: usize, cols: usize, bits: u32, data: Vec<u8>) -> Part {
    plane(Role::Weights, rows, cols, bits, data)
}

/// A part of symbols.
pub(super) fn plane(role: Role, rows: usize, cols: usize, bits: u32, data: Vec<u8>) -> Part {
    Part { role, content: Content::Symbols(Plane { rows, cols, bits, data }) }
}

/// A part of IEEE half-precision floats.
pub(super) fn halves(role: Role, data: Vec<u8>) -> Part {
    Part { role, content: Content::Words { width: 2, float: true, data } }
}

/// The bytes of a part, whatever they are.
pub(super) fn data(part: &Part) -> &[u8] {
    part.bytes()
}

/// The bytes of the part at `index` of those of some; nothing where there is none.
pub(super) fn at<'p>(parts: &[&'p [u8]], index: usize) -> &'p [u8] {
    parts.get(index).copied().unwrap_or_default()
}

/// The bytes of the first part, without a copy.
pub(super) fn into_first(parts: Vec<Part>) -> Vec<u8> {
    parts.into_iter().next().map_or_else(Vec::new, Part::into_bytes)
}

/// How many rows of weights `parts` hold, once they are known to be parts of `layout`.
pub(super) fn rows(layout: &[PartLayout], parts: &[Part]) -> Result<u64> {
    let wrong = |what: &str| Error::invalid(format!("parts of another layout: {what}"));
    if layout.len() != parts.len() {
        return Err(wrong("their number differs"));
    }
    let mut rows = None;
    for (want, part) in layout.iter().zip(parts) {
        let a_row = match (want.form, &part.content) {
            (Form::Symbols { bits, cols }, Content::Symbols(p))
                if bits == p.bits
                    && u64::try_from(p.cols) == Ok(cols)
                    && p.rows.checked_mul(p.cols) == Some(p.data.len()) =>
            {
                cols
            }
            (Form::Words { width, float, a_row }, Content::Words { width: w, float: f, .. })
                if width == *w && float == *f =>
            {
                a_row.saturating_mul(u64::from(width))
            }
            (Form::Raw { a_row }, Content::Raw(_)) => a_row,
            _ => return Err(wrong("kind, bits or columns differ")),
        };
        if want.role != part.role {
            return Err(wrong("a role differs"));
        }
        let bytes = u64::try_from(data(part).len()).unwrap_or(u64::MAX);
        let n = bytes.checked_div(a_row).unwrap_or(0);
        if n.checked_mul(a_row) != Some(bytes) || *rows.get_or_insert(n) != n {
            return Err(wrong("the number of rows differs"));
        }
    }
    Ok(rows.unwrap_or(0))
}
