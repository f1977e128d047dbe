//! A part of a tensor: its shape, its codec, its groups.
//!
//! | field | form |
//! |---|---|
//! | role, kind | u8 each |
//! | shape | symbols: bits u8, rows, columns; words: width u8, count; bytes: count |
//! | codec | u8, and what belongs to it |
//! | groups | the stored bytes of each (varints), then the CRC of each (u32) |

use crate::bits::checksum::crc32;
use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::{Fields, MAX_SIZE};
use crate::wcodec::layout::source::PartOf;
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::plane::Role;
use crate::wcodec::view::Form;
use std::ops::Range;

const ROLES: [Role; 10] = [
    Role::Weights,
    Role::Scale,
    Role::Min,
    Role::Zero,
    Role::SuperScale,
    Role::SuperMin,
    Role::HighBits,
    Role::Exponent,
    Role::Mantissa,
    Role::Rest,
];

/// A part as the descriptor has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartRecord {
    pub(crate) role: Role,
    pub(crate) shape: PartShape,
    pub(crate) codec: Codec,
    pub(crate) groups: Vec<Group>,
}

/// What a part holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartShape {
    Symbols { bits: u32, rows: usize, cols: usize },
    Words { width: u8, float: bool, count: usize },
    Bytes { count: usize },
}

/// How a part is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// As it is, so many elements a group.
    Raw { per_group: usize },
    /// Words as Pco, so many a group.
    Pco { per_group: usize },
    /// Symbols (or bytes) by static tables.
    Direct(Symbols),
    /// Symbols by bit planes.
    Bitplane(Symbols),
}

/// A group as it is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    /// Bytes, without padding.
    pub(crate) length: usize,
    /// Of these bytes; 0 in an inline entry.
    pub(crate) crc: u32,
}

impl Group {
    pub(crate) fn of(stored: &[u8]) -> Self {
        Self { length: stored.len(), crc: crc32(stored) }
    }
}

impl PartShape {
    /// Elements: symbols, words or bytes.
    pub(crate) fn count(self) -> usize {
        match self {
            PartShape::Symbols { rows, cols, .. } => rows * cols,
            PartShape::Words { count, .. } | PartShape::Bytes { count } => count,
        }
    }

    /// Whether it is what a layout has so for so many rows.
    pub(crate) fn is_of(self, form: Form, rows: u64) -> bool {
        let is = |n: usize, wanted: u64| u64::try_from(n) == Ok(wanted);
        let all = |n: usize, a_row: u64| u64::try_from(n).ok() == a_row.checked_mul(rows);
        match (self, form) {
            (PartShape::Symbols { bits, rows: r, cols: c }, Form::Symbols { bits: b, cols }) => {
                bits == b && is(r, rows) && is(c, cols)
            }
            (
                PartShape::Words { width, float, count },
                Form::Words { width: w, float: f, a_row },
            ) => (width, float) == (w, f) && all(count, a_row),
            (PartShape::Bytes { count }, Form::Raw { a_row }) => all(count, a_row),
            _ => false,
        }
    }

    /// Decoded bytes of an element.
    pub(crate) fn width(self) -> usize {
        match self {
            PartShape::Words { width, .. } => usize::from(width),
            _ => 1,
        }
    }
}

impl Codec {
    fn id(&self) -> u8 {
        match self {
            Codec::Raw { .. } => 0,
            Codec::Pco { .. } => 1,
            Codec::Direct(_) => 3,
            Codec::Bitplane(_) => 4,
        }
    }

    /// The name that people see.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Codec::Raw { .. } => "raw",
            Codec::Pco { .. } => "pco",
            Codec::Direct(_) => "direct",
            Codec::Bitplane(_) => "bitplane",
        }
    }
}

impl PartRecord {
    /// Stored bytes.
    pub(crate) fn stored(&self) -> usize {
        self.groups.iter().fold(0, |sum, group| sum.saturating_add(group.length))
    }

    /// The elements that group `group` holds.
    pub(crate) fn group_range(&self, group: usize) -> Range<usize> {
        match &self.codec {
            Codec::Direct(symbols) | Codec::Bitplane(symbols) => symbols.group_range(group),
            Codec::Raw { per_group } | Codec::Pco { per_group } => {
                let count = self.shape.count();
                let start = group.saturating_mul(*per_group).min(count);
                start..start.saturating_add(*per_group).min(count)
            }
        }
    }

    /// How many sources its symbols are coded with.
    pub(crate) fn sources(&self) -> usize {
        let (Codec::Direct(symbols) | Codec::Bitplane(symbols)) = &self.codec else { return 0 };
        let of_classes = symbols.classes.as_ref().map_or(0, |rule| {
            let sources = rule.levels.iter().chain(&rule.zero);
            sources.map(|source| 1 + usize::from(source.row_map.is_some())).sum()
        });
        of_classes + usize::from(self.reference().is_some())
    }

    /// What it is predicted from.
    pub(crate) fn reference(&self) -> Option<&PartOf> {
        let (Codec::Direct(symbols) | Codec::Bitplane(symbols)) = &self.codec else { return None };
        symbols.prediction.as_ref()?.reference.as_ref()
    }

    /// The record up to where its groups are described.
    pub(crate) fn head(role: Role, shape: PartShape, codec: &Codec) -> Vec<u8> {
        let mut out = Vec::new();
        let id = (0u8..).zip(ROLES).find(|(_, of)| *of == role);
        out.push(id.map_or(9, |(id, _)| id));
        match shape {
            PartShape::Symbols { bits, rows, cols } => {
                out.extend_from_slice(&[0, bits.to_le_bytes()[0]]);
                varint::write(rows as u64, &mut out);
                varint::write(cols as u64, &mut out);
            }
            PartShape::Words { width, float, count } => {
                out.extend_from_slice(&[1 + u8::from(float), width]);
                varint::write(count as u64, &mut out);
            }
            PartShape::Bytes { count } => {
                out.push(3);
                varint::write(count as u64, &mut out);
            }
        }
        out.push(codec.id());
        match codec {
            Codec::Raw { per_group } | Codec::Pco { per_group } => {
                varint::write(*per_group as u64, &mut out);
            }
            Codec::Direct(symbols) | Codec::Bitplane(symbols) => symbols.write(&mut out),
        }
        out
    }

    /// Appends what describes groups: the end of a record.
    pub(crate) fn write_groups(groups: &[Group], inline: bool, out: &mut Vec<u8>) {
        groups.iter().for_each(|group| varint::write(group.length as u64, out));
        if !inline {
            groups.iter().for_each(|group| out.extend_from_slice(&group.crc.to_le_bytes()));
        }
    }

    pub(crate) fn read(fields: &mut Fields<'_>, inline: bool) -> Result<Self> {
        let at = fields.at();
        let role = ROLES.get(usize::from(fields.u8("a part's role")?)).copied();
        let role = role.ok_or_else(|| Error::corrupt(at, "a part of an unknown role"))?;
        let shape = read_shape(fields)?;
        let at = fields.at();
        let id = fields.u8("a part's codec")?;
        let misfit = || Error::corrupt(at, format!("codec {id} does not exist for {shape:?}"));
        let codec = match (id, shape) {
            (0, _) => Codec::Raw { per_group: per_group(fields)? },
            (1, PartShape::Words { width, float, .. }) if width > 1 || !float => {
                Codec::Pco { per_group: per_group(fields)? }
            }
            (3, PartShape::Symbols { bits, rows, cols }) => {
                Codec::Direct(Symbols::read(fields, bits, rows, cols, false)?)
            }
            (3, PartShape::Bytes { count }) => {
                Codec::Direct(Symbols::read(fields, 8, 1, count, false)?)
            }
            (4, PartShape::Symbols { bits, rows, cols }) => {
                Codec::Bitplane(Symbols::read(fields, bits, rows, cols, true)?)
            }
            _ => return Err(misfit()),
        };
        let count = match &codec {
            Codec::Direct(symbols) | Codec::Bitplane(symbols) => symbols.groups(),
            Codec::Raw { per_group } | Codec::Pco { per_group } => {
                shape.count().div_ceil(*per_group)
            }
        };
        let groups = read_groups(fields, count, inline)?;
        Ok(Self { role, shape, codec, groups })
    }
}

fn per_group(fields: &mut Fields<'_>) -> Result<usize> {
    let at = fields.at();
    match fields.size("the elements of a group")? {
        0 => Err(Error::corrupt(at, "groups without elements")),
        n => Ok(n),
    }
}

fn read_shape(fields: &mut Fields<'_>) -> Result<PartShape> {
    let at = fields.at();
    let bad = |what: String| Err(Error::corrupt(at, what));
    let shape = match fields.u8("a part's kind")? {
        0 => {
            let bits = u32::from(fields.u8("the bits of symbols")?);
            let (rows, cols) = (fields.size("a part's rows")?, fields.size("a part's columns")?);
            if !(1..=8).contains(&bits) {
                return bad(format!("symbols of {bits} bits"));
            }
            if rows.checked_mul(cols).is_none_or(|count| count > MAX_SIZE) {
                return bad(format!("{rows} rows of {cols} symbols"));
            }
            PartShape::Symbols { bits, rows, cols }
        }
        kind @ (1 | 2) => {
            let width = fields.u8("the width of words")?;
            if ![1, 2, 4, 8].contains(&width) {
                return bad(format!("words of {width} bytes"));
            }
            PartShape::Words { width, float: kind == 2, count: fields.size("the number of words")? }
        }
        3 => PartShape::Bytes { count: fields.size("the number of bytes")? },
        kind => return bad(format!("{kind} is not a kind of part")),
    };
    Ok(shape)
}

fn read_groups(fields: &mut Fields<'_>, count: usize, inline: bool) -> Result<Vec<Group>> {
    let least = if inline { 1 } else { 5 };
    if count.checked_mul(least).is_none_or(|bytes| bytes > fields.left()) {
        return Err(Error::corrupt(
            fields.at(),
            format!("{count} groups are not described by the {} bytes left", fields.left()),
        ));
    }
    let mut groups = vec![Group::default(); count];
    for group in &mut groups {
        group.length = fields.size("a group's length")?;
    }
    if !inline {
        for group in &mut groups {
            group.crc = fields.u32("a group's checksum")?;
        }
    }
    Ok(groups)
}
