//! How latents are predicted from earlier ones: 4 bits of delta encoding and its payload.
//!
//! | value | delta encoding | payload, in this order |
//! |---|---|---|
//! | 0 | none | – |
//! | 1 | Consecutive | 3 bits order (1–7), 1 bit: secondary too |
//! | 2 | Lookback | 5 bits window_log − 1, 4 bits state_log, 1 bit: secondary too |
//! | 3 | Conv1 | 5 bits q, 64 bits bias + 2^63, 5 bits order − 1, order × (weight + 2^31 in 32 bits) |
//!
//! Before format version 3 the whole field is 3 bits: the order of consecutive deltas, 0 for none.

use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::pco::layout::header::FormatVersion;

/// Largest order of consecutive deltas.
pub(crate) const MAX_CONSECUTIVE_ORDER: u32 = 7;
/// Largest order of Conv1.
pub(crate) const MAX_CONV1_ORDER: usize = 32;
/// Largest `window_log` of Lookback.
pub(crate) const MAX_WINDOW_LOG: u32 = 24;
/// Largest `state_log` of Lookback.
pub(crate) const MAX_STATE_LOG: u32 = 15;

/// The weights of a Conv1 prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conv1 {
    /// The sum is shifted right by this, 0 to 31.
    pub(crate) quantization: u32,
    /// Added to the sum.
    pub(crate) bias: i64,
    /// The first belongs to the oldest value; 1 to 32 of them.
    pub(crate) weights: Vec<i32>,
}

/// A delta encoding with its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeltaPayload {
    /// Latents as they are.
    None,
    /// Differences, `order` times.
    Consecutive { order: u32, secondary: bool },
    /// Differences to a value `lookback` earlier, which is a latent variable of its own.
    Lookback { window_log: u32, state_log: u32, secondary: bool },
    /// Differences to a linear prediction; never of the secondary variable.
    Conv1(Conv1),
}

impl DeltaPayload {
    /// Latents of each delta-encoded variable that a page holds as its state.
    pub(crate) fn state_n(&self) -> usize {
        match self {
            DeltaPayload::None => 0,
            DeltaPayload::Consecutive { order, .. } => *order as usize,
            DeltaPayload::Lookback { state_log, .. } => 1 << state_log,
            DeltaPayload::Conv1(conv) => conv.weights.len(),
        }
    }

    /// Whether the secondary variable, where there is one, is delta encoded too.
    pub(crate) fn covers_secondary(&self) -> bool {
        match self {
            DeltaPayload::Consecutive { secondary, .. }
            | DeltaPayload::Lookback { secondary, .. } => *secondary,
            DeltaPayload::None | DeltaPayload::Conv1(_) => false,
        }
    }

    /// Reads and checks a delta encoding over a primary variable of `primary_bits`.
    pub(crate) fn read(
        r: &mut BitReader<'_>,
        version: FormatVersion,
        primary_bits: u32,
    ) -> Result<Self> {
        let at = r.byte();
        if !version.has_delta_variants() {
            return Ok(match r.read_u32(3, "the delta order")? {
                0 => DeltaPayload::None,
                order => DeltaPayload::Consecutive { order, secondary: false },
            });
        }
        match r.read_u32(4, "the delta encoding")? {
            0 => Ok(DeltaPayload::None),
            1 => {
                let order = r.read_u32(3, "the order of consecutive deltas")?;
                let secondary = r.read_u32(1, "the secondary flag")? == 1;
                if order == 0 {
                    return Err(Error::corrupt(at, "consecutive deltas of order 0"));
                }
                Ok(DeltaPayload::Consecutive { order, secondary })
            }
            2 => {
                let window_log = 1 + r.read_u32(5, "the window size of Lookback")?;
                let state_log = r.read_u32(4, "the state size of Lookback")?;
                let secondary = r.read_u32(1, "the secondary flag")? == 1;
                if window_log > MAX_WINDOW_LOG || state_log > window_log {
                    return Err(Error::corrupt(
                        at,
                        format!(
                            "Lookback with a window of 2^{window_log} and 2^{state_log} states; \
                             2^{MAX_WINDOW_LOG} is the largest window, and it must hold the states"
                        ),
                    ));
                }
                Ok(DeltaPayload::Lookback { window_log, state_log, secondary })
            }
            3 => {
                let conv = read_conv1(r)?;
                conv.check(primary_bits).map_err(|what| Error::corrupt(at, what))?;
                Ok(DeltaPayload::Conv1(conv))
            }
            other => Err(Error::corrupt(at, format!("unknown delta encoding {other}"))),
        }
    }

    /// Writes the field of format version 3 and later.
    pub(crate) fn write(&self, w: &mut BitWriter) {
        match self {
            DeltaPayload::None => w.write(0, 4),
            DeltaPayload::Consecutive { order, secondary } => {
                w.write(1, 4);
                w.write(u64::from(*order), 3);
                w.write(u64::from(*secondary), 1);
            }
            DeltaPayload::Lookback { window_log, state_log, secondary } => {
                w.write(2, 4);
                w.write(u64::from(window_log - 1), 5);
                w.write(u64::from(*state_log), 4);
                w.write(u64::from(*secondary), 1);
            }
            DeltaPayload::Conv1(conv) => {
                w.write(3, 4);
                w.write(u64::from(conv.quantization), 5);
                w.write(conv.bias.cast_unsigned() ^ (1 << 63), 64);
                w.write(conv.weights.len() as u64 - 1, 5);
                for weight in &conv.weights {
                    w.write(u64::from(weight.cast_unsigned() ^ (1 << 31)), 32);
                }
            }
        }
    }

    /// Bits that [`DeltaPayload::write`] appends.
    pub(crate) fn written_bits(&self) -> usize {
        match self {
            DeltaPayload::None => 4,
            DeltaPayload::Consecutive { .. } => 8,
            DeltaPayload::Lookback { .. } => 14,
            DeltaPayload::Conv1(conv) => 78 + 32 * conv.weights.len(),
        }
    }
}

fn read_conv1(r: &mut BitReader<'_>) -> Result<Conv1> {
    let quantization = r.read_u32(5, "the quantization of Conv1")?;
    let bias = (r.read(64, "the bias of Conv1")? ^ (1 << 63)).cast_signed();
    let order = 1 + r.read_u32(5, "the order of Conv1")?;
    let weight = |_| r.read_u32(32, "a weight of Conv1").map(|w| (w ^ (1 << 31)).cast_signed());
    let weights = (0..order).map(weight).collect::<Result<_>>()?;
    Ok(Conv1 { quantization, bias, weights })
}

impl Conv1 {
    /// Whether the sum cannot overflow a signed integer of twice the latents' width.
    pub(crate) fn check(&self, bits: u32) -> std::result::Result<(), String> {
        if bits > 32 {
            return Err(format!("Conv1 on latents of {bits} bits; 32 is the most"));
        }
        let most = 31.min(2 * bits - 1);
        if self.quantization > most {
            return Err(format!(
                "Conv1 with quantization {}; {most} is the most",
                self.quantization
            ));
        }
        let weights: f64 = self.weights.iter().map(|&w| f64::from(w).abs()).sum();
        let reach = (self.bias as f64).abs() + (1u64 << bits) as f64 * weights;
        if reach >= (1u64 << (2 * bits - 1)) as f64 {
            return Err("the weights of Conv1 can overflow its sum".to_owned());
        }
        Ok(())
    }
}
