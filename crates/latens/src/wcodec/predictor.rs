//! Prediction of a tile from what lies left of it and above it, or from elsewhere.
//!
//! Predictors work on *values*: a symbol's value is its distance to the centre, mod 2^bits, taken
//! as −2^(bits−1) … 2^(bits−1) − 1. So two's complement (centre 0) and numbers with an offset
//! (centre 2^(bits−1)) are predicted alike. The residual is the value less the prediction; the
//! decoder adds it to the prediction mod 2^bits, so that it does not matter whether the residual
//! itself is kept mod 2^bits (where no transform follows) or whole.

mod band;
mod choose;
pub mod linear;
mod surroundings;

pub use band::Band;
pub use choose::{choose, magnitude_costs};

use crate::error::{Error, Result};
use std::str::FromStr;

/// How a tile is predicted; the number is the id on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Predictor {
    /// Value 0: the centre.
    #[default]
    None = 0,
    /// Each row by the value left of the tile.
    Left = 1,
    /// Each column by the value above the tile.
    Top = 2,
    /// The mean of the two, rounded down.
    Avg = 3,
    /// Left + top − the value above and left of the tile, clamped.
    Planar = 4,
    /// The mean of all values left of the tile and above it, rounded.
    Dc = 5,
    /// The column's mean, which is told beside the tiles.
    Column = 6,
    /// The symbol at the same place of another plane.
    Reference = 7,
    /// A weighted sum of the row's first columns; the factors are stored once. Applies to all tiles or
    /// none.
    Linear = 8,
}

impl Predictor {
    /// All of them, by id.
    pub const ALL: [Predictor; 9] = [
        Predictor::None,
        Predictor::Left,
        Predictor::Top,
        Predictor::Avg,
        Predictor::Planar,
        Predictor::Dc,
        Predictor::Column,
        Predictor::Reference,
        Predictor::Linear,
    ];
    /// Those that one of several tiles may have.
    pub const OF_TILES: [Predictor; 8] = [
        Predictor::None,
        Predictor::Left,
        Predictor::Top,
        Predictor::Avg,
        Predictor::Planar,
        Predictor::Dc,
        Predictor::Column,
        Predictor::Reference,
    ];

    /// The id on the wire, 0 to 8.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// The predictor of an id.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Predictor::None => "NONE",
            Predictor::Left => "LEFT",
            Predictor::Top => "TOP",
            Predictor::Avg => "AVG",
            Predictor::Planar => "PLANAR",
            Predictor::Dc => "DC",
            Predictor::Column => "COLUMN",
            Predictor::Reference => "REFERENCE",
            Predictor::Linear => "LINEAR",
        }
    }
}

impl FromStr for Predictor {
    type Err = Error;

    /// By the name that reports use, in letters of any case.
    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|p| p.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid(format!("{text:?} is no predictor: {names}"))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
