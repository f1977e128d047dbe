//! The crate `pco`, typed at run time.

use crate::Failure;
use latens::AnyNumbers;

/// Evaluates an expression with `$v` bound to the vector inside of [`AnyNumbers`].
#[macro_export]
macro_rules! with_numbers {
    ($numbers:expr, $v:ident => $body:expr) => {
        match $numbers {
            latens::AnyNumbers::U8($v) => $body,
            latens::AnyNumbers::U16($v) => $body,
            latens::AnyNumbers::U32($v) => $body,
            latens::AnyNumbers::U64($v) => $body,
            latens::AnyNumbers::I8($v) => $body,
            latens::AnyNumbers::I16($v) => $body,
            latens::AnyNumbers::I32($v) => $body,
            latens::AnyNumbers::I64($v) => $body,
            latens::AnyNumbers::F16($v) => $body,
            latens::AnyNumbers::F32($v) => $body,
            latens::AnyNumbers::F64($v) => $body,
        }
    };
}

/// As its users call it, 8-bit types allowed.
///
/// # Errors
/// What `pco` says.
pub fn compress(numbers: &AnyNumbers, level: usize) -> Result<Vec<u8>, Failure> {
    let config = pco::ChunkConfig::default().with_compression_level(level).with_enable_8_bit(true);
    Ok(with_numbers!(numbers, v => pco::standalone::simple_compress(v, &config)?))
}

/// The numbers of a file as little-endian bytes; `like` has their type.
///
/// # Errors
/// What `pco` says.
pub fn decompress(file: &[u8], like: &AnyNumbers) -> Result<Vec<u8>, Failure> {
    fn of<T: pco::data_types::Number>(_: &[T], file: &[u8]) -> Result<Vec<T>, Failure> {
        Ok(pco::standalone::simple_decompress::<T>(file)?)
    }
    Ok(with_numbers!(like, v => AnyNumbers::from(of(v, file)?).to_le_bytes()))
}
