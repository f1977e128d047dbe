//! The variables of a batch joined to numbers.

use crate::number::Latent;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::{dict, float_mult, float_quant, int_mult};
use latens_kernels::dispatch::Work;
use latens_kernels::tans;
use std::iter;

/// Latents of a batch that are to be decoded. Lookbacks always are, and indices.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) primary: bool,
    pub(super) secondary: bool,
    /// Values for indices.
    pub(super) values: bool,
}

impl Wanted {
    pub(super) const ALL: Self = Self { primary: true, secondary: true, values: true };

    /// Those that [`Join`] may find unsound.
    pub(super) fn for_checks<L>(mode: &ModePayload<L>) -> Self {
        let (primary, secondary) = match mode {
            ModePayload::Classic | ModePayload::Dict { .. } => (false, false),
            ModePayload::IntMult { .. } => (false, true),
            ModePayload::FloatMult { .. } => (true, false),
            ModePayload::FloatQuant { .. } => (true, true),
        };
        Self { primary, secondary, values: false }
    }
}

/// Secondary latents of a batch.
pub(super) enum Secondary<'a, L> {
    /// All alike, as that of a good base often are.
    Constant(L),
    Latents(&'a [L]),
}

/// Latents to the numbers' ordered latents, in place of the primary ones.
pub(super) struct Join<'a, L> {
    pub(super) mode: &'a ModePayload<L>,
    pub(super) indices: &'a [u32],
    pub(super) primary: &'a mut [L],
    pub(super) secondary: Secondary<'a, L>,
    /// Whether indices get their values, or are checked only.
    pub(super) values: bool,
}

impl<L: Latent> Work for Join<'_, L> {
    type Output = std::result::Result<(), String>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { mode, indices, primary, secondary, values: is_wanted } = self;
        let joined = match mode {
            ModePayload::Classic => true,
            ModePayload::IntMult { base } => match secondary {
                Secondary::Constant(x) => int_mult::join(primary, iter::repeat(x), *base),
                Secondary::Latents(all) => int_mult::join(primary, all.iter().copied(), *base),
            },
            ModePayload::FloatMult { base } => match secondary {
                Secondary::Constant(x) => float_mult::join(primary, iter::repeat(x), *base),
                Secondary::Latents(all) => float_mult::join(primary, all.iter().copied(), *base),
            },
            ModePayload::FloatQuant { q } => match secondary {
                Secondary::Constant(x) => float_quant::join(primary, iter::repeat(x), *q),
                Secondary::Latents(all) => float_quant::join(primary, all.iter().copied(), *q),
            },
            ModePayload::Dict { values } => {
                dict::check(indices, values).map_err(|index| {
                    let len = values.len();
                    format!("index {index} in the batch that ends here is outside of the dictionary of {len} values")
                })?;
                if is_wanted {
                    dict::join(indices, values, primary);
                }
                true
            }
        };
        if joined { Ok(()) } else { Err(unsound(mode)) }
    }
}

/// Why latents do not join.
#[cold]
fn unsound<L: Latent>(mode: &ModePayload<L>) -> String {
    match mode {
        ModePayload::IntMult { base } => {
            format!("a remainder in the batch that ends here is not below the base {base}")
        }
        ModePayload::FloatQuant { q } => {
            format!("a latent in the batch that ends here is too wide for FloatQuant of {q} bits")
        }
        _ => "a multiple in the batch that ends here is beyond the floats".to_owned(),
    }
}

/// Ordered latents to bits of numbers, whose type says by what map.
pub(super) struct Map<'a, L> {
    pub(super) map: tans::Map,
    pub(super) latents: &'a [L],
    pub(super) bits: &'a mut [L],
}

impl<L: Latent> Work for Map<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let places = self.bits.iter_mut().zip(self.latents);
        match self.map {
            tans::Map::Flip(bits) => {
                let bits = L::truncate(bits);
                for (x, &latent) in places {
                    *x = latent ^ bits;
                }
            }
            tans::Map::Float => {
                for (x, &latent) in places {
                    *x = latent.unorder();
                }
            }
        }
    }
}
