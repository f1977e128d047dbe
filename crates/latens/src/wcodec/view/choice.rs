//! Packings that people choose, by name: those of plain INT4, of which nothing in a file may tell.
//!
//! `int4` is two's complement, `uint4` is 0 to 15, `int4-offset` has 8 added. The lower nibble of a byte comes first, or
//! with `-high` the higher one; with `-high-in-32` the highest nibble of a little-endian word of 32 bits. `none` is
//! no packing: numbers of the tensor's own type.

use super::{BitOrder, Packing, Sign};
use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// How a tensor is packed, in place of what its file tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackingChoice {
    /// Not at all: its numbers are of its own type.
    None,
    /// So.
    As(Packing),
}

impl From<Packing> for PackingChoice {
    fn from(packing: Packing) -> Self {
        Self::As(packing)
    }
}

impl PackingChoice {
    /// Those that have names.
    pub fn named() -> impl Iterator<Item = Self> {
        let packings = ["int4", "uint4", "int4-offset"].into_iter().flat_map(|sign| {
            ["", "-high", "-in-32", "-high-in-32"]
                .into_iter()
                .map(move |order| format!("{sign}{order}"))
        });
        std::iter::once(Self::None).chain(packings.filter_map(|name| name.parse().ok()))
    }
}

impl FromStr for PackingChoice {
    type Err = Error;

    /// By its name: `none`, or `int4`, `uint4` or `int4-offset`, then `-high`, then `-in-32`.
    fn from_str(text: &str) -> Result<Self> {
        if text == "none" {
            return Ok(Self::None);
        }
        let (rest, word) = text.strip_suffix("-in-32").map_or((text, 1), |rest| (rest, 4));
        let (rest, order) = match rest.strip_suffix("-high") {
            Some(rest) => (rest, BitOrder::HighFirst),
            None => (rest, BitOrder::LowFirst),
        };
        let sign = match rest {
            "int4" => Sign::Signed,
            "uint4" => Sign::Unsigned,
            "int4-offset" => Sign::Offset,
            _ => {
                let what = "no packing: none, int4, uint4 or int4-offset, with -high where the higher \
                    nibble comes first, with -in-32 where it is that of words of 32 bits";
                return Err(Error::invalid(format!("{text:?} is {what}")));
            }
        };
        Ok(Self::As(Packing { word, ..Packing::nibbles(order, sign) }))
    }
}

impl fmt::Display for PackingChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::As(packing) = *self else { return f.write_str("none") };
        let sign = match packing.sign {
            Sign::Signed => "int4",
            Sign::Unsigned => "uint4",
            Sign::Offset => "int4-offset",
        };
        let high = if packing.order == BitOrder::HighFirst { "-high" } else { "" };
        let word = if packing.word == 4 { "-in-32" } else { "" };
        let name = format!("{sign}{high}{word}");
        match name.parse() {
            Ok(named) if *self == named => f.write_str(&name),
            _ => f.write_str(&packing.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        let all: Vec<PackingChoice> = PackingChoice::named().collect();
        assert_eq!(all.len(), 13);
        for choice in &all {
            assert_eq!(choice.to_string().parse::<PackingChoice>().unwrap(), *choice);
        }
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), 13);
        let eight = Packing { bits: 8, ..Packing::nibbles(BitOrder::LowFirst, Sign::Signed) };
        assert_eq!(PackingChoice::from(eight).to_string(), "int8 in 8 bits, low first, columns");
        for bad in ["", "int8", "int4-low", "int4-in-32-high", "INT4", "none-high"] {
            assert!(bad.parse::<PackingChoice>().is_err(), "{bad}");
        }
    }
}
