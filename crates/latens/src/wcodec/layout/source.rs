//! Other parts that a part is coded with: scales, zero points, references.
//!
//! | field | form |
//! |---|---|
//! | entry | varint: 0 this tensor, 1 a tensor of the base (its name, a string), n + 2 entry n |
//! | view | 8 bytes, of another tensor only |
//! | part | varint |
//!
//! A source of levels or zero points goes on with
//!
//! | field | form |
//! |---|---|
//! | form | u8: 0 unsigned, 1 two's complement, 2 f16, 3 bf16, 4 f32 |
//! | block | rows and columns, varints |
//! | fraction | u8, 0 to 4; 8 more where levels are added, not taken away |
//! | row map | u8: 0 none, 1 entry and part of words of 32 bits follow |

use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::{Fields, write_string};
use crate::wcodec::view::View;

/// Bytes that an entry may have beyond four for each symbol that it is a source of.
const MOST_SPARE: usize = 4096;
const MOST_SPARE_OF_BASE: u64 = 1 << 20;

/// Whether an entry of `length` bytes may be a source, or the row map of one, of so many symbols: it has at most a number
/// of 32 bits for each. Else a few bytes could ask for the decoding of a large entry over and over.
pub(crate) fn may_be_source(length: usize, symbols: usize) -> bool {
    length <= symbols.saturating_mul(4).saturating_add(MOST_SPARE)
}

/// Whether a tensor of the base of `length` bytes may be named for so many symbols, likewise: it may have more rows
/// than the tensor that is predicted from it.
pub(crate) fn may_be_of_base(length: u64, symbols: usize) -> bool {
    length <= (symbols as u64).saturating_mul(16).saturating_add(MOST_SPARE_OF_BASE)
}

/// Most bytes of a tensor's name.
pub(crate) const MAX_NAME: u64 = 1024;

/// A part of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PartOf {
    /// An earlier part of the tensor itself, by number.
    Own(usize),
    /// Of another tensor: its bytes are taken apart by `view`, however they are stored.
    Other { entry: EntryRef, view: View, part: usize },
}

/// Another tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EntryRef {
    /// Of that name in the base.
    Base(String),
    /// By number in this file.
    Entry(usize),
}

impl PartOf {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let part = match self {
            PartOf::Own(part) => {
                varint::write(0, out);
                part
            }
            PartOf::Other { entry, view, part } => {
                match entry {
                    EntryRef::Base(name) => {
                        varint::write(1, out);
                        write_string(name, out);
                    }
                    EntryRef::Entry(n) => varint::write(*n as u64 + 2, out),
                }
                out.extend_from_slice(&view.to_bytes());
                part
            }
        };
        varint::write(*part as u64, out);
    }

    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self> {
        let entry = match fields.size("a source's entry")? {
            0 => return Ok(PartOf::Own(fields.size("a source's part")?)),
            1 => EntryRef::Base(fields.string(MAX_NAME, "a source's name")?.to_owned()),
            n => EntryRef::Entry(n - 2),
        };
        let at = fields.at();
        let view =
            View::from_bytes(fields.array("a source's view")?).map_err(|e| e.offset_by(at))?;
        Ok(PartOf::Other { entry, view, part: fields.size("a source's part")? })
    }
}

/// How the numbers of a source are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NumberForm {
    Unsigned,
    Signed,
    F16,
    Bf16,
    F32,
}

/// What the byte of the fraction has where levels are added.
const ADDED: u8 = 8;

const FORMS: [NumberForm; 5] =
    [NumberForm::Unsigned, NumberForm::Signed, NumberForm::F16, NumberForm::Bf16, NumberForm::F32];

/// Numbers that blocks of symbols have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Source {
    pub(crate) of: PartOf,
    pub(crate) form: NumberForm,
    /// Rows of symbols that share a number.
    pub(crate) block_rows: usize,
    /// Columns of symbols that share a number.
    pub(crate) block_cols: usize,
    /// log2 of the steps of levels in an octave.
    pub(crate) fraction: u32,
    /// Whether levels are added to sums: they are negative then, as sums take them away.
    pub(crate) added: bool,
    /// Where not `row / block_rows`: the block row of each row.
    pub(crate) row_map: Option<PartOf>,
}

impl Source {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.of.write(out);
        out.extend((0u8..).zip(FORMS).find(|(_, form)| *form == self.form).map(|(id, _)| id));
        varint::write(self.block_rows as u64, out);
        varint::write(self.block_cols as u64, out);
        out.push(self.fraction.to_le_bytes()[0] | if self.added { ADDED } else { 0 });
        match &self.row_map {
            None => out.push(0),
            Some(map) => {
                out.push(1);
                map.write(out);
            }
        }
    }

    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self> {
        let of = PartOf::read(fields)?;
        let at = fields.at();
        let bad = |what: &str| Error::corrupt(at, format!("a source of {what}"));
        let form = FORMS.get(usize::from(fields.u8("a source's form")?)).copied();
        let form = form.ok_or_else(|| bad("an unknown form"))?;
        let block_rows = fields.size("a source's block")?;
        let block_cols = fields.size("a source's block")?;
        if block_rows == 0 || block_cols == 0 {
            return Err(bad("empty blocks"));
        }
        let byte = fields.u8("a source's fraction")?;
        let (fraction, added) = (u32::from(byte & !ADDED), byte & ADDED != 0);
        if fraction > 4 {
            return Err(bad("levels finer than 1/16 octave"));
        }
        let row_map = match fields.u8("a source's row map")? {
            0 => None,
            1 => Some(PartOf::read(fields)?),
            _ => return Err(bad("an unknown row map")),
        };
        Ok(Self { of, form, block_rows, block_cols, fraction, added, row_map })
    }

    /// Bytes of a number, where its part is bytes.
    pub(crate) fn width(&self) -> usize {
        match self.form {
            NumberForm::Unsigned | NumberForm::Signed => 1,
            NumberForm::F16 | NumberForm::Bf16 => 2,
            NumberForm::F32 => 4,
        }
    }

    /// The level of a number: its logarithm in steps of 2^-fraction octaves, piecewise linear; less than 0
    /// where it is added.
    /// `bits` is the number of bits of an integer.
    pub(crate) fn level(&self, value: u32, bits: u32) -> i32 {
        let f = self.fraction;
        let level = match (self.of_float(), self.form) {
            (Some((mask, shift)), _) => (value & mask) >> shift,
            (None, NumberForm::Signed) => {
                let shift = 32 - bits;
                log_level(((value << shift).cast_signed() >> shift).unsigned_abs(), f)
            }
            (None, _) => log_level(value, f),
        };
        if self.added { -level.cast_signed() } else { level.cast_signed() }
    }

    /// The bits of a float that are its level, and where they begin.
    pub(crate) fn of_float(&self) -> Option<(u32, u32)> {
        let f = self.fraction;
        match self.form {
            NumberForm::Unsigned | NumberForm::Signed => None,
            NumberForm::F16 => Some((0x7fff, 10 - f)),
            NumberForm::Bf16 => Some((0x7fff, 7 - f)),
            NumberForm::F32 => Some((0x7fff_ffff, 23 - f)),
        }
    }
}

/// ⌊log2⌋ and the bits below the highest one.
fn log_level(value: u32, fraction: u32) -> u32 {
    match value.checked_ilog2() {
        None => 0,
        Some(h) => {
            let below = (u64::from(value) << fraction >> h) - (1 << fraction);
            (h << fraction) + u32::try_from(below).unwrap_or(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(form: NumberForm, fraction: u32) -> Source {
        let of =
            PartOf::Other { entry: EntryRef::Base("a.b".to_owned()), view: View::Raw, part: 3 };
        let row_map = Some(PartOf::Own(4));
        Source { of, form, block_rows: 1, block_cols: 128, fraction, added: false, row_map }
    }

    #[test]
    fn sources_come_back() {
        for (form, added) in FORMS.into_iter().flat_map(|form| [(form, false), (form, true)]) {
            let source = Source { added, ..source(form, 3) };
            let mut out = Vec::new();
            source.write(&mut out);
            assert_eq!(Source::read(&mut Fields::new(&out)).unwrap(), source);
        }
    }

    #[test]
    fn levels_of_integers_and_floats_agree() {
        for n in 1u32..128 {
            let integer = source(NumberForm::Unsigned, 3).level(n, 8);
            let float = source(NumberForm::F32, 3).level((n as f32).to_bits(), 32) - 127 * 8;
            assert_eq!(integer, float, "{n}");
            assert_eq!(source(NumberForm::Signed, 3).level(n.wrapping_neg() & 0xff, 8), integer);
        }
        assert_eq!(source(NumberForm::Unsigned, 3).level(0, 8), 0);
        assert_eq!(source(NumberForm::Bf16, 2).level(0xbf80, 16), 127 * 4);
        assert_eq!(source(NumberForm::F16, 0).level(0x3c00, 16), 15);
    }
}
