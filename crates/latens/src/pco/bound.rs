//! The most bytes that numbers can take.

use crate::ans::tans::MAX_LOG;
use crate::number::{NumberKind, NumberType};
use crate::pco::config::{Config, DeltaSpec, ModeSpec};
use crate::pco::layout::delta::{MAX_CONV1_ORDER, MAX_STATE_LOG};

/// Preamble, wrapped header, terminator, the tail of the trailer: some 40 bytes.
const FILE: u64 = 64;
/// Heads and fixed fields of a chunk, padding, tANS slots of three variables, an entry of the
/// trailer.
const CHUNK: u64 = 192;
/// Bits of a code, at most.
const CODE: u64 = MAX_LOG as u64;
/// Most bins of a variable.
const BINS: u64 = 1 << MAX_LOG;
/// Chunks that one may be cut into.
const PIECES: u64 = 256;
/// Bits of a latent that is a lookback or an index into a dictionary.
const INDEX: u64 = 32;

/// The most bytes that [`compress`](crate::pco::compress) makes of `n` numbers of type `ty`; `None`
/// where 64 bits do not hold it.
///
/// It follows from the format alone: every code as long as codes get, as many bins as there may be.
/// Where mode and delta encoding are left to the encoder that is several times the numbers' own
/// bytes; what comes out is, as a rule, below them. Room that shall not be wasted is better had from
/// a growing buffer.
///
/// ```
/// use latens::{NumberType, pco};
/// let config = pco::Config::default().mode(pco::ModeSpec::Classic).delta(pco::DeltaSpec::None);
/// let numbers: Vec<u64> = (0..5000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
/// let file = pco::compress(&numbers, &config)?;
/// let bound = pco::compress_bound(5000, NumberType::U64, &config);
/// assert!(bound.is_some_and(|most| file.len() as u64 <= most && most < 3 * 5000 * 8));
/// # Ok::<(), latens::Error>(())
/// ```
pub fn compress_bound(n: u64, ty: NumberType, config: &Config) -> Option<u64> {
    let bits = u64::from(ty.bits());
    let latents = Latents::of(bits, ty.kind() == NumberKind::Float, config);
    let chunks = n.div_ceil(config.chunk_len().max(1) as u64);
    let pieces = if config.cuts() { chunks.checked_mul(PIECES)? } else { chunks };
    // A bin has a weight, a lower bound and a count of bits; it holds one number or more.
    let bins = n.min(pieces.checked_mul(BINS)?);
    let bin = latents.variables * (CODE + bits.max(INDEX) + 7);
    let state = pieces.checked_mul(latents.states.checked_mul(latents.variables * bits)?)?;
    let total = n
        .checked_mul(latents.bits)?
        .checked_add(bins.checked_mul(bin)?)?
        .checked_add(state)?
        .div_ceil(8);
    total.checked_add(pieces.checked_mul(CHUNK)?)?.checked_add(FILE)
}

/// What a chunk stores, at most.
struct Latents {
    /// Bits for each number, entries of a dictionary included.
    bits: u64,
    /// Latent variables.
    variables: u64,
    /// Latents in front of a page, for each variable.
    states: u64,
}

impl Latents {
    fn of(bits: u64, float: bool, config: &Config) -> Self {
        let one = bits + CODE;
        let dict = INDEX + CODE + bits;
        let (in_mode, secondary) = match config.mode {
            ModeSpec::Classic => (one, 0),
            ModeSpec::Dict => (dict, 0),
            ModeSpec::IntMult(_) if !float => (2 * one, 1),
            ModeSpec::FloatMult(_) | ModeSpec::FloatQuant(_) if float => (2 * one, 1),
            _ => (dict.max(2 * one), 1),
        };
        let (in_delta, lookback, states) = match config.delta {
            DeltaSpec::None => (0, 0, 0),
            DeltaSpec::Consecutive { order, .. } => (0, 0, u64::from(order)),
            // Its weights lie in the metadata.
            DeltaSpec::Conv1 { .. } => (0, 0, 2 * MAX_CONV1_ORDER as u64 + 4),
            DeltaSpec::Lookback { state_log, .. } => {
                (INDEX + CODE, 1, 1 << state_log.min(MAX_STATE_LOG))
            }
            DeltaSpec::Auto => (INDEX + CODE, 1, 6 * MAX_CONV1_ORDER as u64),
        };
        Self { bits: in_mode + in_delta, variables: 1 + secondary + lookback, states }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Latent, Number};
    use crate::pco::{Favor, compress};

    /// Numbers that nothing compresses, numbers that look compressible and are not, few numbers.
    fn worst<T: Number>(n: usize) -> Vec<Vec<T>> {
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let noise = (0..n).map(|_| T::from_bits(T::L::truncate(random()))).collect();
        let spread = (0..n).map(|_| {
            let shift = random() % u64::from(T::L::BITS);
            T::from_bits(T::L::truncate(random() >> (64 - u64::from(T::L::BITS)) >> shift))
        });
        vec![noise, spread.collect()]
    }

    fn holds<T: Number>() {
        let modes: Vec<ModeSpec> = ["auto", "classic", "dict", "int-mult@3", "float-mult@0.5"]
            .into_iter()
            .chain(["float-quant@5"])
            .map(|text| text.parse().unwrap())
            .collect();
        let deltas: Vec<DeltaSpec> = ["auto", "none", "consecutive@7+secondary"]
            .into_iter()
            .chain(["lookback@9+secondary", "conv1@32"])
            .map(|text| text.parse().unwrap())
            .collect();
        let mut tried = 0;
        for n in [0, 1, 2, 37, 700, 9000] {
            for numbers in worst::<T>(n) {
                for (mode, delta) in modes.iter().flat_map(|m| deltas.iter().map(move |d| (*m, *d)))
                {
                    for (level, favor, chunk_n) in [
                        (0, Favor::Balanced, 1 << 18),
                        (12, Favor::Size, 8500),
                        (8, Favor::Size, 64),
                    ] {
                        let config = Config::default().mode(mode).delta(delta).level(level);
                        let config = config.favor(favor).chunk_n(chunk_n);
                        if config.validate(T::TYPE).is_err() || (level == 12 && n < 9000) {
                            continue;
                        }
                        let len = compress(&numbers, &config).unwrap().len() as u64;
                        let most = compress_bound(n as u64, T::TYPE, &config).unwrap();
                        assert!(len <= most, "{len} > {most}: {n} {} {config:?}", T::TYPE);
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 50, "{tried}");
    }

    #[test]
    fn nothing_takes_more() {
        holds::<u8>();
        holds::<i16>();
        holds::<f32>();
        holds::<u64>();
        holds::<f64>();
    }

    #[test]
    fn counts_beyond_64_bits() {
        let config = Config::default();
        assert_eq!(compress_bound(u64::MAX, NumberType::F64, &config), None);
        assert!(compress_bound(1 << 50, NumberType::F64, &config).is_some());
    }
}
