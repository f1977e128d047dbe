//! The variables of a batch joined to numbers.

use super::chunk::ChunkTables;
use crate::number::Latent;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::variables::Variables;
use crate::pco::mode::{dict, float_mult, float_quant, int_mult};
use latens_kernels::dispatch::Work;

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

/// Latents to the numbers' ordered latents, in place of the primary ones, or to numbers in a place of their own.
pub(super) struct Join<'a, L> {
    pub(super) tables: &'a ChunkTables<L>,
    pub(super) indices: &'a [u32],
    pub(super) variables: Variables<'a, L>,
    /// Whether indices get their values, or are checked only.
    pub(super) values: bool,
}

impl<L: Latent> Work for Join<'_, L> {
    type Output = std::result::Result<(), String>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { tables, indices, variables, values: is_wanted } = self;
        let mode = &tables.meta.mode;
        let joined = match mode {
            ModePayload::Classic => {
                variables.map();
                true
            }
            ModePayload::IntMult { base } => int_mult::join(variables, *base),
            ModePayload::FloatMult { base } => float_mult::join(variables, *base, tables.are_small),
            ModePayload::FloatQuant { q } => float_quant::join(variables, *q),
            ModePayload::Dict { values } => {
                dict::check(indices, values).map_err(|index| {
                    let len = values.len();
                    format!("index {index} in the batch that ends here is outside of the dictionary of {len} values")
                })?;
                if is_wanted {
                    dict::join(indices, values, variables.primary);
                    variables.map();
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
