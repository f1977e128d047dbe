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
//! residuals −255 … 255 they have at most 13 bits. Sums wrap at 32 bits, so that every block of
//! numbers has its inverse, whatever it holds. A block is transformed along its columns first, then
//! along its rows.

mod adst;
mod blocks;
mod choose;
mod dct;

pub(crate) use blocks::of_tile;
pub use blocks::{choose_all, forward, inverse, sub_block_count, sub_blocks};
pub use choose::choose;

use crate::error::{Error, Result};
use crate::wcodec::scan::SIDE;
use std::str::FromStr;

/// A sub-block, row by row.
pub type Block = [i16; SIDE * SIDE];

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
    #[inline(always)]
    pub fn forward(self, block: &mut Block) {
        if let Some(plan) = self.plan() {
            let lanes = transposed(&plan.forward(&widened(block)));
            *block = narrowed(&transposed(&plan.forward(&lanes)));
        }
    }

    /// Coefficients to residuals, in place: undoes [`Transform::forward`].
    #[inline(always)]
    pub fn inverse(self, block: &mut Block) {
        if let Some(plan) = self.plan() {
            let lanes = plan.inverse(&transposed(&widened(block)));
            *block = narrowed(&plan.inverse(&transposed(&lanes)));
        }
    }

    #[inline(always)]
    fn plan(self) -> Option<&'static Plan> {
        match self {
            Transform::None => None,
            Transform::Dct => Some(&dct::PLAN),
            Transform::Adst => Some(&adst::PLAN),
        }
    }
}

/// Eight lanes of eight numbers: what is done to a lane is done to eight vectors at a time.
type Lanes = [[i32; SIDE]; SIDE];

/// A rotation: lanes a and b, and the two constants.
struct Rotation(usize, usize, i32, i32);

/// A transform of eight numbers.
struct Plan {
    rotations: &'static [Rotation],
    /// For each coefficient the lane that it ends in, and whether its sign is changed.
    outputs: [(usize, bool); SIDE],
}

/// `(k · x + 512) >> 10`, lane by lane.
#[inline(always)]
fn scaled(k: i32, x: &[i32; SIDE]) -> [i32; SIDE] {
    x.map(|x| k.wrapping_mul(x).wrapping_add(512) >> 10)
}

#[inline(always)]
fn add(lanes: &mut Lanes, to: usize, step: [i32; SIDE]) {
    lanes[to].iter_mut().zip(step).for_each(|(x, s)| *x = x.wrapping_add(s));
}

#[inline(always)]
fn subtract(lanes: &mut Lanes, to: usize, step: [i32; SIDE]) {
    lanes[to].iter_mut().zip(step).for_each(|(x, s)| *x = x.wrapping_sub(s));
}

impl Plan {
    #[inline(always)]
    fn forward(&self, from: &Lanes) -> Lanes {
        let mut x = *from;
        for &Rotation(a, b, p, u) in self.rotations {
            let step = scaled(p, &x[b]);
            add(&mut x, a, step);
            let step = scaled(u, &x[a]);
            subtract(&mut x, b, step);
            let step = scaled(p, &x[b]);
            add(&mut x, a, step);
        }
        self.outputs.map(|(lane, minus)| {
            let lane = x[lane];
            if minus { lane.map(i32::wrapping_neg) } else { lane }
        })
    }

    #[inline(always)]
    fn inverse(&self, from: &Lanes) -> Lanes {
        let mut x = Lanes::default();
        for (&(lane, minus), from) in self.outputs.iter().zip(from) {
            x[lane] = if minus { from.map(i32::wrapping_neg) } else { *from };
        }
        for &Rotation(a, b, p, u) in self.rotations.iter().rev() {
            let step = scaled(p, &x[b]);
            subtract(&mut x, a, step);
            let step = scaled(u, &x[a]);
            add(&mut x, b, step);
            let step = scaled(p, &x[b]);
            subtract(&mut x, a, step);
        }
        x
    }
}

#[inline(always)]
fn widened(block: &Block) -> Lanes {
    let mut lanes = Lanes::default();
    for (lane, row) in lanes.iter_mut().zip(block.as_chunks::<SIDE>().0) {
        *lane = row.map(i32::from);
    }
    lanes
}

/// The low 16 bits: all there is for coefficients of residuals and residuals of their
/// coefficients.
#[inline(always)]
fn narrowed(lanes: &Lanes) -> Block {
    let mut block = [0; SIDE * SIDE];
    for (row, lane) in block.as_chunks_mut::<SIDE>().0.iter_mut().zip(lanes) {
        #[expect(clippy::cast_possible_truncation, reason = "low bits are what is wanted")]
        let low = lane.map(|x| x as i16);
        *row = low;
    }
    block
}

#[inline(always)]
fn transposed(lanes: &Lanes) -> Lanes {
    std::array::from_fn(|i| std::array::from_fn(|j| lanes[j][i]))
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
