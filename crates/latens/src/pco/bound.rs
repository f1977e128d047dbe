//! The most bytes that numbers can take.

use crate::ans::tans::MAX_LOG;
use crate::number::{NumberKind, NumberType};
use crate::pco::config::{Config, DeltaSpec, ModeSpec};
use crate::pco::layout::delta::{MAX_CONV1_ORDER, MAX_STATE_LOG};
use crate::pco::layout::trailer;

/// Preamble, wrapped header, terminator, the tail of the trailer: some 40 bytes.
const FILE: u64 = 64;
/// Bytes of an entry of the trailer.
pub(crate) const ENTRY: u64 = trailer::ENTRY as u64;
/// Head, metadata, padding and entry of a chunk of one bin.
const PLAIN: u64 = 24 + ENTRY;
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
/// Where mode and delta encoding are left to the encoder, these are the numbers' own bytes, 40 for
/// each chunk and 64 for the file. Where one of them is forced the bound follows from the format
/// alone: every code as long as codes get, as many bins as there may be. That is several times the
/// numbers' bytes; what comes out is, as a rule, below them.
///
/// ```
/// use latens::{NumberType, pco};
/// let numbers: Vec<u64> = (0..5000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
/// let config = pco::Config::default();
/// let file = pco::compress(&numbers, &config)?;
/// assert_eq!(pco::compress_bound(5000, NumberType::U64, &config), Some(5000 * 8 + 40 + 64));
/// assert!(file.len() <= 5000 * 8 + 40 + 64);
/// # Ok::<(), latens::Error>(())
/// ```
pub fn compress_bound(n: u64, ty: NumberType, config: &Config) -> Option<u64> {
    let bits = u64::from(ty.bits());
    if config.is_auto() {
        let chunks = n.div_ceil(config.chunk_len().max(1) as u64);
        return n.checked_mul(bits / 8)?.checked_add(chunks.checked_mul(PLAIN)?)?.checked_add(FILE);
    }
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

/// Most bytes of a chunk of `n` numbers, its entry in the trailer included, where all is left to the
/// encoder: beyond that it takes one bin for all.
pub(crate) fn plain_chunk(n: u64, ty: NumberType) -> u64 {
    n * u64::from(ty.bits() / 8) + PLAIN
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
            ModeSpec::IntMult(_) | ModeSpec::Trend(_) if !float => (2 * one, 1),
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
    use crate::pco::encode::cut::Piece;
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
            .chain(["float-quant@5", "trend@3"])
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

    /// Some of these seem to repeat so often that lookbacks pay, and do not: without the plain chunk
    /// that replaces what came out they would pass the bound.
    #[test]
    fn wrong_estimates_keep_the_bound() {
        const N: usize = 190;
        for seed in 0..40u64 {
            let mut x = seed;
            let mut random = || {
                x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let y = x ^ x >> 29;
                y.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ y >> 31
            };
            let values: [u64; N] = std::array::from_fn(|_| random());
            let numbers: [u64; N] =
                std::array::from_fn(|_| values[usize::try_from(random() % N as u64).unwrap()]);
            let config = Config::default().level(2);
            let len = compress(&numbers, &config).unwrap().len() as u64;
            let most = compress_bound(N as u64, NumberType::U64, &config).unwrap();
            assert!(len <= most, "{len} > {most}: seed {seed}");
        }
    }

    /// Whatever is left to the encoder: few numbers, and chunks of one.
    #[test]
    fn plain_chunks_keep_the_bound() {
        fn check<L: Latent>(ty: NumberType) {
            for n in [1usize, 2, 7, 300, 5000] {
                for mask in [L::MAX, L::ONE, L::ZERO] {
                    let mut x = 1u64;
                    let mut next = || {
                        x = x
                            .wrapping_mul(0x5851_f42d_4c95_7f2d)
                            .wrapping_add(0x1405_7b7e_f767_814f);
                        L::truncate(x >> 17) & mask
                    };
                    let latents: Vec<L> = (0..n).map(|_| next()).collect();
                    let bytes = Piece::plain(latents, ty).bytes.len() as u64;
                    assert!(bytes + ENTRY <= plain_chunk(n as u64, ty), "{bytes}: {n} {ty}");
                }
            }
        }
        check::<u8>(NumberType::U8);
        check::<u16>(NumberType::F16);
        check::<u32>(NumberType::I32);
        check::<u64>(NumberType::F64);
    }

    #[test]
    fn counts_beyond_64_bits() {
        let config = Config::default();
        assert_eq!(compress_bound(u64::MAX, NumberType::F64, &config), None);
        assert!(compress_bound(1 << 50, NumberType::F64, &config).is_some());
    }
}
