//! The metadata of a chunk: mode, delta encoding, variables, zero padding to a byte.
//!
//! The variables stand in the order delta, primary, secondary, as far as they exist: a delta
//! variable with Lookback only (of 32 bits), a secondary one with the mult and quant modes. The
//! primary one has 32 bits in Dict mode, whatever the number type.

use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{Latent, NumberType};
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::mode::ModePayload;
use crate::pco::layout::variable::Variable;

/// The primary variable: of the number's latents, or of dictionary indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Primary<V, I> {
    /// Latents of the number type.
    Latents(V),
    /// Indices into the dictionary, 32 bits.
    Indices(I),
}

impl<V, I> Primary<V, I> {
    /// What belongs to latents of the number type.
    pub(crate) fn latents(&self) -> Option<&V> {
        match self {
            Primary::Latents(v) => Some(v),
            Primary::Indices(_) => None,
        }
    }

    /// What belongs to dictionary indices.
    pub(crate) fn indices(&self) -> Option<&I> {
        match self {
            Primary::Indices(i) => Some(i),
            Primary::Latents(_) => None,
        }
    }
}

/// All that a chunk says before its pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChunkMeta<L> {
    /// How numbers split into latents.
    pub(crate) mode: ModePayload<L>,
    /// How latents are predicted.
    pub(crate) delta: DeltaPayload,
    /// Lookbacks.
    pub(crate) delta_variable: Option<Variable<u32>>,
    /// The first latents.
    pub(crate) primary: Primary<Variable<L>, Variable<u32>>,
    /// The second latents.
    pub(crate) secondary: Option<Variable<L>>,
}

impl<L: Latent> ChunkMeta<L> {
    /// Reads and checks the metadata of a chunk of numbers of type `ty`.
    pub(crate) fn read(
        r: &mut BitReader<'_>,
        ty: NumberType,
        version: FormatVersion,
        limits: Limits,
    ) -> Result<Self> {
        let mode = ModePayload::<L>::read(r, ty, version, limits)?;
        let delta = DeltaPayload::read(r, version, mode.primary_bits())?;
        let delta_variable = match delta {
            DeltaPayload::Lookback { window_log, .. } => Some(read_lookbacks(r, window_log)?),
            _ => None,
        };
        let primary = match mode {
            ModePayload::Dict { .. } => Primary::Indices(Variable::read(r, "primary")?),
            _ => Primary::Latents(Variable::read(r, "primary")?),
        };
        let secondary =
            if mode.has_secondary() { Some(Variable::read(r, "secondary")?) } else { None };
        r.align("the chunk metadata")?;
        Ok(Self { mode, delta, delta_variable, primary, secondary })
    }

    /// Writes the metadata and its padding.
    pub(crate) fn write(&self, w: &mut BitWriter) {
        self.mode.write(w);
        self.delta.write(w);
        if let Some(variable) = &self.delta_variable {
            variable.write(w);
        }
        match &self.primary {
            Primary::Latents(variable) => variable.write(w),
            Primary::Indices(variable) => variable.write(w),
        }
        if let Some(variable) = &self.secondary {
            variable.write(w);
        }
        w.align();
    }

    /// Slots of its tables.
    pub(crate) fn slots(&self) -> u64 {
        fn of<L>(variable: &Variable<L>) -> u64 {
            if variable.bins.is_empty() { 0 } else { 1 << variable.log }
        }
        let primary = match &self.primary {
            Primary::Latents(variable) => of(variable),
            Primary::Indices(variable) => of(variable),
        };
        let others = self.delta_variable.as_ref().map(of).into_iter();
        primary + others.chain(self.secondary.as_ref().map(of)).sum::<u64>()
    }

    /// About how many bytes a decoder of pages of `n` numbers takes at most.
    pub(crate) fn decode_bytes(&self, n: usize) -> u64 {
        fn table<L: Latent>(variable: &Variable<L>) -> u64 {
            // Of each slot a node of eight bytes and its symbol, of each bin what is made of it.
            (10 << variable.log) + 40 * variable.bins.len() as u64
        }
        let width = u64::from(L::BITS / 8);
        let mut bytes = match &self.mode {
            ModePayload::Dict { values } => values.len() as u64 * width,
            _ => 0,
        };
        bytes += self.delta_variable.as_ref().map_or(0, table);
        bytes += match &self.primary {
            Primary::Latents(variable) => table(variable),
            Primary::Indices(variable) => table(variable),
        };
        bytes += self.secondary.as_ref().map_or(0, table);
        if let DeltaPayload::Lookback { window_log, state_log, .. } = self.delta {
            let window = (2u64 << window_log).min(n as u64 + (1 << state_log));
            bytes += window * width * if self.delta.covers_secondary() { 2 } else { 1 };
        }
        bytes
    }
}

fn read_lookbacks(r: &mut BitReader<'_>, window_log: u32) -> Result<Variable<u32>> {
    let at = r.byte();
    let variable = Variable::<u32>::read(r, "lookback")?;
    let window = 1u32 << window_log;
    match variable.bins.iter().find(|bin| bin.lower < 1 || bin.lower > window) {
        Some(bin) => Err(Error::corrupt(
            at,
            format!("a lookback bin begins at {}, outside of the window 1 to {window}", bin.lower),
        )),
        None => Ok(variable),
    }
}
