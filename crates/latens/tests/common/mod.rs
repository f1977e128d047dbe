//! What tests share, most of them those of the Pco codec: numbers to encode, the reference as an oracle, a counting
//! allocator, a writer of fields.

#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

pub mod counting;
pub mod fields;
pub mod numbers;
pub mod skipped;
pub mod tally;

use latens::Number;
use latens::pco::{Config, DeltaSpec, ModeSpec};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A type that latens and the crate pco both encode: all eleven.
pub trait Both: Number + pco::data_types::Number {}
macro_rules! both {
    ($($t:ty)*) => {$(impl Both for $t {})*};
}
both!(u8 u16 u32 u64 i8 i16 i32 i64 latens::f16 f32 f64);

/// Bits, so that NaN equals itself and −0 does not equal 0.
pub fn bits<T: Number>(numbers: &[T]) -> Vec<T::L> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// The first place where two slices differ, in words.
pub fn difference<T: Number>(got: &[T], want: &[T]) -> Option<String> {
    if got.len() != want.len() {
        return Some(format!("{} numbers, not {}", got.len(), want.len()));
    }
    let i = (0..got.len()).find(|&i| got[i].to_bits() != want[i].to_bits())?;
    Some(format!("number {i} is {:?}, not {:?}", got[i], want[i]))
}

/// What the reference makes of a file. It would follow `n_hint` up to 4 GiB; here it may not.
pub fn pco_decode<T: Both>(file: &[u8]) -> Result<Vec<T>, String> {
    let decode = || {
        let (decoder, rest) = pco::standalone::FileDecompressor::new(file)?;
        decoder.with_max_prealloc(1 << 20).simple_decompress::<T>(rest)
    };
    match std::panic::catch_unwind(decode) {
        Ok(Ok(numbers)) => Ok(numbers),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("panic".to_owned()),
    }
}

/// The bits of a file up to its terminator, the trailer cut off.
pub fn without_trailer(file: &[u8], chunks: usize) -> &[u8] {
    &file[..file.len() - 20 - 16 * chunks]
}

/// The modes of a type, one setting of each.
pub fn modes(ty: latens::NumberType) -> Vec<ModeSpec> {
    use latens::NumberKind;
    let mut modes = vec![ModeSpec::Auto, ModeSpec::Classic, ModeSpec::Dict];
    if ty.kind() == NumberKind::Float {
        modes.extend([ModeSpec::FloatMult(0.01), ModeSpec::FloatQuant(ty.mantissa_bits() / 2)]);
    } else {
        let short = ty.bits() == 8;
        modes.push(ModeSpec::IntMult(if short { 7 } else { 1000 }));
        modes.push(ModeSpec::Trend(if short { 3 } else { 1000 }));
    }
    modes
}

/// Every kind of delta encoding with many of its settings; `None` for those that a type with that
/// mode does not have.
pub fn deltas() -> Vec<DeltaSpec> {
    let mut deltas = vec![DeltaSpec::Auto, DeltaSpec::None];
    for order in 1..=7 {
        for secondary in [false, true] {
            deltas.push(DeltaSpec::Consecutive { order, secondary });
        }
    }
    for (window_log, state_log) in [
        (None, 0),
        (None, 3),
        (Some(1), 0),
        (Some(1), 1),
        (Some(4), 0),
        (Some(4), 4),
        (Some(7), 2),
        (Some(10), 9),
        (Some(15), 0),
        (Some(15), 15),
        (Some(18), 1),
        (Some(24), 0),
    ] {
        for secondary in [false, true] {
            deltas.push(DeltaSpec::Lookback { window_log, state_log, secondary });
        }
    }
    deltas.extend((1..=32).map(|order| DeltaSpec::Conv1 { order }));
    deltas
}

/// Whether the combination can be encoded.
pub fn is_possible(ty: latens::NumberType, config: &Config) -> bool {
    config.validate(ty).is_ok()
}
