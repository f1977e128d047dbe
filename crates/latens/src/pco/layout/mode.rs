//! How numbers are split into latents: 4 bits of mode and its payload.
//!
//! | value | mode | payload |
//! |---|---|---|
//! | 0 | Classic | – |
//! | 1 | IntMult | base, k bits, a plain unsigned integer |
//! | 2 | FloatMult | base, k bits, its ordered latent |
//! | 3 | FloatQuant | 8 bits q |
//! | 4 | Dict | 25 bits count, padding to a byte, that many ordered latents of k bits |

use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{Latent, NumberKind, NumberType};
use crate::pco::layout::header::FormatVersion;

/// Bits of the count of dictionary entries.
const DICT_COUNT_BITS: u32 = 25;
/// Most entries of a dictionary.
pub(crate) const MAX_DICT: usize = (1 << DICT_COUNT_BITS) - 1;

/// A mode with its payload; `L` is the latent of the number type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModePayload<L> {
    /// The latent itself.
    Classic,
    /// `primary · base + secondary`; the base is a plain integer.
    IntMult { base: L },
    /// `primary · base`, `secondary` units in the last place away; the base is an ordered latent.
    FloatMult { base: L },
    /// The `q` lowest mantissa bits apart.
    FloatQuant { q: u32 },
    /// An index into distinct values, given as ordered latents.
    Dict { values: Vec<L> },
}

impl<L: Latent> ModePayload<L> {
    /// Whether there is a secondary latent variable.
    pub(crate) fn has_secondary(&self) -> bool {
        !matches!(self, ModePayload::Classic | ModePayload::Dict { .. })
    }

    /// Bits of the primary latent variable.
    pub(crate) fn primary_bits(&self) -> u32 {
        if matches!(self, ModePayload::Dict { .. }) { u32::BITS } else { L::BITS }
    }

    /// The same without the values of a dictionary.
    pub(crate) fn without_dict(&self) -> Self {
        match self {
            ModePayload::Dict { .. } => ModePayload::Dict { values: Vec::new() },
            other => other.clone(),
        }
    }

    /// Reads and checks a mode for numbers of type `ty`.
    pub(crate) fn read(
        r: &mut BitReader<'_>,
        ty: NumberType,
        version: FormatVersion,
        limits: Limits,
    ) -> Result<Self> {
        let at = r.byte();
        let mode = r.read_u32(4, "the mode")?;
        let is_float = ty.kind() == NumberKind::Float;
        let wrong_kind = |name: &str| Err(Error::corrupt(at, format!("mode {name} on {ty}")));
        match mode {
            0 => Ok(ModePayload::Classic),
            1 if !version.has_int_mult() => Err(Error::corrupt(
                at,
                "mode 1 of format version 0 is the GCD mode, withdrawn before release; \
                 no reader supports it",
            )),
            1 if is_float => wrong_kind("IntMult"),
            1 => {
                let base = L::truncate(r.read(L::BITS, "the base of IntMult")?);
                if base == L::ZERO {
                    return Err(Error::corrupt(at, "the base of IntMult is 0"));
                }
                Ok(ModePayload::IntMult { base })
            }
            2 | 3 if !is_float => wrong_kind(if mode == 2 { "FloatMult" } else { "FloatQuant" }),
            2 => {
                let base = L::truncate(r.read(L::BITS, "the base of FloatMult")?);
                let value = base.ordered_to_f64();
                if value == 0.0 || !value.is_finite() {
                    return Err(Error::corrupt(at, format!("the base of FloatMult is {value}")));
                }
                Ok(ModePayload::FloatMult { base })
            }
            3 => {
                let q = r.read_u32(8, "the bit count of FloatQuant")?;
                if q == 0 || q > ty.mantissa_bits() {
                    let most = ty.mantissa_bits();
                    return Err(Error::corrupt(
                        at,
                        format!("FloatQuant of {q} bits; {ty} takes 1 to {most}"),
                    ));
                }
                Ok(ModePayload::FloatQuant { q })
            }
            4 => read_dict(r, limits),
            _ => Err(Error::corrupt(at, format!("unknown mode {mode}"))),
        }
    }

    /// Writes the mode.
    pub(crate) fn write(&self, w: &mut BitWriter) {
        match self {
            ModePayload::Classic => w.write(0, 4),
            ModePayload::IntMult { base } => {
                w.write(1, 4);
                w.write(base.to_u64(), L::BITS);
            }
            ModePayload::FloatMult { base } => {
                w.write(2, 4);
                w.write(base.to_u64(), L::BITS);
            }
            ModePayload::FloatQuant { q } => {
                w.write(3, 4);
                w.write(u64::from(*q), 8);
            }
            ModePayload::Dict { values } => {
                w.write(4, 4);
                w.write(values.len() as u64, DICT_COUNT_BITS);
                w.align();
                for value in values {
                    w.write(value.to_u64(), L::BITS);
                }
            }
        }
    }

    /// Bits that [`ModePayload::write`] appends, padding inside a dictionary included.
    pub(crate) fn written_bits(&self) -> usize {
        match self {
            ModePayload::Classic => 4,
            ModePayload::IntMult { .. } | ModePayload::FloatMult { .. } => 4 + L::BITS as usize,
            ModePayload::FloatQuant { .. } => 12,
            ModePayload::Dict { values } => 32 + values.len() * L::BITS as usize,
        }
    }
}

fn read_dict<L: Latent>(r: &mut BitReader<'_>, limits: Limits) -> Result<ModePayload<L>> {
    let n = r.read(DICT_COUNT_BITS, "the count of dictionary entries")?;
    r.align("the count of dictionary entries")?;
    let bits = n * u64::from(L::BITS);
    if bits > r.bits_left() as u64 {
        return Err(Error::truncated(
            r.end(),
            format!("the input ends inside of a dictionary of {n} values"),
        ));
    }
    limits.check_alloc(bits / 8, "a dictionary")?;
    // As many bytes are there: no more than those is reserved.
    let mut values = Vec::with_capacity(usize::try_from(n).unwrap_or(0));
    for _ in 0..n {
        values.push(L::truncate(r.read(L::BITS, "a dictionary value")?));
    }
    Ok(ModePayload::Dict { values })
}
