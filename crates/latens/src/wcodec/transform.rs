//! Reversible transforms of 8×8 sub-blocks: DCT-II and ADST (DST-IV), by lifting.
//!
//! A transform of eight numbers is a list of rotations of two lanes each, then an order and signs.
//! A rotation by θ is three steps, each of which changes one lane by a rounded multiple of the
//! other, and is undone by subtracting the same:
//!
//! ```text
//! a += (p · b + 512) >> 10        p = 1024 · tan(θ / 2), rounded
//! b −= (u · a + 512) >> 10        u = 1024 · sin θ, rounded
//! a += (p · b + 512) >> 10
//! ```
//! All rotations are near orthogonal, so coefficients are on the scale of the residuals: of
//! residuals −255 … 255 they are at most 2^12 in magnitude. Sums wrap at 32 bits, and the results of a
//! block are cut to 16: blocks of numbers of 12 bits and their sign come back, which residuals are far
//! within. A block is transformed along its columns first, then along its rows.
//! `latens_kernels::transform` has both lists and their kernels.

mod blocks;
mod choose;

pub(crate) use blocks::of_tile;
pub use blocks::{choose_all, forward, inverse, sub_block_count, sub_blocks};
pub use choose::choose;

use crate::error::{Error, Result};
use latens_kernels::dispatch::Present;
use latens_kernels::transform::{self as kernel, Kind};
use std::str::FromStr;

/// A sub-block, row by row.
pub type Block = kernel::Block;

/// How a sub-block is transformed; the number is the code on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Transform {
    /// Not at all.
    #[default]
    None = 0,
    /// By the discrete cosine transform of type II.
    Dct = 1,
    /// By the discrete sine transform of type IV, for residuals that grow to one side.
    Adst = 2,
}

impl Transform {
    /// All of them, by code.
    pub const ALL: [Transform; 3] = [Transform::None, Transform::Dct, Transform::Adst];

    /// The code on the wire, 0 to 2.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// The transform of a code.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Transform::None => "NONE",
            Transform::Dct => "DCT",
            Transform::Adst => "ADST",
        }
    }

    /// Residuals to coefficients, in place. Exact for residuals from −2048 to 2047 at least.
    #[inline]
    pub fn forward(self, block: &mut Block) {
        if let Some(kind) = self.kind() {
            kernel::forward(Present::in_use(), kind, block);
        }
    }

    /// Coefficients to residuals, in place: undoes [`Transform::forward`].
    #[inline]
    pub fn inverse(self, block: &mut Block) {
        if let Some(kind) = self.kind() {
            kernel::inverse(Present::in_use(), kind, block);
        }
    }

    fn kind(self) -> Option<Kind> {
        match self {
            Transform::None => None,
            Transform::Dct => Some(Kind::Dct),
            Transform::Adst => Some(Kind::Adst),
        }
    }
}

impl FromStr for Transform {
    type Err = Error;

    /// By the name that reports use, in letters of any case.
    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|t| t.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid(format!("{text:?} is no transform: {names}"))
        })
    }
}

#[cfg(test)]
mod tests;
